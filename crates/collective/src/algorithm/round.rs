//! Ranks counted from a root.

use crate::score::on;

/// Ranks in a ring that begins at a root: the root has number 0.
#[derive(Clone, Copy)]
pub(super) struct Round {
    pub root: u32,
    pub ranks: u32,
}

impl Round {
    /// The number of a rank.
    pub fn number(self, rank: u32) -> u32 {
        on(rank, self.ranks - self.root, self.ranks)
    }

    /// The rank with a number.
    pub fn rank(self, number: u32) -> u32 {
        on(number, self.root, self.ranks)
    }
}
