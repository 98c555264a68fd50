//! Step after step.

use super::{Declaration, block};
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "shift",
    sentence: "In step k = 1, 2, ..., p - 1 everybody sends k further on and receives from k before.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let (rank, ranks) = (program.rank, program.ranks);
    for step in 1..ranks {
        let (to, from) = (program.on(step), program.back(step));
        program.exchange(
            Side::new(to, step, one(block(rank, to, ranks))),
            Access::Store,
            Side::new(from, step, one(block(from, rank, ranks))),
        );
    }
}
