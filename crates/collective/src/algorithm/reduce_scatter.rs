//! A part of the combination of all vectors for each rank.

mod halving;
mod in_order_halving;
mod pairwise;
mod recursive_halving;
mod ring;

use super::{Declaration, choice};
use crate::program::builder::ProgramBuilder;
use serde::{Deserialize, Serialize};

/// An algorithm of a reduce-scatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum ReduceScatter {
    /// Every part goes straight to the rank that keeps it.
    Pairwise {},
    /// Parts go round a ring and are combined.
    Ring {},
    /// Pairs exchange halves of what they have, the farthest first.
    RecursiveHalving {},
    /// The same, the nearest first.
    InOrderHalving {},
}

impl ReduceScatter {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [ReduceScatter; 4] = [
        ReduceScatter::Pairwise {},
        ReduceScatter::Ring {},
        ReduceScatter::RecursiveHalving {},
        ReduceScatter::InOrderHalving {},
    ];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            ReduceScatter::Pairwise {} => &pairwise::DECLARATION,
            ReduceScatter::Ring {} => &ring::DECLARATION,
            ReduceScatter::RecursiveHalving {} => &recursive_halving::DECLARATION,
            ReduceScatter::InOrderHalving {} => &in_order_halving::DECLARATION,
        }
    }

    /// Returns true if it combines in the order of ranks.
    pub(crate) fn keeps_order(self, ranks: u32) -> bool {
        match self {
            ReduceScatter::Pairwise {} | ReduceScatter::Ring {} => ranks <= 2,
            // Two members, and an extra behind the first.
            ReduceScatter::RecursiveHalving {} => ranks <= 3,
            ReduceScatter::InOrderHalving {} => true,
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder) {
        match self {
            ReduceScatter::Pairwise {} => pairwise::write(program),
            ReduceScatter::Ring {} => ring::write(program),
            ReduceScatter::RecursiveHalving {} => recursive_halving::write(program),
            ReduceScatter::InOrderHalving {} => in_order_halving::write(program),
        }
    }
}

choice!(ReduceScatter);

impl Default for ReduceScatter {
    fn default() -> ReduceScatter {
        ReduceScatter::RecursiveHalving {}
    }
}
