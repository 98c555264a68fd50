//! Envelopes in order.

use std::collections::BTreeMap;

/// Numbers what goes to another rank, and lets what comes from it through in order. Numbers wrap.
#[derive(Debug, Default)]
pub(super) struct Order<T> {
    /// The next number to be sent: PSN.
    next: u32,
    /// The next one to be opened: ESN.
    expected: u32,
    /// That one, if it has come.
    due: Option<T>,
    /// What has come too early, by its number.
    early: BTreeMap<u32, T>,
    assigned: u64,
    deferred: u64,
}

/// Nobody is further ahead than this: half of all numbers.
const FURTHEST: u32 = 1 << 31;

/// Nobody has more under way than this: unanswered RTS are fewer, and credit is for far less.
const MOST_EARLY: usize = 1 << 21;

impl<T> Order<T> {
    pub fn new(first: u32) -> Order<T> {
        Order {
            next: first,
            expected: first,
            due: None,
            early: BTreeMap::new(),
            assigned: 0,
            deferred: 0,
        }
    }

    /// The number of the next envelope.
    pub fn assign(&mut self) -> u32 {
        let number = self.next;
        self.next = number.wrapping_add(1);
        self.assigned += 1;
        number
    }

    /// Whether the next envelope to be opened has this number, and no other waits behind it.
    pub fn awaits(&self, number: u32) -> bool {
        number == self.expected && self.due.is_none() && self.early.is_empty()
    }

    /// The next envelope has come and been opened; it was [awaited](Order::awaits).
    pub fn pass(&mut self) {
        self.expected = self.expected.wrapping_add(1);
    }

    /// Something has come; false if it has come before, or cannot be. It is then to be asked for
    /// with [`Order::open`].
    pub fn arrive(&mut self, number: u32, thing: T) -> bool {
        if number == self.expected {
            let is_new = self.due.is_none();
            self.due.get_or_insert(thing);
            return is_new;
        }
        if number.wrapping_sub(self.expected) >= FURTHEST
            || self.early.contains_key(&number)
            || self.early.len() >= MOST_EARLY
        {
            return false;
        }
        self.deferred += 1;
        self.early.insert(number, thing);
        true
    }

    /// What is to be opened next, and its number, if it is there.
    pub fn open(&mut self) -> Option<(u32, T)> {
        let number = self.expected;
        let thing = self.due.take()?;
        self.expected = number.wrapping_add(1);
        if !self.early.is_empty() {
            self.due = self.early.remove(&self.expected);
        }
        Some((number, thing))
    }

    /// Forgets what has come too early.
    pub fn clear(&mut self) {
        self.due = None;
        self.early.clear();
    }

    /// How many numbers have been given so far.
    pub fn assigned(&self) -> u64 {
        self.assigned
    }

    /// How many have come too early so far.
    pub fn deferred(&self) -> u64 {
        self.deferred
    }

    pub fn is_empty(&self) -> bool {
        self.due.is_none() && self.early.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn who_leaves_gaps_fills_no_memory() {
        let mut order = Order::new(0);
        let kept = (1..=MOST_EARLY as u32 + 9).filter(|&number| order.arrive(number, ())).count();
        assert_eq!(kept, MOST_EARLY);
        // What is expected always has room.
        assert!(order.arrive(0, ()) && order.open().is_some());
    }

    proptest! {
        #[test]
        fn what_comes_in_any_order_is_opened_in_order(
            first: u32, order in Just((0..50u32).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let (mut sender, mut receiver) = (Order::<u32>::new(first), Order::new(first));
            let numbers: Vec<u32> = (0..50).map(|_| sender.assign()).collect();
            let mut opened = Vec::new();
            for place in order {
                let number = numbers[place as usize];
                prop_assert!(receiver.arrive(number, place));
                prop_assert!(!receiver.arrive(number, place), "once");
                opened.extend(std::iter::from_fn(|| receiver.open().map(|(_, thing)| thing)));
                prop_assert!(opened.last() != Some(&place) || !receiver.arrive(number, place));
            }
            prop_assert_eq!(opened, (0..50).collect::<Vec<_>>());
            prop_assert!(receiver.is_empty());
        }
    }
}
