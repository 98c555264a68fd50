//! The combination of everybody's vector for everybody.

mod linear;
mod rabenseifner;
mod recursive_doubling;
mod ring;

use super::fold::Fold;
use super::{Declaration, choice};
use crate::score::Score;
use serde::{Deserialize, Serialize};

/// An algorithm of an all-reduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum AllReduce {
    /// Rank 0 combines all vectors: the fewest messages.
    Linear {},
    /// Parts go round a ring and are combined, and go round once more.
    Ring {},
    /// Pairs exchange and combine whole vectors.
    RecursiveDoubling {},
    /// Pairs exchange halves of what they have, and then give them back (Rabenseifner, 2004).
    Rabenseifner {},
}

impl AllReduce {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [AllReduce; 4] = [
        AllReduce::Linear {},
        AllReduce::Ring {},
        AllReduce::RecursiveDoubling {},
        AllReduce::Rabenseifner {},
    ];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            AllReduce::Linear {} => &linear::DECLARATION,
            AllReduce::Ring {} => &ring::DECLARATION,
            AllReduce::RecursiveDoubling {} => &recursive_doubling::DECLARATION,
            AllReduce::Rabenseifner {} => &rabenseifner::DECLARATION,
        }
    }

    /// Into how many parts it cuts a vector.
    pub(crate) fn parts(self, ranks: u32) -> u32 {
        match self {
            AllReduce::Ring {} => ranks,
            AllReduce::Linear {} | AllReduce::RecursiveDoubling {} => 1,
            AllReduce::Rabenseifner {} => Fold::new(ranks).core,
        }
    }

    pub(crate) fn write(self, score: Score) -> Score {
        match self {
            AllReduce::Linear {} => linear::write(score),
            AllReduce::Ring {} => ring::write(score),
            AllReduce::RecursiveDoubling {} => recursive_doubling::write(score),
            AllReduce::Rabenseifner {} => rabenseifner::write(score),
        }
    }
}

choice!(AllReduce);

impl Default for AllReduce {
    fn default() -> AllReduce {
        AllReduce::Ring {}
    }
}
