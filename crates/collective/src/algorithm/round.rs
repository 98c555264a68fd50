//! Ranks counted from a root.

use crate::Run;
use crate::program::builder::{on, wrapped};
use std::ops::Range;

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

    /// The blocks of ranks, which have their numbers, by their numbers in the ring.
    pub fn runs(self, numbers: Range<u32>) -> [Run; 2] {
        let count = numbers.end - numbers.start;
        wrapped(self.rank(numbers.start), count, self.ranks)
    }

    /// The rank with a number.
    pub fn rank(self, number: u32) -> u32 {
        on(number, self.root, self.ranks)
    }
}
