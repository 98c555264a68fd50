//! When packets that have come in order are acknowledged.

use crosstie_units::Time;

use crate::channel::{GoBackNSpec, Seq};

/// What one end owes the other. Every frame carries the number expected, so any frame pays.
#[derive(Debug, Clone)]
pub(super) struct Acknowledgement {
    every: u32,
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
        let GoBackNSpec { every, after, .. } = *spec;
        Acknowledgement { every, after, expected, owed: 0, deadline: None }
    }

    /// The number of the packet expected next.
    #[inline]
    pub fn expected(&self) -> Seq {
        self.expected
    }

    /// Takes note of the packet expected; whether a Pack is due at once.
    #[inline]
    pub fn note(&mut self, now: Time) -> bool {
        self.expected = self.expected.plus(1);
        self.owed += 1;
        if self.owed >= self.every {
            return true;
        }
        self.deadline.get_or_insert(now + self.after);
        false
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
