//! Sets of ranks. A set is known by a number: most sets have one member, and need nothing but that.

use crate::Rank;

/// A set of ranks, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Set(u32);

impl Set {
    /// Nobody, and nothing is there.
    pub const NONE: Set = Set(0);

    /// One rank.
    pub fn one(rank: Rank) -> Set {
        Set(rank.0 + 1)
    }

    /// The rank of a set of one, of which alone this is asked.
    pub fn only(self) -> Option<Rank> {
        self.0.checked_sub(1).map(Rank)
    }
}

/// All sets of more than one rank that have come up.
pub(super) struct Sets {
    ranks: u32,
    /// As many for each set as it takes to have a bit for each rank.
    words: Vec<u64>,
    /// How many make a set.
    width: usize,
}

impl Sets {
    pub fn new(ranks: u32) -> Sets {
        Sets { ranks, words: Vec::new(), width: (ranks as usize).div_ceil(64) }
    }

    /// The bits of a set from 64 times `index` on.
    fn word(&self, set: Set, index: usize) -> u64 {
        match set.0 {
            0 => 0,
            one if one <= self.ranks => {
                let rank = one - 1;
                if rank as usize / 64 == index { 1 << (rank % 64) } else { 0 }
            }
            many => self.words[(many - self.ranks - 1) as usize * self.width + index],
        }
    }

    /// Somebody for whom a condition on the words of both sets holds.
    fn find(&self, a: Set, b: Set, bits: impl Fn(u64, u64) -> u64) -> Option<Rank> {
        (0..self.width).find_map(|index| {
            let found = bits(self.word(a, index), self.word(b, index));
            (found != 0).then(|| Rank(index as u32 * 64 + found.trailing_zeros()))
        })
    }

    /// Somebody who is in both.
    pub fn common(&self, a: Set, b: Set) -> Option<Rank> {
        self.find(a, b, |a, b| a & b)
    }

    /// Somebody who is in the first but not in the second.
    pub fn excess(&self, a: Set, b: Set) -> Option<Rank> {
        if a == b { None } else { self.find(a, b, |a, b| a & !b) }
    }

    /// Whoever is in one of them.
    pub fn union(&mut self, a: Set, b: Set) -> Set {
        if b == Set::NONE || a == b {
            return a;
        }
        if a == Set::NONE {
            return b;
        }
        for index in 0..self.width {
            let word = self.word(a, index) | self.word(b, index);
            self.words.push(word);
        }
        Set(self.ranks + (self.words.len() / self.width) as u32)
    }

    /// All ranks below a number, which is at least 1.
    pub fn below(&mut self, count: u32) -> Set {
        if count == 1 {
            return Set::one(Rank(0));
        }
        for index in 0..self.width as u32 {
            let left = count.saturating_sub(index * 64);
            self.words.push(if left >= 64 { u64::MAX } else { (1 << left) - 1 });
        }
        Set(self.ranks + (self.words.len() / self.width) as u32)
    }
}
