//! A block of one for everybody.

pub(super) mod binomial;
mod linear;

use super::{Declaration, choice};
use crate::program::builder::ProgramBuilder;
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

    /// Returns true if ranks pass on blocks of others.
    pub(crate) fn relays(self) -> bool {
        match self {
            Scatter::Linear {} => false,
            Scatter::Binomial {} => true,
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder, root: u32) {
        match self {
            Scatter::Linear {} => linear::write(program, root),
            Scatter::Binomial {} => binomial::write(program, root),
        }
    }
}

choice!(Scatter);

impl Default for Scatter {
    fn default() -> Scatter {
        Scatter::Binomial {}
    }
}
