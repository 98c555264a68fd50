//! Hosts and rails by name or by number.

use std::fmt;

use crosstie_units::Misfit;
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use super::MOST_HOSTS;

/// How long the name of a host may be.
const LONGEST_HOST: usize = 32;

/// How long the name of a device may be to the kernel.
pub(super) const LONGEST_DEVICE: usize = 15;

/// The hosts of a box: in a file their number, or a list of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts(Vec<String>);

impl Default for Hosts {
    fn default() -> Hosts {
        Hosts::numbered(2)
    }
}

impl Hosts {
    /// So many hosts, called `host0`, `host1` and so on.
    pub fn numbered(count: usize) -> Hosts {
        Hosts((0..count).map(|number| format!("host{number}")).collect())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Their names, in order.
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// Which one is meant at a key.
    pub(super) fn find(&self, key: &str, named: &Named) -> Result<usize, Misfit> {
        named.expect(key, "host", &self.0)
    }

    pub(super) fn check(&self) -> Result<(), Misfit> {
        let count = self.count();
        if !(1..=MOST_HOSTS as usize).contains(&count) {
            let problem = format!("found {count}, expected 1 to {MOST_HOSTS}");
            return Err(Misfit::new("hosts", "a number of hosts that no box can have", problem));
        }
        for (number, name) in self.0.iter().enumerate() {
            let key = format!("hosts.{number}");
            check(&key, name, LONGEST_HOST)?;
            if name == "localhost" {
                let problem = "that name is every host's own";
                return Err(Misfit::new(key, "a host called `localhost`", problem));
            }
            if self.0[..number].contains(name) {
                let problem = format!("`{name}` is there twice");
                return Err(Misfit::new(key, "two hosts of one name", problem));
            }
        }
        Ok(())
    }
}

/// Whether a name can be that of a host or of a device.
pub(super) fn check(key: &str, name: &str, longest: usize) -> Result<(), Misfit> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase());
    if begins && name.chars().all(plain) && !name.ends_with('-') && name.len() <= longest {
        return Ok(());
    }
    let shown: String = name.chars().take(40).collect();
    let problem = format!(
        "found \"{}\", expected lower-case letters, digits and hyphens, from a letter on, at most {longest}",
        shown.escape_debug()
    );
    Err(Misfit::new(key, "not a name for the network", problem))
}

impl<'de> Deserialize<'de> for Hosts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Hosts, D::Error> {
        from.deserialize_any(HostsVisitor)
    }
}

struct HostsVisitor;

impl<'de> Visitor<'de> for HostsVisitor {
    type Value = Hosts;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number of hosts from 1 to {MOST_HOSTS}, or a list of their names")
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Hosts, E> {
        match usize::try_from(number) {
            Ok(count) if (1..=MOST_HOSTS as usize).contains(&count) => Ok(Hosts::numbered(count)),
            _ => Err(E::invalid_value(Unexpected::Signed(number), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Hosts, A::Error> {
        let mut names: Vec<String> = Vec::new();
        while let Some(name) = list.next_element()? {
            names.push(name);
        }
        match names.len() {
            count if (1..=MOST_HOSTS as usize).contains(&count) => Ok(Hosts(names)),
            count => Err(A::Error::invalid_length(count, &self)),
        }
    }
}

/// A host or a rail as a file names it: by its name, or by its number from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// By name.
    Name(String),
    /// By number.
    Number(usize),
}

impl Named {
    /// Which of the names it is.
    pub(super) fn find(&self, names: &[String]) -> Option<usize> {
        match self {
            Named::Name(name) => names.iter().position(|known| known == name),
            Named::Number(number) => Some(*number).filter(|number| *number < names.len()),
        }
    }

    /// As [`Named::find`], with a misfit for what is not there.
    pub(super) fn expect(&self, key: &str, what: &str, names: &[String]) -> Result<usize, Misfit> {
        self.find(names).ok_or_else(|| {
            let found = match self {
                Named::Name(name) => {
                    let shown: String = name.chars().take(40).collect();
                    format!("`{}`", shown.escape_debug())
                }
                Named::Number(number) => number.to_string(),
            };
            let mut known = names.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
            if names.len() > 8 {
                known.push_str(", ...");
            }
            let problem = format!("found {found}, expected one of {known}");
            Misfit::new(key, format!("there is no such {what}"), problem)
        })
    }
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Named, D::Error> {
        from.deserialize_any(NamedVisitor)
    }
}

struct NamedVisitor;

impl Visitor<'_> for NamedVisitor {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name, or a number from 0")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Named, E> {
        Ok(Named::Name(name.to_owned()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Named, E> {
        let whole = usize::try_from(number);
        whole.map(Named::Number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }
}
