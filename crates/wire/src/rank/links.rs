//! The layer of links: a reliable channel for each rail to each peer, behind greetings.
//!
//! Above it is the layer of rails, below it the queues of NICs. Acknowledgements are kept until
//! nothing else is to be done: what they let go is rarely as urgent as a message that has arrived.

use std::collections::VecDeque;
use std::ops::Range;

use crosstie_protocol::Machine;
use crosstie_protocol::channel::{self, ChannelSpec, Frame, Path, Seq};
use crosstie_units::Time;

use super::greeting::{self, Greeting};
use super::link::Link;
use super::queues::Outgoing;
use super::rails::{Chunk, Item};
use crate::datagram::{Body, Part};
use crate::key::Key;

/// What the layer wants done.
#[derive(Debug)]
pub(super) enum Action {
    /// Send a packet.
    Transmit { to: u16, rail: u8, seq: Seq, ack: Seq, item: Item },
    /// Send a packet that has waited.
    Send { rail: u8, packet: Outgoing },
    /// Send this before all packets.
    Control { to: u16, rail: u8, body: Body },
    /// The receiver has a packet. `shorter`: the path drops long datagrams, and shorter ones are
    /// sent from now on.
    Acknowledged { to: u16, rail: u8, item: Item, shorter: bool },
}

/// Links of one rank.
pub(super) struct Links {
    channel: ChannelSpec,
    /// The most bytes of a datagram, by rail.
    longest: Vec<usize>,
    /// By peer and rail: one each, once something goes to it or comes from it.
    all: Vec<Vec<Option<Box<Link>>>>,
    /// Links that may want something done, each once.
    touched: VecDeque<(u16, u8)>,
    /// Links with an acknowledgement that the channel has not been told of, each once or more.
    told: Vec<(u16, u8)>,
    /// True if one of them has an acknowledgement to send that may not wait.
    owes: bool,
    /// Greetings and their answers that are to be sent.
    words: VecDeque<(u16, u8, Body)>,
    /// Packets that waited for the answer to a greeting that has come.
    ready: VecDeque<(u8, Outgoing)>,
    nonces: greeting::Nonces,
    /// No later than the first link wants to be called.
    deadline: Option<Time>,
}

impl Links {
    /// Of this rank, with rails that take datagrams of up to `longest` bytes.
    pub fn new(rank: u16, size: u16, key: Key, channel: ChannelSpec, longest: Vec<usize>) -> Links {
        Links {
            channel,
            longest,
            all: (0..size).map(|_| Vec::new()).collect(),
            touched: VecDeque::new(),
            told: Vec::new(),
            owes: false,
            words: VecDeque::new(),
            ready: VecDeque::new(),
            nonces: greeting::Nonces::new(rank, key),
            deadline: None,
        }
    }

    #[inline]
    fn link(&mut self, rank: u16, rail: u8) -> &mut Link {
        let (rails, channel, longest) =
            (self.longest.len(), self.channel, self.longest[usize::from(rail)]);
        let links = &mut self.all[usize::from(rank)];
        if links.is_empty() {
            links.resize_with(rails, || None);
        }
        links[usize::from(rail)].get_or_insert_with(|| Box::new(Link::new(channel, longest)))
    }

    /// A link that there is.
    #[inline]
    fn known(&mut self, rank: u16, rail: u8) -> Option<&mut Link> {
        self.all[usize::from(rank)].get_mut(usize::from(rail))?.as_deref_mut()
    }

    /// Puts a link among those that are asked what they want done.
    #[inline]
    fn touch(&mut self, rank: u16, rail: u8) {
        let Some(link) = self.known(rank, rail) else { return };
        if !std::mem::replace(&mut link.touched, true) {
            self.touched.push_back((rank, rail));
        }
    }

    /// Hands a packet of `bytes` bytes to the channel of a link. `rides`: it has room for an
    /// acknowledgement, as one datagram.
    #[inline]
    pub fn send(&mut self, now: Time, (to, rail): (u16, u8), item: Item, bytes: u32, rides: bool) {
        if usize::from(rail) >= self.longest.len() {
            return;
        }
        if self.link(to, rail).greeting == Greeting::Silent {
            self.greet(now, to, rail);
        }
        let link = self.link(to, rail);
        let rides = rides && bytes as usize <= link.mtu.longest();
        link.endpoint.handle(now, channel::Input::Send { item, bytes, rides });
        self.touch(to, rail);
    }

    /// A packet that is to be sent over a link; `None` if it waits until the greeting is answered.
    #[inline]
    pub fn dispatch(
        &mut self,
        now: Time,
        (to, rail): (u16, u8),
        (seq, ack): (Seq, Seq),
        (item, chunk, bytes): (Item, Chunk, usize),
    ) -> Option<Outgoing> {
        let link = self.known(to, rail)?;
        let (longest, first) = link.departs(now, seq, bytes);
        let packet = Outgoing { to, seq, ack, item, chunk, first, longest };
        if link.greeting == Greeting::Answered {
            return Some(packet);
        }
        // What is to go again before the greeting is answered has not gone yet.
        if !link.waiting.iter().any(|waiting| waiting.seq == seq) {
            link.waiting.push_back(packet);
        }
        None
    }

    /// Something has come on a link. Returns false if it is to be ignored: a peer that sends data
    /// has greeted before.
    #[inline]
    pub fn hears(&mut self, from: u16, rail: u8, is_data: bool) -> bool {
        self.link(from, rail).heard || !is_data
    }

    /// A datagram of a packet has come that covers these bytes. Those of the packet, if all are
    /// there.
    #[inline]
    pub fn assemble(
        &mut self,
        from: u16,
        rail: u8,
        part: Part,
        bytes: Range<u64>,
    ) -> Option<Range<u64>> {
        self.link(from, rail).assemble(part, bytes)
    }

    /// A packet has come. Returns true if it is to be delivered.
    #[inline]
    pub fn receive(&mut self, now: Time, from: u16, rail: u8, seq: Seq) -> bool {
        let link = self.link(from, rail);
        link.catch_up();
        let is_new = link.endpoint.receive(now, seq);
        let owes = link.endpoint.owes();
        self.owes |= owes;
        self.touch(from, rail);
        is_new
    }

    /// A number has come with data: everything before it is acknowledged. The channel is told
    /// later; where nothing goes the other way, every packet repeats the same number.
    #[inline]
    pub fn rode(&mut self, now: Time, from: u16, rail: u8, ack: Seq) {
        if self.link(from, rail).is_news(ack) {
            self.acknowledge(now, from, rail, Frame::Pack(ack));
        }
    }

    /// An acknowledgement has come. The channel is told later.
    #[inline]
    pub fn acknowledge(&mut self, now: Time, from: u16, rail: u8, frame: Frame<Item>) {
        self.link(from, rail).acknowledge(now, frame);
        self.told.push((from, rail));
    }

    /// Returns true if something is to be sent that may not wait until the program has time.
    #[inline]
    pub fn owes(&self) -> bool {
        self.owes || !self.words.is_empty()
    }

    /// Returns true if there are acknowledgements that channels have not been told of.
    #[inline]
    pub fn has_acknowledgements(&self) -> bool {
        !self.told.is_empty()
    }

    /// Tells channels of acknowledgements.
    #[inline]
    pub fn catch_up(&mut self) {
        let mut told = std::mem::take(&mut self.told);
        for (rank, rail) in told.drain(..) {
            if let Some(link) = self.known(rank, rail) {
                link.catch_up();
                self.touch(rank, rail);
            }
        }
        self.told = told;
    }

    /// What is to be done next.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Option<Action> {
        if let Some((to, rail, body)) = self.words.pop_front() {
            return Some(Action::Control { to, rail, body });
        }
        if let Some((rail, packet)) = self.ready.pop_front() {
            return Some(Action::Send { rail, packet });
        }
        self.owes = false;
        // In the order in which the layer above asked: which link goes first is its affair.
        while let Some(&(to, rail)) = self.touched.front() {
            let Some(link) = self.known(to, rail) else {
                self.touched.pop_front();
                continue;
            };
            let Some(action) = link.endpoint.poll_action(now) else {
                link.touched = false;
                let deadline = link.endpoint.poll_timeout();
                self.hurry(deadline);
                self.touched.pop_front();
                continue;
            };
            let body = match action {
                channel::Action::Transmit(Frame::Data { seq, ack, item }) => {
                    return Some(Action::Transmit { to, rail, seq, ack, item });
                }
                channel::Action::Transmit(Frame::Pack(ack)) => Body::Pack(ack),
                channel::Action::Transmit(Frame::Nack(ack)) => Body::Nack(ack),
                channel::Action::Transmit(Frame::Sack(sack)) => Body::Sack(sack),
                channel::Action::Acknowledged(item) => {
                    // Before the next packet is sent: it has shown which datagrams pass.
                    let shorter = link.mtu.acknowledged(now, link.endpoint.base());
                    return Some(Action::Acknowledged { to, rail, item, shorter });
                }
                // Packets are received by another door.
                channel::Action::Deliver(_) => continue,
            };
            return Some(Action::Control { to, rail, body });
        }
        None
    }

    /// What the channel of a link has found out about its path.
    #[inline]
    pub fn path(&self, to: u16, rail: u8) -> Option<Path> {
        self.all[usize::from(to)].get(usize::from(rail))?.as_ref()?.endpoint.path()
    }

    /// Greets a peer on a rail.
    pub fn greet(&mut self, now: Time, rank: u16, rail: u8) {
        let nonce = self.nonces.next();
        let link = self.link(rank, rail);
        link.greeting = Greeting::said(now, nonce);
        let deadline = link.greeting.deadline();
        self.hurry(deadline);
        self.words.push_back((rank, rail, Body::Hello { nonce }));
    }

    /// A greeting has come; it is answered at once, and returned: later, the answer to ours would
    /// have to pass by all that is under way by then, in a switch that may have room for
    /// nothing else.
    pub fn greeted(&mut self, now: Time, rank: u16, rail: u8, nonce: u64) {
        let link = self.link(rank, rail);
        link.heard = true;
        if link.greeting == Greeting::Silent {
            self.greet(now, rank, rail);
        }
        self.words.push_back((rank, rail, Body::Welcome { nonce }));
    }

    /// A greeting has been answered: what waited for that can go.
    /// Returns true if so.
    pub fn welcomed(&mut self, now: Time, rank: u16, rail: u8, nonce: u64) -> bool {
        let link = self.link(rank, rail);
        let answers = link.greeting.answers(nonce);
        if answers {
            link.greeting = Greeting::Answered;
            link.endpoint.leave(now);
            let waiting = std::mem::take(&mut link.waiting);
            self.ready.extend(waiting.into_iter().map(|packet| (rail, packet)));
        }
        answers
    }

    /// Returns true if a peer has answered a greeting on a rail.
    pub fn is_answered(&self, rank: u16, rail: u8) -> bool {
        let link = self.all[usize::from(rank)].get(usize::from(rail)).and_then(Option::as_ref);
        link.is_some_and(|link| link.greeting == Greeting::Answered)
    }

    /// The first peer that is known on a rail.
    pub fn someone_on(&self, rail: usize) -> Option<u16> {
        let known = |links: &Vec<Option<Box<Link>>>| links.get(rail).is_some_and(Option::is_some);
        self.all.iter().position(known).map(|rank| rank as u16)
    }

    /// A link may want to be called at a time.
    #[inline]
    fn hurry(&mut self, at: Option<Time>) {
        if let Some(at) = at {
            self.deadline = Some(self.deadline.map_or(at, |deadline| deadline.min(at)));
        }
    }

    /// When it is to be called, if nothing happens before; perhaps earlier than that.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Does what is due.
    pub fn expire(&mut self, now: Time) {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        self.catch_up();
        let Links { all, touched, words, .. } = self;
        let mut first: Option<Time> = None;
        for (rank, links) in (0u16..).zip(all) {
            for (rail, link) in (0u8..).zip(links) {
                let Some(link) = link else { continue };
                if link.endpoint.poll_timeout().is_some_and(|at| at <= now) {
                    link.endpoint.handle_timeout(now);
                    if !std::mem::replace(&mut link.touched, true) {
                        touched.push_back((rank, rail));
                    }
                }
                if let Some(nonce) = link.greeting.again(now, !link.waiting.is_empty()) {
                    words.push_back((rank, rail, Body::Hello { nonce }));
                }
                let next = [link.endpoint.poll_timeout(), link.greeting.deadline()];
                first = next.into_iter().flatten().chain(first).min();
            }
        }
        self.deadline = first;
    }

    /// Forgets all links to a rank.
    pub fn lose(&mut self, rank: u16) {
        self.all[usize::from(rank)].clear();
        self.touched.retain(|&(peer, _)| peer != rank);
        self.told.retain(|&(peer, _)| peer != rank);
        self.words.retain(|&(peer, ..)| peer != rank);
        self.ready.retain(|(_, packet)| packet.to != rank);
    }

    /// All links of a rail.
    pub fn of_rail(&self, rail: usize) -> impl Iterator<Item = &Link> + Clone {
        self.all.iter().filter_map(move |links| links.get(rail)?.as_deref())
    }

    /// Returns true if no channel has anything to do.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.all.iter().flatten().flatten().all(|link| link.endpoint.is_idle())
    }
}
