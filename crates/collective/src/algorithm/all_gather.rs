//! A block of everybody for everybody.

mod bruck;
mod recursive_doubling;
mod ring;

use super::{Declaration, choice};
use crate::program::builder::ProgramBuilder;
use serde::{Deserialize, Serialize};

/// An algorithm of an all-gather.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum AllGather {
    /// Blocks go round a ring.
    Ring {},
    /// Pairs exchange all they have, and what they have doubles.
    RecursiveDoubling {},
    /// Everybody sends all it has one way, twice as far in every step (Bruck et al., 1997).
    Bruck {},
}

impl AllGather {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [AllGather; 3] =
        [AllGather::Ring {}, AllGather::RecursiveDoubling {}, AllGather::Bruck {}];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            AllGather::Ring {} => &ring::DECLARATION,
            AllGather::RecursiveDoubling {} => &recursive_doubling::DECLARATION,
            AllGather::Bruck {} => &bruck::DECLARATION,
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder) {
        match self {
            AllGather::Ring {} => ring::write(program),
            AllGather::RecursiveDoubling {} => recursive_doubling::write(program),
            AllGather::Bruck {} => bruck::write(program),
        }
    }
}

choice!(AllGather);

impl Default for AllGather {
    fn default() -> AllGather {
        AllGather::Ring {}
    }
}
