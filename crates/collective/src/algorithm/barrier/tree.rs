//! Up a tree and down again.

use super::Declaration;
use crate::Access;
use crate::algorithm::binomial;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "tree",
    sentence: "Reports go up a binomial tree to rank 0, and the release comes down again.",
};

const REPORT: u32 = 0;
const RELEASE: u32 = 1;

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let (rank, ranks) = (part.rank, part.ranks());
        for child in binomial::near_children(rank, ranks).rev() {
            part.take(Access::Merge, Side::new(child, REPORT, once(0)));
        }
        if rank > 0 {
            let parent = binomial::near_parent(rank);
            part.put(Side::new(parent, REPORT, once(0)));
            part.take(Access::Merge, Side::new(parent, RELEASE, once(0)));
        }
        for child in binomial::near_children(rank, ranks) {
            part.put(Side::new(child, RELEASE, once(0)));
        }
    })
}
