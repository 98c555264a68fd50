//! From each rank to the next.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Every rank combines what the rank before sends with its vector and sends it on: the fewest \
               messages, p - 1 steps.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let rank = program.rank;
    if let Some(before) = rank.checked_sub(1) {
        program.take(Access::Add, Side::new(before, 0, one(0)));
    }
    if rank + 1 < program.ranks {
        program.put(Side::new(rank + 1, 0, one(0)));
    }
}
