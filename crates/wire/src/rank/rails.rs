//! The layer of rails: which bytes of what is posted go on which rail, and how packets that arrive
//! become envelopes and data again.
//!
//! Above it are messages, below it links. Its heart is a [`Node`]. Bytes of long messages go
//! straight to their places when they come; envelopes of several packets are put together here.

use std::ops::Range;

use crosstie_protocol::channel::{Path, Seq};
use crosstie_protocol::message::{Class, PostId};
use crosstie_protocol::{
    self as protocol, Input, Machine, MessageId, Node, NodeId, Packet, Parcel, PeId, RailId,
    Stripe, StripeId,
};
use crosstie_units::Time;
use slotmap::{Key as _, KeyData, SlotMap, new_key_type};

use super::messages::{Load, Place, Post};
use super::requests::Requests;
use crate::datagram::{Body, Data, HEAD, PIECE, Part, Serial};
use crate::envelope::ENVELOPE;
use crate::lent::put;
use crate::soon;

new_key_type! {
    /// Something that is on its way to its receiver.
    pub(super) struct PostKey;
}

/// A packet under way, as channels know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    pub stripe: StripeId,
    pub number: u32,
}

/// What a packet carries.
#[derive(Debug, Clone)]
pub(super) struct Chunk {
    post: PostKey,
    serial: Serial,
    /// The length of what was posted, and the bytes of it.
    length: u64,
    bytes: Range<u64>,
}

impl Chunk {
    /// Bytes that the packet has on the wire, if it is one datagram.
    pub fn len(&self) -> usize {
        HEAD + (self.bytes.end - self.bytes.start) as usize
    }
}

/// What the layer wants done.
#[derive(Debug)]
pub(super) enum Action {
    /// Hand a packet of `bytes` bytes to the channel of a link. `rides`: it has room for an
    /// acknowledgement.
    Transmit { to: u16, rail: u8, item: Item, bytes: u32, rides: bool },
    /// The receiver has all of something posted.
    Landed { post: PostId },
    /// There has been no way to a rank for too long.
    Unreachable { rank: u16 },
}

/// What becomes of bytes of an envelope of several packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Staged {
    /// They are kept until it is whole.
    Kept,
    /// It has come otherwise: there is nothing to do but to acknowledge them.
    Useless,
    /// There is no room for them: they must not be acknowledged, and come again.
    Refused,
}

/// Something that is on its way to its receiver.
#[derive(Debug)]
struct Posted {
    post: Option<PostId>,
    to: u16,
    load: Load,
    place: Option<u32>,
}

/// An envelope of several packets that is coming in.
#[derive(Debug)]
struct Partial {
    serial: u64,
    bytes: Vec<u8>,
}

/// What is kept of what comes from another rank.
#[derive(Debug, Default)]
struct Peer {
    partial: Vec<Partial>,
    /// The bytes that these take.
    staged: usize,
    /// The highest serial number that has come.
    highest: u64,
}

/// A place, and the serial number of the message that comes there, once some of it has.
#[derive(Debug)]
struct Granted {
    place: Place,
    coming: Option<u64>,
}

/// Rails of one rank.
pub(super) struct Rails {
    rank: u16,
    node: Node,
    posts: SlotMap<PostKey, Posted>,
    peers: Vec<Peer>,
    /// By the number of the receive.
    places: Vec<Option<Granted>>,
    /// The longest short message, and the bytes for which each peer has credit.
    eager: u64,
    credit: u64,
}

impl Rails {
    pub fn new(rank: u16, size: u16, node: Node, (eager, credit): (u64, u64)) -> Rails {
        Rails {
            rank,
            node,
            posts: SlotMap::with_key(),
            peers: (0..size).map(|_| Peer::default()).collect(),
            places: Vec::new(),
            eager,
            credit,
        }
    }

    /// Takes something to its receiver.
    #[inline]
    pub fn post(&mut self, now: Time, post: Post, requests: &Requests) {
        let Post { post, to, load, place, rail, whole } = post;
        let bytes = load.bytes(requests).len() as u64;
        let key = self.posts.insert(Posted { post, to, load, place });
        let (message, to) = (MessageId(key.data().as_ffi()), NodeId(to.into()));
        self.node.handle(now, Input::Send { pe: PeId(0), message, to, bytes, rail, whole });
    }

    /// Data of a long message go to a place.
    pub fn grant(&mut self, place: Place) {
        let number = place.receive as usize;
        if self.places.len() <= number {
            self.places.resize_with(number + 1, || None);
        }
        self.places[number] = Some(Granted { place, coming: None });
    }

    /// What is to be done next.
    #[inline]
    pub fn poll(&mut self, now: Time, requests: &mut Requests) -> Option<Action> {
        loop {
            match self.node.poll_action(now)? {
                protocol::Action::Transmit(packet) => {
                    let Parcel { to, id: stripe, stripe: Stripe { rail, .. }, .. } = packet.parcel;
                    let item = Item { stripe, number: packet.number };
                    // Data have no room for an acknowledgement, nor have parts of envelopes.
                    let is_envelope = |post: &Posted| post.place.is_none();
                    let whole = packet.len() == packet.parcel.length;
                    let rides = whole && self.posts.get(key(&packet)).is_some_and(is_envelope);
                    let bytes = packet.len() as u32 + HEAD as u32;
                    let (to, rail) = (to.0 as u16, rail.0 as u8);
                    return Some(Action::Transmit { to, rail, item, bytes, rides });
                }
                protocol::Action::Landed { message } => {
                    let key = PostKey::from(KeyData::from_ffi(message.0));
                    let Some(Posted { post, load, .. }) = self.posts.remove(key) else { continue };
                    if let Load::Own(bytes) = load {
                        requests.put_back(bytes);
                    }
                    if let Some(post) = post {
                        return Some(Action::Landed { post });
                    }
                }
                protocol::Action::Unreachable { peer } => {
                    return Some(Action::Unreachable { rank: peer.0 as u16 });
                }
                // No layer waits for the first two, and here nothing is delivered or reserved so.
                protocol::Action::Complete { .. }
                | protocol::Action::HandedOver { .. }
                | protocol::Action::Deliver { .. }
                | protocol::Action::Control { .. } => {}
            }
        }
    }

    /// What a packet under way carries.
    #[inline]
    pub fn chunk(&self, Item { stripe, number }: Item) -> Chunk {
        let packet = self.node.packet(stripe, number);
        let Parcel { serial, length, .. } = packet.parcel;
        Chunk { post: key(&packet), serial: Serial::of(serial), length, bytes: packet.bytes }
    }

    /// Returns true if what a packet carries has not arrived otherwise.
    #[inline]
    pub fn is_wanted(&self, chunk: &Chunk) -> bool {
        self.posts.contains_key(chunk.post)
    }

    /// Cuts what a packet carries into datagrams of up to `longest` bytes.
    #[inline]
    pub fn datagrams<'a>(
        &'a self,
        requests: &'a Requests,
        chunk: &Chunk,
        (seq, ack, longest): (Seq, Seq, usize),
        each: &mut dyn FnMut(Body, &'a [u8]),
    ) {
        let &Chunk { post, serial, length, ref bytes } = chunk;
        let post = self.posts.get(post);
        let range = bytes.start as usize..bytes.end as usize;
        let load = post.and_then(|post| post.load.bytes(requests).get(range));
        let (Some(post), Some(load)) = (post, load) else {
            // All of it has arrived otherwise.
            return each(Body::Void { seq }, &[]);
        };
        match post.place {
            None if load.len() as u64 == length && HEAD + load.len() <= longest => {
                each(Body::Whole { seq, ack, serial }, load);
            }
            Some(receive) => cut(seq, longest - HEAD, bytes.start, load, |part, offset, load| {
                each(Body::Data(Data { part, serial, receive, offset }), load);
            }),
            None => cut(seq, longest - HEAD - PIECE, bytes.start, load, |part, offset, load| {
                let (offset, length) = (offset as u32, length as u32);
                each(Body::Piece { part, serial, offset, length }, load);
            }),
        }
    }

    /// A packet has left its NIC for the first time.
    pub fn left(&mut self, now: Time, Item { stripe, .. }: Item) {
        self.node.handle(now, Input::Left { stripe });
    }

    /// The receiver has a packet.
    #[inline]
    pub fn acknowledged(&mut self, now: Time, Item { stripe, number }: Item) {
        self.node.handle(now, Input::Acknowledged { stripe, number });
    }

    /// The channel of a link has found out something about its path.
    #[inline]
    pub fn shown(&mut self, now: Time, to: u16, rail: u8, path: &Path) {
        if let Some(shown) = Input::shown(NodeId(to.into()), RailId(rail.into()), path) {
            self.node.handle(now, shown);
        }
    }

    /// A rail of this rank goes up or down.
    pub fn switch(&mut self, now: Time, rail: u8, up: bool) {
        self.node.handle(now, Input::Rail { rail: RailId(rail.into()), up });
    }

    /// The way to a rank on a rail has a NIC at both ends, or has not.
    pub fn set_there(&mut self, now: Time, to: u16, rail: u8, there: bool) {
        let (to, rail) = (NodeId(to.into()), RailId(rail.into()));
        self.node.handle(now, Input::Way { to, rail, there });
    }

    /// A rank has given this one up.
    pub fn farewell(&mut self, now: Time, from: u16) {
        self.node.handle(now, Input::Farewell { peer: NodeId(from.into()) });
    }

    /// When it is to be called, if nothing happens before.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.node.poll_timeout()
    }

    /// Does what is due.
    pub fn expire(&mut self, now: Time) {
        self.node.handle_timeout(now);
    }

    /// Puts bytes of a long message where they belong. Returns true if the sender was granted that.
    #[inline]
    pub fn put(&mut self, from: u16, data: &Data, load: &[u8], requests: &mut Requests) -> bool {
        let &Data { serial, receive, offset, .. } = data;
        let serial = self.number(from, serial);
        let Some(Some(granted)) = self.places.get_mut(receive as usize) else { return false };
        let end = offset + load.len() as u64;
        if granted.place.from != from || end > granted.place.length {
            return false;
        }
        match granted.coming {
            Some(coming) if coming == serial => {}
            Some(_) => return false,
            // What comes late of a message that is there must not be taken for the next one.
            None if self.node.has_seen(NodeId(from.into()), serial) => return false,
            None => granted.coming = Some(serial),
        }
        if let Some(room) = requests.room(granted.place.request) {
            put(room, offset as usize, load);
            // Where the next one goes, most likely.
            if let Some(next) = room.get(end as usize..) {
                soon::written(&next[..next.len().min(load.len())]);
            }
        }
        true
    }

    /// Keeps bytes of an envelope of several packets, if there is room for it.
    pub fn stage(
        &mut self,
        from: u16,
        serial: Serial,
        (offset, length): (u32, u32),
        load: &[u8],
    ) -> Staged {
        let serial = self.number(from, serial);
        let length = length as usize;
        if self.node.has_seen(NodeId(from.into()), serial) {
            return Staged::Useless;
        }
        if length > self.eager as usize + ENVELOPE {
            return Staged::Refused;
        }
        let most = self.most_staged();
        let Peer { partial, staged, .. } = &mut self.peers[usize::from(from)];
        let place = match partial.iter().position(|partial| partial.serial == serial) {
            Some(place) => place,
            None if *staged + length > most => return Staged::Refused,
            None => {
                *staged += length;
                partial.push(Partial { serial, bytes: vec![0; length] });
                partial.len() - 1
            }
        };
        let range = offset as usize..offset as usize + load.len();
        let Some(room) = partial[place].bytes.get_mut(range) else { return Staged::Refused };
        room.copy_from_slice(load);
        Staged::Kept
    }

    /// The bytes of envelopes that are not whole, of one peer at most: what it has credit for in
    /// all classes, and as much as for one of them for what is not counted by that.
    fn most_staged(&self) -> usize {
        (Class::ALL.len() + 1) * self.credit as usize
    }

    /// An envelope has come in one packet. Returns true if the caller is to open it: it has not
    /// come otherwise.
    #[inline]
    pub fn whole_arrived(
        &mut self,
        now: Time,
        from: u16,
        rail: u8,
        serial: Serial,
        length: usize,
    ) -> bool {
        let serial = self.number(from, serial);
        if self.node.has_seen(NodeId(from.into()), serial) {
            return false;
        }
        let length = length as u64;
        let whole = self.arrived(now, (from, rail), serial, length, 0..length);
        if whole && !self.peers[usize::from(from)].partial.is_empty() {
            self.take_partial(from, serial);
        }
        whole
    }

    /// A packet of an envelope has come, of which all datagrams have been staged. The envelope, if
    /// it is whole.
    pub fn piece_arrived(
        &mut self,
        now: Time,
        from: u16,
        rail: u8,
        serial: Serial,
        bytes: Range<u64>,
    ) -> Option<Vec<u8>> {
        let serial = self.number(from, serial);
        let partial = self.peers[usize::from(from)].partial.iter();
        let length = partial.clone().find(|partial| partial.serial == serial)?.bytes.len() as u64;
        let whole = self.arrived(now, (from, rail), serial, length, bytes);
        if whole { self.take_partial(from, serial) } else { None }
    }

    /// A packet of a long message has come, all of whose bytes are in their place. That, if the
    /// message is there with it.
    #[inline]
    pub fn data_arrived(
        &mut self,
        now: Time,
        from: u16,
        rail: u8,
        data: &Data,
        bytes: Range<u64>,
    ) -> Option<Place> {
        let &Data { serial, receive, .. } = data;
        let serial = self.number(from, serial);
        let granted = self.places.get(receive as usize)?.as_ref()?;
        if granted.place.from != from || granted.coming != Some(serial) {
            return None;
        }
        let place = granted.place;
        let whole = self.arrived(now, (from, rail), serial, place.length, bytes);
        whole.then(|| {
            self.places[receive as usize] = None;
            place
        })
    }

    /// Tells the node of a packet. Returns true if its message is whole.
    #[inline]
    fn arrived(
        &mut self,
        now: Time,
        (from, rail): (u16, u8),
        serial: u64,
        length: u64,
        bytes: Range<u64>,
    ) -> bool {
        let highest = &mut self.peers[usize::from(from)].highest;
        *highest = serial.max(*highest);
        let parcel = Parcel {
            from: NodeId(from.into()),
            to: NodeId(self.rank.into()),
            id: StripeId(0),
            message: MessageId(serial),
            length,
            stripe: Stripe { rail: RailId(rail.into()), bytes: bytes.clone() },
            reserved: false,
            serial,
        };
        self.node.receive(now, &Packet { parcel, number: 0, bytes })
    }

    /// The number of a message of which the lower bits have come.
    #[inline]
    fn number(&self, from: u16, serial: Serial) -> u64 {
        serial.nearest_to(self.peers[usize::from(from)].highest)
    }

    /// Takes out an envelope that is whole.
    fn take_partial(&mut self, from: u16, serial: u64) -> Option<Vec<u8>> {
        let Peer { partial, staged, .. } = &mut self.peers[usize::from(from)];
        let place = partial.iter().position(|partial| partial.serial == serial)?;
        let Partial { bytes, .. } = partial.swap_remove(place);
        *staged -= bytes.len();
        Some(bytes)
    }

    /// Forgets what there is for a rank and from it. Returns how many messages were lost of which
    /// the program was told that they are sent.
    pub fn lose(&mut self, rank: u16) -> usize {
        let lost = |posted: &&Posted| posted.to == rank && posted.load.is_message();
        let lost = self.posts.values().filter(lost).count();
        self.posts.retain(|_, posted| posted.to != rank);
        for granted in &mut self.places {
            granted.take_if(|granted| granted.place.from == rank);
        }
        let Peer { partial, staged, .. } = &mut self.peers[usize::from(rank)];
        partial.clear();
        *staged = 0;
        lost
    }

    /// Returns true if all that was posted has arrived.
    pub fn has_sent_all(&self) -> bool {
        self.posts.is_empty() && self.node.is_idle()
    }

    /// Bytes of envelopes that are not whole, and how many these are at most.
    #[cfg(any(test, feature = "bare"))]
    pub fn staged_bytes(&self) -> (usize, usize) {
        let staged = self.peers.iter().flat_map(|peer| &peer.partial);
        let staged = staged.map(|partial| partial.bytes.len()).sum();
        (staged, self.peers.len() * self.most_staged())
    }

    /// Returns true if nothing is left of what arrived, and how many inputs could not be.
    #[cfg(test)]
    pub fn rests(&self) -> (bool, u64) {
        let empty = |peer: &Peer| peer.staged == 0 && peer.partial.is_empty();
        let rests = self.peers.iter().all(empty) && self.places.iter().all(Option::is_none);
        (rests, self.node.violations())
    }
}

/// Cuts what a packet carries into parts.
fn cut<'a>(
    seq: Seq,
    most: usize,
    start: u64,
    load: &'a [u8],
    mut each: impl FnMut(Part, u64, &'a [u8]),
) {
    let count = load.len().div_ceil(most).max(1);
    for number in 0..count {
        let begin = number * most;
        let end = load.len().min(begin + most);
        let part = Part { seq, number: number as u8, last: number + 1 == count };
        each(part, start + begin as u64, &load[begin..end]);
    }
}

/// The post that a packet is of.
#[inline]
fn key(packet: &Packet) -> PostKey {
    PostKey::from(KeyData::from_ffi(packet.parcel.message.0))
}

#[cfg(test)]
mod tests {
    use crosstie_protocol::{NodeSpec, PolicyKind};

    use super::*;

    /// What a peer has credit for in all classes at once is kept; more is refused, not taken for
    /// what came before.
    #[test]
    fn envelopes_that_are_not_whole_have_room_for_the_credit_of_all_classes() {
        let (eager, credit) = (8192, 65_536);
        let spec = NodeSpec::new(NodeId(1), 1);
        let policies = PolicyKind::Pull {}.policies(2, 1).unwrap();
        let node = Node::new(spec, policies.node(&spec).unwrap()).unwrap();
        let mut rails = Rails::new(1, 2, node, (eager, credit));
        let length = eager as usize + ENVELOPE;
        let mut stage =
            |serial: u64| rails.stage(0, Serial::of(serial), (0, length as u32), &[1; 1000]);
        let kept = (0..1000).take_while(|&serial| stage(serial) == Staged::Kept).count();
        assert!(kept * length >= Class::ALL.len() * credit as usize, "{kept}");
        assert_eq!(stage(kept as u64), Staged::Refused);
        assert_eq!(stage(0), Staged::Kept, "that which is there goes on");
    }
}
