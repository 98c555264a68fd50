//! When packets that have come in order are acknowledged.

use crosstie_units::Time;

use crate::channel::{GoBackNSpec, Seq};

/// What one end owes the other. Every frame carries the number expected, so any frame pays.
#[derive(Debug, Clone)]
pub(super) struct Acknowledgement {
    every: u32,
    /// For so many packets a Pack does not wait for room.
    half: u32,
    after: Time,
    /// The number of the packet expected next: everything before has been delivered.
    expected: Seq,
    /// Packets delivered that no frame has told of.
    owed: u32,
    /// When the first of them must have been told of.
    deadline: Option<Time>,
}

impl Acknowledgement {
    pub fn new(spec: &GoBackNSpec, expected: Seq) -> Acknowledgement {
        let GoBackNSpec { window, every, after, .. } = *spec;
        Acknowledgement { every, half: window / 2, after, expected, owed: 0, deadline: None }
    }

    /// The number of the packet expected next.
    #[inline]
    pub fn expected(&self) -> Seq {
        self.expected
    }

    /// Takes note of the packet expected; returns true if a Pack goes at once. Where the window of
    /// this end is full it waits for room, of which the other end will soon tell. Less than half a
    /// window waits so, lest both ends wait for each other.
    #[inline]
    pub fn note(&mut self, now: Time, full: bool) -> bool {
        self.expected = self.expected.plus(1);
        self.owed += 1;
        let waits = full && self.owed < self.half && self.may_wait();
        if self.is_due() && !waits {
            return true;
        }
        self.deadline.get_or_insert(now + self.after);
        false
    }

    /// Returns true if the style has time for a Pack to wait.
    #[inline]
    pub fn may_wait(&self) -> bool {
        self.after > Time::ZERO
    }

    /// Returns true if a Pack would have gone, had the window not been full.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.owed >= self.every.max(1)
    }

    /// The number for a frame that is being sent.
    #[inline]
    pub fn pay(&mut self) -> Seq {
        (self.owed, self.deadline) = (0, None);
        self.expected
    }

    /// When a Pack is due if no frame pays before.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }
}
