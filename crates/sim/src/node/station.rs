//! A commodity node: a processor that packets occupy, NICs with rings, and a pool of packets
//! received.
//!
//! With the symbols of \[tam, 2\], a packet of m bytes
//!
//! ```text
//! is written       the processor is busy for O_s(m), then the packet is in the ring of its NIC
//! goes out         the NIC takes one packet after the other from its ring, g_s(m) apart; the link may be slower
//! comes in         the NIC hands over one packet after the other, g_r(m) apart
//! interrupts       the processor leaves what it is doing for O_r(m); the packet is then in the pool
//! is picked up     the processor is busy for U_r(m); the node then has the packet
//! ```
//!
//! What comes out of the memory of a node and goes into it takes a while longer, which keeps nobody
//! busy (`outward`, `inward`). A packet that finds the ring of its NIC full waits, and the
//! processor does something else; one that comes in and finds no place in the ring of the NIC or in
//! the pool is lost. The processor writes before it picks up or computes, and does each of these in
//! the order in which they came up. Where reception does not interrupt (`interrupts`), O_r is spent
//! when the packet is picked up.

use crosstie_units::{Cost, Seed, Stream, Time};
use std::collections::VecDeque;

/// What a commodity node is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StationSpec {
    /// Writing a packet: O_s.
    pub send: Cost,
    /// Between two packets going out: g_s.
    pub send_gap: Cost,
    /// From the ring to the link.
    pub outward: Cost,
    /// From the link to the NIC's ring.
    pub inward: Cost,
    /// Between two packets coming in: g_r.
    pub receive_gap: Cost,
    /// Receiving a packet: O_r.
    pub receive: Cost,
    /// Picking a packet up: U_r.
    pub pickup: Cost,
    /// Whether receiving a packet interrupts what the processor does.
    pub interrupts: bool,
    /// Packets that a NIC has to send at most; `None`: any number.
    pub ring: Option<u32>,
    /// Packets that a NIC has received, and its processor has not, at most; `None`: any number.
    pub receive_ring: Option<u32>,
    /// Packets received and not picked up at most; `None`: any number.
    pub pool: Option<u32>,
    /// What writing a packet takes more at most, drawn evenly.
    pub jitter: Time,
}

/// What a processor does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// Writes a packet.
    Write(u32),
    /// Picks a packet up.
    PickUp(u32),
    /// Computes, and tells by a number.
    Compute(u32),
}

/// One side of a node's NIC.
#[derive(Debug, Clone, Copy, Default)]
struct Side {
    /// Packets in its ring.
    ring: u32,
    /// When it takes the next packet.
    next: Time,
}

/// A node.
#[derive(Debug)]
pub(super) struct Station {
    /// What the processor is at, and when it is done if nothing interrupts it.
    task: Option<(Task, Time)>,
    writes: VecDeque<u32>,
    others: VecDeque<(Task, Time)>,
    /// When the last interrupt known of is over.
    interrupted: Time,
    pool: u32,
    /// The NICs, by rail.
    out: Vec<Side>,
    into: Vec<Side>,
    random: Stream,
}

/// Packets that nodes have lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overflows {
    /// For want of room in the ring of a NIC.
    pub ring: u64,
    /// For want of room in the pool.
    pub pool: u64,
}

impl Station {
    pub fn new(rails: u32, seed: Seed, node: u32) -> Station {
        Station {
            task: None,
            writes: VecDeque::new(),
            others: VecDeque::new(),
            interrupted: Time::ZERO,
            pool: 0,
            out: vec![Side::default(); rails as usize],
            into: vec![Side::default(); rails as usize],
            random: seed.stream("jitter", u64::from(node)),
        }
    }

    /// There is a packet to be written.
    pub fn write(&mut self, packet: u32) {
        self.writes.push_back(packet);
    }

    /// There is something to compute.
    pub fn compute(&mut self, number: u32, time: Time) {
        self.others.push_back((Task::Compute(number), time));
    }

    /// Takes up what there is to do, if the processor is idle: when it will be done. `packet` tells
    /// the rail and the length of a packet.
    pub fn work(
        &mut self,
        now: Time,
        spec: &StationSpec,
        nodes: u32,
        packet: impl Fn(u32) -> (u32, u32),
    ) -> Option<Time> {
        if self.task.is_some() {
            return None;
        }
        let can_write = |&packet_id: &u32| {
            let (rail, _) = packet(packet_id);
            spec.ring.is_none_or(|most| self.out[rail as usize].ring < most)
        };
        let (task, time) = if self.writes.front().is_some_and(can_write) {
            let id = self.writes.pop_front()?;
            let (rail, bytes) = packet(id);
            // It has its place from now on.
            self.out[rail as usize].ring += 1;
            let jitter = match spec.jitter.ps() {
                0 => Time::ZERO,
                most => Time::from_ps(self.random.below(most)),
            };
            (Task::Write(id), spec.send.at(u64::from(bytes), nodes) + jitter)
        } else {
            self.others.pop_front()?
        };
        let done = now.max(self.interrupted) + time;
        self.task = Some((task, done));
        Some(done)
    }

    /// What the processor was at, if it is done; else when it will be.
    pub fn done(&mut self, now: Time) -> Result<Task, Time> {
        let (task, done) = self.task.expect("it is said to be done with something");
        if done > now {
            return Err(done);
        }
        self.task = None;
        Ok(task)
    }

    /// A packet is in the ring of its NIC: when that takes it.
    pub fn take_out(&mut self, now: Time, rail: u32, gap: Time) -> Time {
        let side = &mut self.out[rail as usize];
        let at = now.max(side.next);
        side.next = at + gap;
        at
    }

    /// A packet has left the ring of its NIC.
    pub fn left(&mut self, rail: u32) {
        self.out[rail as usize].ring -= 1;
    }

    /// A packet comes in: when its NIC hands it over, or `None` if there is no place for it.
    pub fn take_in(&mut self, now: Time, rail: u32, gap: Time, most: Option<u32>) -> Option<Time> {
        let side = &mut self.into[rail as usize];
        if most.is_some_and(|most| side.ring >= most) {
            return None;
        }
        side.ring += 1;
        let at = now.max(side.next);
        side.next = at + gap;
        Some(at)
    }

    /// A packet interrupts the processor for so long: when it has been received.
    pub fn interrupt(&mut self, now: Time, time: Time) -> Time {
        self.interrupted = now.max(self.interrupted) + time;
        if let Some((_, done)) = &mut self.task {
            *done = *done + time;
        }
        self.interrupted
    }

    /// A packet has been received, and will take so long to be picked up; false if there is no
    /// place for it.
    pub fn received(&mut self, rail: u32, packet: u32, time: Time, most: Option<u32>) -> bool {
        self.into[rail as usize].ring -= 1;
        if most.is_some_and(|most| self.pool >= most) {
            return false;
        }
        self.pool += 1;
        self.others.push_back((Task::PickUp(packet), time));
        true
    }

    /// A packet has been picked up.
    pub fn picked_up(&mut self) {
        self.pool -= 1;
    }

    /// Whether the processor is idle and should not be.
    pub fn is_wanted(&self) -> bool {
        self.task.is_none() && !(self.writes.is_empty() && self.others.is_empty())
    }

    /// Whether there is nothing to do.
    pub fn is_idle(&self) -> bool {
        self.task.is_none() && self.writes.is_empty() && self.others.is_empty()
    }
}
