//! Sets of numbers that mostly come in order.

use std::collections::BTreeSet;

/// A set of numbers. Those that come in order, from 0 on, take no room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    /// All below are in it.
    floor: u64,
    /// Those beyond.
    beyond: BTreeSet<u64>,
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
        if number < self.floor || !self.beyond.insert(number) {
            return false;
        }
        while self.beyond.remove(&self.floor) {
            self.floor += 1;
        }
        true
    }

    /// Whether a number is in it.
    #[inline]
    pub fn contains(&self, number: u64) -> bool {
        number < self.floor || self.beyond.contains(&number)
    }

    /// How many there are.
    #[inline]
    pub fn count(&self) -> u64 {
        self.floor + self.beyond.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            prop_assert_eq!(numbers, Numbers { floor: 40, beyond: BTreeSet::new() });
        }
    }
}
