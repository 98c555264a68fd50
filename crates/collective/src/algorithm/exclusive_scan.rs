//! The combination of the vectors of all ranks below each.

mod recursive_doubling;

use super::{Declaration, choice};
use crate::program::builder::ProgramBuilder;
use serde::{Deserialize, Serialize};

/// An algorithm of an exclusive scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum ExclusiveScan {
    /// Vectors go one rank further, and then a scan follows.
    RecursiveDoubling {},
}

impl ExclusiveScan {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [ExclusiveScan; 1] = [ExclusiveScan::RecursiveDoubling {}];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            ExclusiveScan::RecursiveDoubling {} => &recursive_doubling::DECLARATION,
        }
    }

    /// Returns true if it combines in the order of ranks.
    pub(crate) fn keeps_order(self) -> bool {
        match self {
            ExclusiveScan::RecursiveDoubling {} => true,
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder) {
        match self {
            ExclusiveScan::RecursiveDoubling {} => recursive_doubling::write(program),
        }
    }
}

choice!(ExclusiveScan);

impl Default for ExclusiveScan {
    fn default() -> ExclusiveScan {
        ExclusiveScan::RecursiveDoubling {}
    }
}
