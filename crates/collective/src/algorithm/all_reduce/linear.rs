//! One rank for all.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Everybody sends its vector to rank 0, which combines them one after the other and sends everybody \
               the result.",
};

const VECTOR: u32 = 0;
const RESULT: u32 = 1;

pub(super) fn write(program: &mut ProgramBuilder) {
    if program.rank > 0 {
        program.put(Side::new(0, VECTOR, one(0)));
        program.take(Access::Store, Side::new(0, RESULT, one(0)));
        return;
    }
    for rank in 1..program.ranks {
        program.take(Access::Add, Side::new(rank, VECTOR, one(0)));
    }
    for rank in 1..program.ranks {
        program.send(Side::new(rank, RESULT, one(0)));
        program.follow();
    }
}
