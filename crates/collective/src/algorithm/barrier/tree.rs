//! Up a tree and down again.

use super::Declaration;
use crate::Access;
use crate::algorithm::binomial;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "tree",
    sentence: "Reports go up a binomial tree to rank 0, and the release comes down again.",
};

const REPORT: u32 = 0;
const RELEASE: u32 = 1;

pub(super) fn write(program: &mut ProgramBuilder) {
    let (rank, ranks) = (program.rank, program.ranks);
    for child in binomial::near_children(rank, ranks).rev() {
        program.take(Access::Merge, Side::new(child, REPORT, one(0)));
    }
    if rank > 0 {
        let parent = binomial::near_parent(rank);
        program.put(Side::new(parent, REPORT, one(0)));
        program.take(Access::Merge, Side::new(parent, RELEASE, one(0)));
    }
    for child in binomial::near_children(rank, ranks) {
        program.put(Side::new(child, RELEASE, one(0)));
    }
}
