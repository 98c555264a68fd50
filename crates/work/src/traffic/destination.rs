//! All destination patterns there are. This is the one place that lists them: a pattern is an arm
//! of [`Destination`], and what it is stands in its own file.
//!
//! A pattern declares itself: its name, its keys with their defaults and ranges, and a sentence
//! that describes it. It says whether it fits a number of hosts, and becomes a [`Pattern`] on a
//! fabric. Every match that a new one has to answer is in this file and has no wildcard, so that
//! the compiler asks for what is missing.

mod bit_complement;
mod bit_reversal;
mod bits;
mod hot_spot;
mod local;
mod mixture;
mod permutation;
mod shuffle;
mod tornado;
mod transpose;
mod uniform;

use super::pattern::Law;
use super::{Misfit, Pattern};
use crosstie_fabric::Fabric;
use crosstie_units::declared;
use serde::{Deserialize, Serialize};
use std::io;

pub use hot_spot::HotSpot;
pub use local::{Along, Local};
pub use mixture::{Mixture, Portion};
pub use permutation::Permutation;

/// Where the messages of a host go, of n hosts numbered from 0. Names and definitions are BookSim's
/// where it has the pattern (Dally and Towles, *Principles and Practices of Interconnection
/// Networks*, section 3.2).
///
/// Nobody sends to itself. A host whose only destination would be itself sends nothing at all.
///
/// The patterns on bits write a host number with b bits `s[b-1] .. s[0]`, so n must be `2^b`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Destination {
    /// Any other host, all equally likely (`uniform`).
    Uniform {},
    /// `d[i] = s[b-1-i]` (`bitrev`).
    BitReversal {},
    /// `d[i] = not s[i]` (`bitcomp`).
    BitComplement {},
    /// `d[i] = s[(i + b/2) mod b]` (`transpose`); b must be even.
    Transpose {},
    /// `d[i] = s[(i - 1) mod b]` (`shuffle`).
    Shuffle {},
    /// The host ceil(n/2) - 1 further on (`tornado`): nearly half way round one ring of all hosts.
    Tornado {},
    /// One host more often than the others.
    HotSpot(HotSpot),
    /// Any host near by, all equally likely.
    Local(Local),
    /// One fixed destination for each host, from a file.
    Permutation(Permutation),
    /// Each message follows one of several patterns.
    Mixture(Mixture),
}

/// What a pattern says of itself, beside its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Declaration {
    /// Its name in experiment files.
    pub name: &'static str,
    /// Where host s of n sends, in a sentence.
    pub sentence: &'static str,
}

/// Whoever can read the files that patterns name: from a path as written to the text.
pub type Reader<'a> = dyn Fn(&str) -> io::Result<String> + 'a;

impl Destination {
    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            Destination::Uniform {} => &uniform::DECLARATION,
            Destination::BitReversal {} => &bit_reversal::DECLARATION,
            Destination::BitComplement {} => &bit_complement::DECLARATION,
            Destination::Transpose {} => &transpose::DECLARATION,
            Destination::Shuffle {} => &shuffle::DECLARATION,
            Destination::Tornado {} => &tornado::DECLARATION,
            Destination::HotSpot(_) => &hot_spot::DECLARATION,
            Destination::Local(_) => &local::DECLARATION,
            Destination::Permutation(_) => &permutation::DECLARATION,
            Destination::Mixture(_) => &mixture::DECLARATION,
        }
    }

    /// Refuses what fits neither itself nor the number of hosts; `None`: only a file can tell it.
    pub fn check(&self, hosts: Option<u32>) -> Result<(), Misfit> {
        if let Some(hosts @ ..2) = hosts {
            let problem = format!("expected at least 2 hosts, found {hosts}");
            return Err(Misfit::new(self.name(), "too few hosts", problem));
        }
        match self {
            Destination::BitReversal {}
            | Destination::BitComplement {}
            | Destination::Shuffle {} => bits::check(self.name(), 1, hosts),
            Destination::Transpose {} => bits::check(self.name(), 2, hosts),
            Destination::HotSpot(hot) => hot.check(hosts),
            Destination::Mixture(mixture) => mixture.check(hosts),
            Destination::Uniform {}
            | Destination::Tornado {}
            | Destination::Local(_)
            | Destination::Permutation(_) => Ok(()),
        }
    }

    /// How destinations are drawn on a fabric whose hosts it fits.
    fn law(&self, fabric: &Fabric, read: &Reader<'_>) -> Result<Law, Misfit> {
        let hosts = fabric.hosts().len() as u32;
        Ok(match self {
            Destination::Uniform {} => Law::Uniform,
            Destination::BitReversal {} => bits::law(hosts, bit_reversal::to),
            Destination::BitComplement {} => bits::law(hosts, bit_complement::to),
            Destination::Transpose {} => bits::law(hosts, transpose::to),
            Destination::Shuffle {} => bits::law(hosts, shuffle::to),
            Destination::Tornado {} => tornado::law(hosts),
            Destination::HotSpot(hot) => hot.law(),
            Destination::Local(local) => local.law(fabric)?,
            Destination::Permutation(permutation) => permutation.law(hosts, read)?,
            Destination::Mixture(mixture) => mixture.law(fabric, read)?,
        })
    }

    /// The files that it names, as written, each with its key.
    pub fn files(&self) -> Vec<(String, &str)> {
        match self {
            Destination::Permutation(Permutation { file }) => {
                vec![(permutation::FILE.to_owned(), file)]
            }
            Destination::Mixture(mixture) => mixture.files(),
            Destination::Uniform {}
            | Destination::BitReversal {}
            | Destination::BitComplement {}
            | Destination::Transpose {}
            | Destination::Shuffle {}
            | Destination::Tornado {}
            | Destination::HotSpot(_)
            | Destination::Local(_) => Vec::new(),
        }
    }

    /// Gives the files that it names other names.
    pub fn rename_files(&mut self, name: &dyn Fn(&str) -> String) {
        match self {
            Destination::Permutation(Permutation { file }) => *file = name(file),
            Destination::Mixture(Mixture { parts }) => {
                parts.iter_mut().for_each(|part| part.destination.rename_files(name));
            }
            Destination::Uniform {}
            | Destination::BitReversal {}
            | Destination::BitComplement {}
            | Destination::Transpose {}
            | Destination::Shuffle {}
            | Destination::Tornado {}
            | Destination::HotSpot(_)
            | Destination::Local(_) => {}
        }
    }

    /// Whether a key names a file, counted from the destination.
    pub fn names_a_file(key: &str) -> bool {
        key.ends_with(permutation::FILE)
    }

    /// The pattern on a fabric; `read` reads the files that it names.
    pub fn on(&self, fabric: &Fabric, read: &Reader<'_>) -> Result<Pattern, Misfit> {
        let hosts = fabric.hosts().len() as u32;
        self.check(Some(hosts))?;
        Ok(Pattern::new(hosts, self.law(fabric, read)?))
    }

    /// Its name, as in experiment files.
    pub fn name(&self) -> &'static str {
        self.declaration().name
    }

    /// The names of its keys.
    pub fn keys(&self) -> &'static [&'static str] {
        declared::keys::<Destination>(self.name())
    }
}

impl Default for Destination {
    fn default() -> Destination {
        Destination::Uniform {}
    }
}

#[cfg(test)]
mod tests;
