//! All at once.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration =
    Declaration { name: "linear", sentence: "The root sends everybody its block, all at once." };

pub(super) fn write(program: &mut ProgramBuilder, root: u32) {
    if program.rank != root {
        program.take(Access::Store, Side::new(root, 0, one(program.rank)));
        return;
    }
    for distance in 1..program.ranks {
        let to = program.on(distance);
        program.send(Side::new(to, 0, one(to)));
    }
}
