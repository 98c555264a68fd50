//! RTT of many pairs at once, for L [tam, app. A, algorithm 8].

use super::barrier::barrier;
use super::{echo, round_trip};
use crate::{Note, Program};
use crosstie_collective::Rank;
use crosstie_units::Time;
use serde::{Deserialize, Serialize};

/// Ping-pong of several pairs, all at once: L = RTT / 2 - O_s - O_r - U_r.
///
/// Pairs that go on as soon as they can get out of each other's way: after the first round trips
/// they come to what they share one after the other. With `every`, each round trip begins when the
/// clock shows a multiple of it, for all pairs together, as in a step of a collective operation;
/// clocks must agree as well as that is to hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pairs {
    /// Who begins and times, and who echoes.
    pub pairs: Vec<(Rank, Rank)>,
    /// The length of a packet.
    pub bytes: u32,
    /// Round trips of each pair.
    pub iterations: u32,
    /// When round trips begin; `None`: when the one before is over.
    pub every: Option<Time>,
}

impl Pairs {
    /// What all of them do.
    pub fn program(self) -> Program {
        let Pairs { pairs, bytes, iterations, every } = self;
        let all: Vec<Rank> = pairs.iter().flat_map(|&(left, right)| [left, right]).collect();
        let mut program = Program::default();
        for (left, right) in pairs {
            let ranks = all.clone();
            program.add(left, async move |process| {
                barrier(&process, &ranks).await;
                for _ in 0..iterations {
                    if let Some(every) = every {
                        let passed = process.now().ps() / every.ps().max(1);
                        process.until(every * (passed + 1)).await;
                    }
                    let began = process.now();
                    round_trip(&process, right, bytes).await;
                    process.note(Note::RoundTrip { took: process.now() - began });
                }
            });
            let ranks = all.clone();
            program.add(right, async move |process| {
                barrier(&process, &ranks).await;
                echo(&process, left, bytes, iterations).await;
            });
        }
        program
    }
}
