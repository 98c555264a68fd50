//! Halves of what is left, combined in the order of ranks.

use super::{Declaration, halving};
use crate::Run;
use crate::algorithm::fold::Fold;
use crate::program::builder::ProgramBuilder;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "in-order-halving",
    sentence: "Recursive halving with the nearest pairs first: what is combined are vectors of consecutive \
               ranks, in their order; what is sent are parts that lie apart.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let fold = Fold::of_neighbours(program.ranks);
    halving::steps(program, 0..fold.steps(), |number, bit| {
        // The parts of those with the same lower bits.
        let stride = 2 << bit;
        let same = (number % stride..fold.core).step_by(stride as usize);
        same.map(move |other| Run { first: fold.rank(other), end: fold.rank(other + 1) })
    });
}
