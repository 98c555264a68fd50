//! The receiving half: what has come, and when to say so.

use crosstie_units::Time;

use super::backlog::nanoseconds;
use super::marks::Marks;
use crate::channel::{Arrivals, Sack, SelectiveSpec, Seq};

/// Takes every packet once, in any order.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    after: Time,
    /// The number of the packet expected next: everything before has come.
    expected: Seq,
    /// What has come after it.
    came: Marks,
    /// True if the last Sack told of packets far from the one expected: the next one does not.
    far: bool,
    /// Packets that have come again.
    repeated: u32,
    /// The packet that came last, and when.
    last: Option<(Seq, Time)>,
    /// Packets that nobody has been told of, and when that must have been done.
    owed: u32,
    /// Packets since the last Sack.
    unsaid: u32,
    deadline: Option<Time>,
    /// Whether an acknowledgement is due now, and whether it must say more than the number
    /// expected.
    due: bool,
    detailed: bool,
}

/// What a packet is to a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// It has not come before.
    New,
    /// It has.
    Repeated,
    /// No window reaches that far.
    Beyond,
}

/// Packets for which there is an acknowledgement at once; and if data waits to go the other way,
/// which carries it. It may not wait for long: both ends might wait for each other.
const EVERY: u32 = 2;
const EVERY_IF_DATA_WAITS: u32 = 4;

/// Packets for which there is a Sack all the same, for data does not say when packets came.
const UNSAID: u32 = 16;

impl Receiver {
    pub fn new(spec: &SelectiveSpec, expected: Seq) -> Receiver {
        Receiver {
            after: spec.after,
            expected,
            came: Marks::default(),
            far: false,
            repeated: 0,
            last: None,
            owed: 0,
            unsaid: 0,
            deadline: None,
            due: false,
            detailed: false,
        }
    }

    /// Whether it is the packet expected next, and none has come after it.
    #[inline]
    pub fn awaits(&self, seq: Seq) -> bool {
        seq == self.expected && self.came.is_empty()
    }

    /// Whether one packet more is acknowledged at once, even if it is the one expected.
    #[inline]
    pub fn is_answered(&self, now: Time, ride: Option<Time>) -> bool {
        let paused = self.last.is_none_or(|(_, last)| now > last + self.after);
        let every = if ride.is_some() { EVERY_IF_DATA_WAITS } else { EVERY };
        paused && ride.is_none() || self.owed + 1 >= every || self.unsaid + 1 >= UNSAID
    }

    /// Takes note of a packet. If data waits to go the other way, an acknowledgement may wait for
    /// it, for so long at least.
    #[inline]
    pub fn data(&mut self, now: Time, seq: Seq, ride: Option<Time>) -> Arrival {
        let ahead = seq.since(self.expected);
        if ahead >= SelectiveSpec::REACH && !seq.is_before(self.expected) {
            return Arrival::Beyond;
        }
        let answered = self.is_answered(now, ride);
        self.last = Some((seq, now));
        if ahead >= SelectiveSpec::REACH || self.came.has(seq) {
            self.repeated = self.repeated.wrapping_add(1);
            (self.due, self.detailed) = (true, true);
            return Arrival::Repeated;
        }
        self.owed += 1;
        self.unsaid += 1;
        let in_order = self.awaits(seq);
        if in_order {
            self.expected = self.expected.plus(1);
        } else {
            self.came.insert(seq);
            self.expected = self.expected.plus(self.came.pass(self.expected, 0));
            self.detailed |= !self.came.is_empty();
        }
        self.detailed |= self.unsaid >= UNSAID;
        if !in_order || answered {
            self.due = true;
        } else {
            self.deadline.get_or_insert(now + ride.map_or(self.after, |ride| ride.max(self.after)));
        }
        Arrival::New
    }

    /// Lets the time come.
    pub fn expire(&mut self, now: Time) {
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.due = true;
        }
    }

    /// When somebody must be told something, if it is not done before.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline.filter(|_| !self.due)
    }

    /// Whether there is something to be said now.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.due
    }

    /// Whether it must be a Sack.
    #[inline]
    pub fn is_detailed(&self) -> bool {
        self.due && self.detailed
    }

    pub fn is_idle(&self) -> bool {
        !self.due && self.deadline.is_none()
    }

    /// The number of the packet expected next.
    #[inline]
    pub fn expected(&self) -> Seq {
        self.expected
    }

    /// The number for data that goes the other way, which says everything if nothing is missing.
    #[inline]
    pub fn ride(&mut self) -> Seq {
        if !self.detailed {
            self.paid();
        }
        self.expected
    }

    /// What is to be said.
    #[inline]
    pub fn sack(&mut self, now: Time) -> Sack {
        self.paid();
        self.unsaid = 0;
        let Receiver { expected, repeated, .. } = *self;
        let (last, time) = self.last.unwrap_or((expected, now));
        let held = now.ps().saturating_sub(time.ps()) / 1_000;
        let held = u32::try_from(held).unwrap_or(u32::MAX);
        let beyond = if last.is_before(expected) { 0 } else { last.since(expected) };
        let far = beyond.saturating_sub(Arrivals::COUNT - 1);
        self.far = far > 0 && !self.far;
        let skipped = if self.far { far } else { 0 };
        let came = match self.came.is_empty() {
            true => Arrivals::default(),
            false => self.came.view(expected.plus(skipped)),
        };
        Sack { expected, last, at: nanoseconds(time), held, repeated, skipped, came }
    }

    #[inline]
    fn paid(&mut self) {
        (self.owed, self.deadline, self.due, self.detailed) = (0, None, false, false);
    }
}
