//! Everything at once.

use super::{Declaration, block};
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Everybody posts all receives and all sends at once; sends go to the next rank first, then to \
               the one behind it, and so on.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let (rank, ranks) = (program.rank, program.ranks);
    for distance in 1..ranks {
        let from = program.back(distance);
        program.receive(Access::Store, Side::new(from, 0, one(block(from, rank, ranks))));
    }
    for distance in 1..ranks {
        let to = program.on(distance);
        program.send(Side::new(to, 0, one(block(rank, to, ranks))));
    }
}
