//! Nobody leaves before everybody has come.

mod dissemination;
mod linear;
mod tree;

use super::{Declaration, choice};
use crate::score::Score;
use serde::{Deserialize, Serialize};

/// An algorithm of a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Barrier {
    /// All report to rank 0, which releases all.
    Linear {},
    /// Up a binomial tree and down again.
    Tree {},
    /// Everybody tells one twice as far away, step after step (Hensgen, Finkel and Manber, 1988).
    Dissemination {},
}

impl Barrier {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [Barrier; 3] = [Barrier::Linear {}, Barrier::Tree {}, Barrier::Dissemination {}];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            Barrier::Linear {} => &linear::DECLARATION,
            Barrier::Tree {} => &tree::DECLARATION,
            Barrier::Dissemination {} => &dissemination::DECLARATION,
        }
    }

    pub(crate) fn write(self, score: Score) -> Score {
        match self {
            Barrier::Linear {} => linear::write(score),
            Barrier::Tree {} => tree::write(score),
            Barrier::Dissemination {} => dissemination::write(score),
        }
    }
}

choice!(Barrier);

impl Default for Barrier {
    fn default() -> Barrier {
        Barrier::Dissemination {}
    }
}
