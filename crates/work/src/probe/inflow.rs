//! g_r [tam, app. A].

use super::DATA;
use super::barrier::barrier;
use crate::{Note, Program};
use crosstie_collective::Rank;
use crosstie_units::Time;
use serde::{Deserialize, Serialize};

/// Many senders flood a receiver, which times what comes: g_r = (t - t_0) / (C_t - C_0).
///
/// The receiver takes everything as it comes. What comes before the flood is at its height it does
/// not count, instead of leaving it in the pool and taking it all at once: the first packets it
/// counts would be gathered too fast. Where receiving and picking up a packet takes the processor
/// longer than the next takes to come, what is timed is the processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inflow {
    /// The sender.
    pub senders: Vec<Rank>,
    /// Who receives.
    pub receiver: Rank,
    /// The length of a packet.
    pub bytes: u32,
    /// How many each sends in a flood.
    pub packets: u32,
    /// How long all wait after a barrier, so that nothing of it is on its way any more and finds
    /// buffers full.
    pub settle: Time,
    /// How long a flood takes to rise: alpha RTT.
    pub rise: Time,
    /// How long packets are counted from then on: delta.
    pub window: Time,
    /// From the beginning of a flood to that of the next: long enough for all to drain.
    pub every: Time,
    /// How many floods.
    pub rounds: u32,
}

impl Inflow {
    /// What senders and receiver do.
    pub fn program(self) -> Program {
        let Inflow { senders, receiver, bytes, packets, settle, rise, window, every, rounds } =
            self;
        let mut all = senders.clone();
        all.push(receiver);
        let mut program = Program::default();
        for sender in senders {
            let all = all.clone();
            program.add(sender, async move |process| {
                for _ in 0..rounds {
                    barrier(&process, &all).await;
                    process.until(process.now() + settle).await;
                    let began = process.now();
                    for _ in 0..packets {
                        process.send(receiver, DATA, bytes).await;
                    }
                    process.until(began + every).await;
                }
            });
        }
        program.add(receiver, async move |process| {
            let next = || process.expect(None, DATA, bytes);
            let mut packet = next();
            for _ in 0..rounds {
                barrier(&process, &all).await;
                let began = process.now() + settle;
                while process.done_by(packet, began + rise).await {
                    packet = next();
                }
                let (mut packets, mut first, mut last) = (0, Time::ZERO, Time::ZERO);
                let mut end = began + every;
                while process.done_by(packet, end).await {
                    packet = next();
                    packets += 1;
                    last = process.now();
                    if packets == 1 {
                        (first, end) = (last, last + window);
                    }
                }
                process.note(Note::Arrived { packets, took: last - first });
                while process.done_by(packet, began + every).await {
                    packet = next();
                }
            }
        });
        program
    }
}
