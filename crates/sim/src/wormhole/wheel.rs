//! The clock: events by tick, with idle time jumped over.

use super::{NEVER, Tick};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A timing wheel: one bucket per tick for the near future, a heap for the far one.
///
/// Within a tick, events come out in the order in which they were put in, except that far ones come
/// first; the engine does not depend on that order.
#[derive(Debug)]
pub(super) struct Wheel<E> {
    buckets: Vec<Vec<E>>,
    /// One bit per bucket: not empty.
    occupied: Vec<u64>,
    far: BinaryHeap<Reverse<(Tick, u64, E)>>,
    far_pushed: u64,
    /// No event lies before this tick.
    now: Tick,
}

impl<E: Copy + Ord> Wheel<E> {
    /// A wheel whose near future is at least `near` ticks long.
    pub fn new(near: usize) -> Self {
        let size = near.next_power_of_two().max(64);
        Self {
            buckets: (0..size).map(|_| Vec::new()).collect(),
            occupied: vec![0; size / 64],
            far: BinaryHeap::new(),
            far_pushed: 0,
            now: 0,
        }
    }

    /// Puts an event at a tick that is not over yet.
    #[inline]
    pub fn push(&mut self, at: Tick, event: E) {
        debug_assert!(at >= self.now, "an event at {at} was pushed at {}", self.now);
        if at - self.now < self.buckets.len() as u64 {
            self.push_near(at, event);
        } else {
            self.far.push(Reverse((at, self.far_pushed, event)));
            self.far_pushed += 1;
        }
    }

    #[inline]
    fn push_near(&mut self, at: Tick, event: E) {
        let bucket = at as usize & (self.buckets.len() - 1);
        self.buckets[bucket].push(event);
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
    }

    /// The next tick with an event.
    pub fn next(&self) -> Option<Tick> {
        let far = self.far.peek().map(|Reverse((at, ..))| *at);
        match (self.first_near(), far) {
            (Some(near), Some(far)) => Some(near.min(far)),
            (near, far) => near.or(far),
        }
    }

    /// The next tick with an event, if it lies before `limit`. The wheel moves on to that tick, or
    /// to `limit` if there is none (but never to the end of time).
    pub fn advance(&mut self, limit: Tick) -> Option<Tick> {
        let size = self.buckets.len() as u64;
        let next = self.next().filter(|&at| at < limit);
        if let Some(to) = next.or((limit != NEVER).then_some(limit)) {
            self.now = self.now.max(to);
        }
        while let Some(&Reverse((at, _, event))) = self.far.peek()
            && at - self.now < size
        {
            self.far.pop();
            self.push_near(at, event);
        }
        next
    }

    /// Takes the events of the current tick; `into` is cleared first and lends its memory.
    #[inline]
    pub fn take(&mut self, into: &mut Vec<E>) {
        into.clear();
        let bucket = self.now as usize & (self.buckets.len() - 1);
        self.occupied[bucket / 64] &= !(1 << (bucket % 64));
        std::mem::swap(into, &mut self.buckets[bucket]);
    }

    fn first_near(&self) -> Option<Tick> {
        let size = self.buckets.len();
        let start = self.now as usize & (size - 1);
        let (word, bit) = (start / 64, start % 64);
        let words = self.occupied.len();
        let at = |word: usize, bits: u64| {
            let bucket = word * 64 + bits.trailing_zeros() as usize;
            self.now + ((bucket + size - start) & (size - 1)) as u64
        };
        let ahead = self.occupied[word] & (!0 << bit);
        if ahead != 0 {
            return Some(at(word, ahead));
        }
        for step in 1..words {
            let word = (word + step) & (words - 1);
            if self.occupied[word] != 0 {
                return Some(at(word, self.occupied[word]));
            }
        }
        let wrapped = self.occupied[word] & !(!0 << bit);
        (wrapped != 0).then(|| at(word, wrapped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn gives_every_event_at_its_tick(
            delays in prop::collection::vec(0u64..400, 1..200),
            steps in prop::collection::vec(1u64..300, 1..50),
        ) {
            let mut wheel = Wheel::new(64);
            let mut left: Vec<(Tick, u32)> = Vec::new();
            let mut delays = delays.into_iter();
            let (mut now, mut id, mut taken) = (0, 0, Vec::new());
            for step in steps {
                for delay in delays.by_ref().take(4) {
                    wheel.push(now + delay, id);
                    left.push((now + delay, id));
                    id += 1;
                }
                let limit = now + step;
                while let Some(at) = wheel.advance(limit) {
                    wheel.take(&mut taken);
                    let mut due: Vec<u32> =
                        left.iter().filter(|e| e.0 == at).map(|e| e.1).collect();
                    taken.sort_unstable();
                    due.sort_unstable();
                    prop_assert_eq!(&taken, &due);
                    left.retain(|e| e.0 != at);
                }
                prop_assert!(left.iter().all(|e| e.0 >= limit));
                now = limit;
            }
        }
    }
}
