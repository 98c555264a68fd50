//! Which packets have come, of as many as a window reaches.

use crate::channel::{Arrivals, SelectiveSpec, Seq};

/// A set of packets that are less than [`SelectiveSpec::REACH`] apart. It takes no memory before
/// the first.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    /// The bit of a packet is that of its number modulo the reach.
    words: Vec<u64>,
    count: u32,
}

const WORDS: usize = SelectiveSpec::REACH as usize / 64;

impl Marks {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    fn word(&self, place: usize) -> u64 {
        self.words.get(place % WORDS).copied().unwrap_or(0)
    }

    #[inline]
    pub fn has(&self, seq: Seq) -> bool {
        self.word(seq.0 as usize / 64) >> (seq.0 % 64) & 1 == 1
    }

    /// Adds a packet that is not there.
    pub fn insert(&mut self, seq: Seq) {
        self.words.resize(WORDS, 0);
        self.words[seq.0 as usize / 64 % WORDS] |= 1 << (seq.0 % 64);
        self.count += 1;
    }

    /// Removes a packet; returns true if it was there.
    fn remove(&mut self, seq: Seq) -> bool {
        let was = self.has(seq);
        if was {
            self.words[seq.0 as usize / 64 % WORDS] &= !(1 << (seq.0 % 64));
            self.count -= 1;
        }
        was
    }

    /// Removes `packets` packets from a number on, as far as they are there, and then those that
    /// follow without a gap. Returns how many packets are passed.
    #[inline]
    pub fn pass(&mut self, from: Seq, packets: u32) -> u32 {
        let mut passed = packets;
        if self.count > 0 {
            (0..packets).for_each(|packet| _ = self.remove(from.plus(packet)));
            while self.count > 0 && self.remove(from.plus(passed)) {
                passed += 1;
            }
        }
        passed
    }

    /// The packets from a number on that an acknowledgement has room for.
    pub fn view(&self, from: Seq) -> Arrivals {
        let (first, bits) = (from.0 as usize / 64, from.0 % 64);
        Arrivals::from_words(std::array::from_fn(|place| {
            let low = self.word(first + place) >> bits;
            // In two steps, since nothing can be shifted by all of its bits.
            low | self.word(first + place + 1) << (63 - bits) << 1
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_set_of_packets(
            first: u32, numbers in prop::collection::btree_set(0..SelectiveSpec::REACH, 0..600),
            packets in 0..SelectiveSpec::REACH / 2,
        ) {
            let (first, mut marks) = (Seq(first), Marks::default());
            numbers.iter().for_each(|&number| marks.insert(first.plus(number)));
            for from in [0, packets] {
                let view = marks.view(first.plus(from));
                let there = |number| from + number < SelectiveSpec::REACH && numbers.contains(&(from + number));
                prop_assert!((0..Arrivals::COUNT).all(|number| view.has(number) == there(number)));
            }
            let run = (packets..).take_while(|number| numbers.contains(number)).count() as u32;
            prop_assert_eq!(marks.pass(first, packets), packets + run);
            let left = numbers.iter().filter(|&&number| number >= packets + run).count();
            prop_assert_eq!((marks.count as usize, marks.is_empty()), (left, left == 0));
        }
    }
}
