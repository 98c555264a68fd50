//! How long packets wait on their way there, and how long the rest of a round trip takes.

use crosstie_units::Time;

use super::window::LONG;

/// The queue on the way there, by the clocks of both ends.
///
/// Nobody knows by how much the clocks differ, but the packet that seems to have taken the least
/// time is one that has not waited, and others have waited by as much as they took longer. What
/// remains of a round trip is not changed by what is sent: it has the queue of data that go the
/// other way in it, and what hosts take to answer.
#[derive(Debug, Clone, Default)]
pub(super) struct Backlog {
    /// The least time that a packet seemed to take, in nanoseconds modulo 2^32.
    least: Option<u32>,
    /// The same in this round.
    round: Option<u32>,
    /// How long packets have waited of late, and what their round trips took besides, both
    /// smoothed; in picoseconds.
    queue: u64,
    rest: u64,
    /// The slot of time of the other end's clock.
    slot: u32,
}

/// What a packet has shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waited {
    /// How long it has waited, in picoseconds.
    pub queue: u64,
    /// Whether there is a queue as a slot ends, which it does for everybody who sends to the same
    /// end at once.
    pub look: bool,
}

/// Slots of time are of two to the power of so many nanoseconds: half a second, about.
const SLOT: u32 = 29;

/// Who waits for less than one part of so many of the rest of a round trip does not wait.
const HARDLY: u64 = 16;

/// How slowly the mean follows: by one part of so many.
const SLOWLY: u64 = 16;

impl Backlog {
    /// Takes note of a packet that was sent at a time by the clock of the one end, and came at one
    /// by that of the other, and whose round trip took so long; and how long the smallest one
    /// took.
    #[inline]
    pub fn note(&mut self, sent: Time, came: u32, trip: u64, smallest: u64) -> Waited {
        let took = came.wrapping_sub(nanoseconds(sent));
        self.round = Some(self.round.map_or(took, |least| earlier(least, took)));
        let Some(least) = self.least else {
            (self.least, self.queue, self.rest) = (Some(took), 0, trip);
            self.slot = came >> SLOT;
            return Waited { queue: 0, look: false };
        };
        let by = took.wrapping_sub(least);
        if by > i32::MAX as u32 {
            let less = u64::from(by.wrapping_neg()) * 1_000;
            (self.least, self.queue) = (Some(took), self.queue + less);
            self.rest = self.rest.saturating_sub(less);
        }
        let waited = (u64::from(took.wrapping_sub(earlier(least, took))) * 1_000).min(trip);
        self.queue = self.queue - self.queue / SLOWLY + waited / SLOWLY;
        self.rest = self.rest - self.rest / SLOWLY + (trip - waited) / SLOWLY;
        let slot = came >> SLOT;
        let ends = self.slot != slot && slot.trailing_zeros() >= rarely(smallest);
        self.slot = slot;
        Waited { queue: waited, look: ends && self.queue > self.rest / HARDLY }
    }

    /// Begins to look for the packet of this round that took the least time.
    pub fn begin_round(&mut self) {
        self.round = None;
    }

    /// Takes the packet of this round that took the least time for one that has not waited.
    pub fn settle(&mut self) {
        if let Some((least, round)) = self.least.zip(self.round) {
            // By so much all others have waited less than was thought.
            let more = u64::from(round.wrapping_sub(least)) * 1_000;
            (self.least, self.rest) = (Some(round), self.rest + more);
            self.queue = self.queue.saturating_sub(more);
        }
    }

    /// How long packets wait of late, in picoseconds; `None` if nothing is known.
    pub fn queue(&self) -> Option<u64> {
        self.least.map(|_| self.queue)
    }

    /// What round trips take besides, in picoseconds; `None` if nothing is known.
    #[inline]
    pub fn rest(&self) -> Option<u64> {
        self.least.map(|_| self.rest)
    }
}

/// How often slots of time are halved: a look takes two round trips, so there are fewer on long
/// paths.
fn rarely(smallest: u64) -> u32 {
    (smallest / LONG).checked_ilog2().map_or(0, |halvings| (halvings + 1).min(u32::BITS - SLOT))
}

/// A time on a clock that goes round in four seconds.
#[inline]
pub(super) fn nanoseconds(time: Time) -> u32 {
    (time.ps() / 1_000) as u32
}

#[inline]
fn earlier(one: u32, other: u32) -> u32 {
    if other.wrapping_sub(one) > i32::MAX as u32 { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn us(us: u64) -> Time {
        Time::from_ns(1_000 * us)
    }

    /// Packets that wait for so long, sent every 100 us on a way of 30 us there and 70 back, to
    /// somebody whose clock differs by so much.
    fn after(waits: &[u64], offset: u32) -> Backlog {
        let mut backlog = Backlog::default();
        for (number, wait) in (0..).zip(waits) {
            let sent = us(100 * number);
            let came = nanoseconds(sent + us(30 + wait)).wrapping_add(offset);
            backlog.note(sent, came, us(100 + wait).ps(), us(100).ps());
        }
        backlog
    }

    proptest! {
        #[test]
        fn clocks_may_differ_by_anything(
            waits in prop::collection::vec(0u64..1_000, 1..100), offset: u32,
        ) {
            let (plain, other) = (after(&waits, 0), after(&waits, offset));
            prop_assert_eq!((plain.queue(), plain.rest()), (other.queue(), other.rest()));
            let least = waits.iter().min().unwrap();
            let most = waits.iter().max().unwrap();
            prop_assert!(other.queue().unwrap() <= us(most - least).ps());
            prop_assert!(other.rest().unwrap() <= us(100 + most).ps());
        }
    }

    #[test]
    fn a_queue_that_stands_is_told_from_the_rest_and_settled_as_part_of_it() {
        let mut waits = vec![0];
        waits.extend([500; 300]);
        let mut backlog = after(&waits, 12_345);
        let near = |found: Option<u64>, expected: u64| {
            let found = found.expect("it is known");
            assert!(found.abs_diff(us(expected).ps()) < us(1).ps(), "{found} {expected} us");
        };
        near(backlog.queue(), 500);
        near(backlog.rest(), 100);
        backlog.begin_round();
        backlog.note(
            us(90_000),
            nanoseconds(us(90_000 + 430)).wrapping_add(12_345),
            us(500).ps(),
            us(100).ps(),
        );
        backlog.settle();
        near(backlog.queue(), 94);
        near(backlog.rest(), 500);
    }

    #[test]
    fn a_slot_ends_twice_in_a_second_and_is_told_if_there_is_a_queue() {
        for (wait, looks) in [(0, 0), (500, 7)] {
            let mut backlog = after(&[0], 0);
            let found = (1..40_000u64).filter(|number| {
                let sent = us(100 * number);
                let came = nanoseconds(sent + us(30 + wait));
                backlog.note(sent, came, us(100 + wait).ps(), us(100).ps()).look
            });
            assert_eq!(found.count(), looks);
        }
    }
}
