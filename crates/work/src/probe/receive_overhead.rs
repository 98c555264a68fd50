//! RTT, U_r and O_r [tam, app. A, algorithm 6].

use super::barrier::barrier;
use super::{DATA, echo, round_trip};
use crate::program::Process;
use crate::{Note, Program};
use crosstie_collective::Rank;
use crosstie_units::Time;
use serde::{Deserialize, Serialize};

/// A master that sends packets to an echo, and looks at what receiving them takes.
///
/// 1. RTT: the time of round trips.
/// 2. U_r: it sends, computes for 2 RTT, or leaves the processor alone, and times the receive of
///    what is there by then.
/// 3. O_r: it sends, and computes in short segments until the echo is there. The longest is so much
///    longer than the others because reception has stolen its processor: T2. What is not between 2
///    U_r and RTT / 2 is noise, and is noted as such.
///
/// Where reception does not interrupt, O_r is part of U_r, and no sample of the third kind is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiveOverhead {
    /// Who measures: a.
    pub master: Rank,
    /// Who echoes: b.
    pub slave: Rank,
    /// The length of a packet: x.
    pub bytes: u32,
    /// Samples of each kind.
    pub iterations: u32,
    /// How long a segment of the computation is.
    pub segment: Time,
    /// Whether the processor is left alone for 2 RTT: real systems may need it to bring the
    /// packet. Simulated ones use the time to pick it up.
    pub idle: bool,
}

impl ReceiveOverhead {
    /// What master and echo do.
    pub fn program(self) -> Program {
        let ReceiveOverhead { master, slave, bytes, iterations, .. } = self;
        let mut program = Program::default();
        program.add(master, async move |process| self.measure(&process).await);
        program.add(slave, async move |process| {
            barrier(&process, &[master, slave]).await;
            echo(&process, master, bytes, 3 * iterations).await;
        });
        program
    }

    async fn measure(&self, process: &Process) {
        let ReceiveOverhead { master, slave, bytes, iterations, segment, idle } = *self;
        let mut sum = Time::ZERO;
        // There is no other barrier: the echo would come to it, and be heard of, while the last
        // answer is received.
        barrier(process, &[master, slave]).await;
        for _ in 0..iterations {
            let began = process.now();
            round_trip(process, slave, bytes).await;
            let took = process.now() - began;
            process.note(Note::RoundTrip { took });
            sum = sum + took;
        }
        let rtt = mean(sum, iterations);
        sum = Time::ZERO;
        for _ in 0..iterations {
            process.send(slave, DATA, bytes).await;
            match idle {
                true => process.until(process.now() + rtt * 2).await,
                false => process.compute(rtt * 2).await,
            }
            let began = process.now();
            process.receive(slave, DATA, bytes).await;
            let took = process.now() - began;
            process.note(Note::PickedUp { took });
            sum = sum + took;
        }
        let pickup = mean(sum, iterations);
        for _ in 0..iterations {
            let answer = process.expect(Some(slave), DATA, bytes);
            process.send(slave, DATA, bytes).await;
            let mut longest = Time::ZERO;
            while !process.is_done(answer) {
                let began = process.now();
                process.compute(segment).await;
                longest = longest.max(process.now() - began);
            }
            process.done(answer).await;
            let took = longest - segment;
            let kept = pickup * 2 < took && took * 2 < rtt;
            process.note(Note::Stolen { took, kept });
        }
    }
}

fn mean(sum: Time, count: u32) -> Time {
    Time::from_ps(sum.ps() / u64::from(count.max(1)))
}
