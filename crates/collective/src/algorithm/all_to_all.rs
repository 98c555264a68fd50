//! A block of everybody for each of the others.

mod bruck;
mod linear;
mod pairwise;
mod shift;

use super::{Declaration, choice};
use crate::score::Score;
use serde::{Deserialize, Serialize};

/// An algorithm of an all-to-all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum AllToAll {
    /// Everything at once.
    Linear {},
    /// One further on, then two, step after step.
    Shift {},
    /// Pairs exchange their blocks, and everybody meets everybody once.
    Pairwise {},
    /// Blocks travel in powers of two, many in a message (Bruck et al., 1997).
    Bruck {},
}

impl AllToAll {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [AllToAll; 4] =
        [AllToAll::Linear {}, AllToAll::Shift {}, AllToAll::Pairwise {}, AllToAll::Bruck {}];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            AllToAll::Linear {} => &linear::DECLARATION,
            AllToAll::Shift {} => &shift::DECLARATION,
            AllToAll::Pairwise {} => &pairwise::DECLARATION,
            AllToAll::Bruck {} => &bruck::DECLARATION,
        }
    }

    pub(crate) fn write(self, score: Score) -> Score {
        match self {
            AllToAll::Linear {} => linear::write(score),
            AllToAll::Shift {} => shift::write(score),
            AllToAll::Pairwise {} => pairwise::write(score),
            AllToAll::Bruck {} => bruck::write(score),
        }
    }
}

choice!(AllToAll);

impl Default for AllToAll {
    fn default() -> AllToAll {
        AllToAll::Pairwise {}
    }
}

/// The number of the block from one rank to another.
fn block(from: u32, to: u32, ranks: u32) -> u32 {
    from * ranks + to
}
