//! One fixed destination for each host, from a file.

use super::super::Misfit;
use super::{Declaration, Law, Reader};
use crosstie_units::range;
use serde::{Deserialize, Serialize};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "permutation",
    sentence: "Line s of a file, counted from 0; every host is named once, and one that names itself is silent.",
};

/// The key that names the file.
pub(super) const FILE: &str = "permutation.file";

/// The keys of `permutation`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Permutation {
    /// The path of the file, relative to the experiment file.
    #[serde(deserialize_with = "range::file")]
    pub file: String,
}

impl Permutation {
    pub(super) fn law(&self, hosts: u32, read: &Reader<'_>) -> Result<Law, Misfit> {
        let text = read(&self.file).map_err(|error| error.to_string());
        let to = text.and_then(|text| lines(&text)).and_then(|to| permuted(to, hosts));
        to.map(|to| Law::Table(to.into())).map_err(|problem| {
            let help = format!(
                "expected {hosts} lines, each with the number of a host from 0 to {}: line s, \
                 counted from 0, is the destination of host s",
                hosts - 1
            );
            Misfit::new(FILE, "not a permutation", problem).help(help).in_file(&self.file)
        })
    }
}

/// Reads the destinations of all hosts, one per line. Empty lines at the end are no lines.
fn lines(text: &str) -> Result<Vec<u32>, String> {
    let read = |(number, line): (usize, &str)| {
        line.trim().parse().map_err(|_| {
            let shown: String = line.chars().take(40).flat_map(char::escape_debug).collect();
            format!("line {number}: found `{shown}`, expected the number of a host")
        })
    };
    (1..).zip(text.trim_end().lines()).map(read).collect()
}

/// Refuses a list that is no permutation of the hosts.
fn permuted(to: Vec<u32>, hosts: u32) -> Result<Vec<u32>, String> {
    if to.len() != hosts as usize {
        let found = to.len();
        return Err(format!(
            "the permutation pattern lists {found} hosts, expected one entry for each of {hosts}"
        ));
    }
    let mut sender = vec![None; hosts as usize];
    for (second, &to) in (0u32..).zip(&to) {
        let Some(slot) = sender.get_mut(to as usize) else {
            return Err(format!(
                "the permutation pattern names host {to}, expected one below {hosts}"
            ));
        };
        if let Some(first) = slot.replace(second) {
            return Err(format!(
                "hosts {first} and {second} of the permutation both send to host {to}, expected \
                 every host to be named once"
            ));
        }
    }
    Ok(to)
}
