//! The reliable channels between nodes, one for each pair and rail.

use super::identity::PacketId;
use crate::pairs::Pairs;
use crosstie_protocol::channel::{ChannelSpec, Endpoint, History, Seq, Tally};
use crosstie_protocol::{Greeting, Machine, NodeId, RailId};
use crosstie_units::Time;

/// What a packet in a channel stands for, and its length on the wire. Many wait in a channel, so it
/// is small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    id: u64,
    pub bytes: u32,
    /// How many packets of its stripe have left when this one has, and above these what it is.
    departures: u32,
}

/// What a packet is, where that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cargo {
    /// A message in one datagram, or anything where nothing else is told apart.
    Whole = 0,
    /// Data of a long message.
    Data = 1,
    /// A part of a message in an envelope.
    Piece = 2,
}

/// Where the cargo of an item is kept: numbers of packets are shorter.
const CARGO: u32 = 30;

impl Item {
    pub fn new(id: PacketId, bytes: u32, departures: u32, cargo: Cargo) -> Item {
        Item { id: id.id(), bytes, departures: departures | (cargo as u32) << CARGO }
    }

    /// The packet.
    #[inline]
    pub fn packet(&self) -> PacketId {
        PacketId::of(self.id)
    }

    /// How many packets of its stripe have left when this one has.
    #[inline]
    pub fn departures(&self) -> u32 {
        self.departures & ((1 << CARGO) - 1)
    }

    /// What it is.
    #[inline]
    pub fn cargo(&self) -> Cargo {
        match self.departures >> CARGO {
            0 => Cargo::Whole,
            1 => Cargo::Data,
            _ => Cargo::Piece,
        }
    }
}

/// A packet that waits for the answer to a greeting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub seq: Seq,
    pub ack: Seq,
    pub item: Item,
    pub first: bool,
}

/// One end of a channel.
#[derive(Debug)]
pub(super) struct Link {
    pub rail: RailId,
    /// Whose it is, and who is at the other end.
    pub node: NodeId,
    pub peer: NodeId,
    /// The other end, by its place; `NONE` while nobody has looked for it.
    other: u32,
    pub endpoint: Endpoint<Item>,
    /// When it is called next; no later than it asked for.
    pub alarm: Option<Time>,
    /// How many packets it has sent for the first time.
    pub sent: u32,
    /// Packets of it that are on their way, copies included.
    pub afloat: u32,
    /// Whether its node has given up its peer: nothing is sent, and nothing that comes is heard.
    pub closed: bool,
    /// How far it is with the other end, where nodes greet.
    pub greeting: Greeting,
    /// Packets that wait for the answer.
    pub waiting: Vec<Waiting>,
}

/// No end.
pub(super) const NONE: u32 = u32::MAX;

/// As many windows may be on their way at once. Whoever has more of its own packets under way than
/// that waits with another copy, as a NIC whose ring is full makes it do: a time-out that is too
/// short must not fill the memory.
const MOST_AFLOAT: u32 = 8;

impl Link {
    /// Whether another copy of a packet may go.
    pub fn may_repeat(&self, window: u32) -> bool {
        self.afloat < window.saturating_mul(MOST_AFLOAT)
    }

    /// When it wants to be called, if nothing happens before.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        match (self.endpoint.poll_timeout(), self.greeting.deadline()) {
            (Some(channel), Some(greeting)) => Some(channel.min(greeting)),
            (channel, greeting) => channel.or(greeting),
        }
    }
}

/// All ends of all channels, made as they are needed.
#[derive(Debug)]
pub(super) struct Links {
    spec: ChannelSpec,
    nodes: u32,
    rails: u32,
    places: Pairs,
    links: Vec<Link>,
}

impl Links {
    pub fn new(spec: ChannelSpec, nodes: u32, rails: u32) -> Links {
        let places = Pairs::new(nodes * rails, nodes);
        Links { spec, nodes, rails, places, links: Vec::new() }
    }

    /// The end of a node on a rail, of its channel to another.
    #[inline]
    pub fn find(&mut self, rail: RailId, node: NodeId, peer: NodeId) -> u32 {
        let first = rail.0 * self.nodes + node.0;
        let place = self.places.get(first, peer.0);
        if place != 0 {
            return place - 1;
        }
        let endpoint = Endpoint::new(self.spec).expect("the channel has been checked");
        self.links.push(Link {
            rail,
            node,
            peer,
            other: NONE,
            endpoint,
            alarm: None,
            sent: 0,
            afloat: 0,
            closed: false,
            greeting: Greeting::Silent,
            waiting: Vec::new(),
        });
        self.places.set(first, peer.0, self.links.len() as u32);
        self.links.len() as u32 - 1
    }

    /// The other end of the channel of an end.
    #[inline]
    pub fn other_end(&mut self, link: u32) -> u32 {
        let Link { rail, node, peer, other, .. } = self.links[link as usize];
        if other != NONE {
            return other;
        }
        let other = self.find(rail, peer, node);
        self.links[link as usize].other = other;
        other
    }

    #[inline]
    pub fn get(&mut self, link: u32) -> &mut Link {
        &mut self.links[link as usize]
    }

    /// The widest window of all channels, as is usual.
    pub fn window(&self) -> u32 {
        self.spec.usual()
    }

    /// Closes the ends of a node, of all its channels to another.
    pub fn close(&mut self, node: NodeId, peer: NodeId) {
        for rail in 0..self.rails {
            let link = self.find(RailId(rail), node, peer);
            self.links[link as usize].closed = true;
        }
    }

    /// Whether the end of a node, or the other, has been closed.
    pub fn is_closed(&mut self, rail: RailId, node: NodeId, peer: NodeId) -> bool {
        [(node, peer), (peer, node)].into_iter().any(|(node, peer)| {
            let link = self.find(rail, node, peer);
            self.links[link as usize].closed
        })
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.links.iter().all(|link| link.closed || link.endpoint.is_idle())
    }

    /// What all ends have sent and received.
    pub fn tally(&self) -> Tally {
        let mut sum = Tally::default();
        for link in &self.links {
            sum += link.endpoint.tally();
        }
        sum
    }

    /// The histories of those who have sent something.
    pub fn histories(&self) -> impl Iterator<Item = &History> {
        let sent = self.links.iter().filter(|link| link.sent > 0);
        sent.map(|link| link.endpoint.history())
    }
}
