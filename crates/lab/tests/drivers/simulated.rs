//! The driver of the simulated world, over the lines of [`lines`](crate::lines).

use std::collections::BTreeMap;

use crosstie_protocol::record::{self, Entry};
use crosstie_protocol::{NodeId, PeId, RailId};
use crosstie_sim::network::{Ends, Event, Fate, Grain, Network, Packet, Passage};
use crosstie_sim::node::{Audience, Letter, Listener, Nodes, NodesSpec, Receipt};
use crosstie_units::Time;

use crate::lines::{Lines, Put};

/// A message that a driver was given, and when.
#[derive(Debug, Clone, Copy)]
pub struct Submission {
    pub at: Time,
    pub from: NodeId,
    pub to: NodeId,
    pub bytes: u64,
    pub rail: Option<RailId>,
    pub whole: bool,
}

/// A network of lines.
struct Wired {
    lines: Lines,
    now: Time,
    departures: bool,
    /// Bytes of a packet on the wire that are not those of a message; what is shorter is an
    /// acknowledgement of a channel or a control packet.
    head: u32,
    /// Whether acknowledgements of channels go over it.
    channels: bool,
    /// What has happened and was not told yet, and on which rail.
    soon: Vec<(u32, u64, Fate)>,
    flying: BTreeMap<(Time, u64), u64>,
    count: u64,
    /// Up to when it runs, and whether there is nothing left before.
    horizon: Time,
    done: bool,
}

impl Network for Wired {
    fn now(&self) -> Time {
        self.now
    }

    fn next(&self) -> Option<Time> {
        if self.soon.is_empty() {
            self.flying.keys().next().map(|key| key.0)
        } else {
            Some(self.now)
        }
    }

    fn inject(&mut self, packet: Packet) {
        let is_short = packet.bytes <= self.head;
        let what = match is_short {
            true if self.channels => Put::Word,
            true => Put::Packet(1),
            false => Put::Packet(u64::from(packet.bytes - self.head)),
        };
        if self.departures && packet.ends == Ends::Memories {
            self.soon.push((packet.rail, packet.id, Fate::Left));
        }
        let line = (packet.from, packet.to, packet.rail);
        self.count += 1;
        match self.lines.put(self.now, line, what) {
            Some(there) => _ = self.flying.insert((there, self.count), packet.id),
            None => self.soon.push((packet.rail, packet.id, Fate::Dropped)),
        }
    }

    fn run_until(&mut self, until: Time, told: &mut Vec<Event>) {
        if !self.soon.is_empty() {
            // What leaves in one instant does so rail by rail.
            self.soon.sort_by_key(|&(rail, ..)| rail);
            let soon = self.soon.drain(..);
            told.extend(soon.map(|(_, id, fate)| Event { at: self.now, id, fate }));
            return;
        }
        match self.flying.first_key_value() {
            Some((&(at, number), &id)) if at < until => {
                self.flying.remove(&(at, number));
                self.now = at;
                let fate = Fate::Arrived(Passage { began: at, switches: 0 });
                told.push(Event { at, id, fate });
            }
            _ if until > self.horizon => (self.now, self.done) = (self.horizon, true),
            _ => self.now = until,
        }
    }

    fn grain(&self) -> Grain {
        Grain::picoseconds(Time::from_ns(1))
    }
}

struct Nobody;

impl Listener for Nobody {
    fn delivered(&mut self, _receipt: &Receipt) {}
}

/// Gives nodes these messages at these times; what their machines were told and wanted until a
/// time.
pub fn play(
    spec: &NodesSpec,
    count: u32,
    lines: Lines,
    submissions: &[Submission],
    until: Time,
) -> Vec<Entry> {
    let run = || {
        let mut nodes = Nodes::new(spec, count, Audience::Follows).unwrap();
        let mut network = Wired {
            lines,
            now: Time::ZERO,
            departures: nodes.interest().departures,
            head: spec.packing.overhead,
            channels: spec.channel.is_some(),
            soon: Vec::new(),
            flying: BTreeMap::new(),
            count: 0,
            horizon: Time::ZERO,
            done: false,
        };
        let run = |nodes: &mut Nodes, network: &mut Wired, until: Time| {
            (network.horizon, network.done) = (until, false);
            while !network.done {
                nodes.step(network, until + Time::from_ps(1), &mut Nobody);
            }
        };
        for (id, &Submission { at, from, to, bytes, rail, whole }) in (0..).zip(submissions) {
            if network.now < at || id == 0 {
                run(&mut nodes, &mut network, at);
            }
            let (pe, bytes) = (PeId(0), bytes as u32);
            let letter = Letter { from, pe, to, bytes, id, rail, whole, placed: true };
            nodes.send(&mut network, letter, &mut Nobody);
        }
        run(&mut nodes, &mut network, until);
        assert!(nodes.is_idle() && nodes.violations() == 0);
    };
    record::record(run).1
}
