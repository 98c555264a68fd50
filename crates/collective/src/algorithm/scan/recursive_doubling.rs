//! All one has combined, twice as far in every step.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "recursive-doubling",
    sentence: "In step k every rank sends what it has combined 2^k further on, as far as there are ranks: \
               ceil(log2 p) steps (Hillis and Steele, 1986).",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    steps(program, 0, 0);
}

/// The steps of a rank in a scan of ranks `first` and above. The tags count on from `tag`.
pub(in crate::algorithm) fn steps(program: &mut ProgramBuilder, first: u32, tag: u32) {
    let (rank, ranks) = (program.rank, program.ranks);
    if rank < first {
        return;
    }
    let mut distance = 1;
    for tag in tag.. {
        if distance >= ranks - first {
            return;
        }
        let to = (distance < ranks - rank).then(|| Side::new(rank + distance, tag, one(0)));
        let from = (distance <= rank - first).then(|| Side::new(rank - distance, tag, one(0)));
        program.exchange_some(to, Access::Add, from);
        distance = distance.saturating_mul(2);
    }
}
