//! The first words on a rail: whoever is to be sent data proves first that it is there now and
//! knows the secret.

use crosstie_units::Time;

use crate::datagram::{HEAD, Head, TAG_BITS};
use crate::key::{Course, Key};

/// How far a rank is with another on one rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Greeting {
    /// Nothing has been said.
    Silent,
    /// A greeting is under way; it is said again at some time, and then after twice as long.
    Said { nonce: u64, next: Time, wait: Time },
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

/// Numbers that were not used before and that nobody can guess who does not know the secret.
pub(super) struct Nonces {
    rank: u16,
    key: Key,
    count: u64,
}

impl Nonces {
    pub fn new(rank: u16, key: Key) -> Nonces {
        Nonces { rank, key, count: 0 }
    }

    pub fn next(&mut self) -> u64 {
        self.count += 1;
        let course = Course { to: self.rank, rail: u8::MAX };
        // No datagram has such a head.
        let head = Head::read(&[u8::MAX; HEAD]);
        self.count << TAG_BITS | self.key.tag(course, &head, [&self.count.to_le_bytes(), &[]])
    }
}
