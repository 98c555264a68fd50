//! A block of one for everybody.

pub(super) mod binomial;
mod linear;

use super::{Declaration, choice};
use crate::score::Score;
use serde::{Deserialize, Serialize};

/// An algorithm of a scatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Scatter {
    /// The root sends to everybody.
    Linear {},
    /// Blocks are handed down a binomial tree.
    Binomial {},
}

impl Scatter {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [Scatter; 2] = [Scatter::Linear {}, Scatter::Binomial {}];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            Scatter::Linear {} => &linear::DECLARATION,
            Scatter::Binomial {} => &binomial::DECLARATION,
        }
    }

    pub(crate) fn write(self, score: Score, root: u32) -> Score {
        match self {
            Scatter::Linear {} => linear::write(score, root),
            Scatter::Binomial {} => binomial::write(score, root),
        }
    }
}

choice!(Scatter);

impl Default for Scatter {
    fn default() -> Scatter {
        Scatter::Binomial {}
    }
}
