//! Blocks that go round.

use super::Declaration;
use crate::Access;
use crate::algorithm::ring::{self, Place};
use crate::program::builder::ProgramBuilder;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "ring",
    sentence: "Everybody sends the next rank its own block, and then what it has just received: p - 1 steps.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let place = Place { number: program.rank, before: program.back(1), behind: program.on(1) };
    ring::steps(program, &place, 0, Access::Store, 0);
}
