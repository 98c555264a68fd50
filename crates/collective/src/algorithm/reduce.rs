//! The combination of everybody's vector for one.

mod binomial;
mod linear;

use super::{Declaration, choice};
use crate::score::Score;
use serde::{Deserialize, Serialize};

/// An algorithm of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Reduce {
    /// Everybody sends to the root, which combines one after the other.
    Linear {},
    /// Vectors are combined up a binomial tree.
    Binomial {},
}

impl Reduce {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [Reduce; 2] = [Reduce::Linear {}, Reduce::Binomial {}];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            Reduce::Linear {} => &linear::DECLARATION,
            Reduce::Binomial {} => &binomial::DECLARATION,
        }
    }

    pub(crate) fn write(self, score: Score, root: u32) -> Score {
        match self {
            Reduce::Linear {} => linear::write(score, root),
            Reduce::Binomial {} => binomial::write(score, root),
        }
    }
}

choice!(Reduce);

impl Default for Reduce {
    fn default() -> Reduce {
        Reduce::Binomial {}
    }
}
