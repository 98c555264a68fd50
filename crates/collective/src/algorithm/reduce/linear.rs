//! One after the other.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Everybody sends its vector to the root, which takes and combines them one after the other.",
};

pub(super) fn write(program: &mut ProgramBuilder, root: u32) {
    if program.rank != root {
        program.put(Side::new(root, 0, one(0)));
        return;
    }
    for distance in 1..program.ranks {
        let from = program.on(distance);
        program.take(Access::Add, Side::new(from, 0, one(0)));
    }
}
