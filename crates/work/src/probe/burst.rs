//! What comes through of bursts, for B_L [tam, app. A].

use super::DATA;
use super::barrier::barrier;
use crate::{Note, Program};
use crosstie_collective::Rank;
use crosstie_units::Time;
use serde::{Deserialize, Serialize};

/// Sources send bursts of k packets in all to sinks, as fast as they can, and sinks count what
/// comes: rho = received / k.
///
/// Each source sends its share round robin, and each begins with another sink. Between two bursts
/// all wait until what has not come is not going to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Burst {
    /// The S senders.
    pub sources: Vec<Rank>,
    /// Who receives: R of them, none of whom sends.
    pub sinks: Vec<Rank>,
    /// The length of a packet.
    pub bytes: u32,
    /// The lengths of the bursts, in packets: k.
    pub bursts: Vec<u32>,
    /// How long all wait after a barrier, so that nothing of it is on its way any more and finds
    /// buffers full.
    pub settle: Time,
    /// How long a burst is waited for, for each of its packets.
    pub drain: Time,
    /// How long beside that.
    pub rest: Time,
}

impl Burst {
    /// What sources and sinks do.
    pub fn program(self) -> Program {
        let Burst { sources, sinks, bytes, bursts, settle, drain, rest } = self;
        let all: Vec<Rank> = sources.iter().chain(&sinks).copied().collect();
        let wait = move |burst: u32| drain * u64::from(burst) + rest;
        let mut program = Program::default();
        for (place, &source) in sources.iter().enumerate() {
            let (all, sinks, bursts) = (all.clone(), sinks.clone(), bursts.clone());
            let count = sources.len();
            program.add(source, async move |process| {
                for burst in bursts {
                    barrier(&process, &all).await;
                    process.until(process.now() + settle).await;
                    let end = process.now() + wait(burst);
                    for packet in (place..burst as usize).step_by(count) {
                        let to = sinks[(place + packet / count) % sinks.len()];
                        process.send(to, DATA, bytes).await;
                    }
                    process.until(end).await;
                }
            });
        }
        for &sink in &sinks {
            let (all, bursts) = (all.clone(), bursts.clone());
            program.add(sink, async move |process| {
                let next = || process.expect(None, DATA, bytes);
                let mut packet = next();
                for burst in bursts {
                    barrier(&process, &all).await;
                    let end = process.now() + settle + wait(burst);
                    let mut packets = 0;
                    while process.done_by(packet, end).await {
                        packet = next();
                        packets += 1;
                    }
                    process.note(Note::Received { burst, packets });
                }
            });
        }
        program
    }
}
