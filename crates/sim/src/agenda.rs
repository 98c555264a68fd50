//! What happens when, earliest first.

use crosstie_units::Time;
use std::cmp::Reverse;

/// Something that comes at a known time; of several at one instant, the one of the lowest `order`
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry<T> {
    pub at: u64,
    pub order: u64,
    pub what: T,
}

/// Near entries lie in order; those further away lie in a radix heap, in buckets by the highest
/// digit in which their time differs from `base`, and by that digit. As time goes on the next
/// bucket is taken apart until few entries are left, so that most are moved but a few times.
#[derive(Debug)]
pub(crate) struct Agenda<T> {
    /// All entries up to and including `base`, in descending order.
    near: Vec<Entry<T>>,
    /// The time of the last entry taken.
    last: u64,
    base: u64,
    /// In the order in which they were entered; and the earliest time in each.
    buckets: Vec<Vec<Entry<T>>>,
    earliest: [u64; LEVELS * VALUES],
    /// Bit l is set where a bucket of level l has entries, and bit d of level l where that of
    /// digit d has.
    levels: u32,
    digits: [u16; LEVELS],
    /// Room for a bucket that is being taken apart.
    room: Vec<Entry<T>>,
}

/// Bits of a digit, values that it has, and digits of a time.
const BITS: u32 = 4;
const VALUES: usize = 1 << BITS;
const LEVELS: usize = 64 / BITS as usize;

/// A bucket of so many entries is near; when there are twice as many, most are far again.
const NEAR: usize = 16;

/// Beyond all times.
const NEVER: u64 = u64::MAX;

impl<T> Default for Agenda<T> {
    fn default() -> Agenda<T> {
        Agenda {
            near: Vec::new(),
            last: 0,
            base: 0,
            buckets: (0..LEVELS * VALUES).map(|_| Vec::new()).collect(),
            earliest: [NEVER; LEVELS * VALUES],
            levels: 0,
            digits: [0; LEVELS],
            room: Vec::new(),
        }
    }
}

impl<T> Agenda<T> {
    /// When the earliest entry comes.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let at = match self.near.last() {
            Some(entry) => entry.at,
            None => self.earliest[self.next_bucket()?],
        };
        Some(Time::from_ps(at))
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.near.is_empty() && self.levels == 0
    }

    /// Enters something. What is entered for a time before that of the last entry taken comes now;
    /// what comes at the end of the clock is still to come, however long anybody waits.
    #[inline]
    pub fn enter(&mut self, at: Time, order: u64, what: T) {
        let at = at.ps().clamp(self.last, NEVER - 1);
        let entry = Entry { at, order, what };
        if at > self.base {
            return self.put_far(entry);
        }
        let later = |other: &Entry<T>| (other.at, other.order) > (at, order);
        // What is entered comes soon, more often than not.
        let place = self.near.iter().rposition(later).map_or(0, |place| place + 1);
        self.near.insert(place, entry);
        if self.near.len() > 2 * NEAR {
            self.thin_out();
        }
    }

    /// Takes the earliest entry, if there is one.
    #[inline]
    pub fn take(&mut self) -> Option<Entry<T>> {
        if self.near.is_empty() {
            self.refill();
        }
        let entry = self.near.pop()?;
        self.last = entry.at;
        Some(entry)
    }

    /// The bucket of the earliest times that has entries.
    #[inline]
    fn next_bucket(&self) -> Option<usize> {
        let level = self.levels.trailing_zeros() as usize;
        let digits = self.digits.get(level)?;
        Some(level * VALUES + digits.trailing_zeros() as usize)
    }

    #[inline]
    fn put_far(&mut self, entry: Entry<T>) {
        let level = (entry.at ^ self.base).ilog2() / BITS;
        let digit = (entry.at >> (level * BITS)) as usize % VALUES;
        let place = level as usize * VALUES + digit;
        self.levels |= 1 << level;
        self.digits[level as usize] |= 1 << digit;
        self.earliest[place] = self.earliest[place].min(entry.at);
        self.buckets[place].push(entry);
    }

    /// Lets the next entries be near, if there are any. The earliest of them must be taken at once:
    /// then nothing comes any more before the times of its bucket, and the digits above them
    /// stay those of `base`.
    fn refill(&mut self) {
        while self.near.is_empty()
            && let Some(place) = self.next_bucket()
        {
            let (level, digit) = (place / VALUES, place % VALUES);
            self.digits[level] ^= 1 << digit;
            if self.digits[level] == 0 {
                self.levels ^= 1 << level;
            }
            self.earliest[place] = NEVER;
            let bucket = &mut self.buckets[place];
            let shift = level as u32 * BITS;
            // The times of this bucket: those of its digit, and all below that.
            let below = (1 << shift) - 1;
            let above = (NEVER << shift) & !((VALUES as u64 - 1) << shift);
            let first = self.base & above | (digit as u64) << shift;
            if bucket.len() <= NEAR || level == 0 {
                std::mem::swap(&mut self.near, bucket);
                self.base = first | below;
                self.sort();
            } else {
                std::mem::swap(&mut self.room, bucket);
                self.base = first;
                self.spread();
            }
        }
    }

    /// Lets all entries be far but those of now.
    #[cold]
    fn thin_out(&mut self) {
        if self.base == self.last {
            return;
        }
        self.base = self.last;
        std::mem::swap(&mut self.room, &mut self.near);
        self.room.reverse();
        self.spread();
    }

    /// Enters again what lies in `room`, in the order in which it was entered, while nothing is
    /// near.
    fn spread(&mut self) {
        let mut room = std::mem::take(&mut self.room);
        for entry in room.drain(..) {
            match entry.at == self.base {
                true => self.near.push(entry),
                false => self.put_far(entry),
            }
        }
        self.room = room;
        self.sort();
    }

    /// Sorts what is near, which is in the order in which it was entered. Of equals, the first one
    /// stays the first.
    fn sort(&mut self) {
        self.near.reverse();
        self.near.sort_by_key(|entry| Reverse((entry.at, entry.order)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BinaryHeap;

    proptest! {
        /// As a heap does, in bursts of entries near and far, also for times between those taken and those waiting; of
        /// equals the first one entered.
        #[test]
        fn takes_the_earliest(
            bursts in prop::collection::vec((0..60u32, 0..60u32, 0..64u32, any::<u64>()), 1..30),
        ) {
            let mut agenda = Agenda::default();
            let mut heap = BinaryHeap::<Reverse<(u64, u64, u32)>>::new();
            let (mut now, mut what) = (0u64, 0);
            for (enter, take, shift, mut draw) in bursts {
                for _ in 0..enter {
                    draw = draw.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    let (at, order) = (now.saturating_add(draw >> shift).min(NEVER - 1), draw % 4);
                    agenda.enter(Time::from_ps(at), order, what);
                    heap.push(Reverse((at, order, what)));
                    what += 1;
                }
                for _ in 0..take {
                    let expected = heap.pop().map(|Reverse(expected)| expected);
                    prop_assert_eq!(agenda.next().map(Time::ps), expected.map(|(at, ..)| at));
                    let taken = agenda.take().map(|entry| (entry.at, entry.order, entry.what));
                    prop_assert_eq!(taken, expected);
                    now = taken.map_or(now, |(at, ..)| at);
                }
                prop_assert_eq!(agenda.is_empty(), heap.is_empty());
            }
        }
    }
}
