//! Combined up a tree.

use super::Declaration;
use crate::Access;
use crate::algorithm::binomial;
use crate::algorithm::round::Round;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "binomial",
    sentence: "The further half sends its vectors to the nearer half, and so on: ceil(log2 p) steps.",
};

pub(super) fn write(program: &mut ProgramBuilder, root: u32) {
    let round = Round { root, ranks: program.ranks };
    let number = round.number(program.rank);
    for child in binomial::near_children(number, round.ranks).rev() {
        program.take(Access::Add, Side::new(round.rank(child), 0, one(0)));
    }
    if number > 0 {
        let parent = round.rank(binomial::near_parent(number));
        program.put(Side::new(parent, 0, one(0)));
    }
}
