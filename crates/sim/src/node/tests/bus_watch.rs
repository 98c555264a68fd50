//! What meets where it should not: opposing data on a bus, two senders on one NIC [coll, 1].

use super::super::identity::{DataId, PacketId};
use crate::network::{self, Event, Grain, Network};
use crate::wormhole::{Delivery, Layout, Observer, Packet, Place, Tick};
use crosstie_fabric::{ChannelId, Fabric, Node as End};
use crosstie_units::Time;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Watches from when until when stripes cross buses and links into NICs.
pub struct BusWatch {
    layout: Layout,
    /// The host that each ejection channel of the fabric leads to.
    ejection: BTreeMap<u32, u32>,
    stripes: Rc<RefCell<Stripes>>,
    reading: Crossings,
    writing: Crossings,
    arriving: Crossings,
}

/// Stripes counted in the order in which they begin, by the numbers of their packets, which are
/// used again.
#[derive(Default)]
pub struct Stripes {
    of: BTreeMap<u64, u64>,
    begun: u64,
}

/// A network whose packets are written down as they come.
pub struct Noting<'n, N> {
    pub network: &'n mut N,
    pub stripes: Rc<RefCell<Stripes>>,
}

impl<N: Network> Network for Noting<'_, N> {
    fn now(&self) -> Time {
        self.network.now()
    }
    fn next(&self) -> Option<Time> {
        self.network.next()
    }
    fn inject(&mut self, packet: network::Packet) {
        if let PacketId::Data(data) = PacketId::of(packet.id) {
            let mut stripes = self.stripes.borrow_mut();
            let first = DataId { number: 0, ..data }.encode();
            stripes.begun += u64::from(data.number == 0);
            let stripe = if data.number == 0 { stripes.begun } else { stripes.of[&first] };
            stripes.of.insert(packet.id, stripe);
        }
        self.network.inject(packet);
    }
    fn run_until(&mut self, until: Time, told: &mut Vec<Event>) {
        self.network.run_until(until, told);
    }
    fn grain(&self) -> Grain {
        self.network.grain()
    }
}

/// By NIC and stripe: from the first flit of its first packet to the last of its last.
type Crossings = BTreeMap<(u32, u64), (Tick, Tick)>;

fn widen(crossings: &mut Crossings, key: (u32, u64), at: Tick) {
    let (first, last) = crossings.entry(key).or_insert((at, at));
    (*first, *last) = ((*first).min(at), (*last).max(at));
}

/// Pairs of different stripes that cross at one NIC at the same time.
fn meetings(some: &Crossings, others: &Crossings) -> usize {
    let meet = |(&(nic, stripe), &(first, last)): (&(u32, u64), &(Tick, Tick))| {
        let there = others.range((nic, 0)..(nic + 1, 0));
        there.filter(|&(&(_, other), &(f, l))| other != stripe && f < last && first < l).count()
    };
    some.iter().map(meet).sum()
}

impl BusWatch {
    pub fn new(fabric: &Fabric, rails: u32) -> BusWatch {
        let into = |channel: ChannelId| match fabric.channel(channel).to.node {
            End::Host(host) => Some((channel.0, host.0)),
            End::Switch(_) => None,
        };
        BusWatch {
            layout: Layout::new(fabric, rails),
            ejection: fabric.channels().filter_map(into).collect(),
            stripes: Rc::default(),
            reading: Crossings::new(),
            writing: Crossings::new(),
            arriving: Crossings::new(),
        }
    }

    /// Pairs of stripes that crossed a bus in opposite directions at the same time.
    pub fn opposed(&self) -> usize {
        meetings(&self.reading, &self.writing)
    }

    /// Pairs of stripes that arrived at one NIC at the same time, each counted twice.
    pub fn crowded(&self) -> usize {
        meetings(&self.arriving, &self.arriving)
    }

    /// What a network under watch is to be told of.
    pub fn stripes(&self) -> Rc<RefCell<Stripes>> {
        Rc::clone(&self.stripes)
    }

    fn stripe(&self, packet: &Packet) -> Option<u64> {
        self.stripes.borrow().of.get(&packet.id).copied()
    }

    fn pass(&mut self, packet: &Packet, channel: u32, at: Tick) {
        let Some(stripe) = self.stripe(packet) else { return };
        match self.layout.place(channel).1 {
            Place::Read(_) => widen(&mut self.reading, (packet.from, stripe), at),
            Place::Write(_) => widen(&mut self.writing, (packet.to, stripe), at),
            // A host where it only stops on its way is not where it arrives.
            Place::Fabric(channel) => {
                let host = packet.to % self.layout.hosts();
                if self.ejection.get(&channel.0) == Some(&host) {
                    widen(&mut self.arriving, (packet.to, stripe), at);
                }
            }
            Place::Intake(_) => {}
        }
    }
}

impl Observer for BusWatch {
    fn delivered(&mut self, delivery: &Delivery) {
        if let Some(stripe) = self.stripe(&delivery.packet) {
            widen(&mut self.arriving, (delivery.packet.to, stripe), delivery.delivered);
        }
    }

    fn head(&mut self, packet: &Packet, channel: u32, _vc: u32, at: Tick) {
        self.pass(packet, channel, at);
    }

    fn tail(&mut self, packet: &Packet, channel: u32, _vc: u32, at: Tick) {
        self.pass(packet, channel, at);
    }
}
