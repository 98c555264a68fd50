//! Hosts: where ranks compute, send and receive.
//!
//! A host has processors, which computing occupies, and it matches messages with the receives that
//! ask for them. If sending and receiving take its processors time ([`Overhead`]: o for each
//! message and O for each byte behind the first), it keeps the rules of LogGOPS, with g and G those
//! of its wires:
//!
//! ```text
//! a send of m bytes starts at t     when its processor and the sending side of its NIC are free
//!   the processor is busy until     t + o + (m-1) O      the send is then done
//!   the NIC is busy until           t + g + (m-1) G
//!   the message leaves at           t + o
//! a reception starts at r           when the first byte is there, and processor and NIC are free
//!   the processor is busy until     r + o + (m-1) max(O, G), but o after the last byte; it is then done
//!   the NIC is busy until           r + g + (m-1) G
//! ```
//!
//! A message is received whether or not a receive is posted; a receive that is posted later takes
//! no time. The send of a message above the eager limit is done no sooner than message and receive
//! have met; meanwhile its processor and NIC serve others.
//!
//! Everything that begins (a send, a reception, a computation, a posted receive) is a *moment*, and
//! moments are counted. Whatever waits for a processor has a place (`Place`): the moment at which
//! what freed it began. A message is freed by the beginning of its send; an operation by the last
//! of what it needed to begin, or, after a long send, by the meeting. At each instant, what ends
//! comes first; then all that can start do, in the order of their places.
//!
//! Messages go over plain [`Wires`] where that is all that nodes and network would do, and
//! otherwise through nodes and network. There a NIC is busy with a message until it has left the
//! node, and a message is received by the processor alone. Commodity nodes have processors of their
//! own ([`StationSpec`](crate::node::StationSpec)), packet by packet, which then compute for their
//! hosts, too.

mod desk;
mod messaging;
mod wires;

pub use crosstie_collective::Overhead;
pub(crate) use messaging::Messaging;
pub use messaging::MessagingSpec;
pub use wires::Wires;

use crate::agenda::{Agenda, Entry};
use crate::network::{Network, Pace};
use crate::node::{Letter, Listener, Nodes, Receipt};
use crate::slab::Slab;
use crosstie_protocol::{Matching, NodeId, PeId, RailId};
use crosstie_units::Time;
use crosstie_work::{Input, Op, Rank, Request, Step, Tag, Turn};
use desk::{Desk, Place, Resource};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A message, by the number its hosts know it by.
type MessageId = u32;

/// The messages and receives of one host.
type Inbox = Matching<Rank, Tag, Request, MessageId>;

/// What a message went through, or a computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Episode {
    /// Who sent it, or computed.
    pub rank: Rank,
    /// Who received it, and how long it was; `None` of a computation.
    pub message: Option<(Rank, u32)>,
    /// When it began.
    pub begin: Time,
    /// When the sender was done with it.
    pub left: Time,
    /// When the receiver was.
    pub end: Time,
}

/// Envelopes between ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Envelopes {
    /// Those posted that are opened in order.
    pub posted: u64,
    /// Those of them that had to wait for others before them.
    pub deferred: u64,
}

/// Never.
const NEVER: Time = Time::from_ps(u64::MAX);

/// Something that comes at a known time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// A rank has computed what it began at a moment.
    Computed(Rank, Request, u64),
    /// A message is handed to its node.
    HandedOver(MessageId),
    /// A sender is done with a message.
    Sent(MessageId),
    /// The first byte of a message is at its receiver.
    Reached(MessageId),
    /// A message has been received.
    Received(MessageId),
}

/// A message between its beginning and the end of its receive.
#[derive(Debug, Clone, Copy)]
struct Message {
    from: Rank,
    to: Rank,
    tag: Tag,
    bytes: u32,
    cpu: u16,
    /// The rail that it must take, or takes.
    rail: Option<u16>,
    /// The send, and the receive that has taken it.
    send: Request,
    receive: Option<Request>,
    watched: bool,
    /// The moment at which the send began, and that at which message and receive met.
    moment: u64,
    met: u64,
    /// When the sender's processor, or NIC, began with it, and was done.
    began: Time,
    sent: Time,
    /// When the receiver's processor began; [`NEVER`] before.
    reception: Time,
    /// When its last byte was there, and when it was received; [`NEVER`] before.
    last: Time,
    end: Time,
    /// How many more things will be heard of it.
    expected: u8,
}

/// Memory of another rank that one reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Get {
    rank: Rank,
    request: Request,
    from: Rank,
    bytes: u32,
    begin: Time,
    moment: u64,
}

impl Get {
    /// What it went through, if it is done now.
    fn episode(&self, now: Time) -> Episode {
        let Get { rank, from, bytes, begin, .. } = *self;
        Episode { rank: from, message: Some((rank, bytes)), begin, left: now, end: now }
    }
}

/// A message to several ranks.
#[derive(Debug, Clone, Copy)]
struct Cast {
    rank: Rank,
    request: Request,
    tag: Tag,
    bytes: u32,
    begin: Time,
    moment: u64,
    /// Receivers that do not have it, and the sender if it does not know that they have.
    expected: u32,
}

/// Something that the processor of a commodity node computes.
#[derive(Debug, Clone, Copy)]
struct Computation {
    rank: Rank,
    request: Request,
    begin: Time,
    moment: u64,
}

/// A receive that is to be posted.
#[derive(Debug, Clone, Copy)]
struct Posting {
    rank: Rank,
    request: Request,
    from: Option<Rank>,
    tag: Option<Tag>,
    watched: bool,
}

/// What starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Start {
    /// The next task at the desk of a rank, unless another has come before it since.
    Task(Rank),
    /// A posted receive, by its number.
    Post(u32),
}

/// How messages get from host to host.
pub(crate) enum Ways<'a> {
    /// Over wires of their own.
    Wires(Wires),
    /// Through nodes and a network.
    Nodes {
        nodes: Box<Nodes>,
        network: Box<dyn Network + 'a>,
        /// How long bytes take on a link.
        pace: Pace,
    },
}

impl Ways<'_> {
    /// Bytes of a message at least: even nothing takes one to send, but by a put.
    fn least_bytes(&self) -> u32 {
        match self {
            Ways::Nodes { nodes, .. } if nodes.take_puts() => 0,
            Ways::Nodes { .. } | Ways::Wires(_) => 1,
        }
    }
}

/// The hosts of a cluster, one for every rank.
pub(crate) struct Hosts<'a> {
    ways: Ways<'a>,
    books: Books,
}

/// What hosts keep.
struct Books {
    overhead: Option<Overhead>,
    now: Time,
    desks: Vec<Desk<Task>>,
    /// What ends, and what comes to a host.
    agenda: Agenda<Event>,
    entries: u64,
    /// What starts when, and in which order.
    starts: BinaryHeap<Reverse<(Time, Place, Start)>>,
    /// How much has begun.
    moments: u64,
    inboxes: Vec<Inbox>,
    postings: Slab<Posting>,
    messages: Slab<Message>,
    /// What the processors of commodity nodes compute.
    computations: Slab<Computation>,
    gets: Slab<Get>,
    casts: Slab<Cast>,
    /// Who is to be told what.
    told: Vec<Input>,
    /// Whether episodes are kept, and those that are over.
    records: bool,
    episodes: Vec<Episode>,
    /// Room for what nodes tell.
    heard: Heard,
    /// Who was the first to give up whom.
    cut_off: Option<(Rank, Rank)>,
}

/// What a processor is asked to do.
#[derive(Debug, Clone, Copy)]
enum Task {
    Compute { request: Request, time: Time, watched: bool },
    Send(MessageId),
    Receive(MessageId),
}

/// What does the operations of ranks.
pub(crate) trait Hosting {
    /// The time it is.
    fn now(&self) -> Time;

    /// What has happened since it was last asked, in order.
    fn take_told(&mut self, told: &mut Vec<Input>);

    /// Whether anything will happen by itself.
    fn expects(&self) -> bool;

    /// The network and its nodes, if there are any.
    fn network(&mut self) -> Option<(&Nodes, &mut dyn Network)>;

    /// Episodes that are over, in the order in which they ended.
    fn take_episodes(&mut self) -> Vec<Episode>;

    /// What a rank waits for, of its receives.
    fn awaited(&self, rank: Rank) -> Option<(Option<Rank>, Option<Tag>, Request)>;

    /// What ranks have posted, where they exchange envelopes.
    fn envelopes(&self) -> Option<Envelopes> {
        None
    }

    /// Envelopes that break the protocol between ranks: 0 unless there is a bug.
    fn violations(&self) -> u64 {
        0
    }

    /// Who was the first to give up whom, if somebody has.
    fn cut_off(&self) -> Option<(Rank, Rank)>;

    /// A rank begins an operation. Its turn is the latest of what it waited for.
    fn begin(&mut self, rank: Rank, request: Request, op: Op, watched: bool, turn: Turn);

    /// Lets the next thing happen, if that is before a time. Returns false if nothing has happened
    /// yet: that time has come, or it is time to look up.
    fn step(&mut self, until: Time) -> bool;
}

impl<'a> Hosts<'a> {
    /// Idle hosts. `records` asks for episodes.
    pub fn new(
        ways: Ways<'a>,
        (hosts, rails): (u32, u32),
        overhead: Option<Overhead>,
        records: bool,
    ) -> Hosts<'a> {
        let books = Books {
            overhead,
            now: Time::ZERO,
            desks: (0..hosts).map(|_| Desk::new(rails)).collect(),
            agenda: Agenda::default(),
            entries: 0,
            starts: BinaryHeap::new(),
            moments: 0,
            inboxes: (0..hosts).map(|_| Inbox::default()).collect(),
            postings: Slab::default(),
            messages: Slab::default(),
            computations: Slab::default(),
            gets: Slab::default(),
            casts: Slab::default(),
            told: Vec::new(),
            records,
            episodes: Vec::new(),
            heard: Heard::default(),
            cut_off: None,
        };
        Hosts { ways, books }
    }

    fn send(&mut self, mut message: Message, place: Place) {
        let Books { overhead, now, .. } = self.books;
        let from = message.from;
        if let Ways::Wires(wires) = &mut self.ways {
            message.rail = Some(wires.rail(from.0, message.rail));
        }
        let id = self.books.messages.put(message);
        if overhead.is_some() {
            let way_out = message.rail.map_or(Resource::AnyOut, Resource::Out);
            self.books.queue(from, place, message.cpu, way_out, Task::Send(id));
            return;
        }
        let moment = self.books.begins();
        self.books.messages.get_mut(id).moment = moment;
        self.books.started(from, message.send, message.watched);
        match &mut self.ways {
            Ways::Wires(wires) => {
                let leaves = wires.leave(now, from.0, message.rail.unwrap_or(0), message.bytes);
                self.books.enter(leaves.last, Event::Sent(id));
                self.books.enter(leaves.reaches, Event::Reached(id));
            }
            Ways::Nodes { .. } => self.hand_over(id),
        }
    }

    /// Lets the next thing happen that is due. What ends comes before what starts.
    fn go_on(&mut self) {
        let now = self.books.now;
        if self.books.agenda.next().is_some_and(|at| at <= now) {
            let Entry { what, .. } = self.books.agenda.take().expect("one is due");
            self.happen(what);
        } else if let Some(Reverse((_, place, start))) = self.books.starts.pop() {
            self.start(place, start);
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Computed(rank, request, moment) => self.books.done(rank, request, moment),
            Event::HandedOver(id) => self.hand_over(id),
            Event::Sent(id) => self.books.sent(id),
            Event::Reached(id) => self.reached(id),
            Event::Received(id) => self.books.received(id),
        }
    }

    /// Gives a message to the node of its sender.
    fn hand_over(&mut self, id: MessageId) {
        let Ways::Nodes { nodes, network, .. } = &mut self.ways else {
            unreachable!("wires take messages at once");
        };
        let Message { from, to, bytes, rail, .. } = *self.books.messages.get(id);
        let rail = rail.map(|rail| RailId(u32::from(rail)));
        let (from, to, pe) = (NodeId(from.0), NodeId(to.0), PeId(0));
        let mut heard = std::mem::take(&mut self.books.heard);
        nodes.send(
            &mut **network,
            Letter { from, pe, to, bytes, id, rail, whole: false, placed: true },
            &mut heard,
        );
        self.heed(heard);
    }

    /// What nodes have told.
    fn heed(&mut self, mut heard: Heard) {
        let now = self.books.now;
        for news in heard.0.drain(..) {
            match news {
                News::Arriving(id) => {
                    if self.books.overhead.is_some() {
                        self.reached(id);
                    }
                }
                News::Arrived(id) => {
                    self.books.messages.get_mut(id).last = now;
                    match self.books.overhead {
                        None => self.books.received(id),
                        Some(overhead) => self.complete(id, overhead),
                    }
                }
                News::Unreachable(node, peer) => {
                    self.books.cut_off.get_or_insert((Rank(node.0), Rank(peer.0)));
                }
                News::Computed(number) => {
                    let Computation { rank, request, begin, moment } =
                        self.books.computations.take(number);
                    self.books.done(rank, request, moment);
                    if self.books.records {
                        let episode = Episode { rank, message: None, begin, left: now, end: now };
                        self.books.episodes.push(episode);
                    }
                }
                News::Got(number) => {
                    let get = self.books.gets.take(number);
                    self.books.done(get.rank, get.request, get.moment);
                    if self.books.records {
                        self.books.episodes.push(get.episode(now));
                    }
                }
                News::Reached(number, node) => self.books.cast_reached(number, Rank(node.0)),
                News::Cast(number) => {
                    let Cast { rank, request, moment, .. } = *self.books.casts.get(number);
                    self.books.done(rank, request, moment);
                    self.books.heard_of_cast(number);
                }
                News::Left(id) => {
                    let Message { from, rail, .. } = *self.books.messages.get(id);
                    if self.books.overhead.is_none() {
                        self.books.sent(id);
                    } else {
                        self.books.forget(id);
                        self.books.desks[from.0 as usize].left(rail, now);
                        self.books.line_up(from);
                    }
                }
            }
        }
        self.books.heard = heard;
    }

    /// The first byte of a message is at its receiver.
    fn reached(&mut self, id: MessageId) {
        let Message { to, cpu, rail, bytes, moment, .. } = *self.books.messages.get(id);
        match (&mut self.ways, self.books.overhead) {
            (Ways::Wires(wires), None) => {
                let end = wires.come_in(self.books.now, to.0, rail.unwrap_or(0), bytes);
                self.books.enter(end, Event::Received(id));
            }
            (ways, _) => {
                let way_in = match ways {
                    Ways::Wires(_) => Resource::In(rail.unwrap_or(0)),
                    Ways::Nodes { .. } => Resource::Inbound,
                };
                self.books.queue(to, Place::message(moment), cpu, way_in, Task::Receive(id));
            }
        }
    }

    /// Lets something start, if its turn has not passed to another.
    fn start(&mut self, place: Place, start: Start) {
        let now = self.books.now;
        match start {
            Start::Post(number) => {
                let posting = self.books.postings.take(number);
                self.post(posting);
            }
            Start::Task(rank) => {
                let desk = &mut self.books.desks[rank.0 as usize];
                if desk.first(now) == Some((now, place)) {
                    self.start_next(rank);
                }
                self.books.line_up(rank);
            }
        }
    }

    /// Lets the next task at the desk of a rank start. Returns false if it cannot yet.
    fn start_next(&mut self, rank: Rank) -> bool {
        let next = self.books.desks[rank.0 as usize].next(self.books.now);
        let Some((cpu, resource, task)) = next else { return false };
        match task {
            Task::Compute { request, time, watched } => {
                self.start_computation(rank, cpu, request, time, watched);
            }
            Task::Send(id) => self.start_send(rank, cpu, resource, id),
            Task::Receive(id) => self.start_reception(rank, cpu, resource, id),
        }
        true
    }

    fn start_computation(
        &mut self,
        rank: Rank,
        cpu: u16,
        request: Request,
        time: Time,
        watched: bool,
    ) {
        let (begin, moment) = (self.books.now, self.books.begins());
        let end = begin + time;
        self.books.started(rank, request, watched);
        self.books.desks[rank.0 as usize].occupy(cpu, moment, end);
        self.books.enter(end, Event::Computed(rank, request, moment));
        if self.books.records {
            let episode = Episode { rank, message: None, begin, left: end, end };
            self.books.episodes.push(episode);
        }
    }

    /// Posts a receive.
    fn post(&mut self, posting: Posting) {
        let Posting { rank, request, from, tag, watched } = posting;
        self.books.begins();
        self.books.started(rank, request, watched);
        if let Some((.., id)) = self.books.inboxes[rank.0 as usize].post(from, tag, request) {
            self.meet(id, request);
        }
    }

    fn overhead(&self) -> Overhead {
        self.books.overhead.expect("processors take time")
    }

    fn start_send(&mut self, rank: Rank, cpu: u16, resource: Resource, id: MessageId) {
        let (overhead, now, moment) = (self.overhead(), self.books.now, self.books.begins());
        let message = self.books.messages.get_mut(id);
        (message.began, message.moment) = (now, moment);
        let Message { bytes, send, watched, .. } = *message;
        self.books.started(rank, send, watched);
        let busy = now + overhead.message + overhead.bytes(bytes);
        let desk = &mut self.books.desks[rank.0 as usize];
        desk.occupy(cpu, moment, busy);
        match &self.ways {
            Ways::Wires(wires) => {
                desk.take(resource, now + wires.occupied(bytes));
                let reaches = now + overhead.message + wires.latency();
                self.books.enter(reaches, Event::Reached(id));
            }
            Ways::Nodes { .. } => {
                desk.go_out(resource);
                self.books.enter(now + overhead.message, Event::HandedOver(id));
            }
        }
        if overhead.is_eager(bytes) {
            self.books.enter(busy, Event::Sent(id));
        }
    }

    fn start_reception(&mut self, rank: Rank, cpu: u16, resource: Resource, id: MessageId) {
        let (overhead, now, moment) = (self.overhead(), self.books.now, self.books.begins());
        let Message { from, tag, bytes, .. } = *self.books.messages.get(id);
        self.books.messages.get_mut(id).reception = now;
        let desk = &mut self.books.desks[rank.0 as usize];
        match &self.ways {
            Ways::Wires(wires) => {
                let end = now + overhead.message + overhead.bytes(bytes).max(wires.length(bytes));
                desk.occupy(cpu, moment, end);
                desk.take(resource, now + wires.occupied(bytes));
                self.books.enter(end, Event::Received(id));
            }
            Ways::Nodes { .. } => {
                desk.occupy(cpu, moment, NEVER);
                self.complete(id, overhead);
            }
        }
        if let Some((request, _)) = self.books.inboxes[rank.0 as usize].arrive(from, tag, id) {
            self.meet(id, request);
        }
    }

    /// A message from the network is received as soon as the processor has begun and the last byte
    /// is there.
    fn complete(&mut self, id: MessageId, overhead: Overhead) {
        let Message { to, cpu, bytes, reception, last, .. } = *self.books.messages.get(id);
        let Ways::Nodes { pace, .. } = &self.ways else { unreachable!("it came by the network") };
        if reception == NEVER || last == NEVER {
            return;
        }
        let work = overhead.bytes(bytes).max(pace.time_for(bytes - 1));
        let end = (reception + overhead.message + work).max(last + overhead.message);
        let end = end.max(self.books.now);
        self.books.desks[to.0 as usize].extend(cpu, end);
        self.books.enter(end, Event::Received(id));
        self.books.line_up(to);
    }

    /// A message has found its receive, or the other way round.
    fn meet(&mut self, id: MessageId, request: Request) {
        let now = self.books.now;
        let message = self.books.messages.get_mut(id);
        message.receive = Some(request);
        message.met = self.books.moments;
        let Message { bytes, began, end, .. } = *message;
        if end <= now {
            self.books.conclude(id);
        }
        if let Some(overhead) = self.books.overhead
            && !overhead.is_eager(bytes)
        {
            // A long message: now its send is done.
            let busy = began + overhead.message + overhead.bytes(bytes);
            self.books.enter(busy.max(now), Event::Sent(id));
        }
    }
}

impl Hosting for Hosts<'_> {
    fn now(&self) -> Time {
        match &self.ways {
            Ways::Wires(_) => self.books.now,
            Ways::Nodes { network, .. } => network.now(),
        }
    }

    fn take_told(&mut self, told: &mut Vec<Input>) {
        told.append(&mut self.books.told);
    }

    fn expects(&self) -> bool {
        let network = match &self.ways {
            Ways::Wires(_) => false,
            Ways::Nodes { nodes, network, .. } => nodes.expects(&**network),
        };
        network || !self.books.agenda.is_empty() || !self.books.starts.is_empty()
    }

    fn network(&mut self) -> Option<(&Nodes, &mut dyn Network)> {
        match &mut self.ways {
            Ways::Wires(_) => None,
            Ways::Nodes { nodes, network, .. } => Some((nodes, &mut **network)),
        }
    }

    fn take_episodes(&mut self) -> Vec<Episode> {
        std::mem::take(&mut self.books.episodes)
    }

    fn awaited(&self, rank: Rank) -> Option<(Option<Rank>, Option<Tag>, Request)> {
        self.books.inboxes[rank.0 as usize].awaited()
    }

    fn cut_off(&self) -> Option<(Rank, Rank)> {
        self.books.cut_off
    }

    fn begin(&mut self, rank: Rank, request: Request, op: Op, watched: bool, turn: Turn) {
        self.books.now = self.now();
        let turn = turn.min(Turn::done(self.books.moments));
        let place = Place::operation(rank, request, op.step, turn);
        match op.step {
            Step::Compute { time } => {
                if let Ways::Nodes { nodes, network, .. } = &mut self.ways
                    && nodes.computes()
                {
                    let (begin, moment) = (self.books.now, self.books.begins());
                    self.books.started(rank, request, watched);
                    let computation = Computation { rank, request, begin, moment };
                    let number = self.books.computations.put(computation);
                    nodes.compute(&**network, NodeId(rank.0), number, time);
                    return;
                }
                let task = Task::Compute { request, time, watched };
                if self.books.overhead.is_some() {
                    self.books.queue(rank, place, op.cpu, Resource::Nothing, task);
                    return;
                }
                // Processors do nothing but compute, in the order in which they are asked to.
                let place = Place::message(self.books.begins());
                self.books.queue(rank, place, op.cpu, Resource::Nothing, task);
                while self.start_next(rank) {}
                self.books.line_up(rank);
            }
            Step::Receive { from, tag, .. } => {
                let posting = Posting { rank, request, from, tag, watched };
                if self.books.overhead.is_none() {
                    self.post(posting);
                    return;
                }
                let desk = &self.books.desks[rank.0 as usize];
                let at = desk.posts(op.cpu, turn.moment(), self.books.now);
                let number = self.books.postings.put(posting);
                self.books.starts.push(Reverse((at, place, Start::Post(number))));
            }
            Step::Cast { first, last, tag, bytes } => {
                let (begin, moment) = (self.books.now, self.books.begins());
                self.books.started(rank, request, watched);
                let expected = last.0 - first.0 + 2;
                let cast = Cast { rank, request, tag, bytes, begin, moment, expected };
                let id = self.books.casts.put(cast);
                let Ways::Nodes { nodes, network, .. } = &mut self.ways else {
                    unreachable!("wires lead to one host each");
                };
                let rail = op.nic.map(|rail| RailId(u32::from(rail)));
                let (from, to, pe, whole) = (NodeId(rank.0), NodeId(first.0), PeId(0), true);
                let letter = Letter { from, pe, to, bytes, id, rail, whole, placed: true };
                nodes.cast(&mut **network, letter, NodeId(last.0));
            }
            Step::Get { from, bytes } => {
                let (begin, moment) = (self.books.now, self.books.begins());
                self.books.started(rank, request, watched);
                let id = self.books.gets.put(Get { rank, request, from, bytes, begin, moment });
                let Ways::Nodes { nodes, network, .. } = &mut self.ways else {
                    unreachable!("wires serve no gets");
                };
                let rail = op.nic.map(|rail| RailId(u32::from(rail)));
                let (from, to, pe, whole) = (NodeId(rank.0), NodeId(from.0), PeId(0), true);
                nodes.get(
                    &mut **network,
                    Letter { from, pe, to, bytes, id, rail, whole, placed: true },
                );
            }
            Step::Send { to, tag, bytes } => {
                let message = Message {
                    from: rank,
                    to,
                    tag,
                    bytes: bytes.max(self.ways.least_bytes()),
                    cpu: op.cpu,
                    rail: op.nic,
                    send: request,
                    receive: None,
                    watched,
                    moment: 0,
                    met: 0,
                    began: self.books.now,
                    sent: NEVER,
                    reception: NEVER,
                    last: NEVER,
                    end: NEVER,
                    // The send and the receive are done; and it has left, where that is another
                    // matter.
                    expected: match (&self.ways, self.books.overhead) {
                        (Ways::Nodes { .. }, Some(_)) => 3,
                        _ => 2,
                    },
                };
                self.send(message, place);
            }
        }
    }

    fn step(&mut self, until: Time) -> bool {
        let due = self.books.due();
        match &mut self.ways {
            Ways::Wires(_) => match due {
                Some(at) if at < until => {
                    self.books.now = at;
                    self.go_on();
                    true
                }
                _ => {
                    self.books.now = self.books.now.max(until);
                    false
                }
            },
            Ways::Nodes { nodes, network, .. } => {
                if due.is_some_and(|at| at <= network.now()) {
                    self.books.now = network.now();
                    self.go_on();
                    return true;
                }
                let until = due.map_or(until, |at| at.min(until));
                let mut heard = std::mem::take(&mut self.books.heard);
                let has_heard = |heard: &Heard| !heard.0.is_empty();
                let has = nodes.step_until_heard(&mut **network, until, &mut heard, has_heard);
                self.books.now = network.now();
                self.heed(heard);
                has
            }
        }
    }
}

impl Books {
    fn enter(&mut self, at: Time, event: Event) {
        self.agenda.enter(at, self.entries, event);
        self.entries += 1;
    }

    /// When the next thing is due.
    fn due(&self) -> Option<Time> {
        let start = self.starts.peek().map(|Reverse((at, ..))| *at);
        [self.agenda.next(), start].into_iter().flatten().min()
    }

    /// Something begins; which moment it is.
    fn begins(&mut self) -> u64 {
        self.moments += 1;
        self.moments
    }

    /// A rank is told, if it asked, that what begins now has started.
    fn started(&mut self, rank: Rank, request: Request, watched: bool) {
        if watched {
            let turn = Turn::started(self.moments);
            self.told.push(Input::Started { rank, request, turn });
        }
    }

    /// A rank is told that something is done. What waited for it was freed at a moment.
    fn done(&mut self, rank: Rank, request: Request, moment: u64) {
        let turn = Turn::done(moment);
        self.told.push(Input::Done { rank, request, turn });
    }

    /// A task comes to the desk of a rank.
    fn queue(&mut self, rank: Rank, place: Place, cpu: u16, resource: Resource, task: Task) {
        self.desks[rank.0 as usize].queue(place, cpu, resource, task);
        self.line_up(rank);
    }

    /// The desk of a rank has changed: its next task may be another.
    fn line_up(&mut self, rank: Rank) {
        if let Some((at, place)) = self.desks[rank.0 as usize].news(self.now) {
            self.starts.push(Reverse((at, place, Start::Task(rank))));
        }
    }

    /// A sender is done with a message.
    fn sent(&mut self, id: MessageId) {
        let message = self.messages.get_mut(id);
        message.sent = self.now;
        let Message { from, send, bytes, moment, met, .. } = *message;
        let is_eager = self.overhead.is_none_or(|overhead| overhead.is_eager(bytes));
        self.done(from, send, if is_eager { moment } else { met });
        self.forget(id);
    }

    /// A message has been received; who has asked for it is told.
    fn received(&mut self, id: MessageId) {
        let Message { from, to, tag, receive, .. } = *self.messages.get(id);
        self.messages.get_mut(id).end = self.now;
        let receive = match self.overhead {
            // It has been looked for when its reception began.
            Some(_) => receive,
            None => {
                self.messages.get_mut(id).met = self.begins();
                let inbox = &mut self.inboxes[to.0 as usize];
                inbox.arrive(from, tag, id).map(|(request, _)| request)
            }
        };
        if let Some(request) = receive {
            self.messages.get_mut(id).receive = Some(request);
            self.conclude(id);
        }
    }

    /// A message to several ranks has come to one of them.
    fn cast_reached(&mut self, number: u32, to: Rank) {
        let Cast { rank, request, tag, bytes, begin, moment, .. } = *self.casts.get(number);
        let id = self.messages.put(Message {
            from: rank,
            to,
            tag,
            bytes,
            cpu: 0,
            rail: None,
            send: request,
            receive: None,
            watched: false,
            moment,
            met: 0,
            began: begin,
            sent: self.now,
            reception: NEVER,
            last: self.now,
            end: NEVER,
            // The receive is done.
            expected: 1,
        });
        self.heard_of_cast(number);
        self.received(id);
    }

    fn heard_of_cast(&mut self, number: u32) {
        let cast = self.casts.get_mut(number);
        cast.expected -= 1;
        if cast.expected == 0 {
            self.casts.take(number);
        }
    }

    /// A receive has its message, whole.
    fn conclude(&mut self, id: MessageId) {
        let Message { to, receive, met, .. } = *self.messages.get(id);
        let request = receive.expect("a receive has taken it");
        self.done(to, request, met);
        self.forget(id);
    }

    /// Gives the place of a message away if nothing more will be heard of it.
    fn forget(&mut self, id: MessageId) {
        let message = self.messages.get_mut(id);
        message.expected -= 1;
        if message.expected > 0 {
            return;
        }
        let message = self.messages.take(id);
        if self.records {
            let Message { from: rank, to, bytes, began: begin, sent: left, end, .. } = message;
            self.episodes.push(Episode { rank, message: Some((to, bytes)), begin, left, end });
        }
    }
}

/// What nodes tell while they run.
#[derive(Default)]
struct Heard(Vec<News>);

/// News of a message or a computation.
enum News {
    Computed(u32),
    Got(u32),
    Reached(u32, NodeId),
    Cast(u32),
    Arriving(MessageId),
    Arrived(MessageId),
    Left(MessageId),
    Unreachable(NodeId, NodeId),
}

impl Listener for Heard {
    fn arriving(&mut self, letter: &Letter) {
        self.0.push(News::Arriving(letter.id));
    }

    fn delivered(&mut self, receipt: &Receipt) {
        self.0.push(News::Arrived(receipt.letter.id));
    }

    fn completed(&mut self, letter: &Letter) {
        self.0.push(News::Left(letter.id));
    }

    fn got(&mut self, letter: &Letter) {
        self.0.push(News::Got(letter.id));
    }

    fn reached(&mut self, letter: &Letter, node: NodeId) {
        self.0.push(News::Reached(letter.id, node));
    }

    fn cast(&mut self, letter: &Letter) {
        self.0.push(News::Cast(letter.id));
    }

    fn computed(&mut self, _node: NodeId, number: u32) {
        self.0.push(News::Computed(number));
    }

    fn unreachable(&mut self, node: NodeId, peer: NodeId) {
        self.0.push(News::Unreachable(node, peer));
    }
}
