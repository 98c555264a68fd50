//! Halves of what is left, each in one piece.

use super::{Declaration, halving};
use crate::algorithm::fold::Fold;
use crate::program::builder::{ProgramBuilder, run};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "recursive-halving",
    sentence: "Pairs, the farthest first, exchange and combine half of what they have, until everybody has \
               its part; ranks beyond a power of two hand their vector to the rank before.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let fold = Fold::of_neighbours(program.ranks);
    halving::steps(program, (0..fold.steps()).rev(), |number, bit| {
        // The parts of those with the same upper bits.
        let first = number >> bit << bit;
        run(fold.rank(first), fold.rank(first + (1 << bit)))
    });
}
