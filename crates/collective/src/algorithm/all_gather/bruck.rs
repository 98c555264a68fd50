//! All one has, twice as far in every step.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, wrapped};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "bruck",
    sentence: "In step k everybody sends all it has, as far as it is missing there, 2^k back: \
               ceil(log2 p) steps for any p.",
};

pub(super) fn write(program: &mut ProgramBuilder) {
    let (rank, ranks) = (program.rank, program.ranks);
    for step in 0..program.doublings() {
        let distance = 1 << step;
        // Each rank has its own block and those behind, as many as the distance.
        let count = distance.min(ranks - distance);
        let had = |rank| wrapped(rank, count, ranks);
        let (to, from) = (program.back(distance), program.on(distance));
        program.exchange(
            Side::new(to, step, had(rank)),
            Access::Store,
            Side::new(from, step, had(from)),
        );
    }
}
