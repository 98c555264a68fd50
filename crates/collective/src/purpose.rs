//! What a collective operation begins with and must end with.

use crate::{Block, Layout, Rank};

/// Who has contributed to a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// This rank alone.
    One(Rank),
    /// All ranks below this number.
    Below(u32),
    /// All ranks.
    All,
}

/// What every rank must have in the end, and the meaning of the numbers of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Everybody has heard of everybody. There is one block: whom one has heard of.
    Barrier,
    /// Everybody has the vector of the root. Blocks are its parts.
    Broadcast {
        /// Who has it.
        root: Rank,
        /// The number of parts.
        parts: u32,
    },
    /// The root has block r of rank r.
    Gather {
        /// Who gets them.
        root: Rank,
    },
    /// Rank r has block r of the root.
    Scatter {
        /// Who has them.
        root: Rank,
    },
    /// Everybody has block r of rank r.
    AllGather,
    /// The root has the combination of everybody's vector. Blocks are parts of the vector.
    Reduce {
        /// Who gets it.
        root: Rank,
        /// The number of parts.
        parts: u32,
    },
    /// Everybody has the combination of everybody's vector. Blocks are parts of the vector.
    AllReduce {
        /// The number of parts.
        parts: u32,
    },
    /// Rank r has block r of the combination of all vectors.
    ReduceScatter,
    /// Rank r has the combination of the vectors of ranks 0 to r. Blocks are parts of the vector.
    Scan {
        /// The number of parts.
        parts: u32,
    },
    /// Rank r has the combination of the vectors of ranks 0 to r - 1, and rank 0 nothing. Blocks
    /// are parts of the vector.
    ExclusiveScan {
        /// The number of parts.
        parts: u32,
    },
    /// Of p ranks, rank d has block s p + d of rank s.
    AllToAll,
}

impl Purpose {
    /// Returns true if vectors are combined.
    pub fn combines(self) -> bool {
        match self {
            Purpose::Reduce { .. }
            | Purpose::AllReduce { .. }
            | Purpose::ReduceScatter
            | Purpose::Scan { .. }
            | Purpose::ExclusiveScan { .. } => true,
            Purpose::Barrier
            | Purpose::Broadcast { .. }
            | Purpose::Gather { .. }
            | Purpose::Scatter { .. }
            | Purpose::AllGather
            | Purpose::AllToAll => false,
        }
    }

    /// The number of blocks there are among so many ranks.
    pub fn blocks(self, ranks: u32) -> u64 {
        match self {
            Purpose::Barrier => 1,
            Purpose::Broadcast { parts, .. }
            | Purpose::Reduce { parts, .. }
            | Purpose::AllReduce { parts }
            | Purpose::Scan { parts }
            | Purpose::ExclusiveScan { parts } => parts.into(),
            Purpose::Gather { .. }
            | Purpose::Scatter { .. }
            | Purpose::AllGather
            | Purpose::ReduceScatter => ranks.into(),
            Purpose::AllToAll => u64::from(ranks) * u64::from(ranks),
        }
    }

    /// Blocks of the usual lengths: `size` is that of the whole vector, or of a block where each
    /// rank has blocks of its own. An all-to-all has two such layouts: [`Buffers`](crate::Buffers).
    pub fn layout(self, ranks: u32, size: u64) -> Layout {
        match self {
            Purpose::Barrier => Layout::Parts { whole: 0, parts: 1 },
            Purpose::Broadcast { parts, .. }
            | Purpose::Reduce { parts, .. }
            | Purpose::AllReduce { parts }
            | Purpose::Scan { parts }
            | Purpose::ExclusiveScan { parts } => Layout::Parts { whole: size, parts },
            Purpose::ReduceScatter => Layout::Parts { whole: size, parts: ranks },
            Purpose::Gather { .. }
            | Purpose::Scatter { .. }
            | Purpose::AllGather
            | Purpose::AllToAll => Layout::Equal(size),
        }
    }

    /// The blocks that a rank begins with, and who has contributed to them.
    pub fn initial(self, ranks: u32, rank: Rank, mut each: impl FnMut(Block, Rank)) {
        match self {
            Purpose::Barrier => each(Block(0), rank),
            Purpose::Reduce { parts, .. }
            | Purpose::AllReduce { parts }
            | Purpose::Scan { parts }
            | Purpose::ExclusiveScan { parts } => {
                (0..parts).for_each(|part| each(Block(part), rank));
            }
            Purpose::ReduceScatter => (0..ranks).for_each(|to| each(Block(to), rank)),
            Purpose::Broadcast { root, parts } if rank == root => {
                (0..parts).for_each(|part| each(Block(part), rank));
            }
            Purpose::Scatter { root } if rank == root => {
                (0..ranks).for_each(|to| each(Block(to), rank));
            }
            Purpose::Broadcast { .. } | Purpose::Scatter { .. } => {}
            Purpose::Gather { .. } | Purpose::AllGather => each(Block(rank.0), rank),
            Purpose::AllToAll => {
                (0..ranks).for_each(|to| each(Block(rank.0 * ranks + to), rank));
            }
        }
    }

    /// The blocks that a rank must end with, and who must have contributed to them.
    pub fn wanted(self, ranks: u32, rank: Rank, mut each: impl FnMut(Block, Whose)) {
        match self {
            Purpose::Barrier => each(Block(0), Whose::All),
            Purpose::Broadcast { root, parts } => {
                (0..parts).for_each(|part| each(Block(part), Whose::One(root)));
            }
            Purpose::Gather { root } if rank != root => each(Block(rank.0), Whose::One(rank)),
            Purpose::Gather { .. } | Purpose::AllGather => {
                (0..ranks).for_each(|from| each(Block(from), Whose::One(Rank(from))));
            }
            Purpose::Scatter { root } => each(Block(rank.0), Whose::One(root)),
            Purpose::Reduce { root, .. } if rank != root => {}
            Purpose::Reduce { parts, .. } | Purpose::AllReduce { parts } => {
                (0..parts).for_each(|part| each(Block(part), Whose::All));
            }
            Purpose::ReduceScatter => each(Block(rank.0), Whose::All),
            Purpose::Scan { parts } => {
                (0..parts).for_each(|part| each(Block(part), Whose::Below(rank.0 + 1)));
            }
            Purpose::ExclusiveScan { .. } if rank.0 == 0 => {}
            Purpose::ExclusiveScan { parts } => {
                (0..parts).for_each(|part| each(Block(part), Whose::Below(rank.0)));
            }
            Purpose::AllToAll => (0..ranks)
                .for_each(|from| each(Block(from * ranks + rank.0), Whose::One(Rank(from)))),
        }
    }
}
