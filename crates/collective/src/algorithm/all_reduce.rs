//! The combination of everybody's vector for everybody.

mod in_order_doubling;
mod linear;
mod rabenseifner;
mod recursive_doubling;
mod ring;

use super::fold::Fold;
use super::{Declaration, choice};
use crate::program::builder::ProgramBuilder;
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
    /// Recursive doubling in the order of ranks.
    InOrderDoubling {},
}

impl AllReduce {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [AllReduce; 5] = [
        AllReduce::Linear {},
        AllReduce::Ring {},
        AllReduce::RecursiveDoubling {},
        AllReduce::Rabenseifner {},
        AllReduce::InOrderDoubling {},
    ];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            AllReduce::Linear {} => &linear::DECLARATION,
            AllReduce::Ring {} => &ring::DECLARATION,
            AllReduce::RecursiveDoubling {} => &recursive_doubling::DECLARATION,
            AllReduce::Rabenseifner {} => &rabenseifner::DECLARATION,
            AllReduce::InOrderDoubling {} => &in_order_doubling::DECLARATION,
        }
    }

    /// Returns true if it combines in the order of ranks.
    pub(crate) fn keeps_order(self, ranks: u32) -> bool {
        match self {
            AllReduce::Linear {} | AllReduce::InOrderDoubling {} => true,
            AllReduce::Ring {} | AllReduce::Rabenseifner {} => ranks <= 2,
            // No rank is folded into one that is not its neighbour.
            AllReduce::RecursiveDoubling {} => ranks.is_power_of_two(),
        }
    }

    /// Into how many parts it cuts a vector.
    pub(crate) fn parts(self, ranks: u32) -> u32 {
        match self {
            AllReduce::Ring {} => ranks,
            AllReduce::Linear {}
            | AllReduce::RecursiveDoubling {}
            | AllReduce::InOrderDoubling {} => 1,
            AllReduce::Rabenseifner {} => Fold::new(ranks).core,
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder) {
        match self {
            AllReduce::Linear {} => linear::write(program),
            AllReduce::Ring {} => ring::write(program),
            AllReduce::RecursiveDoubling {} => recursive_doubling::write(program),
            AllReduce::Rabenseifner {} => rabenseifner::write(program),
            AllReduce::InOrderDoubling {} => in_order_doubling::write(program),
        }
    }
}

choice!(AllReduce);

impl Default for AllReduce {
    fn default() -> AllReduce {
        AllReduce::Ring {}
    }
}
