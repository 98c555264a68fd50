//! Once round a ring.

use super::Declaration;
use crate::Access;
use crate::algorithm::ring::{self, Place};
use crate::program::builder::ProgramBuilder;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "ring",
    sentence: "Every part of the vector goes round a ring to the rank that keeps it, and is combined on the \
               way: p - 1 steps.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let place = Place { number: program.rank, before: program.back(1), behind: program.on(1) };
    // A part begins at the rank behind the one that keeps it.
    ring::steps(program, &place, program.ranks - 1, Access::Add, 0);
}
