//! Ranks that exchange messages by the protocol of [`crosstie_protocol::message`]: eager or by
//! rendezvous, over all rails.
//!
//! Each rank has a [`Messenger`], and is a processing element of its node. What a messenger posts
//! goes through the node, as the policy of that says, or through memory to a rank of the same node,
//! unless NICs put it there.
//! If sending and receiving take processors time ([`Overhead`]: o for each envelope and O for each
//! byte behind the first), then
//!
//! ```text
//! an envelope is posted at t        the processor is busy until t + o, and (m-1) O longer if there is a short message in it
//!                                   it is handed to the node at t + o
//! data of a long message            are posted for o, and are in place when they arrive
//! an envelope has arrived           and is opened: the processor is busy for o, and (m-1) O longer if there is a short message in it
//! ```
//!
//! With *tagged ports* ([`MessagingSpec::ports`]) the thread processor of a node's NIC is where
//! messengers run, and no processor of the node has anything to do with messages:
//!
//! ```text
//! a rank sends                      a short message leaves with its envelope, of a long one an RTS
//! a message or an RTS has come in   the NIC keeps it; the thread looks for its receive
//! a rank posts a receive            by a command; the thread looks for its message
//! both are there                    a short message is moved to its receive, and the rank is told;
//!                                   for a long one the thread answers, and the sender's puts it
//! ```

use super::desk::{Desk, Place, Resource};
use super::{Envelopes, Episode, Get, Hosting, Overhead};
use crate::agenda::{Agenda, Entry};
use crate::network::{Chore, Network, Pace, Part};
use crate::node::{Letter, Listener, Nodes, Receipt};
use crate::slab::Slab;
use crosstie_protocol::message::{
    self, Body, Class, Context, Envelope, MessageSpec, Messenger, PostId, RequestId,
};
use crosstie_protocol::{Machine, NodeId, PeId, RailId, RailSet, RankId};
use crosstie_units::Time;
use crosstie_work::{Input, Op, Rank, Request, Step, Tag, Turn};
use std::collections::BTreeMap;

/// The context of all messages.
const CONTEXT: Context = Context { class: Class::Application, id: 0 };

/// How ranks exchange messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessagingSpec {
    /// The protocol.
    pub protocol: MessageSpec,
    /// Bytes of an envelope, beside those of a message in it.
    pub envelope: u32,
    /// How fast a node copies what its ranks send to each other, and how long that is on its way
    /// besides.
    pub memory: Pace,
    /// See `memory`.
    pub latency: Time,
    /// True if NICs match messages, through tagged ports.
    pub ports: bool,
}

/// Something that comes at a known time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// Somebody who waits for a processor of a rank may start.
    Wake(Rank),
    /// A rank has computed.
    Computed(Rank, Request),
    /// An envelope is handed to its node.
    HandedOver(u32),
    /// A processor is done with a short message.
    Written(u32),
    /// An envelope has come through memory.
    Copied(u32),
    /// A processor has opened an envelope.
    Opened(u32),
    /// The messenger of a rank may have asked to be called.
    Alarm(Rank),
}

/// What a processor is asked to do.
#[derive(Debug, Clone, Copy)]
enum Task {
    Compute { request: Request, time: Time, watched: bool },
    Post(u32),
    Open(u32),
}

/// A send or a receive that is not done.
#[derive(Debug, Clone, Copy)]
struct Open {
    rank: Rank,
    request: Request,
    /// Of a receive whose message is being followed: the send.
    send: Option<u32>,
    /// Of a send: who receives it, its length, whether somebody wants to know when it starts, and
    /// when it did.
    to: Rank,
    bytes: u32,
    watched: bool,
    began: Option<Time>,
    /// Whether a processor is at it, and whether the send is done otherwise.
    writing: bool,
    done: bool,
    left: Time,
    end: Time,
    /// How many more things will be heard of it.
    expected: u8,
}

/// An envelope on its way.
#[derive(Debug, Clone, Copy)]
struct Underway {
    from: Rank,
    to: Rank,
    post: PostId,
    envelope: Envelope,
    /// The bytes of the message in it.
    bytes: u64,
    /// The send that it belongs to, if it has its bytes.
    of: Option<u32>,
    rail: Option<RailId>,
    whole: bool,
    /// How many more things will be heard of it: that it has been opened, and that it has landed.
    expected: u8,
}

/// Something that the thread of a NIC does for a rank.
#[derive(Debug, Clone, Copy)]
enum Charge {
    /// It looks for the message of a receive, which names a sender and a tag or neither.
    Receive { rank: Rank, request: RequestId, from: Option<RankId>, tag: Option<message::Tag> },
    /// It looks for the receive of a message that has come in an envelope.
    Match(u32),
    /// It moves a message to where the rank of a receive wants it.
    Deliver { receive: u32, send: Option<u32> },
}

/// One rank.
struct Seat {
    messenger: Messenger,
    desk: Desk<Task>,
    /// When its messenger is called next; no later than it asked for.
    alarm: Option<Time>,
}

/// The ranks of a cluster.
pub(crate) struct Messaging<'a> {
    spec: MessagingSpec,
    nodes: Box<Nodes>,
    network: Box<dyn Network + 'a>,
    /// Ranks of a node.
    pes: u32,
    overhead: Option<Overhead>,
    now: Time,
    agenda: Agenda<Event>,
    entries: u64,
    /// Tasks that processors were asked to do: they do them in the order in which they come.
    tasks: u64,
    seats: Vec<Seat>,
    open: Slab<Open>,
    underway: Slab<Underway>,
    /// Until when the memory of each node is busy with copying.
    memories: Vec<Time>,
    /// What the processors of commodity nodes compute.
    computations: Slab<(Rank, Request, Time)>,
    gets: Slab<Get>,
    /// What the threads of NICs do.
    charges: Slab<Charge>,
    told: Vec<Input>,
    /// Whether episodes are kept, and those that are over.
    records: bool,
    episodes: Vec<Episode>,
    /// Where episodes are kept: short messages by sender, receiver and number, and places for long
    /// ones by receiver and receive.
    short: BTreeMap<(Rank, Rank, u32), u32>,
    places: BTreeMap<(Rank, u32), u32>,
    cut_off: Option<(Rank, Rank)>,
    heard: Heard,
}

impl<'a> Messaging<'a> {
    /// Idle ranks, so many to a node. `records` asks for episodes.
    pub fn new(
        spec: MessagingSpec,
        (nodes, network): (Nodes, Box<dyn Network + 'a>),
        (hosts, pes): (u32, u32),
        overhead: Option<Overhead>,
        records: bool,
    ) -> Messaging<'a> {
        let seat = |rank| Seat {
            messenger: Messenger::new(spec.protocol, RankId(rank)),
            desk: Desk::new(1),
            alarm: None,
        };
        Messaging {
            spec,
            nodes: Box::new(nodes),
            network,
            pes,
            overhead,
            now: Time::ZERO,
            agenda: Agenda::default(),
            entries: 0,
            tasks: 0,
            seats: (0..hosts * pes).map(seat).collect(),
            open: Slab::default(),
            underway: Slab::default(),
            memories: vec![Time::ZERO; hosts as usize],
            computations: Slab::default(),
            gets: Slab::default(),
            charges: Slab::default(),
            told: Vec::new(),
            records,
            episodes: Vec::new(),
            short: BTreeMap::new(),
            places: BTreeMap::new(),
            cut_off: None,
            heard: Heard::default(),
        }
    }

    fn node(&self, rank: Rank) -> NodeId {
        NodeId(rank.0 / self.pes)
    }

    fn enter(&mut self, at: Time, event: Event) {
        self.agenda.enter(at, self.entries, event);
        self.entries += 1;
    }

    /// A processor is asked to do something.
    fn queue(&mut self, rank: Rank, cpu: u16, resource: Resource, task: Task) {
        self.tasks += 1;
        let place = Place::message(self.tasks);
        self.seats[rank.0 as usize].desk.queue(place, cpu, resource, task);
        self.serve(rank);
    }

    /// A rank is told that something has started.
    fn started(&mut self, rank: Rank, request: Request) {
        self.told.push(Input::Started { rank, request, turn: Turn::default() });
    }

    /// A rank is told that something is done.
    fn done(&mut self, rank: Rank, request: Request) {
        self.told.push(Input::Done { rank, request, turn: Turn::default() });
    }

    /// Tells a messenger what has happened and does what it then wants.
    fn tell(&mut self, rank: Rank, input: message::Input) {
        self.seats[rank.0 as usize].messenger.handle(self.now, input);
        self.serve_messenger(rank);
    }

    /// Does what a messenger wants.
    fn serve_messenger(&mut self, rank: Rank) {
        while let Some(action) = self.seats[rank.0 as usize].messenger.poll_action(self.now) {
            match action {
                message::Action::Post { post, to, envelope, bytes, of, rail, whole } => {
                    let (to, of) = (Rank(to.0), of.map(|of| of.0 as u32));
                    let underway = Underway {
                        from: rank,
                        to,
                        post,
                        envelope,
                        bytes,
                        of,
                        rail,
                        whole,
                        expected: 2,
                    };
                    self.post(underway);
                }
                message::Action::Sent { request } => {
                    let send = request.0 as u32;
                    self.open.get_mut(send).done = true;
                    self.sent(send);
                }
                message::Action::Place { receive, request, .. } => {
                    if self.records {
                        self.places.insert((rank, receive), request.0 as u32);
                    }
                }
                message::Action::Received { request, from, envelope, bytes, .. } => {
                    let receive = request.0 as u32;
                    let short = envelope.filter(|_| self.records);
                    let send = short
                        .and_then(|(_, number)| self.short.remove(&(Rank(from.0), rank, number)));
                    if self.spec.ports && envelope.is_some() {
                        // A message that a process can have is shorter than 4 GiB.
                        let chore = Chore::Deliver { bytes: bytes as u32 };
                        self.charge(rank, Charge::Deliver { receive, send }, chore);
                    } else {
                        self.received(receive, send);
                    }
                }
                message::Action::Failed { request, peer } => {
                    self.open.take(request.0 as u32);
                    self.cut_off.get_or_insert((rank, Rank(peer.0)));
                }
                message::Action::Left { peer, .. } => {
                    self.cut_off.get_or_insert((rank, Rank(peer.0)));
                }
            }
        }
        let seat = &mut self.seats[rank.0 as usize];
        if let Some(at) = seat.messenger.poll_timeout()
            && seat.alarm.is_none_or(|alarm| at < alarm)
        {
            seat.alarm = Some(at);
            self.enter(at, Event::Alarm(rank));
        }
    }

    /// A rank has its message: the short one of a send, or the one that it has followed.
    fn received(&mut self, receive: u32, send: Option<u32>) {
        let Open { rank, request, send: followed, .. } = self.open.take(receive);
        self.done(rank, request);
        if self.records {
            let send = send.or(followed).expect("a message was sent");
            self.open.get_mut(send).end = self.now;
            self.forget(send);
        }
    }

    /// A rank asks for a message.
    fn receive(
        &mut self,
        rank: Rank,
        request: RequestId,
        from: Option<RankId>,
        tag: Option<message::Tag>,
    ) {
        let (context, room) = (CONTEXT, u64::MAX);
        self.tell(rank, message::Input::Receive { request, context, from, tag, room });
    }

    /// The thread of a rank's NIC has something to do.
    fn charge(&mut self, rank: Rank, charge: Charge, chore: Chore) {
        let node = self.node(rank);
        let number = self.charges.put(charge);
        self.nodes.charge(&mut *self.network, node, number, chore);
    }

    /// The thread of a NIC has done something.
    fn charged(&mut self, number: u32) {
        match self.charges.take(number) {
            Charge::Receive { rank, request, from, tag } => {
                self.receive(rank, request, from, tag);
            }
            Charge::Match(id) => self.opened(id),
            Charge::Deliver { receive, send } => self.received(receive, send),
        }
    }

    /// The alarm of a messenger rings.
    fn ring(&mut self, rank: Rank) {
        let now = self.now;
        let seat = &mut self.seats[rank.0 as usize];
        if seat.alarm.is_none_or(|alarm| alarm > now) {
            // It was set before another that came sooner.
            return;
        }
        seat.alarm = None;
        seat.messenger.handle_timeout(now);
        self.serve_messenger(rank);
    }

    /// A node has given up another, and so have its ranks.
    fn unreachable(&mut self, node: NodeId, peer: NodeId) {
        let pes = self.pes;
        for rank in (node.0 * pes..(node.0 + 1) * pes).map(Rank) {
            for peer in (peer.0 * pes..(peer.0 + 1) * pes).map(RankId) {
                self.tell(rank, message::Input::Unreachable { peer });
            }
        }
    }

    /// A messenger posts an envelope.
    fn post(&mut self, underway: Underway) {
        let Underway { from, to, envelope: Envelope { number, body, .. }, of, .. } = underway;
        let id = self.underway.put(underway);
        if let (Some(send), Body::Eager { .. }) = (of, body) {
            self.open.get_mut(send).writing = self.overhead.is_some();
            if let (true, Some(number)) = (self.records, number) {
                self.short.insert((from, to, number), send);
            }
        }
        if self.overhead.is_some() {
            self.queue(from, 0, Resource::Nothing, Task::Post(id));
        } else {
            self.starts(id);
            self.hand_over(id);
        }
    }

    /// The first envelope of a send is posted.
    fn starts(&mut self, id: u32) {
        let now = self.now;
        let Underway { of: Some(send), .. } = *self.underway.get(id) else { return };
        let open = self.open.get_mut(send);
        if open.began.is_none() {
            open.began = Some(now);
            let (rank, request) = (open.rank, open.request);
            if open.watched {
                self.started(rank, request);
            }
        }
    }

    /// Gives an envelope to the node of its sender, or copies it for a rank of the same node.
    fn hand_over(&mut self, id: u32) {
        let Underway { from, to, envelope, bytes, rail, whole, .. } = *self.underway.get(id);
        let own = match envelope.body {
            Body::Data { .. } => 0,
            _ => u64::from(self.spec.envelope),
        };
        // Messages of the experiment file lie within the type, with their envelopes.
        let bytes = (own + bytes).max(1) as u32;
        let (node, peer) = (self.node(from), self.node(to));
        // Elans put from one process of a node to another, too.
        if node == peer && !self.nodes.loops() {
            let free = &mut self.memories[node.0 as usize];
            *free = self.now.max(*free) + self.spec.memory.time_for(bytes);
            let there = *free + self.spec.latency;
            self.enter(there, Event::Copied(id));
            self.handed_over(id, RailSet::all(1));
            return;
        }
        let pe = PeId(from.0 % self.pes);
        let placed = matches!(envelope.body, Body::Data { .. });
        let letter = Letter { from: node, pe, to: peer, bytes, id, rail, whole, placed };
        let mut heard = std::mem::take(&mut self.heard);
        match self.spec.ports {
            true => {
                let part = part(&envelope.body);
                self.nodes.send_to_port(&mut *self.network, letter, part, &mut heard);
            }
            false => self.nodes.send(&mut *self.network, letter, &mut heard),
        }
        self.heed(heard);
    }

    fn handed_over(&mut self, id: u32, rails: RailSet) {
        let Underway { from, post, .. } = *self.underway.get(id);
        self.tell(from, message::Input::HandedOver { post, rails });
    }

    fn landed(&mut self, id: u32) {
        let Underway { from, post, .. } = *self.underway.get(id);
        self.heard_of(id);
        self.tell(from, message::Input::Landed { post });
    }

    /// An envelope has arrived, all of it.
    fn arrived(&mut self, id: u32) {
        let Underway { to, envelope, .. } = *self.underway.get(id);
        match (self.overhead, envelope.body) {
            (_, Body::Eager { .. } | Body::Rts { .. }) if self.spec.ports => {
                self.charge(to, Charge::Match(id), Chore::Match);
            }
            (Some(_), body) if !matches!(body, Body::Data { .. }) => {
                self.queue(to, 0, Resource::Inbound, Task::Open(id));
            }
            _ => self.opened(id),
        }
    }

    /// A rank looks at an envelope.
    fn opened(&mut self, id: u32) {
        let Underway { from, to, envelope, bytes, of, .. } = *self.underway.get(id);
        if let (true, Body::Data { receive }) = (self.records, envelope.body)
            && let Some(place) = self.places.remove(&(to, receive))
        {
            self.open.get_mut(place).send = of;
        }
        self.heard_of(id);
        self.tell(to, message::Input::Arrived { from: RankId(from.0), envelope, bytes });
    }

    fn heard_of(&mut self, id: u32) {
        let underway = self.underway.get_mut(id);
        underway.expected -= 1;
        if underway.expected == 0 {
            self.underway.take(id);
        }
    }

    /// A send is done when its messenger says so and no processor is at it.
    fn sent(&mut self, send: u32) {
        let now = self.now;
        let open = self.open.get_mut(send);
        if open.done && !open.writing {
            open.left = now;
            let (rank, request) = (open.rank, open.request);
            self.done(rank, request);
            self.forget(send);
        }
    }

    /// Gives the place of a send away if nothing more will be heard of it.
    fn forget(&mut self, send: u32) {
        let open = self.open.get_mut(send);
        open.expected -= 1;
        if open.expected > 0 {
            return;
        }
        let Open { rank, to, bytes, began, left, end, .. } = self.open.take(send);
        if self.records {
            let begin = began.unwrap_or(left);
            self.episodes.push(Episode { rank, message: Some((to, bytes)), begin, left, end });
        }
    }

    /// Lets those start at a rank who can.
    fn serve(&mut self, rank: Rank) {
        let now = self.now;
        while let Some((cpu, _, task)) = self.seats[rank.0 as usize].desk.next(now) {
            let until = match task {
                Task::Compute { request, time, watched } => {
                    if watched {
                        self.started(rank, request);
                    }
                    let end = now + time;
                    self.enter(end, Event::Computed(rank, request));
                    if self.records {
                        let episode = Episode { rank, message: None, begin: now, left: end, end };
                        self.episodes.push(episode);
                    }
                    end
                }
                Task::Post(id) => {
                    self.starts(id);
                    let (overhead, work) = self.work(id);
                    self.enter(now + overhead, Event::HandedOver(id));
                    if let Underway { of: Some(send), .. } = *self.underway.get(id)
                        && self.open.get(send).writing
                    {
                        self.enter(now + work, Event::Written(send));
                    }
                    now + work
                }
                Task::Open(id) => {
                    let (_, work) = self.work(id);
                    self.enter(now + work, Event::Opened(id));
                    now + work
                }
            };
            self.seats[rank.0 as usize].desk.occupy(cpu, 0, until);
        }
        if let Some(at) = self.seats[rank.0 as usize].desk.wake(now) {
            self.enter(at, Event::Wake(rank));
        }
    }

    /// What an envelope takes a processor, without and with the bytes in it.
    fn work(&self, id: u32) -> (Time, Time) {
        let overhead = self.overhead.expect("processors take time");
        let bytes = match self.underway.get(id).envelope.body {
            Body::Eager { bytes, .. } => bytes as u32,
            _ => 0,
        };
        (overhead.message, overhead.message + overhead.bytes(bytes))
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Wake(rank) => self.serve(rank),
            Event::Computed(rank, request) => self.done(rank, request),
            Event::HandedOver(id) => self.hand_over(id),
            Event::Written(send) => {
                self.open.get_mut(send).writing = false;
                self.sent(send);
            }
            Event::Copied(id) => {
                self.arrived(id);
                self.landed(id);
            }
            Event::Opened(id) => self.opened(id),
            Event::Alarm(rank) => self.ring(rank),
        }
    }

    /// What nodes have told.
    fn heed(&mut self, mut heard: Heard) {
        for news in heard.0.drain(..) {
            match news {
                News::HandedOver(id, rails) => self.handed_over(id, rails),
                News::Landed(id) => self.landed(id),
                News::Arrived(id) => self.arrived(id),
                News::Charged(number) => self.charged(number),
                News::Unreachable(node, peer) => self.unreachable(node, peer),
                News::Got(number) => {
                    let get = self.gets.take(number);
                    self.done(get.rank, get.request);
                    if self.records {
                        self.episodes.push(get.episode(self.now));
                    }
                }
                News::Computed(number) => {
                    let (rank, request, begin) = self.computations.take(number);
                    self.done(rank, request);
                    if self.records {
                        let (left, end) = (self.now, self.now);
                        self.episodes.push(Episode { rank, message: None, begin, left, end });
                    }
                }
            }
        }
        // Whoever was told may have sent, and heard of that, in between.
        if self.heard.0.capacity() < heard.0.capacity() {
            self.heard = heard;
        }
    }
}

impl Hosting for Messaging<'_> {
    fn now(&self) -> Time {
        self.network.now()
    }

    fn take_told(&mut self, told: &mut Vec<Input>) {
        told.append(&mut self.told);
    }

    fn expects(&self) -> bool {
        self.nodes.expects(&*self.network) || !self.agenda.is_empty()
    }

    fn network(&mut self) -> Option<(&Nodes, &mut dyn Network)> {
        Some((&self.nodes, &mut *self.network))
    }

    fn take_episodes(&mut self) -> Vec<Episode> {
        std::mem::take(&mut self.episodes)
    }

    fn awaited(&self, rank: Rank) -> Option<(Option<Rank>, Option<Tag>, Request)> {
        let (from, tag, request) = self.seats[rank.0 as usize].messenger.awaited(CONTEXT)?;
        let Open { request, .. } = *self.open.get(request.0 as u32);
        Some((from.map(|from| Rank(from.0)), tag.map(|tag| Tag(tag.0)), request))
    }

    fn envelopes(&self) -> Option<Envelopes> {
        let messengers = || self.seats.iter().map(|seat| &seat.messenger);
        Some(Envelopes {
            posted: messengers().map(Messenger::posted).sum(),
            deferred: messengers().map(Messenger::deferred).sum(),
        })
    }

    fn violations(&self) -> u64 {
        self.seats.iter().map(|seat| seat.messenger.strays()).sum()
    }

    fn cut_off(&self) -> Option<(Rank, Rank)> {
        self.cut_off
    }

    fn begin(&mut self, rank: Rank, request: Request, op: Op, watched: bool, _turn: Turn) {
        self.now = self.network.now();
        let open = Open {
            rank,
            request,
            send: None,
            to: rank,
            bytes: 0,
            watched,
            began: None,
            writing: false,
            done: false,
            left: Time::ZERO,
            end: Time::ZERO,
            expected: 1,
        };
        match op.step {
            Step::Compute { time } if self.nodes.computes() => {
                if watched {
                    self.started(rank, request);
                }
                let number = self.computations.put((rank, request, self.now));
                let node = self.node(rank);
                self.nodes.compute(&*self.network, node, number, time);
            }
            Step::Compute { time } => {
                let task = Task::Compute { request, time, watched };
                self.queue(rank, op.cpu, Resource::Nothing, task);
            }
            Step::Cast { .. } => unreachable!("envelopes go to one rank each"),
            Step::Get { from, bytes } => {
                if watched {
                    self.started(rank, request);
                }
                let (begin, moment) = (self.now, 0);
                let id = self.gets.put(Get { rank, request, from, bytes, begin, moment });
                let (pe, rail, whole) = (PeId(rank.0 % self.pes), None, true);
                let (from, to) = (self.node(rank), self.node(from));
                let letter = Letter { from, pe, to, bytes, id, rail, whole, placed: true };
                self.nodes.get(&mut *self.network, letter);
            }
            Step::Receive { from, tag, .. } => {
                if watched {
                    self.started(rank, request);
                }
                let request = RequestId(u64::from(self.open.put(open)));
                let from = from.map(|from| RankId(from.0));
                let tag = tag.map(|tag| message::Tag(tag.0));
                if self.spec.ports {
                    let receive = Charge::Receive { rank, request, from, tag };
                    return self.charge(rank, receive, Chore::Receive);
                }
                self.receive(rank, request, from, tag);
            }
            Step::Send { to, tag, bytes } => {
                // It is done, and somebody has it, where that is kept.
                let expected = 1 + u8::from(self.records);
                let send = self.open.put(Open { to, bytes, expected, ..open });
                let (request, bytes) = (RequestId(u64::from(send)), u64::from(bytes));
                let (to, tag) = (RankId(to.0), message::Tag(tag.0));
                let (context, synchronous) = (CONTEXT, false);
                let send = message::Input::Send { request, context, to, tag, bytes, synchronous };
                self.tell(rank, send);
            }
        }
    }

    fn step(&mut self, until: Time) -> bool {
        let due = self.agenda.next();
        if due.is_some_and(|at| at <= self.network.now()) {
            let Entry { what, .. } = self.agenda.take().expect("one is due");
            self.now = self.network.now();
            self.happen(what);
            return true;
        }
        let until = due.map_or(until, |at| at.min(until));
        let mut heard = std::mem::take(&mut self.heard);
        let has_heard = |heard: &Heard| !heard.0.is_empty();
        let has = self.nodes.step_until_heard(&mut *self.network, until, &mut heard, has_heard);
        self.now = self.network.now();
        self.heed(heard);
        has
    }
}

/// What an envelope is between ports.
fn part(body: &Body) -> Part {
    match body {
        Body::Eager { .. } => Part::Message,
        Body::Rts { .. } => Part::Envelope,
        Body::Data { .. } => Part::Data,
        Body::Cts { .. }
        | Body::Matched { .. }
        | Body::Refused { .. }
        | Body::Fin { .. }
        | Body::Credit { .. }
        | Body::Probe
        | Body::Left { .. } => Part::Answer,
    }
}

/// What nodes tell while they run.
#[derive(Default)]
struct Heard(Vec<News>);

/// News of an envelope or a computation.
enum News {
    Computed(u32),
    Got(u32),
    Charged(u32),
    HandedOver(u32, RailSet),
    Landed(u32),
    Arrived(u32),
    Unreachable(NodeId, NodeId),
}

impl Listener for Heard {
    fn delivered(&mut self, receipt: &Receipt) {
        self.0.push(News::Arrived(receipt.letter.id));
    }

    fn handed_over(&mut self, letter: &Letter, rails: RailSet) {
        self.0.push(News::HandedOver(letter.id, rails));
    }

    fn landed(&mut self, letter: &Letter) {
        self.0.push(News::Landed(letter.id));
    }

    fn got(&mut self, letter: &Letter) {
        self.0.push(News::Got(letter.id));
    }

    fn charged(&mut self, number: u32) {
        self.0.push(News::Charged(number));
    }

    fn unreachable(&mut self, node: NodeId, peer: NodeId) {
        self.0.push(News::Unreachable(node, peer));
    }

    fn computed(&mut self, _node: NodeId, number: u32) {
        self.0.push(News::Computed(number));
    }
}
