//! Nobody leaves before everybody has come.

mod dissemination;
mod hardware;
mod kary_tree;
mod linear;
mod tree;

use super::{Declaration, choice};
use crate::program::builder::ProgramBuilder;
use crosstie_units::wholes;
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
    /// All put a signal to rank 0, which releases all by one put that the network spreads.
    Hardware {},
    /// Signals go up a tree of this arity and down again.
    KAryTree {
        /// Children of a rank.
        #[serde(default = "arity", deserialize_with = "arity_within")]
        arity: u32,
    },
}

wholes! { arity_within: u32 = 1..=1 << 20; }

fn arity() -> u32 {
    4
}

impl Barrier {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [Barrier; 5] = [
        Barrier::Linear {},
        Barrier::Tree {},
        Barrier::Dissemination {},
        Barrier::Hardware {},
        Barrier::KAryTree { arity: 4 },
    ];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            Barrier::Linear {} => &linear::DECLARATION,
            Barrier::Tree {} => &tree::DECLARATION,
            Barrier::Dissemination {} => &dissemination::DECLARATION,
            Barrier::Hardware {} => &hardware::DECLARATION,
            Barrier::KAryTree { .. } => &kary_tree::DECLARATION,
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder) {
        match self {
            Barrier::Linear {} => linear::write(program),
            Barrier::Tree {} => tree::write(program),
            Barrier::Dissemination {} => dissemination::write(program),
            Barrier::Hardware {} => hardware::write(program),
            Barrier::KAryTree { arity } => kary_tree::write(program, arity),
        }
    }
}

choice!(Barrier);

impl Default for Barrier {
    fn default() -> Barrier {
        Barrier::Dissemination {}
    }
}
