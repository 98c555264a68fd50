//! Twice round a ring.

use super::Declaration;
use crate::Access;
use crate::algorithm::ring::{self, Place};
use crate::program::builder::ProgramBuilder;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "ring",
    sentence: "Every part of the vector goes round a ring and is combined on the way, then goes round once \
               more: 2 (p - 1) steps.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let place = Place { number: program.rank, before: program.back(1), behind: program.on(1) };
    ring::steps(program, &place, 0, Access::Add, 0);
    // Now every rank has the whole of the part behind its own.
    ring::steps(program, &place, 1, Access::Store, program.ranks - 1);
}
