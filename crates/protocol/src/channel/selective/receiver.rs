//! The receiving half: what has come, and when to say so.

use crosstie_units::Time;

use crate::channel::{Arrivals, Sack, SelectiveSpec, Seq};

/// Takes every packet once, in any order.
#[derive(Debug, Clone)]
pub(super) struct Receiver {
    after: Time,
    /// The number of the packet expected next: everything before has come.
    expected: Seq,
    /// What has come after it, counted from it on.
    came: Arrivals,
    /// Packets that have come again.
    repeated: u32,
    /// When a packet came last.
    last: Option<Time>,
    /// Packets that nobody has been told of, and when that must have been done.
    owed: u32,
    deadline: Option<Time>,
    /// Whether an acknowledgement is due now, and whether it must say more than the number expected.
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

/// Packets for which there is an acknowledgement at once.
const EVERY: u32 = 2;

impl Receiver {
    pub fn new(spec: &SelectiveSpec, expected: Seq) -> Receiver {
        Receiver {
            after: spec.after,
            expected,
            came: Arrivals::default(),
            repeated: 0,
            last: None,
            owed: 0,
            deadline: None,
            due: false,
            detailed: false,
        }
    }

    /// Takes note of a packet.
    #[inline]
    pub fn data(&mut self, now: Time, seq: Seq) -> Arrival {
        let ahead = seq.since(self.expected);
        if ahead >= Arrivals::COUNT && !seq.is_before(self.expected) {
            return Arrival::Beyond;
        }
        let paused = self.last.is_none_or(|last| now > last + self.after);
        self.last = Some(now);
        if ahead >= Arrivals::COUNT || self.came.has(ahead) {
            self.repeated = self.repeated.wrapping_add(1);
            (self.due, self.detailed) = (true, true);
            return Arrival::Repeated;
        }
        self.owed += 1;
        let in_order = ahead == 0 && self.came.is_empty();
        if in_order {
            self.expected = self.expected.plus(1);
        } else {
            self.came.insert(ahead);
            let run = self.came.run();
            self.expected = self.expected.plus(run);
            self.came = self.came.later(run);
            self.detailed |= !self.came.is_empty();
        }
        if !in_order || paused || self.owed >= EVERY {
            self.due = true;
        } else {
            self.deadline.get_or_insert(now + self.after);
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
        let held = self.last.map_or(0, |last| now.ps().saturating_sub(last.ps()) / 1_000);
        let Receiver { expected, repeated, came, .. } = *self;
        Sack { expected, held: u32::try_from(held).unwrap_or(u32::MAX), repeated, came }
    }

    #[inline]
    fn paid(&mut self) {
        (self.owed, self.deadline, self.due, self.detailed) = (0, None, false, false);
    }
}
