//! Microbenchmarks that tell the communication parameters of a cluster [tam, app. A].
//!
//! | probe | tells | of |
//! |---|---|---|
//! | [`TransmitRing`] | O_s, g_s | a packet into the ring of a NIC, and out of it |
//! | [`ReceiveOverhead`] | O_r, U_r, RTT | a packet into the pool, and out of it |
//! | [`Inflow`] | g_r | packets one after the other into a node |
//! | [`Pairs`] | L, with the others | a packet between two of many pairs |
//! | [`Burst`] | B_L | packets through the buffers of switches |
//!
//! Each becomes a [`Program`](crate::Program), which uses nothing but what a process can do: send,
//! receive, compute, look at the clock and wait for a time. What it measures it
//! [notes](crate::Note). Packets are sent raw: where messages have channels that send them again,
//! buffers and gaps cannot be seen. A message of a probe is one packet if it is no longer than the
//! payload of one.

mod barrier;
mod burst;
mod inflow;
mod microbenchmark;
mod pairs;
mod receive_overhead;
mod transmit_ring;

pub use burst::Burst;
pub use inflow::Inflow;
pub use microbenchmark::Microbenchmark;
pub use pairs::Pairs;
pub use receive_overhead::ReceiveOverhead;
pub use transmit_ring::TransmitRing;

use crate::program::Process;
use crosstie_collective::{Rank, Tag};

const DATA: Tag = Tag(0);
const BARRIER: Tag = Tag(1);
const END: Tag = Tag(2);

/// A packet there and one back.
async fn round_trip(process: &Process, to: Rank, bytes: u32) {
    let answer = process.expect(Some(to), DATA, bytes);
    process.send(to, DATA, bytes).await;
    process.done(answer).await;
}

/// Sends so many packets back to where they come from.
async fn echo(process: &Process, from: Rank, bytes: u32, times: u32) {
    for _ in 0..times {
        process.receive(from, DATA, bytes).await;
        process.send(from, DATA, bytes).await;
    }
}
