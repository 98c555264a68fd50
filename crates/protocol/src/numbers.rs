//! Sets of numbers that mostly come in order.

use std::collections::BTreeMap;

/// The most gaps in a set. Whoever leaves more does so on purpose: what would leave another is
/// taken for something that was there.
const MOST_GAPS: usize = 1 << 16;

/// A set of numbers. Those that come in order, from 0 on, take no room, and others as much as there
/// are gaps between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// All below are in it.
    floor: u64,
    /// Those beyond: where each run of them begins and ends. None of these touch.
    beyond: BTreeMap<u64, u64>,
    /// How many these are.
    more: u64,
}

impl Numbers {
    /// Adds a number; false if it was there.
    #[inline]
    pub fn insert(&mut self, number: u64) -> bool {
        if number == self.floor && self.beyond.is_empty() {
            self.floor += 1;
            return true;
        }
        self.insert_out_of_order(number)
    }

    #[inline(never)]
    fn insert_out_of_order(&mut self, number: u64) -> bool {
        if self.contains(number) {
            return false;
        }
        let end = self.beyond.remove(&(number + 1)).unwrap_or(number + 1);
        if number == self.floor {
            self.more -= end - number - 1;
            self.floor = end;
            return true;
        }
        self.more += 1;
        match self.beyond.range_mut(..number).next_back() {
            Some((_, before)) if *before == number => *before = end,
            _ => _ = self.beyond.insert(number, end),
        }
        true
    }

    /// Whether a number is in it, or is not taken any more.
    #[inline]
    pub fn contains(&self, number: u64) -> bool {
        number < self.floor || !self.beyond.is_empty() && self.is_beyond(number)
    }

    fn is_beyond(&self, number: u64) -> bool {
        let before = self.beyond.range(..=number).next_back();
        if before.is_some_and(|(_, &end)| number < end) || number == u64::MAX {
            return true;
        }
        let touches = number == self.floor
            || before.is_some_and(|(_, &end)| number == end)
            || self.beyond.contains_key(&(number + 1));
        self.beyond.len() >= MOST_GAPS && !touches
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> u64 {
        self.floor + self.more
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn numbers_are_there_once(order in prop::collection::vec(0..40u64, 0..80)) {
            let (mut numbers, mut set) = (Numbers::default(), BTreeSet::new());
            for number in order {
                prop_assert_eq!(numbers.insert(number), set.insert(number));
                prop_assert_eq!(numbers.count() as usize, set.len());
            }
            for number in 0..40 {
                prop_assert_eq!(numbers.contains(number), set.contains(&number));
            }
            for number in 0..40 {
                numbers.insert(number);
            }
            prop_assert_eq!(numbers, Numbers { floor: 40, ..Numbers::default() });
        }
    }

    #[test]
    fn who_leaves_gaps_on_purpose_fills_no_memory() {
        let mut numbers = Numbers::default();
        let most = MOST_GAPS as u64;
        let taken = (0..2 * most).filter(|gap| numbers.insert(2 * gap + 1)).count();
        assert_eq!((taken, numbers.beyond.len()), (MOST_GAPS, MOST_GAPS));
        assert!(numbers.contains(2 * most + 1), "it is not taken any more");
        assert!(numbers.insert(2 * most), "what leaves no further gap is");
        // With room again, others are too.
        assert!(numbers.insert(0) && numbers.insert(2 * most + 5));
        assert!(numbers.contains(u64::MAX) && !numbers.insert(u64::MAX));
    }
}
