//! Which of 512 packets in a row have come.

/// A set of the first 512 numbers, counted from some packet on: those that have come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrivals([u64; WORDS]);

const WORDS: usize = 8;

impl Arrivals {
    /// How many packets it can tell of.
    pub const COUNT: u32 = 64 * WORDS as u32;

    /// The set whose numbers are the bits of these words, the least first.
    pub const fn from_words(words: [u64; WORDS]) -> Arrivals {
        Arrivals(words)
    }

    /// Its numbers as the bits of words, the least first.
    pub const fn words(&self) -> [u64; WORDS] {
        self.0
    }

    /// Whether nothing has come.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Whether a packet has come; none has beyond the last.
    #[inline]
    pub fn has(&self, number: u32) -> bool {
        let word = self.0.get(number as usize / 64).copied().unwrap_or(0);
        word >> (number % 64) & 1 == 1
    }

    /// Takes note of a packet; of none beyond the last.
    #[inline]
    pub fn insert(&mut self, number: u32) {
        if let Some(word) = self.0.get_mut(number as usize / 64) {
            *word |= 1 << (number % 64);
        }
    }

    /// How many have come.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The last that has come.
    pub fn last(&self) -> Option<u32> {
        let (place, word) = self.0.iter().enumerate().rev().find(|&(_, &word)| word != 0)?;
        Some(place as u32 * 64 + word.ilog2())
    }

    /// The same packets, counted from so many later on: earlier ones are forgotten.
    #[inline]
    pub fn later(&self, packets: u32) -> Arrivals {
        let (words, bits) = (packets as usize / 64, packets % 64);
        let word = |place: usize| self.0.get(place).copied().unwrap_or(0);
        Arrivals(std::array::from_fn(|place| {
            let low = word(place + words) >> bits;
            // In two steps, since nothing can be shifted by all of its bits.
            low | word(place + words + 1) << (63 - bits) << 1
        }))
    }

    /// Those that are not in another set.
    #[inline]
    pub fn without(&self, other: &Arrivals) -> Arrivals {
        Arrivals(std::array::from_fn(|place| self.0[place] & !other.0[place]))
    }

    /// The numbers of those that have come.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = u32> + use<> {
        let mut words = self.0;
        let mut place = 0;
        std::iter::from_fn(move || {
            while place < WORDS && words[place] == 0 {
                place += 1;
            }
            let word = words.get_mut(place)?;
            let number = place as u32 * 64 + word.trailing_zeros();
            *word &= *word - 1;
            Some(number)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set_of_numbers(
            numbers in prop::collection::btree_set(0u32..600, 0..600), other in prop::collection::btree_set(0u32..512, 0..512),
            packets in prop_oneof![0u32..600, Just(64), Just(128), Just(u32::MAX)],
        ) {
            let of = |numbers: &BTreeSet<u32>| {
                let mut set = Arrivals::default();
                numbers.iter().for_each(|&number| set.insert(number));
                set
            };
            let set = of(&numbers);
            let numbers: BTreeSet<u32> = numbers.into_iter().filter(|&number| number < 512).collect();
            prop_assert!(set.iter().eq(numbers.iter().copied()));
            prop_assert!((0..600).all(|number| set.has(number) == numbers.contains(&number)));
            prop_assert_eq!((set.len() as usize, set.is_empty()), (numbers.len(), numbers.is_empty()));
            prop_assert_eq!(set.last(), numbers.last().copied());
            prop_assert_eq!(Arrivals::from_words(set.words()), set);
            let later = numbers.iter().filter_map(|number| number.checked_sub(packets));
            prop_assert!(set.later(packets).iter().eq(later));
            let without = numbers.difference(&other).copied();
            prop_assert!(set.without(&of(&other)).iter().eq(without));
        }
    }
}
