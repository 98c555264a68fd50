//! What happens when, earliest first.

use crosstie_units::Time;

/// Something that comes at a known time; of several at one instant, the one of the lowest `order` first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<T> {
    pub at: u64,
    pub order: u64,
    pub what: T,
}

/// A radix heap: entries lie in buckets by the highest bit in which their time differs from that of the last
/// entry taken. Nothing comes before that one, so an entry moves to ever lower buckets, and most are moved but
/// a few times.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    /// The time of the entries in the first bucket: that of the last one taken.
    base: u64,
    /// The first bucket is in descending order; the others are in none.
    buckets: Vec<Vec<Entry<T>>>,
    /// Bit b is set where bucket b + 1 has entries.
    filled: u64,
    /// The time of the earliest entry.
    next: u64,
    /// Room for a bucket that is being spread.
    room: Vec<Entry<T>>,
}

/// Beyond all times.
const NEVER: u64 = u64::MAX;

impl<T> Default for Agenda<T> {
    fn default() -> Agenda<T> {
        let buckets = (0..=64).map(|_| Vec::new()).collect();
        Agenda { base: 0, buckets, filled: 0, next: NEVER, room: Vec::new() }
    }
}

impl<T> Agenda<T> {
    /// When the earliest entry comes.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        (self.next != NEVER).then(|| Time::from_ps(self.next))
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.next == NEVER
    }

    /// Enters something. What is entered for a time before that of the last entry taken comes now; what comes at
    /// the end of the clock is still to come, however long anybody waits.
    #[inline]
    pub fn enter(&mut self, at: Time, order: u64, what: T) {
        let at = at.ps().clamp(self.base, NEVER - 1);
        self.next = self.next.min(at);
        self.place(Entry { at, order, what });
    }

    #[inline]
    fn place(&mut self, entry: Entry<T>) {
        let differs = entry.at ^ self.base;
        if differs == 0 {
            let first = &mut self.buckets[0];
            let place = first.partition_point(|other| other.order > entry.order);
            first.insert(place, entry);
        } else {
            let bucket = 64 - differs.leading_zeros() as usize;
            self.filled |= 1 << (bucket - 1);
            self.buckets[bucket].push(entry);
        }
    }

    /// Takes the earliest entry, if there is one.
    #[inline]
    pub fn take(&mut self) -> Option<Entry<T>> {
        if self.buckets[0].is_empty() {
            if self.next == NEVER {
                return None;
            }
            self.spread();
        }
        let entry = self.buckets[0].pop();
        if self.buckets[0].is_empty() {
            self.next = self.earliest();
        }
        entry
    }

    /// The time of the earliest entry beyond the first bucket.
    fn earliest(&self) -> u64 {
        if self.filled == 0 {
            return NEVER;
        }
        let bucket = self.filled.trailing_zeros() as usize + 1;
        self.buckets[bucket].iter().map(|entry| entry.at).min().unwrap_or(NEVER)
    }

    /// Goes on to the time of the earliest entry.
    fn spread(&mut self) {
        let bucket = self.filled.trailing_zeros() as usize + 1;
        self.base = self.next;
        self.filled &= !(1 << (bucket - 1));
        let mut room = std::mem::take(&mut self.room);
        std::mem::swap(&mut room, &mut self.buckets[bucket]);
        for entry in room.drain(..) {
            self.place(entry);
        }
        self.room = room;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    proptest! {
        /// As a heap does, where entries are made for times between those taken and those waiting, too.
        #[test]
        fn takes_the_earliest(
            steps in prop::collection::vec((0..3u8, 0..64u32, any::<u64>(), 0..4u64), 1..400),
        ) {
            let (mut agenda, mut heap) = (Agenda::default(), BinaryHeap::<Reverse<(u64, u64)>>::new());
            let mut now = 0;
            for (what, (kind, shift, draw, order)) in (0..).zip(steps) {
                if kind == 0 {
                    let next = heap.peek().map(|&Reverse((at, ..))| at);
                    prop_assert_eq!(agenda.next().map(Time::ps), next);
                    let taken = agenda.take().map(|entry| (entry.at, entry.order));
                    let expected = heap.pop().map(|Reverse((at, order))| (at, order));
                    prop_assert_eq!(taken, expected);
                    now = taken.map_or(now, |(at, _)| at);
                } else {
                    let at = now.saturating_add(draw >> shift).min(u64::MAX - 1);
                    agenda.enter(Time::from_ps(at), order, what);
                    heap.push(Reverse((at, order)));
                }
            }
        }
    }
}
