//! Those who have it double.

use super::Declaration;
use crate::Access;
use crate::algorithm::binomial;
use crate::algorithm::round::Round;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "binomial",
    sentence: "In step k everybody who has the vector sends it 2^k further on: ceil(log2 p) steps.",
};

pub(super) fn write(program: &mut ProgramBuilder, root: u32) {
    let round = Round { root, ranks: program.ranks };
    let number = round.number(program.rank);
    if number > 0 {
        let parent = round.rank(binomial::near_parent(number));
        program.take(Access::Store, Side::new(parent, 0, one(0)));
    }
    for child in binomial::near_children(number, round.ranks) {
        program.put(Side::new(round.rank(child), 0, one(0)));
    }
}
