//! Blocks handed down a tree.

use super::Declaration;
use crate::algorithm::binomial;
use crate::algorithm::round::Round;
use crate::program::builder::{ProgramBuilder, Side};
use crate::{Access, Run};
use std::ops::Range;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "binomial",
    sentence: "Everybody hands the blocks of those below it down a binomial tree, the farthest first.",
};

pub(super) fn write(program: &mut ProgramBuilder, root: u32) {
    let round = Round { root, ranks: program.ranks };
    steps(program, round, |numbers| round.runs(numbers));
}

/// The steps of a rank, with tag 0; `blocks` are those of ranks by their numbers.
pub(in crate::algorithm) fn steps<B: IntoIterator<Item = Run>>(
    program: &mut ProgramBuilder,
    round: Round,
    blocks: impl Fn(Range<u32>) -> B,
) {
    let blocks = |number| blocks(binomial::far_subtree(number, round.ranks));
    let number = round.number(program.rank);
    if number > 0 {
        let parent = round.rank(binomial::far_parent(number));
        program.take(Access::Store, Side::new(parent, 0, blocks(number)));
    }
    for child in binomial::far_children(number, round.ranks).rev() {
        program.put(Side::new(round.rank(child), 0, blocks(child)));
    }
}
