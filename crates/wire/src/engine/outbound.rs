//! From packets to datagrams, and out.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;

use crosstie_protocol::channel::{self, Frame, Seq};
use crosstie_protocol::{Control, Input, Machine, NodeId, Packet, RailId, StripeId};
use crosstie_units::Time;
use slotmap::{KeyData, SlotMap};

use super::greeting::Greeting;
use super::link::{Item, Link};
use super::path_mtu;
use super::{Engine, Nic, Post, PostKey, RailCount, Request, RequestKey};
use crate::datagram::{Body, Data, Datagram, HEAD, Part, Piece};
use crate::key::Course;
use crate::rail::{self, Rail, Train};

/// What waits in front of a NIC.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// What goes before all others: greetings and acknowledgements.
    urgent: VecDeque<(u16, Body)>,
    packets: VecDeque<Outgoing>,
}

/// A packet in front of a NIC.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    pub to: u16,
    pub seq: Seq,
    pub ack: Seq,
    pub what: What,
    /// Whether it is sent for the first time.
    pub first: bool,
    /// The most bytes of its datagrams.
    pub longest: usize,
}

/// What a packet is.
#[derive(Debug, Clone)]
pub(super) enum What {
    Packet(Packet),
    Control { packet: Control, serial: u64 },
}

impl Queue {
    pub fn is_empty(&self) -> bool {
        self.urgent.is_empty() && self.packets.is_empty()
    }

    pub fn push(&mut self, packet: Outgoing) {
        self.packets.push_back(packet);
    }

    /// Something goes before all packets.
    pub fn urgent(&mut self, to: u16, body: Body) {
        self.urgent.push_back((to, body));
    }

    /// Tells a rank that it has been given up, once for all that waits here.
    pub fn bid_farewell(&mut self, to: u16) {
        if !self.urgent.contains(&(to, Body::Farewell)) {
            self.urgent(to, Body::Farewell);
        }
    }

    /// Nothing more goes to a rank.
    pub fn forget(&mut self, rank: u16) {
        self.urgent.retain(|&(to, _)| to != rank);
        self.packets.retain(|packet| packet.to != rank);
    }

    /// Takes so many things out, the first ones; gives the stripes of packets that had not been
    /// sent before.
    fn take(&mut self, things: usize) -> impl Iterator<Item = StripeId> {
        let urgent = things.min(self.urgent.len());
        self.urgent.drain(..urgent);
        self.packets.drain(..things - urgent).filter_map(|packet| match packet.what {
            What::Packet(Packet { parcel, .. }) if packet.first => Some(parcel.id),
            What::Packet(_) | What::Control { .. } => None,
        })
    }

    fn len(&self) -> usize {
        self.urgent.len() + self.packets.len()
    }
}

/// Datagrams that are ready to be sent together, as a [`Train`]: where they are among all that are.
struct Coupled {
    to: u16,
    bytes: Range<usize>,
    segment: usize,
    count: usize,
    /// How many things of the queue they are.
    things: usize,
}

impl Coupled {
    /// Whether others that follow can go with them, if a train has so many datagrams and bytes at
    /// most.
    fn takes(&self, next: &Coupled, (most, most_bytes): (usize, usize)) -> bool {
        let fits =
            self.count + next.count <= most && self.bytes.len() + next.bytes.len() <= most_bytes;
        let is_even = self.bytes.len() == self.count * self.segment;
        let ends = next.count == 1 && next.segment < self.segment;
        fits && self.to == next.to && is_even && (ends || next.segment == self.segment)
    }

    fn take(&mut self, next: &Coupled) {
        self.bytes.end = next.bytes.end;
        self.count += next.count;
        self.things += next.things;
    }
}

/// What became of a batch.
struct Sent {
    /// How many things of the queue were sent, and whether that was all that was tried.
    things: usize,
    all: bool,
    error: Option<io::Error>,
}

/// Datagrams that are made ready at once: as much as caches hold until it is copied, which is about
/// as much as goes in a message.
const BATCH: usize = 45;

/// How long a rail that is down is left alone before it is tried again.
const DOWN: Time = Time::from_ns(10_000_000);

impl Engine {
    /// The link to a peer on a rail.
    pub(super) fn link(&mut self, rank: u16, rail: u8) -> &mut Link {
        let (rails, channel) = (self.nics.len(), self.channel);
        let longest = self.nics[usize::from(rail)].longest;
        let links = &mut self.peers[usize::from(rank)].links;
        if links.is_empty() {
            links.resize_with(rails, || None);
        }
        links[usize::from(rail)].get_or_insert_with(|| Box::new(Link::new(channel, longest)))
    }

    /// Hands something to the channel of a peer on a rail.
    fn hand_over(
        &mut self,
        now: Time,
        to: NodeId,
        rail: RailId,
        item: Item,
        bytes: u32,
        rides: bool,
    ) {
        let (rank, rail) = (to.0 as u16, rail.0 as u8);
        if self.peers[usize::from(rank)].gone || usize::from(rail) >= self.nics.len() {
            return;
        }
        if self.link(rank, rail).greeting == Greeting::Silent {
            self.greet(now, rank, rail);
        }
        let link = self.peers[usize::from(rank)].links[usize::from(rail)].as_mut();
        let link = link.expect("it has been greeted");
        link.endpoint.handle(now, channel::Input::Send { item, bytes, rides });
        link.touch(rank, rail, &mut self.touched);
    }

    pub(super) fn transmit(&mut self, now: Time, packet: &Packet) {
        let (to, rail) = (packet.parcel.to, packet.parcel.stripe.rail);
        let (stripe, number) = (packet.parcel.id, packet.number);
        let bytes = packet.len() as u32 + HEAD as u32;
        // Only a message in one datagram has room for an acknowledgement.
        let post = self.posts.get(post_key(packet));
        let links = self.peers.get(to.0 as usize).map_or(&[][..], |peer| &peer.links);
        let link = links.get(rail.0 as usize).and_then(Option::as_ref);
        let nic = self.nics.get(rail.0 as usize).map_or(0, |nic| nic.longest);
        let longest = link.map_or(nic, |link| link.mtu.longest());
        let rides = post.is_some_and(|post| post.place.is_none()) && is_whole(packet, longest);
        self.hand_over(now, to, rail, Item::Packet { stripe, number }, bytes, rides);
    }

    pub(super) fn transmit_control(
        &mut self,
        now: Time,
        rail: RailId,
        to: NodeId,
        packet: Control,
        serial: u64,
    ) {
        self.hand_over(now, to, rail, Item::Control { packet, serial }, HEAD as u32, false);
    }

    /// Does what channels want.
    pub(super) fn serve_links(&mut self, now: Time) {
        let mut next = 0;
        // In the order in which the node asked for it: what goes first on a rail is not the
        // driver's affair.
        while let Some(&(rank, rail)) = self.touched.get(next) {
            next += 1;
            let touched = |engine: &mut Engine| {
                let links = &mut engine.peers[usize::from(rank)].links;
                links.get_mut(usize::from(rail)).and_then(Option::as_mut).map(|link| {
                    link.asked();
                    link.endpoint.poll_action(now)
                })
            };
            while let Some(Some(action)) = touched(self) {
                match action {
                    channel::Action::Transmit(frame) => self.queue_frame(now, rank, rail, frame),
                    channel::Action::Deliver(item) => self.came(now, rank, rail, item),
                    channel::Action::Acknowledged(Item::Packet { stripe, number }) => {
                        self.acknowledged.push((rank, rail, stripe, number));
                        self.passed(now, rank, rail);
                    }
                    channel::Action::Acknowledged(Item::Control { .. })
                        if self.node.outlives_rails() =>
                    {
                        let (to, rail) = (NodeId(rank.into()), RailId(rail.into()));
                        self.tell_node(now, Input::ControlAcknowledged { to, rail });
                    }
                    channel::Action::Acknowledged(_) => {}
                }
            }
            let links = self.peers[usize::from(rank)].links.get(usize::from(rail));
            let link = links.and_then(Option::as_ref);
            self.hurry(link.and_then(|link| link.endpoint.poll_timeout()));
        }
        self.touched.clear();
    }

    /// Tells the node what a channel has found out about its way.
    pub(super) fn tell_path(&mut self, now: Time, rank: u16, rail: u8) {
        let path = self.link(rank, rail).endpoint.path();
        let (to, rail) = (NodeId(rank.into()), RailId(rail.into()));
        if let Some(shown) = path.and_then(|path| Input::shown(to, rail, &path)) {
            self.tell_node(now, shown);
        }
    }

    /// Puts a frame of a channel in front of its NIC.
    fn queue_frame(&mut self, now: Time, to: u16, rail: u8, frame: Frame<Item>) {
        let body = match frame {
            Frame::Data { seq, ack, item } => {
                return self.queue_packet(now, to, rail, (seq, ack), item);
            }
            Frame::Pack(ack) => Body::Pack(ack),
            Frame::Nack(ack) => Body::Nack(ack),
            Frame::Sack(sack) => Body::Sack(sack),
        };
        self.nics[usize::from(rail)].queue.urgent(to, body);
    }

    /// Something has been acknowledged: perhaps it has shown which datagrams pass.
    fn passed(&mut self, now: Time, rank: u16, rail: u8) {
        let link = self.link(rank, rail);
        if link.mtu.acknowledged(now, link.endpoint.base()) {
            let (own, name) =
                (self.rank, self.rails.get(usize::from(rail)).map(|rail| rail.name()));
            eprintln!(
                "crosstie: rank {own}: rail {} drops datagrams of {} bytes to rank {rank}, and passes those of {}: \
                 shorter ones are sent",
                name.unwrap_or("?"),
                self.nics[usize::from(rail)].longest,
                path_mtu::LEAST,
            );
        }
    }

    fn queue_packet(&mut self, now: Time, to: u16, rail: u8, (seq, ack): (Seq, Seq), item: Item) {
        let what = match item {
            Item::Packet { stripe, number } => What::Packet(self.node.packet(stripe, number)),
            Item::Control { packet, serial } => What::Control { packet, serial },
            Item::Whole { .. } | Item::Data { .. } | Item::Piece { .. } | Item::Nothing => {
                unreachable!("what has come is not sent")
            }
        };
        let link = self.link(to, rail);
        let first = !seq.is_before(link.unsent);
        if first {
            link.unsent = seq.plus(1);
            if let Some(gone) = self.advance.take_if(|gone| gone.is_packet(to, rail, seq)) {
                let is_it = |packet| gone.said(ack, packet);
                debug_assert!(matches!(&what, What::Packet(packet) if is_it(packet)), "{gone:?}");
                return;
            }
        }
        let bytes = match &what {
            What::Packet(packet) if self.posts.contains_key(post_key(packet)) => {
                HEAD + packet.len() as usize
            }
            What::Packet(_) | What::Control { .. } => HEAD,
        };
        let link = self.link(to, rail);
        let oldest = seq == link.endpoint.base();
        let longest = link.mtu.transmit(now, seq, bytes, first, oldest);
        let packet = Outgoing { to, seq, ack, what, first, longest };
        if link.greeting == Greeting::Answered {
            self.nics[usize::from(rail)].queue.push(packet);
        } else if !link.waiting.iter().any(|waiting| waiting.seq == seq) {
            // What is to go again before the greeting is answered has not gone yet.
            link.waiting.push_back(packet);
        }
    }

    /// Sends what waits in front of NICs, as far as they take it. Whether machines are to be asked
    /// again.
    pub(super) fn flush(&mut self, now: Time) -> bool {
        let mut asked = false;
        for rail in 0..self.nics.len() {
            if !self.nics[rail].queue.is_empty() {
                asked |= self.flush_rail(now, rail);
            }
        }
        asked | self.flush_local(now)
    }

    fn flush_rail(&mut self, now: Time, rail: usize) -> bool {
        let mut departed = false;
        loop {
            let sent = self.send_only(rail);
            let Sent { things, all, error } = sent.unwrap_or_else(|| self.send_batch(rail));
            departed |= self.leaves(now, rail, things);
            match error {
                Some(error) if rail::is_down(&error) => self.rail_down(now, rail),
                // It cannot be sent. Who waits for it will notice, and send it again.
                Some(error) if super::is_serious(&error) => departed |= self.leaves(now, rail, 1),
                _ => {}
            }
            if things > 0 && self.nics[rail].down.take().is_some() {
                self.tell_node(now, Input::Rail { rail: RailId(rail as u32), up: true });
            }
            if !all || self.nics[rail].queue.is_empty() {
                return departed;
            }
        }
    }

    /// The first things in front of a NIC have left it, one way or another. Whether anybody was
    /// told.
    fn leaves(&mut self, now: Time, rail: usize, things: usize) -> bool {
        let Engine { nics, node, stirred, departures, .. } = self;
        let stripes = nics[rail].queue.take(things);
        if !*departures {
            return false;
        }
        stripes.fold(false, |_, stripe| {
            node.handle(now, Input::Left { stripe });
            stirred.node = true;
            true
        })
    }

    /// Sends the only thing in front of a NIC, if it is one datagram: most often there is no more,
    /// and somebody waits for it.
    fn send_only(&mut self, rail: usize) -> Option<Sent> {
        let Engine { nics, rails, posts, requests, rank, key, describes, departing, .. } = self;
        let (Nic { queue, count, .. }, driver) = (&mut nics[rail], &mut rails[rail]);
        let (mut datagrams, mut only) = (0, None);
        match (queue.urgent.front(), queue.packets.front()) {
            (Some(&(to, body)), None) if queue.urgent.len() == 1 => {
                (datagrams, only) = (1, Some((to, body, &[][..])));
            }
            (None, Some(packet)) if queue.packets.len() == 1 => {
                let maker = Maker { posts, requests, describes: *describes };
                maker.datagrams(packet, &mut |body, load| {
                    datagrams += 1;
                    only = Some((packet.to, body, load));
                });
            }
            _ => {}
        }
        let (to, body, load) = only.filter(|_| datagrams == 1)?;
        departing.clear();
        let course = Course { to, rail: rail as u8 };
        Datagram { from: *rank, body }.append(key, course, load, departing);
        let sent = send_one(driver.as_mut(), count, to, departing);
        let things = *sent.as_ref().unwrap_or(&0);
        Some(Sent { things, all: things == 1, error: sent.err() })
    }

    /// Makes datagrams of what is first in front of a NIC, and sends them.
    fn send_batch(&mut self, rail: usize) -> Sent {
        let Engine { nics, rails, posts, requests, rank, key, describes, departing, .. } = self;
        let (Nic { queue, count, .. }, driver) = (&mut nics[rail], &mut rails[rail]);
        let maker = Maker { posts, requests, describes: *describes };
        departing.clear();
        let mut trains: Vec<Coupled> = Vec::with_capacity(4);
        // Things are not torn apart.
        let mut couple = |thing: Coupled| match trains.last_mut() {
            Some(last) if last.takes(&thing, driver.train()) => last.take(&thing),
            _ => trains.push(thing),
        };
        let append = |departing: &mut Vec<u8>, to: u16, body: Body, load: &[u8]| {
            let course = Course { to, rail: rail as u8 };
            Datagram { from: *rank, body }.append(key, course, load, departing);
        };
        for &(to, body) in &queue.urgent {
            let begin = departing.len();
            append(departing, to, body, &[]);
            let bytes = begin..departing.len();
            couple(Coupled { to, segment: bytes.len(), bytes, count: 1, things: 1 });
        }
        let mut datagrams = queue.urgent.len();
        for packet in &queue.packets {
            if datagrams >= BATCH {
                break;
            }
            let (to, begin) = (packet.to, departing.len());
            let (mut count, mut segment) = (0, 0);
            maker.datagrams(packet, &mut |body, load| {
                append(departing, to, body, load);
                count += 1;
                segment = if count == 1 { departing.len() - begin } else { segment };
            });
            couple(Coupled { to, bytes: begin..departing.len(), segment, count, things: 1 });
            datagrams += count;
        }
        let all: Vec<Train<'_>> = trains
            .iter()
            .map(|train| {
                let &Coupled { to, segment, .. } = train;
                Train { to, bytes: &departing[train.bytes.clone()], segment }
            })
            .collect();
        let (sent, error) = match driver.send(&all) {
            Ok(sent) => (sent, None),
            Err(error) => (0, Some(error)),
        };
        for train in &trains[..sent] {
            count.sent += train.count as u64;
            count.sent_bytes += train.bytes.len() as u64;
        }
        let things = trains[..sent].iter().map(|train| train.things).sum();
        Sent { things, all: sent == trains.len(), error }
    }

    /// The link of a rail is down. What waited there is lost.
    fn rail_down(&mut self, now: Time, rail: usize) {
        let things = self.nics[rail].queue.len();
        self.leaves(now, rail, things);
        let nic = &mut self.nics[rail];
        let before = nic.down.replace(now + DOWN);
        self.hurry(Some(now + DOWN));
        if before.is_none() {
            self.nics[rail].count.downs += 1;
            self.tell_node(now, Input::Rail { rail: RailId(rail as u32), up: false });
        }
        self.serve_machines(now);
    }

    /// Greets somebody on each rail that was down when it was last tried.
    pub(super) fn try_rails_that_are_down(&mut self, now: Time) {
        for rail in 0..self.nics.len() {
            let nic = &mut self.nics[rail];
            if nic.down.is_some_and(|at| at <= now) {
                nic.down = Some(now + DOWN);
                let known = |peer: &super::Peer| peer.links.get(rail).is_some_and(Option::is_some);
                if let Some(rank) = self.peers.iter().position(known) {
                    nic.queue.urgent(rank as u16, Body::Hello { nonce: 0 });
                }
            }
        }
    }
}

/// Sends a datagram; how many the rail has taken.
pub(super) fn send_one(
    rail: &mut dyn Rail,
    count: &mut RailCount,
    to: u16,
    datagram: &[u8],
) -> io::Result<usize> {
    let sent = rail.send(&[Train::one(to, datagram)])?;
    count.sent += sent as u64;
    count.sent_bytes += (sent * datagram.len()) as u64;
    Ok(sent)
}

/// Whether a packet is a message that fits into a datagram.
fn is_whole(packet: &Packet, longest: usize) -> bool {
    packet.len() == packet.parcel.length && HEAD + packet.len() as usize <= longest
}

/// Makes datagrams of packets.
struct Maker<'a> {
    posts: &'a SlotMap<PostKey, Post>,
    requests: &'a SlotMap<RequestKey, Request>,
    describes: bool,
}

impl<'a> Maker<'a> {
    fn datagrams(&self, outgoing: &Outgoing, each: &mut dyn FnMut(Body, &'a [u8])) {
        let &Outgoing { seq, ack, ref what, longest, .. } = outgoing;
        let packet = match what {
            What::Packet(packet) => packet,
            &What::Control { packet, serial } => {
                return each(Body::Control { seq, serial: serial as u32, packet }, &[]);
            }
        };
        let post = self.posts.get(post_key(packet));
        let range = packet.bytes.start as usize..packet.bytes.end as usize;
        let load = post.and_then(|post| post.load.bytes(self.requests).get(range));
        let (Some(post), Some(load)) = (post, load) else {
            // All of it has arrived otherwise.
            return each(Body::Void { seq }, &[]);
        };
        let (parcel, serial) = (&packet.parcel, packet.parcel.serial as u32);
        match post.place {
            None if is_whole(packet, longest) => {
                each(Body::Whole { seq, ack, serial, reserved: parcel.reserved }, load);
            }
            Some(receive) if !self.describes => {
                cut(seq, longest - HEAD, packet.bytes.start, load, |part, offset, load| {
                    each(Body::Data(Data { part, serial, receive, offset }), load);
                });
            }
            receive => {
                let piece = Piece {
                    length: parcel.length as u32,
                    start: parcel.stripe.bytes.start as u32,
                    end: parcel.stripe.bytes.end as u32,
                    stripe: parcel.id.0,
                    number: packet.number,
                    reserved: parcel.reserved,
                };
                let most = longest - HEAD - crate::datagram::PIECE;
                cut(seq, most, packet.bytes.start, load, |part, offset, load| {
                    each(Body::Piece { part, serial, receive, offset, parcel: piece }, load);
                });
            }
        }
    }
}

/// Cuts what a packet carries into parts.
fn cut<'a>(
    seq: Seq,
    most: usize,
    start: u64,
    load: &'a [u8],
    mut each: impl FnMut(Part, u32, &'a [u8]),
) {
    let count = load.len().div_ceil(most).max(1);
    for number in 0..count {
        let begin = number * most;
        let end = load.len().min(begin + most);
        let part = Part { seq, number: number as u8, last: number + 1 == count };
        each(part, (start + begin as u64) as u32, &load[begin..end]);
    }
}

/// The post that a packet is of.
fn post_key(packet: &Packet) -> PostKey {
    PostKey::from(KeyData::from_ffi(packet.parcel.message.0))
}
