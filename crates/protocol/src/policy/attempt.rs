//! One attempt of a PE to reserve NICs [coll, algorithm 4].

use crosstie_units::Time;

use crate::{NodeId, RailSet};

/// What a PE has asked for and has been told so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attempt {
    /// Numbered within the node: late answers belong to an earlier one.
    pub number: u64,
    /// To whom the message goes.
    pub to: NodeId,
    /// NICs that have not answered yet.
    pub pending: RailSet,
    /// NICs that have been granted the receiver.
    pub granted: RailSet,
    /// When it ends, whatever has come by then.
    pub deadline: Option<Time>,
}

/// How long a PE waits for the answers to one attempt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Timeout {
    first: Option<Time>,
    doublings: u32,
}

impl Timeout {
    pub fn new(first: Option<Time>) -> Timeout {
        Timeout { first, doublings: 0 }
    }

    /// When an attempt that starts now ends.
    pub fn deadline(&self, now: Time) -> Option<Time> {
        // From no time at all doubling would lead nowhere.
        let first = self.first?.ps().max(1);
        let wait = first.saturating_mul(1u64.checked_shl(self.doublings).unwrap_or(u64::MAX));
        Some(Time::from_ps(now.ps().saturating_add(wait)))
    }

    /// An attempt has ended without any grant. If answers take longer than the time-out, all of
    /// them come late and are turned down: with ever the same time-out nothing would ever be
    /// sent.
    pub fn double(&mut self) {
        self.doublings = self.doublings.saturating_add(1);
    }

    /// A message has been sent.
    pub fn restore(&mut self) {
        self.doublings = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_doubles_until_a_message_is_sent() {
        let mut timeout = Timeout::new(Some(Time::from_ns(5)));
        let deadline = |timeout: &Timeout| timeout.deadline(Time::from_ns(100));
        assert_eq!(deadline(&timeout), Some(Time::from_ns(105)));
        timeout.double();
        timeout.double();
        assert_eq!(deadline(&timeout), Some(Time::from_ns(120)));
        timeout.restore();
        assert_eq!(deadline(&timeout), Some(Time::from_ns(105)));
        (0..100).for_each(|_| timeout.double());
        assert_eq!(deadline(&timeout), Some(Time::from_ps(u64::MAX)));
        assert_eq!(deadline(&Timeout::new(None)), None);
        assert_eq!(Timeout::new(Some(Time::ZERO)).deadline(Time::ZERO), Some(Time::from_ps(1)));
    }
}
