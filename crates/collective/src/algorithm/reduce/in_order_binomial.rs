//! Combined up a tree in the order of ranks.

use super::Declaration;
use crate::Access;
use crate::algorithm::binomial;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "in-order-binomial",
    sentence: "Vectors go up a binomial tree of consecutive ranks to rank 0, which sends the result to the \
               root: they are combined in the order of ranks, whatever the root.",
};

const VECTOR: u32 = 0;
const RESULT: u32 = 1;

pub(super) fn write(program: &mut ProgramBuilder, root: u32) {
    let (rank, ranks) = (program.rank, program.ranks);
    for child in binomial::far_children(rank, ranks) {
        program.take(Access::Add, Side::new(child, VECTOR, one(0)));
    }
    if rank > 0 {
        program.put(Side::new(binomial::far_parent(rank), VECTOR, one(0)));
    }
    if root > 0 && rank == 0 {
        program.put(Side::new(root, RESULT, one(0)));
    }
    if root > 0 && rank == root {
        program.take(Access::Store, Side::new(0, RESULT, one(0)));
    }
}
