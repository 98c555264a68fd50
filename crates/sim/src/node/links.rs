//! The reliable channels between nodes, one for each pair and rail.

use super::identity::PacketId;
use crate::pairs::Pairs;
use crosstie_protocol::channel::{ChannelSpec, Endpoint, History, Tally};
use crosstie_protocol::{NodeId, RailId};
use crosstie_units::Time;

/// What a packet in a channel stands for, and its length on the wire. Many wait in a channel, so it
/// is small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    id: u64,
    pub bytes: u32,
    /// How many packets of its stripe have left when this one has.
    pub departures: u32,
}

impl Item {
    pub fn new(id: PacketId, bytes: u32, departures: u32) -> Item {
        Item { id: id.id(), bytes, departures }
    }

    /// The packet.
    #[inline]
    pub fn packet(&self) -> PacketId {
        PacketId::of(self.id)
    }
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
