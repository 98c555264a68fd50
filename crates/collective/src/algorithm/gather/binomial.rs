//! Blocks collected up a tree.

use super::Declaration;
use crate::Access;
use crate::algorithm::binomial;
use crate::algorithm::round::Round;
use crate::program::builder::{ProgramBuilder, Side};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "binomial",
    sentence: "Everybody collects the blocks below it in a binomial tree, the nearest first, and sends them up.",
};

pub(super) fn write(program: &mut ProgramBuilder, root: u32) {
    let round = Round { root, ranks: program.ranks };
    let blocks = |number| round.runs(binomial::far_subtree(number, round.ranks));
    let number = round.number(program.rank);
    for child in binomial::far_children(number, round.ranks) {
        program.take(Access::Store, Side::new(round.rank(child), 0, blocks(child)));
    }
    if number > 0 {
        let parent = round.rank(binomial::far_parent(number));
        program.put(Side::new(parent, 0, blocks(number)));
    }
}
