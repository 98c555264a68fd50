//! All at once.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Everybody sends its block to the root, which waits for all at once.",
};

pub(super) fn write(program: &mut ProgramBuilder, root: u32) {
    if program.rank != root {
        program.put(Side::new(root, 0, one(program.rank)));
        return;
    }
    for distance in 1..program.ranks {
        let from = program.on(distance);
        program.receive(Access::Store, Side::new(from, 0, one(from)));
    }
}
