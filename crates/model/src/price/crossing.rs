//! Uplinks of two levels of switches, which messages pass one after the other.

use crate::{Cut, Rail, Uplink};
use crosstie_collective::Rank;
use crosstie_units::Time;

/// Which way a message passes an uplink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Way {
    Out,
    In,
}

/// Packets that wait at an uplink.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wait {
    /// The port of the network.
    pub port: u16,
    pub way: Way,
    pub switch: u32,
    /// The rank that has sent them.
    pub from: Rank,
    pub packets: u64,
    pub since: Time,
    pub until: Time,
}

/// The uplinks of all switches.
#[derive(Debug)]
pub(super) struct Uplinks {
    uplink: Uplink,
    port: u16,
    /// The payload of a full packet, and the least that the network carries.
    packet: u64,
    least: u64,
    nodes: u32,
    /// When each is free: outward and inward of a switch in turn. Directions that share a circuit
    /// have the first.
    free: Vec<Time>,
    pub waits: Vec<Wait>,
}

impl Uplinks {
    /// Those of a rail among `ranks` ranks, if it has any.
    pub fn of(rail: &Rail, nodes: u32, ranks: u32) -> Option<Uplinks> {
        let Rail { parameters, port } = rail;
        let uplink = parameters.uplink?;
        let free = vec![Time::ZERO; 2 * ranks.div_ceil(uplink.hosts) as usize];
        let (packet, least) = (parameters.packet.get(), parameters.least.get());
        Some(Uplinks { uplink, port: *port, packet, least, nodes, free, waits: Vec::new() })
    }

    /// Returns true if a message passes uplinks.
    pub fn are_between(&self, from: Rank, to: Rank) -> bool {
        self.uplink.switch(from.0) != self.uplink.switch(to.0)
    }

    /// A message of `bytes` bytes arrives at an uplink, in the order of time. Returns how much
    /// later its last packet has passed than if it were alone.
    pub fn pass(
        &mut self,
        way: Way,
        now: Time,
        (from, to): (Rank, Rank),
        (cut, bytes): (&Cut, u32),
    ) -> Time {
        let (rank, cost) = match way {
            Way::Out => (from, self.uplink.outward),
            Way::In => (to, self.uplink.inward),
        };
        let switch = self.uplink.switch(rank.0);
        let own = if way == Way::In && !self.uplink.shared { 1 } else { 0 };
        let free = &mut self.free[2 * switch as usize + own];
        let before = cut.packets - 1;
        let last = (u64::from(bytes) - before * self.packet).max(self.least);
        let last = cost.at(last, self.nodes);
        let begin = now.max(*free);
        *free = begin + cost.at(self.packet, self.nodes) * before + last;
        // It passes as it comes, packet by packet, or later.
        let every = cut.full.departure();
        let alone = now + cut.spread(every, every) + last;
        let late = Time::from_ps((*free).ps().saturating_sub(alone.ps()));
        if begin > now {
            let packets = cut.packets;
            self.waits.push(Wait {
                port: self.port,
                way,
                switch,
                from,
                packets,
                since: now,
                until: begin,
            });
        }
        late
    }
}
