//! The engine's observer: it remembers what concerns the nodes.

use super::cargo::{Cargo, Hold};
use super::{Books, Edge, Passage, Place, Timer};
use crate::wormhole::{Delivery, Layout, Observer, Part, Tick};
use crosstie_fabric::{Fabric, Node as End};
use crosstie_protocol::{NodeId, RailId, StripeId};

/// What the engine told, to be handled after its tick.
#[derive(Debug, Clone, Copy)]
pub(super) enum Notice {
    /// The last flit of a packet has left its node.
    Left { from: NodeId, stripe: StripeId },
    /// A packet is in memory.
    Arrived { cargo: u64, from: NodeId, to: NodeId, stripe: StripeId, number: u32 },
    /// A control packet came to its NIC.
    Control { cargo: u64, nic: u32, at: Tick },
}

/// What each fabric channel is to its host, if it leads to or from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    Out { node: u32 },
    In { node: u32 },
    Neither,
}

/// Where the engine's channels lie, and what it has told. A NIC is `rail * nodes + node`.
pub(super) struct Listener {
    doors: Vec<Door>,
    layout: Layout,
    /// Whether nodes want to know what has left them, and what is arriving.
    departures: bool,
    arrivals: bool,
    pub notices: Vec<Notice>,
    /// First flits of packets on the last channel to their NIC, and when that is noticed.
    pub arriving: Vec<(Tick, Timer)>,
}

impl Listener {
    pub fn new(fabric: &Fabric, rails: u32, departures: bool, arrivals: bool) -> Listener {
        let door =
            |channel| match (fabric.channel(channel).from.node, fabric.channel(channel).to.node) {
                (End::Host(host), _) => Door::Out { node: host.0 },
                (_, End::Host(host)) => Door::In { node: host.0 },
                _ => Door::Neither,
            };
        Listener {
            doors: fabric.channels().map(door).collect(),
            layout: Layout::new(fabric, rails),
            departures,
            arrivals,
            notices: Vec::new(),
            arriving: Vec::new(),
        }
    }

    /// Where a packet of data is, if the channel is one of its places. A host where it stops on its
    /// way is none: it neither begins nor ends there, and its node is not told.
    fn passage(&self, cargo: Cargo, channel: u32, edge: Edge) -> Option<Passage> {
        let Cargo::Data { from, to, stripe, .. } = cargo else { return None };
        let (rail, part) = self.layout.place(channel);
        let (place, node) = match part {
            Part::Fabric(channel) => match self.doors[channel.0 as usize] {
                Door::Out { node } => (Place::Departure, node),
                Door::In { node } => (Place::Arrival, node),
                Door::Neither => return None,
            },
            Part::Read(host) => (Place::Read, host.0),
            Part::Write(host) => (Place::Write, host.0),
            Part::Intake(_) => return None,
        };
        let own = match place {
            Place::Read | Place::Departure => from,
            Place::Arrival | Place::Write => to,
        };
        let nic = rail * self.layout.hosts() + node;
        (own.0 == node).then_some(Passage { from, stripe, place, edge, nic })
    }
}

/// A listener while the engine runs.
pub(super) struct Listening<'a, B> {
    pub listener: &'a mut Listener,
    pub hold: &'a Hold,
    pub books: &'a mut B,
}

impl<B: Books> Observer for Listening<'_, B> {
    fn delivered(&mut self, delivery: &Delivery) {
        let (cargo, nic) = (delivery.packet.id, delivery.packet.to);
        let notice = match self.hold.get(cargo) {
            Cargo::Control { .. } => Notice::Control { cargo, nic, at: delivery.delivered },
            Cargo::Data { from, to, stripe, number } => {
                self.books.packet_delivered(delivery);
                let (place, edge) = (Place::Arrival, Edge::Tail);
                self.books.packet_passes(&Passage { from, stripe, place, edge, nic });
                Notice::Arrived { cargo, from, to, stripe, number }
            }
        };
        self.listener.notices.push(notice);
    }

    fn head(&mut self, id: u64, channel: u32, _vc: u32, at: Tick) {
        let passage = self.listener.passage(self.hold.get(id), channel, Edge::Head);
        let Some(passage) = passage else { return };
        self.books.packet_passes(&passage);
        if passage.place == Place::Arrival && self.listener.arrivals {
            let Passage { from, stripe, nic, .. } = passage;
            let hosts = self.listener.layout.hosts();
            let (to, rail) = (NodeId(nic % hosts), RailId(nic / hosts));
            self.listener.arriving.push((at + 1, Timer::Arriving { to, rail, from, stripe }));
        }
    }

    fn tail(&mut self, id: u64, channel: u32, _vc: u32, _at: Tick) {
        let passage = self.listener.passage(self.hold.get(id), channel, Edge::Tail);
        let Some(passage) = passage else { return };
        match passage.place {
            // A packet has arrived when it is in memory, which the engine tells as a delivery.
            Place::Arrival => return,
            Place::Departure if self.listener.departures => {
                let Passage { from, stripe, .. } = passage;
                self.listener.notices.push(Notice::Left { from, stripe });
            }
            Place::Read | Place::Departure | Place::Write => {}
        }
        self.books.packet_passes(&passage);
    }

    fn interrupts(&self) -> bool {
        !self.listener.notices.is_empty() || !self.listener.arriving.is_empty()
    }
}
