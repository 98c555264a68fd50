//! Blocks that travel together.

use super::{Declaration, block};
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, on, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "bruck",
    sentence: "In step k every block that has a way to go with 2^k in it goes 2^k further on, all of a rank \
               in one message: ceil(log2 p) steps, and every block is sent several times.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let (rank, ranks) = (program.rank, program.ranks);
    for step in 0..program.doublings() {
        // The blocks that are at a rank after the steps before and go on in this one, by their
        // way.
        let moving = |rank: u32| {
            let ways = (0..ranks).filter(move |way| way >> step & 1 == 1);
            ways.flat_map(move |way| {
                let gone = way & ((1 << step) - 1);
                let from = on(rank, ranks - gone, ranks);
                one(block(from, on(from, way, ranks), ranks))
            })
        };
        let (to, from) = (program.on(1 << step), program.back(1 << step));
        program.exchange(
            Side::new(to, step, moving(rank)),
            Access::Store,
            Side::new(from, step, moving(from)),
        );
    }
}
