//! Every part straight to the rank that keeps it.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "pairwise",
    sentence: "In step k = 1, 2, ..., p - 1 everybody sends the rank k further on its part, and combines its \
               own with that of the rank k before.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let rank = program.rank;
    for step in 1..program.ranks {
        let (to, from) = (program.on(step), program.back(step));
        program.exchange(
            Side::new(to, step, one(to)),
            Access::Add,
            Side::new(from, step, one(rank)),
        );
    }
}
