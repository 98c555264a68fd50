//! The combination of everybody's vector for one.

mod binomial;
mod in_order_binomial;
mod linear;

use super::{Declaration, choice};
use crate::program::builder::ProgramBuilder;
use serde::{Deserialize, Serialize};

/// An algorithm of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Reduce {
    /// Everybody sends to the root, which combines one after the other.
    Linear {},
    /// Vectors are combined up a binomial tree.
    Binomial {},
    /// The same in the order of ranks.
    InOrderBinomial {},
}

impl Reduce {
    /// Every algorithm, with the defaults of its keys.
    pub const ALL: [Reduce; 3] =
        [Reduce::Linear {}, Reduce::Binomial {}, Reduce::InOrderBinomial {}];

    /// What it says of itself.
    pub fn declaration(&self) -> &'static Declaration {
        match self {
            Reduce::Linear {} => &linear::DECLARATION,
            Reduce::Binomial {} => &binomial::DECLARATION,
            Reduce::InOrderBinomial {} => &in_order_binomial::DECLARATION,
        }
    }

    /// Returns true if it combines in the order of ranks.
    pub(crate) fn keeps_order(self, ranks: u32, root: u32) -> bool {
        match self {
            // The root takes from the rank behind it first. Ranks below it come last, of which
            // there may be one.
            Reduce::Linear {} => root <= 1,
            // The farthest child comes first: of three ranks, the one in front of the root.
            Reduce::Binomial {} => ranks <= 2 || (ranks == 3 && root > 0),
            Reduce::InOrderBinomial {} => true,
        }
    }

    pub(crate) fn write(self, program: &mut ProgramBuilder, root: u32) {
        match self {
            Reduce::Linear {} => linear::write(program, root),
            Reduce::Binomial {} => binomial::write(program, root),
            Reduce::InOrderBinomial {} => in_order_binomial::write(program, root),
        }
    }
}

choice!(Reduce);

impl Default for Reduce {
    fn default() -> Reduce {
        Reduce::Binomial {}
    }
}
