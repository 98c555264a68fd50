//! Messages over plain wires: what the ideal network does with messages that are packets each.

use crate::ideal::IdealSpec;
use crosstie_units::Time;

/// Wires out of hosts and into them, which take messages whole; they keep the rules of
/// [`Ideal`](crate::ideal::Ideal). A node takes its rails in turn, unless a message names its own.
#[derive(Debug, Clone)]
pub struct Wires {
    spec: IdealSpec,
    /// Bytes of a packet beside its message.
    header: u32,
    /// When each wire out, and each wire in, is free; by `rail * hosts + host`.
    out: Vec<Time>,
    into: Vec<Time>,
    /// The rail whose turn it is, by host.
    turn: Vec<u16>,
}

/// When a message that is sent leaves.
pub(super) struct Leaving {
    /// Its last byte.
    pub last: Time,
    /// When its first byte is at the receiver.
    pub reaches: Time,
}

impl Wires {
    /// Wires on which nothing happens.
    pub fn new(spec: IdealSpec, header: u32) -> Wires {
        let wires = vec![Time::ZERO; (spec.hosts * spec.rails) as usize];
        let turn = vec![0; spec.hosts as usize];
        Wires { spec, header, out: wires.clone(), into: wires, turn }
    }

    fn wire(&self, rail: u16, host: u32) -> usize {
        (u32::from(rail) * self.spec.hosts + host) as usize
    }

    /// The rail of the next message of a host.
    pub(super) fn rail(&mut self, host: u32, named: Option<u16>) -> u16 {
        let turn = &mut self.turn[host as usize];
        named.unwrap_or_else(|| {
            let rail = *turn;
            *turn = if u32::from(rail) + 1 == self.spec.rails { 0 } else { rail + 1 };
            rail
        })
    }

    /// From the first byte of a message to its last: (m-1) G.
    pub(super) fn length(&self, bytes: u32) -> Time {
        self.spec.pace.time_for(bytes + self.header - 1)
    }

    /// For how long a message keeps others off a wire: g + (m-1) G.
    pub(super) fn occupied(&self, bytes: u32) -> Time {
        self.length(bytes) + self.spec.gap
    }

    /// From host to host: L.
    pub(super) fn latency(&self) -> Time {
        self.spec.latency
    }

    /// A message waits for its wire out and leaves.
    pub(super) fn leave(&mut self, now: Time, host: u32, rail: u16, bytes: u32) -> Leaving {
        let wire = self.wire(rail, host);
        let begins = now.max(self.out[wire]);
        self.out[wire] = begins + self.occupied(bytes);
        Leaving { last: begins + self.length(bytes), reaches: begins + self.spec.latency }
    }

    /// A message whose first byte is there waits for its wire in; when it is received.
    pub(super) fn come_in(&mut self, now: Time, host: u32, rail: u16, bytes: u32) -> Time {
        let wire = self.wire(rail, host);
        let begins = now.max(self.into[wire]);
        self.into[wire] = begins + self.occupied(bytes);
        begins + self.length(bytes)
    }
}
