//! A block of everybody for one.

mod binomial;
mod linear;

use super::{Declaration, choice};
use crate::program::builder::ProgramBuilder;
use serde::{Deserialize, Serialize};

/// An algorithm of a gather.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Gather {
    /// Everybody sends to the root.
    Linear {},
    /// Blocks are collected up a binomial tree.
    Binomial {},
}

impl Gather {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [Gather; 2] = [Gather::Linear {}, Gather::Binomial {}];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            Gather::Linear {} => &linear::DECLARATION,
            Gather::Binomial {} => &binomial::DECLARATION,
        }
    }

    /// Returns true if ranks pass on blocks of others.
    pub(crate) fn relays(self) -> bool {
        match self {
            Gather::Linear {} => false,
            Gather::Binomial {} => true,
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder, root: u32) {
        match self {
            Gather::Linear {} => linear::write(program, root),
            Gather::Binomial {} => binomial::write(program, root),
        }
    }
}

choice!(Gather);

impl Default for Gather {
    fn default() -> Gather {
        Gather::Binomial {}
    }
}
