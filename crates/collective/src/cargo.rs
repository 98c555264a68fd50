//! What messages carry.

use crate::Run;

/// A part of what a collective operation moves, by its number. What the numbers stand for is told
/// by the [`Purpose`](crate::Purpose).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block(pub u32);

/// What an operation does with its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// A send reads them.
    Read,
    /// A receive puts them in the place of what was there.
    Store,
    /// A receive takes contributions that are combined with those that are there; nobody
    /// contributes twice. The combining takes place when the first operation that waits for the
    /// receive starts. Where order matters, what a lower rank has sent goes in front of what is
    /// there, and what a higher rank has sent behind it.
    Add,
    /// The same for contributions that may be there already.
    Merge,
    /// A receive puts them in the place of what was there, which is no longer needed, when the
    /// first operation that waits for the receive starts.
    Replace,
    /// A computation combines what a receive has taken.
    Combine,
}

/// What each operation of a schedule does with which blocks, in the order of
/// [`Schedule::all`](crate::Schedule::all).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cargo {
    accesses: Vec<Access>,
    /// Where the blocks of each operation end.
    ends: Vec<u32>,
    blocks: Vec<Block>,
}

impl Cargo {
    /// Adds what the next operation does with these blocks.
    ///
    /// # Panics
    /// If there are 2^32 blocks or more.
    pub fn push(&mut self, access: Access, blocks: impl IntoIterator<Item = Block>) {
        self.blocks.extend(blocks);
        self.close(access);
    }

    /// Adds what the next operation does with blocks whose numbers follow each other, run by run.
    pub(crate) fn push_runs(&mut self, access: Access, runs: &[Run]) {
        self.push(access, runs.iter().flat_map(|run| run.first..run.end).map(Block));
    }

    fn close(&mut self, access: Access) {
        self.accesses.push(access);
        self.ends.push(u32::try_from(self.blocks.len()).expect("fewer than 2^32 blocks"));
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.accesses.len()
    }

    /// Whether there is no operation.
    pub fn is_empty(&self) -> bool {
        self.accesses.is_empty()
    }

    /// What the operation at a place does.
    pub fn access(&self, place: usize) -> Access {
        self.accesses[place]
    }

    /// Its blocks.
    pub fn blocks(&self, place: usize) -> &[Block] {
        &self.blocks[self.range(place)]
    }

    /// The blocks of all operations.
    pub(crate) fn all(&self) -> &[Block] {
        &self.blocks
    }

    /// Where the blocks of an operation are among all.
    pub(crate) fn range(&self, place: usize) -> std::ops::Range<usize> {
        let begin = if place == 0 { 0 } else { self.ends[place - 1] };
        begin as usize..self.ends[place] as usize
    }
}
