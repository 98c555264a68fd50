//! The first words on a path: a node proves that it is there now before it is sent packets.

use crosstie_units::Time;

/// How far a node is with another on one rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Greeting {
    /// Nothing has been said.
    Silent,
    /// A greeting is under way; it is said again at `next`, and then after twice as long.
    Said {
        /// What the answer has to repeat.
        nonce: u64,
        /// When it is said again.
        next: Time,
        /// How long it waited for that.
        wait: Time,
    },
    /// It has been answered.
    Answered,
}

/// After how long a greeting is said again, first and at most.
const FIRST: Time = Time::from_ns(2_000_000);
const LAST: Time = Time::from_ns(32_000_000);

impl Greeting {
    /// A greeting that is said now.
    pub fn said(now: Time, nonce: u64) -> Greeting {
        Greeting::Said { nonce, next: now + FIRST, wait: FIRST }
    }

    /// When it is said again.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        match *self {
            Greeting::Said { next, .. } => Some(next),
            Greeting::Silent | Greeting::Answered => None,
        }
    }

    /// Returns true if this is its answer.
    pub fn answers(&self, nonce: u64) -> bool {
        matches!(self, Greeting::Said { nonce: said, .. } if *said == nonce)
    }

    /// The nonce with which it is to be said again now, if it is. If nothing waits for the answer,
    /// it is not said for ever.
    pub fn again(&mut self, now: Time, waits: bool) -> Option<u64> {
        let Greeting::Said { nonce, next, wait } = self else { return None };
        if now < *next {
            return None;
        }
        if *wait == LAST && !waits {
            *self = Greeting::Silent;
            return None;
        }
        *wait = Time::from_ps(wait.ps() * 2).min(LAST);
        *next = now + *wait;
        Some(*nonce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_is_said_again_until_it_is_answered_or_nobody_waits() {
        let mut greeting = Greeting::said(Time::ZERO, 7);
        assert!(greeting.answers(7) && !greeting.answers(8));
        let mut said = Vec::new();
        while let Some(at) = greeting.deadline() {
            assert_eq!(greeting.again(Time::from_ps(at.ps() - 1), true), None);
            said.push(at.ps() / 1_000_000_000);
            assert_eq!(greeting.again(at, said.len() < 7).is_some(), said.len() < 7);
        }
        assert_eq!(said, [2, 6, 14, 30, 62, 94, 126]);
        assert_eq!(greeting, Greeting::Silent);
    }
}
