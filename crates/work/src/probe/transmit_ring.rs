//! O_s and g_s [tam, app. A, algorithm 7].

use super::{DATA, END};
use crate::{Note, Program};
use crosstie_collective::Rank;
use crosstie_units::Time;
use serde::{Deserialize, Serialize};

/// Times msg_no packets sent one after the other, for more and more of them.
///
/// As long as they fit in the ring of the NIC each takes O_s. Beyond the ring each further one
/// takes g_s, so that the time of all over their number approaches g_s as 1 - Tx / msg_no; the
/// difference between two numbers beyond the ring is g_s at once. Where g_s < O_s the ring never
/// fills, and only O_s shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransmitRing {
    /// The sender.
    pub from: Rank,
    /// To whom.
    pub to: Rank,
    /// The length of a packet: x.
    pub bytes: u32,
    /// What the ring is thought to hold: Tx. Numbers of packets grow by 8 up to it, and then
    /// double.
    pub ring: u32,
    /// The most packets to send.
    pub most: u32,
    /// How often each number is sent.
    pub rounds: u32,
    /// How long a packet of the ring takes to drain: x / BW, or more.
    pub drain: Time,
}

/// By how much the number of packets grows.
const STEP: u32 = 8;

impl TransmitRing {
    /// The numbers of packets that are sent.
    pub fn counts(&self) -> impl Iterator<Item = u32> + use<> {
        let TransmitRing { ring, most, .. } = *self;
        let next = move |&count: &u32| {
            if count < ring { count.checked_add(STEP) } else { count.checked_mul(2) }
        };
        std::iter::successors(Some(STEP), next).take_while(move |&count| count <= most)
    }

    /// What sender and receiver do.
    pub fn program(self) -> Program {
        let TransmitRing { from, to, bytes, rounds, drain, .. } = self;
        let mut program = Program::default();
        program.add(from, async move |process| {
            for packets in self.counts() {
                for _ in 0..rounds {
                    let began = process.now();
                    for _ in 0..packets {
                        process.send(to, DATA, bytes).await;
                    }
                    process.note(Note::Written { packets, took: process.now() - began });
                    process.until(process.now() + drain * u64::from(packets)).await;
                }
            }
            process.send(to, END, 1).await;
        });
        program.add(to, async move |process| {
            let end = process.expect(Some(from), END, 1);
            // It takes what comes, so that there is room for the last.
            while !process.first_of(end, process.expect(Some(from), DATA, bytes)).await {}
        });
        program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_grow_evenly_up_to_the_ring_and_then_double() {
        let probe = TransmitRing {
            from: Rank(0),
            to: Rank(1),
            bytes: 1,
            ring: 30,
            most: 300,
            rounds: 1,
            drain: Time::ZERO,
        };
        assert_eq!(probe.counts().collect::<Vec<_>>(), [8, 16, 24, 32, 64, 128, 256]);
    }
}
