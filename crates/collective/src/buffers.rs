//! Where the blocks of an operation lie for one rank.

use crate::{Layout, Run};
use std::ops::Range;

/// The buffers of one rank, which a program is bound to when it is played.
///
/// | call | buffers |
/// |---|---|
/// | equal blocks, or a vector | [`Purpose::layout`](crate::Purpose::layout) |
/// | all-gather, reduce-scatter, lengths by rank | [`Layout::packed`] or [`Layout::Spread`] |
/// | gather, scatter, lengths by rank | the same at the root, [`Layout::Only`] elsewhere |
/// | all-to-all | two of them, with lengths by pair too |
///
/// A rank begins with its own contribution in the buffer: a call without `MPI_IN_PLACE` copies it
/// there. In an all-to-all the block of a rank for itself is in no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Buffers {
    /// All blocks lie in one buffer.
    One(Layout),
    /// In an all-to-all, blocks that the rank sends and blocks that it receives each have a buffer.
    /// Block s p + d is that from rank s to rank d.
    Exchange {
        /// The rank.
        rank: u32,
        /// p.
        ranks: u32,
        /// By the receiver.
        sent: Layout,
        /// By the sender.
        received: Layout,
    },
}

/// Which buffer of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Buffer {
    /// What others get, in an all-to-all.
    Sent,
    /// What others send, in an all-to-all; else the only one.
    Received,
    /// Room for this block alone, which the rank passes on.
    Passing(u32),
}

impl Buffers {
    /// Tells where blocks lie, in their order.
    ///
    /// # Panics
    /// If there are no such blocks, or if blocks that are passed on have unequal lengths: such
    /// algorithms are refused by [`Operation::check_own_lengths`](crate::Operation).
    pub fn places(&self, blocks: &[Run], mut each: impl FnMut(Buffer, Range<u64>)) {
        for &run in blocks {
            match *self {
                Buffers::One(ref layout) => {
                    layout.ranges(run).for_each(|range| each(Buffer::Received, range));
                }
                Buffers::Exchange { rank, ranks, ref sent, ref received } => {
                    for block in run.first..run.end {
                        let (from, to) = (block / ranks, block % ranks);
                        let (buffer, layout, peer) = match (from == rank, to == rank) {
                            (_, true) => (Buffer::Received, received, from),
                            (true, false) => (Buffer::Sent, sent, to),
                            (false, false) => {
                                let Layout::Equal(length) = *sent else {
                                    panic!("a rank passes on blocks of equal lengths alone")
                                };
                                each(Buffer::Passing(block), 0..length);
                                continue;
                            }
                        };
                        let place = Run { first: peer, end: peer + 1 };
                        layout.ranges(place).for_each(|range| each(buffer, range));
                    }
                }
            }
        }
    }

    /// The length of blocks: that of the message that carries them.
    pub fn length(&self, blocks: &[Run]) -> u64 {
        let mut length = 0;
        self.places(blocks, |_, range| length += range.end - range.start);
        length
    }
}
