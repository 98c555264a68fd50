//! The first words on a rail: whoever is to be sent data proves first that it is there now and
//! knows the secret.

use crosstie_units::Time;

use super::Engine;
use crate::datagram::{Body, HEAD, Head, TAG_BITS};
use crate::key::Course;

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
    /// When it is said again.
    pub fn deadline(&self) -> Option<Time> {
        match *self {
            Greeting::Said { next, .. } => Some(next),
            Greeting::Silent | Greeting::Answered => None,
        }
    }
}

impl Engine {
    /// A number that was not used before and that nobody can guess who does not know the secret.
    fn next_nonce(&mut self) -> u64 {
        self.nonce += 1;
        let course = Course { to: self.rank, rail: u8::MAX };
        // No datagram has such a head.
        let head = Head::read(&[u8::MAX; HEAD]);
        self.nonce << TAG_BITS | self.key.tag(course, &head, [&self.nonce.to_le_bytes(), &[]])
    }

    /// Greets a peer on a rail.
    pub(super) fn greet(&mut self, now: Time, rank: u16, rail: u8) {
        let nonce = self.next_nonce();
        let link = self.link(rank, rail);
        link.greeting = Greeting::Said { nonce, next: now + FIRST, wait: FIRST };
        self.hurry(Some(now + FIRST));
        self.nics[usize::from(rail)].queue.urgent(rank, Body::Hello { nonce });
    }

    /// Greets all peers on all rails.
    #[cfg(any(test, feature = "bare"))]
    pub fn greet_all(&mut self, now: Time) {
        let own = self.rank;
        for rank in (0..self.peers.len() as u16).filter(|&rank| rank != own) {
            (0..self.nics.len() as u8).for_each(|rail| self.greet(now, rank, rail));
        }
        self.settle(now);
    }

    /// Says greetings again that were not answered; if nothing waits for that, not for ever.
    pub(super) fn greet_again(&mut self, now: Time) {
        let Engine { peers, nics, .. } = self;
        for (rank, peer) in (0u16..).zip(peers) {
            for (link, nic) in peer.links.iter_mut().zip(&mut *nics) {
                let Some(link) = link else { continue };
                if let Greeting::Said { nonce, next, wait } = &mut link.greeting
                    && *next <= now
                {
                    if *wait == LAST && link.waiting.is_empty() {
                        link.greeting = Greeting::Silent;
                        continue;
                    }
                    *wait = Time::from_ps(wait.ps() * 2).min(LAST);
                    *next = now + *wait;
                    nic.queue.urgent(rank, Body::Hello { nonce: *nonce });
                }
            }
        }
    }

    /// A greeting has come; it is answered at once, and returned: later, the answer to ours would
    /// have to pass by all that is under way by then, in a switch that may have room for
    /// nothing else.
    pub(super) fn greeted(&mut self, now: Time, rank: u16, rail: u8, nonce: u64) {
        let link = self.link(rank, rail);
        link.heard = true;
        if link.greeting == Greeting::Silent {
            self.greet(now, rank, rail);
        }
        self.nics[usize::from(rail)].queue.urgent(rank, Body::Welcome { nonce });
    }

    /// A greeting has been answered: what waited can go.
    pub(super) fn welcomed(&mut self, rank: u16, rail: u8, nonce: u64) {
        let link = self.link(rank, rail);
        if !matches!(link.greeting, Greeting::Said { nonce: said, .. } if said == nonce) {
            return;
        }
        link.greeting = Greeting::Answered;
        let waiting = std::mem::take(&mut link.waiting);
        waiting.into_iter().for_each(|packet| self.nics[usize::from(rail)].queue.push(packet));
    }
}
