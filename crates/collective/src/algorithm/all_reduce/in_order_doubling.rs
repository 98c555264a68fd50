//! Pairs that exchange whole vectors, of consecutive ranks.

use super::{Declaration, recursive_doubling};
use crate::algorithm::fold::Fold;
use crate::program::builder::ProgramBuilder;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "in-order-doubling",
    sentence: "Recursive doubling in which ranks beyond a power of two hand their vector to the rank before: \
               vectors are combined in the order of ranks, among any number of them.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    recursive_doubling::steps(program, Fold::of_neighbours(program.ranks));
}
