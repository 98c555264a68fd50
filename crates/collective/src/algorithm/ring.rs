//! Blocks that go round a ring, one step after another.

use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, on, one};

/// Where a rank stands in a ring.
pub(super) struct Place {
    /// Its number in the ring.
    pub number: u32,
    /// The rank before it.
    pub before: u32,
    /// The rank behind it.
    pub behind: u32,
}

/// As many steps as there are others. Everybody first sends a block to the one behind, and then
/// what it has just received. Number n begins with block n + `first`. The tags count on from `tag`.
pub(super) fn steps(
    program: &mut ProgramBuilder,
    place: &Place,
    first: u32,
    access: Access,
    tag: u32,
) {
    let ranks = program.ranks;
    for step in 0..ranks - 1 {
        let sent = on(on(place.number, first, ranks), ranks - step, ranks);
        let received = on(sent, ranks - 1, ranks);
        program.exchange(
            Side::new(place.behind, tag + step, one(sent)),
            access,
            Side::new(place.before, tag + step, one(received)),
        );
    }
}
