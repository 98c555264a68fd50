//! The combination of the vectors of all ranks up to each.

mod linear;
pub(super) mod recursive_doubling;

use super::{Declaration, choice};
use crate::program::builder::ProgramBuilder;
use serde::{Deserialize, Serialize};

/// An algorithm of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Scan {
    /// From each rank to the next.
    Linear {},
    /// Each rank sends all it has combined, twice as far in every step.
    RecursiveDoubling {},
}

impl Scan {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [Scan; 2] = [Scan::Linear {}, Scan::RecursiveDoubling {}];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            Scan::Linear {} => &linear::DECLARATION,
            Scan::RecursiveDoubling {} => &recursive_doubling::DECLARATION,
        }
    }

    /// Returns true if it combines in the order of ranks.
    pub(crate) fn keeps_order(self) -> bool {
        match self {
            Scan::Linear {} | Scan::RecursiveDoubling {} => true,
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder) {
        match self {
            Scan::Linear {} => linear::write(program),
            Scan::RecursiveDoubling {} => recursive_doubling::write(program),
        }
    }
}

choice!(Scan);

impl Default for Scan {
    fn default() -> Scan {
        Scan::RecursiveDoubling {}
    }
}
