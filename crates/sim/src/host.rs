//! Hosts: where ranks compute, send and receive.
//!
//! A host has processors, which computing occupies, and it matches messages with the receives that ask for
//! them. If sending and receiving take its processors time ([`Overhead`]: o for each message and O for each
//! byte behind the first), it keeps the rules of LogGOPS, with g and G those of its wires:
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
//! A message is received whether or not anybody has asked for it; a receive that comes later takes no time.
//! Of messages longer than the eager limit the send is done, and its processor and NIC are free, no sooner than
//! message and receive have met; meanwhile the processor takes up nothing but receptions. Those who wait for a processor are served in the order in which they became
//! ready, among those who can start.
//!
//! Messages go over plain [`Wires`] where that is all that nodes and network would do, and otherwise through
//! nodes and network. There a NIC is busy with a message until it has left the node, and a message is received
//! by the processor alone. Commodity nodes have processors of their own
//! ([`StationSpec`](crate::node::StationSpec)), packet by packet, which then compute for their hosts, too.

mod desk;
mod messaging;
mod wires;

pub(crate) use messaging::Messaging;
pub use messaging::MessagingSpec;
pub use wires::Wires;

use crate::agenda::{Agenda, Entry};
use crate::network::{Network, Pace};
use crate::node::{Letter, Listener, Nodes, Receipt};
use crate::slab::Slab;
use crosstie_protocol::{Matching, NodeId, PeId, RailId};
use crosstie_units::Time;
use crosstie_work::{Input, Op, Rank, Request, Step, Tag};
use desk::{Desk, Resource};

/// A message, by the number its hosts know it by.
type MessageId = u32;

/// The messages and receives of one host.
type Inbox = Matching<Rank, Tag, Request, MessageId>;

/// What hosts take for sending and receiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overhead {
    /// For a message: o.
    pub message: Time,
    /// For every byte behind the first: O.
    pub byte: Time,
    /// The longest message that a send does not wait for the receive of: S. `None`: there is no such limit.
    pub eager: Option<u32>,
}

impl Overhead {
    fn bytes(&self, bytes: u32) -> Time {
        self.byte * u64::from(bytes.max(1) - 1)
    }
}

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

/// Steps of nodes after which somebody looks up, if none of them was heard of.
const UNHEARD: u32 = 1024;

/// Never.
const NEVER: Time = Time::from_ps(u64::MAX);

/// Something that comes at a known time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// Somebody who waits for a processor or a NIC of a host may start.
    Wake(Rank),
    /// A rank has computed.
    Computed(Rank, Request),
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

/// Something that the processor of a commodity node computes.
#[derive(Debug, Clone, Copy)]
struct Computation {
    rank: Rank,
    request: Request,
    begin: Time,
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
    agenda: Agenda<Event>,
    entries: u64,
    inboxes: Vec<Inbox>,
    messages: Slab<Message>,
    /// What the processors of commodity nodes compute.
    computations: Slab<Computation>,
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

    /// A rank begins an operation.
    fn begin(&mut self, rank: Rank, request: Request, op: Op, watched: bool);

    /// Lets the next thing happen, if that is before a time; false if that time has come.
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
            inboxes: (0..hosts).map(|_| Inbox::default()).collect(),
            messages: Slab::default(),
            computations: Slab::default(),
            told: Vec::new(),
            records,
            episodes: Vec::new(),
            heard: Heard::default(),
            cut_off: None,
        };
        Hosts { ways, books }
    }

    fn send(&mut self, mut message: Message) {
        let Books { overhead, now, .. } = self.books;
        let from = message.from;
        if let Ways::Wires(wires) = &mut self.ways {
            message.rail = Some(wires.rail(from.0, message.rail));
        }
        let id = self.books.messages.put(message);
        if overhead.is_some() {
            let way_out = message.rail.map_or(Resource::AnyOut, Resource::Out);
            self.books.desks[from.0 as usize].queue(message.cpu, way_out, Task::Send(id));
            self.serve(from);
            return;
        }
        if message.watched {
            self.books.told.push(Input::Started { rank: from, request: message.send });
        }
        match &mut self.ways {
            Ways::Wires(wires) => {
                let leaves = wires.leave(now, from.0, message.rail.unwrap_or(0), message.bytes);
                self.books.enter(leaves.last, Event::Sent(id));
                self.books.enter(leaves.reaches, Event::Reached(id));
            }
            Ways::Nodes { .. } => self.hand_over(id),
        }
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Wake(rank) => self.serve(rank),
            Event::Computed(rank, request) => self.books.told.push(Input::Done { rank, request }),
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
            Letter { from, pe, to, bytes, id, rail, whole: false },
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
                    let Computation { rank, request, begin } = self.books.computations.take(number);
                    self.books.told.push(Input::Done { rank, request });
                    if self.books.records {
                        let episode = Episode { rank, message: None, begin, left: now, end: now };
                        self.books.episodes.push(episode);
                    }
                }
                News::Left(id) => {
                    let Message { from, rail, .. } = *self.books.messages.get(id);
                    if self.books.overhead.is_none() {
                        self.books.sent(id);
                    } else {
                        self.books.forget(id);
                        self.books.desks[from.0 as usize].left(rail, now);
                        self.serve(from);
                    }
                }
            }
        }
        self.books.heard = heard;
    }

    /// The first byte of a message is at its receiver.
    fn reached(&mut self, id: MessageId) {
        let Message { to, cpu, rail, bytes, .. } = *self.books.messages.get(id);
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
                self.books.desks[to.0 as usize].queue(cpu, way_in, Task::Receive(id));
                self.serve(to);
            }
        }
    }

    /// Lets those start at a host who can.
    fn serve(&mut self, rank: Rank) {
        let now = self.books.now;
        while let Some((cpu, resource, task)) = self.books.desks[rank.0 as usize].next(now) {
            match task {
                Task::Compute { request, time, watched } => {
                    if watched {
                        self.books.told.push(Input::Started { rank, request });
                    }
                    self.books.desks[rank.0 as usize].occupy(cpu, now + time);
                    self.books.enter(now + time, Event::Computed(rank, request));
                    if self.books.records {
                        let end = now + time;
                        let episode = Episode { rank, message: None, begin: now, left: end, end };
                        self.books.episodes.push(episode);
                    }
                }
                Task::Send(id) => self.start_send(rank, cpu, resource, id),
                Task::Receive(id) => self.start_reception(rank, cpu, resource, id),
            }
        }
        if let Some(at) = self.books.desks[rank.0 as usize].wake(now) {
            self.books.enter(at, Event::Wake(rank));
        }
    }

    fn overhead(&self) -> Overhead {
        self.books.overhead.expect("processors take time")
    }

    fn start_send(&mut self, rank: Rank, cpu: u16, resource: Resource, id: MessageId) {
        let (overhead, now) = (self.overhead(), self.books.now);
        let message = self.books.messages.get_mut(id);
        message.began = now;
        let Message { bytes, send, watched, .. } = *message;
        if watched {
            self.books.told.push(Input::Started { rank, request: send });
        }
        let busy = now + overhead.message + overhead.bytes(bytes);
        let is_eager = overhead.eager.is_none_or(|most| bytes <= most);
        let desk = &mut self.books.desks[rank.0 as usize];
        desk.occupy(cpu, busy);
        // A long message keeps both until it has met its receive.
        if !is_eager {
            desk.hold(cpu, NEVER);
        }
        match &self.ways {
            Ways::Wires(wires) => {
                let free = now + wires.occupied(bytes);
                desk.take(resource, if is_eager { free } else { NEVER });
                let reaches = now + overhead.message + wires.latency();
                self.books.enter(reaches, Event::Reached(id));
            }
            Ways::Nodes { .. } => {
                desk.go_out(resource);
                self.books.enter(now + overhead.message, Event::HandedOver(id));
            }
        }
        if is_eager {
            self.books.enter(busy, Event::Sent(id));
        }
    }

    fn start_reception(&mut self, rank: Rank, cpu: u16, resource: Resource, id: MessageId) {
        let (overhead, now) = (self.overhead(), self.books.now);
        let Message { from, tag, bytes, .. } = *self.books.messages.get(id);
        self.books.messages.get_mut(id).reception = now;
        let desk = &mut self.books.desks[rank.0 as usize];
        match &self.ways {
            Ways::Wires(wires) => {
                let end = now + overhead.message + overhead.bytes(bytes).max(wires.length(bytes));
                desk.occupy(cpu, end);
                desk.take(resource, now + wires.occupied(bytes));
                self.books.enter(end, Event::Received(id));
            }
            Ways::Nodes { .. } => {
                desk.occupy(cpu, NEVER);
                self.complete(id, overhead);
            }
        }
        if let Some((request, _)) = self.books.inboxes[rank.0 as usize].arrive(from, tag, id) {
            self.meet(id, request);
        }
    }

    /// A message from the network is received as soon as the processor has begun and the last byte is there.
    fn complete(&mut self, id: MessageId, overhead: Overhead) {
        let Message { to, cpu, bytes, reception, last, .. } = *self.books.messages.get(id);
        let Ways::Nodes { pace, .. } = &self.ways else { unreachable!("it came by the network") };
        if reception == NEVER || last == NEVER {
            return;
        }
        let work = overhead.bytes(bytes).max(pace.time_for(bytes - 1));
        let end = (reception + overhead.message + work).max(last + overhead.message);
        let end = end.max(self.books.now);
        self.books.desks[to.0 as usize].occupy(cpu, end);
        self.books.enter(end, Event::Received(id));
        self.serve(to);
    }

    /// A message has found its receive, or the other way round.
    fn meet(&mut self, id: MessageId, request: Request) {
        let now = self.books.now;
        let message = self.books.messages.get_mut(id);
        message.receive = Some(request);
        let Message { from, cpu, rail, bytes, began, sent, end, .. } = *message;
        if end <= now {
            self.books.conclude(id);
        }
        let Some(overhead) = self.books.overhead else { return };
        if sent != NEVER || overhead.eager.is_none_or(|most| bytes <= most) {
            return;
        }
        // A long message: its sender goes on.
        let busy = (began + overhead.message + overhead.bytes(bytes)).max(now);
        let desk = &mut self.books.desks[from.0 as usize];
        desk.hold(cpu, busy);
        if let Ways::Wires(wires) = &self.ways {
            let free = (began + wires.occupied(bytes)).max(now);
            desk.take(Resource::Out(rail.unwrap_or(0)), free);
        }
        self.books.enter(busy, Event::Sent(id));
        self.serve(from);
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
        network || !self.books.agenda.is_empty()
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

    fn begin(&mut self, rank: Rank, request: Request, op: Op, watched: bool) {
        self.books.now = self.now();
        match op.step {
            Step::Compute { time } => {
                if let Ways::Nodes { nodes, network, .. } = &mut self.ways
                    && nodes.computes()
                {
                    if watched {
                        self.books.told.push(Input::Started { rank, request });
                    }
                    let begin = self.books.now;
                    let number = self.books.computations.put(Computation { rank, request, begin });
                    nodes.compute(&**network, NodeId(rank.0), number, time);
                    return;
                }
                let task = Task::Compute { request, time, watched };
                self.books.desks[rank.0 as usize].queue(op.cpu, Resource::Nothing, task);
                self.serve(rank);
            }
            Step::Receive { from, tag, .. } => {
                if watched {
                    self.books.told.push(Input::Started { rank, request });
                }
                let inbox = &mut self.books.inboxes[rank.0 as usize];
                if let Some((.., message)) = inbox.post(from, tag, request) {
                    self.meet(message, request);
                }
            }
            Step::Send { to, tag, bytes } => {
                let message = Message {
                    from: rank,
                    to,
                    tag,
                    // Even nothing takes a byte to send.
                    bytes: bytes.max(1),
                    cpu: op.cpu,
                    rail: op.nic,
                    send: request,
                    receive: None,
                    watched,
                    began: self.books.now,
                    sent: NEVER,
                    reception: NEVER,
                    last: NEVER,
                    end: NEVER,
                    // The send and the receive are done; and it has left, where that is another matter.
                    expected: match (&self.ways, self.books.overhead) {
                        (Ways::Nodes { .. }, Some(_)) => 3,
                        _ => 2,
                    },
                };
                self.send(message);
            }
        }
    }

    fn step(&mut self, until: Time) -> bool {
        let due = self.books.agenda.next();
        match &mut self.ways {
            Ways::Wires(_) => match due {
                Some(at) if at < until => {
                    let Entry { what, .. } = self.books.agenda.take().expect("one is due");
                    self.books.now = at;
                    self.happen(what);
                    true
                }
                _ => {
                    self.books.now = self.books.now.max(until);
                    false
                }
            },
            Ways::Nodes { nodes, network, .. } => {
                if due.is_some_and(|at| at <= network.now()) {
                    let Entry { what, .. } = self.books.agenda.take().expect("one is due");
                    self.books.now = network.now();
                    self.happen(what);
                    return true;
                }
                let until = due.map_or(until, |at| at.min(until));
                let mut heard = std::mem::take(&mut self.books.heard);
                // What concerns packets alone stays among the nodes.
                let mut goes_on = true;
                for _ in 0..UNHEARD {
                    goes_on = nodes.step(&mut **network, until, &mut heard);
                    if !goes_on || !heard.0.is_empty() {
                        break;
                    }
                }
                self.books.now = network.now();
                self.heed(heard);
                goes_on || due.is_some()
            }
        }
    }
}

impl Books {
    fn enter(&mut self, at: Time, event: Event) {
        self.agenda.enter(at, self.entries, event);
        self.entries += 1;
    }

    /// A sender is done with a message.
    fn sent(&mut self, id: MessageId) {
        let message = self.messages.get_mut(id);
        message.sent = self.now;
        let (rank, request) = (message.from, message.send);
        self.told.push(Input::Done { rank, request });
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
                let inbox = &mut self.inboxes[to.0 as usize];
                inbox.arrive(from, tag, id).map(|(request, _)| request)
            }
        };
        if let Some(request) = receive {
            self.messages.get_mut(id).receive = Some(request);
            self.conclude(id);
        }
    }

    /// A receive has its message, whole.
    fn conclude(&mut self, id: MessageId) {
        let Message { to, receive, .. } = *self.messages.get(id);
        let request = receive.expect("a receive has taken it");
        self.told.push(Input::Done { rank: to, request });
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

    fn computed(&mut self, _node: NodeId, number: u32) {
        self.0.push(News::Computed(number));
    }

    fn unreachable(&mut self, node: NodeId, peer: NodeId) {
        self.0.push(News::Unreachable(node, peer));
    }
}
