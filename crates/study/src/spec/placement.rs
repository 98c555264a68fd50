//! On which hosts ranks are.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::limits::MOST_HOSTS;

/// The hosts of ranks, in the order of ranks: in a file `"20, 0-3, 10-12"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    text: String,
    hosts: Vec<u32>,
}

impl Placement {
    /// The host of each rank.
    pub fn hosts(&self) -> &[u32] {
        &self.hosts
    }
}

impl FromStr for Placement {
    type Err = String;

    fn from_str(text: &str) -> Result<Placement, String> {
        let wrong = |found: &str| {
            format!(
                "found \"{found}\", expected hosts such as \"20, 0-3, 10-12\", the first for rank 0"
            )
        };
        let mut hosts = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            let number =
                |text: &str| text.trim().parse().ok().filter(|host: &u32| *host < MOST_HOSTS);
            let (Some(from), Some(to)) = (number(from), number(to)) else {
                return Err(wrong(part));
            };
            if from > to {
                return Err(wrong(part));
            }
            hosts.extend(from..=to);
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = hosts.iter().find(|host| !seen.insert(**host)) {
            return Err(format!("found host {twice} twice, expected one rank on a host"));
        }
        Ok(Placement { text: text.to_owned(), hosts })
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Placement {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Placement {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Placement, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_numbers_and_ranges() {
        let placement: Placement = "20, 0-3,10-12".parse().unwrap();
        assert_eq!(placement.hosts(), [20, 0, 1, 2, 3, 10, 11, 12]);
        assert_eq!(placement.to_string().parse(), Ok(placement));
        for (text, found) in [
            ("", "\"\""),
            ("3-1", "3-1"),
            ("1,x", "x"),
            ("99999", "99999"),
            ("1-3, 2", "host 2 twice"),
        ] {
            let error = text.parse::<Placement>().unwrap_err();
            assert!(error.contains(found), "{error}");
        }
    }
}
