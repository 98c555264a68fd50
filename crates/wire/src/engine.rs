//! What drives the machines of `crosstie-protocol` for one rank: a [`Messenger`] above, a [`Node`]
//! below it, and a channel to every peer on every rail.
//!
//! ```text
//!   Comm            sends and receives of the program
//!   Messenger       eager or rendezvous, matched and in order
//!   Node            which bytes on which rail; what goes again when a rail dies     memory, for ranks of this machine
//!   Endpoint        one for each peer and rail: what is lost is sent again
//!   Rail            datagrams
//! ```
//!
//! The engine reads no clock and never waits: whoever calls it says what time it is. So the same
//! code runs over sockets and, in tests, over rails in memory with a clock of their own.

mod advance;
mod greeting;
mod inbound;
mod link;
mod local;
mod messages;
mod outbound;
mod path_mtu;
mod request;
mod statistics;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;

use crosstie_protocol::channel::{ChannelSpec, Seq};
use crosstie_protocol::message::{self, Cancelled, Messenger, RequestId, Tag};
use crosstie_protocol::{
    Action, Ahead, Injection, Input, Machine, Node, NodeError, NodeId, NodeSpec, Packing, Policies,
    Profile, RankId, StripeId,
};
use crosstie_units::Time;
use slotmap::{Key as _, KeyData, SlotMap, new_key_type};

use crate::datagram::{HEAD, LONGEST, MOST_PARTS};
use crate::envelope::Context;
use crate::key::Key;
use crate::memory::Memory;
use crate::rail::Rail;
use advance::{Advance, Whole};
use link::Link;
use messages::{Load, Post, request_key};
use outbound::Queue;
pub use request::Loss;
pub(crate) use request::{Buffer, Failure, Status};
use request::{Request, State};
pub use statistics::{RailCount, RailStatistics};

new_key_type! {
    /// A send or a receive.
    pub(crate) struct RequestKey;
    /// Something that the messenger has posted and the node takes to its receiver.
    struct PostKey;
    /// A message that is coming in.
    struct ArrivalKey;
}

/// What an engine is made of.
pub(crate) struct EngineSpec {
    pub rank: u16,
    pub size: u16,
    pub key: Key,
    pub profile: Profile,
    /// How the packets of this rank follow each other.
    pub injection: Injection,
}

/// A message that is coming in.
#[derive(Debug)]
enum Arrival {
    /// An envelope; what has come of it.
    Envelope(Vec<u8>),
    /// Data of a long message, which go to their place.
    Data { place: u32 },
}

/// Where the data of a long message go.
#[derive(Debug)]
struct Place {
    context: Context,
    /// The receive, as its messenger numbers it.
    receive: u32,
    from: u16,
    request: RequestKey,
    length: u32,
    /// The message that comes there, once some of it has.
    coming: Option<(u64, ArrivalKey)>,
}

/// What is kept of another rank.
#[derive(Default)]
struct Peer {
    /// One for every rail, once something goes to it or comes from it.
    links: Vec<Option<Box<Link>>>,
    /// Messages of several packets of which some have come: by serial number.
    partial: Vec<(u64, ArrivalKey)>,
    /// The bytes that these take.
    staged: usize,
    /// The highest serial number that has come.
    highest: u64,
    /// Short messages that nobody has taken yet, by the number of their envelope; and their bytes.
    kept: VecDeque<(Context, u32, Vec<u8>)>,
    kept_bytes: usize,
    /// Why nothing is heard from it or sent to it any more, if that is so.
    gone: bool,
    loss: Loss,
}

/// What waits in front of a NIC, and what is known of that.
#[derive(Default)]
struct Nic {
    queue: Queue,
    /// The most bytes of a datagram.
    longest: usize,
    count: RailCount,
    /// While its link is down: when it is tried again.
    down: Option<Time>,
}

/// Machines that have been told something; links are listed apart.
#[derive(Debug, Default)]
struct Stirred {
    messengers: [bool; Context::ALL.len()],
    node: bool,
}

/// One rank's end of everything.
pub(crate) struct Engine {
    rank: u16,
    key: Key,
    channel: ChannelSpec,
    /// Whether stripes are told apart by their receivers.
    describes: bool,
    departures: bool,
    eager: u64,
    credit: u64,
    node: Node,
    /// One for each context.
    messengers: [Messenger; Context::ALL.len()],
    peers: Vec<Peer>,
    nics: Vec<Nic>,
    /// Datagrams that are being sent, one behind the other: the kernel copies them from here.
    departing: Vec<u8>,
    /// Their drivers.
    rails: Vec<Box<dyn Rail>>,
    memory: Option<Box<local::Neighbours>>,
    posts: SlotMap<PostKey, Post>,
    arrivals: SlotMap<ArrivalKey, Arrival>,
    /// By the number of the receive and the context.
    places: Vec<Option<Place>>,
    requests: SlotMap<RequestKey, Request>,
    /// Messages that nobody waits for any more and that were lost with their receivers: how many,
    /// by rank.
    undelivered: BTreeMap<u16, usize>,
    /// Envelopes of this rank for itself, with their bytes or those of a send.
    own: VecDeque<Post>,
    /// Machines that may want something.
    stirred: Stirred,
    touched: Vec<(u16, u8)>,
    /// Acknowledgements that have come with data, by whom on which rail and when, and the channel
    /// has not been told.
    riding: Vec<(u16, u8, Seq, Time)>,
    /// What has been acknowledged, and the node has not been told: by whom on which rail.
    acknowledged: Vec<(u16, u8, StripeId, u32)>,
    /// What has been sent, and what has been handed out, before machines were told of it.
    advance: Option<Advance>,
    untold: Option<(Whole, Vec<u8>)>,
    /// The receive that it was handed out to.
    handed_out: Option<RequestKey>,
    /// Whether memory is looked at before rails, the next time.
    memory_first: bool,
    /// Whether a request is done since the machines were last asked.
    done: bool,
    /// Buffers for short messages.
    spare: Vec<Vec<u8>>,
    /// When something is to be done, if nothing happens before; perhaps earlier than that.
    deadline: Option<Time>,
    /// The latest time that it has been told.
    now: Time,
    nonce: u64,
}

/// What a datagram carries on all of these rails, and how many datagrams a packet may have. A
/// window that finds itself counts bytes; one that is given counts packets, each of which is to be
/// a frame.
fn payload(channel: &ChannelSpec, rails: &[Box<dyn Rail>]) -> (u32, u32) {
    let longest = rails.iter().map(|rail| rail.longest()).min().unwrap_or(1472);
    if let ChannelSpec::GoBackN(_) = channel {
        return ((longest - HEAD) as u32, 1);
    }
    let most = rails.iter().map(|rail| rail.train());
    // Also if it has to be cut into shorter datagrams.
    let fits = |bytes: usize| bytes - bytes / 16;
    let most = most.map(|(count, bytes)| count.min(fits(bytes) / longest)).min().unwrap_or(1);
    ((longest - HEAD) as u32, most.clamp(1, MOST_PARTS) as u32)
}

impl Engine {
    /// Rails that all ranks of the job have, in the same order; ranks that are reached through
    /// memory.
    pub fn new(
        spec: EngineSpec,
        policies: &Policies,
        rails: Vec<Box<dyn Rail>>,
        memory: Option<(Memory, Vec<Option<usize>>)>,
    ) -> Result<Engine, NodeError> {
        let (payload, most) = payload(&spec.profile.channel, &rails);
        let node = NodeSpec {
            packing: Packing { payload: Some(payload), overhead: HEAD as u32 },
            ahead: Some(Ahead { time: spec.profile.ahead, most }),
            reports: true,
            repeats: true,
            patience: spec.profile.patience,
            injection: spec.injection,
            ..NodeSpec::new(NodeId(spec.rank.into()), rails.len().max(1) as u32)
        };
        Engine::with_node(spec, node, policies, rails, memory)
    }

    /// The same with this node.
    pub fn with_node(
        spec: EngineSpec,
        node: NodeSpec,
        policies: &Policies,
        rails: Vec<Box<dyn Rail>>,
        memory: Option<(Memory, Vec<Option<usize>>)>,
    ) -> Result<Engine, NodeError> {
        let EngineSpec { rank, size, key, profile: Profile { message, channel, .. }, .. } = spec;
        let policy = policies.node(&node)?;
        let describes = !policy.nics().is_empty();
        let node = Node::new(node, policy)?;
        Ok(Engine {
            rank,
            key,
            channel,
            describes,
            departures: node.needs_departures(),
            eager: message.eager,
            credit: message.credit,
            node,
            messengers: Context::ALL.map(|_| Messenger::new(message, RankId(rank.into()))),
            peers: (0..size).map(|_| Peer::default()).collect(),
            nics: rails
                .iter()
                .map(|rail| Nic { longest: rail.longest(), ..Nic::default() })
                .collect(),
            departing: Vec::new(),
            rails,
            memory: memory.map(|(memory, ranks)| Box::new(local::Neighbours::new(memory, ranks))),
            posts: SlotMap::with_key(),
            arrivals: SlotMap::with_key(),
            places: Vec::new(),
            requests: SlotMap::with_key(),
            undelivered: BTreeMap::new(),
            own: VecDeque::new(),
            stirred: Stirred::default(),
            touched: Vec::new(),
            riding: Vec::new(),
            acknowledged: Vec::new(),
            advance: None,
            untold: None,
            handed_out: None,
            memory_first: false,
            done: false,
            spare: Vec::new(),
            // At once, for the first look.
            deadline: Some(Time::ZERO),
            now: Time::ZERO,
            nonce: 0,
        })
    }

    /// The latest time that it has been told.
    pub fn now(&self) -> Time {
        self.now
    }

    /// It is told the time, which never goes back.
    #[inline]
    fn passes(&mut self, now: Time) -> Time {
        self.now = self.now.max(now);
        self.now
    }

    /// Whether it has rails to look at, which takes longer than memory.
    pub fn has_rails(&self) -> bool {
        !self.rails.is_empty()
    }

    /// When it wants to be called, if nothing happens before.
    pub fn deadline(&self) -> Option<Time> {
        let now = self.untold.is_some() || self.has_acknowledged();
        if now { Some(self.now) } else { self.deadline }
    }

    /// Begins to send bytes to a rank. What is sent at once has the key of nobody.
    pub fn send(
        &mut self,
        now: Time,
        context: Context,
        to: u16,
        tag: Tag,
        buffer: Buffer,
    ) -> RequestKey {
        let bytes = buffer.bytes().len() as u64;
        debug_assert!(bytes <= LONGEST);
        let now = self.passes(now);
        if self.send_at_once(now, context, to, tag, buffer.bytes()) {
            self.catch_up(now);
            self.wake_neighbours();
            return RequestKey::null();
        }
        let key = self.requests.insert(Request::new(context, buffer));
        self.send_in_advance(now, context, to, tag, key, bytes);
        self.catch_up(now);
        let (request, to) = (RequestId(key.data().as_ffi()), RankId(to.into()));
        self.tell(now, context, message::Input::Send { request, to, tag, bytes });
        self.settle(now);
        self.wake_neighbours();
        debug_assert!(self.advance.is_none(), "{:?} was not foreseen", self.advance);
        key
    }

    /// Begins to receive a message.
    pub fn receive(
        &mut self,
        now: Time,
        context: Context,
        from: Option<u16>,
        tag: Option<Tag>,
        buffer: Buffer,
    ) -> RequestKey {
        let now = self.passes(now);
        self.catch_up(now);
        let room = buffer.room() as u64;
        let key = self.requests.insert(Request::new(context, buffer));
        let request = RequestId(key.data().as_ffi());
        let from = from.map(|from| RankId(from.into()));
        self.tell(now, context, message::Input::Receive { request, from, tag, room });
        self.settle(now);
        self.wake_neighbours();
        key
    }

    /// The oldest message that a receive would take.
    pub fn probe(&self, from: Option<u16>, tag: Option<Tag>) -> Option<Status> {
        let from = from.map(|from| RankId(from.into()));
        let (from, tag, bytes) = self.messengers[Context::Program as usize].probe(from, tag)?;
        Some(Status { from: from.0 as u16, tag, bytes })
    }

    /// Whether a request is done; then it is forgotten.
    pub fn outcome(&mut self, key: RequestKey) -> Option<Result<Status, Failure>> {
        if key.is_null() {
            return Some(Ok(self.sent()));
        }
        match self.requests.get(key)?.state {
            State::Pending => None,
            State::Done(status) => {
                self.requests.remove(key);
                Some(Ok(status))
            }
            State::Failed(failure) => {
                self.requests.remove(key);
                Some(Err(failure))
            }
        }
    }

    /// What there is to say of something that has been sent.
    fn sent(&self) -> Status {
        Status { from: self.rank, tag: Tag(0), bytes: 0 }
    }

    /// Whether a request is done.
    pub fn is_done(&self, key: RequestKey) -> bool {
        self.requests.get(key).is_none_or(|request| !matches!(request.state, State::Pending))
    }

    /// Takes back the memory of requests that nobody waits for any more; what becomes of those that
    /// were not done. A receive that waits is withdrawn. What another rank knows of goes on:
    /// what is still to be sent is copied, and what still comes is dropped.
    pub fn abandon(&mut self, now: Time, keys: &[RequestKey]) -> Vec<(RequestKey, Cancelled)> {
        let now = self.passes(now);
        self.catch_up(now);
        let mut pending = Context::ALL.map(|_| BTreeSet::new());
        for &key in keys {
            if self.is_done(key) {
                self.requests.remove(key);
            } else if let Some(request) = self.requests.get(key) {
                pending[request.context as usize].insert(RequestId(key.data().as_ffi()));
            }
        }
        let mut all = Vec::new();
        for (messenger, pending) in self.messengers.iter_mut().zip(&pending) {
            if !pending.is_empty() {
                let cancelled = messenger.cancel(pending).into_iter();
                all.extend(cancelled.map(|(request, what)| (request_key(request), what)));
            }
        }
        for &(key, what) in &all {
            if what == Cancelled::Withdrawn {
                self.requests.remove(key);
            }
        }
        self.revoke(keys);
        for &key in keys {
            if let Some(request) = self.requests.get_mut(key) {
                request.abandon();
            }
        }
        all
    }

    /// Tells all others that this rank leaves; whether that is after an error, and waits for
    /// nobody.
    pub fn leave(&mut self, now: Time, failed: bool) {
        let now = self.passes(now);
        self.catch_up(now);
        for to in 0..self.peers.len() as u16 {
            if to != self.rank && !self.is_gone(to) {
                let to = RankId(to.into());
                self.tell(now, Context::Program, message::Input::Leave { to, failed });
            }
        }
        self.settle(now);
        self.wake_neighbours();
    }

    /// Takes in what has come and does what is due. Whether there was anything.
    #[inline]
    pub fn progress(&mut self, now: Time) -> bool {
        self.progress_about(now, &|| now)
    }

    /// The same where it costs something to know the time: it is asked for when a datagram has
    /// come. Until then it is about this.
    pub fn progress_about(&mut self, about: Time, clock: &dyn Fn() -> Time) -> bool {
        if self.is_quiet(about) {
            return false;
        }
        let came = self.look_about(about, clock);
        self.wake_neighbours();
        came
    }

    /// Whether there are no rails, nothing has come through memory, and nothing is due or waits:
    /// who spins sees this most often.
    #[inline]
    fn is_quiet(&self, now: Time) -> bool {
        let due = self.deadline.is_some_and(|deadline| deadline <= now);
        let quiet = self.rails.is_empty() && self.untold.is_none() && !due;
        quiet && self.memory.as_ref().is_some_and(|neighbours| neighbours.is_quiet())
    }

    #[inline]
    fn look_about(&mut self, about: Time, clock: &dyn Fn() -> Time) -> bool {
        let now = self.passes(about);
        self.catch_up(now);
        self.done = false;
        let mut came = match self.memory_first {
            true => self.take_local(self.now),
            false => self.take_in(clock),
        };
        if self.done {
            // So that nobody who always has something keeps others waiting.
            self.memory_first = !self.memory_first;
        } else {
            came |= match self.memory_first {
                true => self.take_in(clock),
                false => self.take_local(self.now),
            };
        }
        let now = self.now;
        let due = self.deadline.is_some_and(|deadline| deadline <= now);
        if self.done && !due && (self.untold.is_some() || !self.is_stirred()) {
            // Whoever waits for it may have something to send. All else has time until then.
            return true;
        }
        self.tell_untold();
        if due {
            self.expire(now);
            self.deadline = None;
        }
        let waits = self.nics.iter().any(|nic| !nic.queue.is_empty()) || self.has_backlog();
        if came || due || waits || self.has_acknowledged() {
            self.settle(now);
        }
        if due {
            self.hurry(self.next_deadline());
        }
        came
    }

    /// Lets time-outs happen.
    fn expire(&mut self, now: Time) {
        self.serve_riding();
        let is_due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if is_due(self.node.poll_timeout()) {
            self.node.handle_timeout(now);
            self.stirred.node = true;
        }
        for (messenger, stirred) in self.messengers.iter_mut().zip(&mut self.stirred.messengers) {
            if is_due(messenger.poll_timeout()) {
                messenger.handle_timeout(now);
                *stirred = true;
            }
        }
        for (rank, peer) in (0u16..).zip(&mut self.peers) {
            for (rail, link) in (0u8..).zip(&mut peer.links) {
                let Some(link) = link else { continue };
                if is_due(link.endpoint.poll_timeout()) {
                    link.endpoint.handle_timeout(now);
                    link.touch(rank, rail, &mut self.touched);
                }
            }
        }
        self.greet_again(now);
        self.try_rails_that_are_down(now);
    }

    /// Lets all machines do what they want, and sends what they have to send.
    ///
    /// What has been acknowledged comes last, and what says so: nobody waits for it, as long as
    /// something else goes on. If a request is done meanwhile it is left for the next time,
    /// since whoever waits for that may have something to send. Only policies that are told of
    /// departures must hear of it before what it lets depart.
    fn settle(&mut self, now: Time) {
        self.done = false;
        loop {
            self.serve_machines(now);
            if self.departures && self.serve_acknowledged(now) || self.flush(now) {
                continue;
            }
            if self.done || !self.serve_acknowledged(now) {
                break;
            }
        }
        debug_assert!(self.handed_out.is_none(), "{:?} was not foreseen", self.handed_out);
    }

    /// Something is to be done at a time.
    #[inline]
    fn hurry(&mut self, at: Option<Time>) {
        if let Some(at) = at {
            self.deadline = Some(self.deadline.map_or(at, |deadline| deadline.min(at)));
        }
    }

    fn serve_machines(&mut self, now: Time) {
        loop {
            for context in Context::ALL {
                if self.stirred.messengers[context as usize] {
                    self.serve_messenger(now, context);
                }
            }
            self.serve_own(now);
            if self.stirred.node {
                self.serve_node(now);
            }
            self.serve_links(now);
            if !self.is_stirred() {
                return;
            }
        }
    }

    /// Whether a machine may want something.
    #[inline]
    fn is_stirred(&self) -> bool {
        let Stirred { messengers, node } = self.stirred;
        node || messengers.contains(&true) || !self.own.is_empty() || !self.touched.is_empty()
    }

    /// Whether something has been acknowledged that somebody is still to be told of.
    fn has_acknowledged(&self) -> bool {
        !(self.acknowledged.is_empty() && self.riding.is_empty())
    }

    /// Tells channels and the node what has been acknowledged. Whether there was anything.
    fn serve_acknowledged(&mut self, now: Time) -> bool {
        if !self.has_acknowledged() {
            return false;
        }
        self.serve_riding();
        self.serve_links(now);
        let mut all = std::mem::take(&mut self.acknowledged);
        let mut heard = None;
        for (rank, rail, stripe, number) in all.drain(..) {
            if let Some((rank, rail)) = heard.replace((rank, rail)).filter(|&of| of != (rank, rail))
            {
                self.tell_path(now, rank, rail);
            }
            self.tell_node(now, Input::Acknowledged { stripe, number });
        }
        if let Some((rank, rail)) = heard {
            self.tell_path(now, rank, rail);
        }
        self.acknowledged = all;
        true
    }

    /// When something is to be done, by all who may want it. Between two such looks the time is
    /// only ever brought forward.
    fn next_deadline(&self) -> Option<Time> {
        let links = self.peers.iter().flat_map(|peer| &peer.links).flatten();
        let links = links.flat_map(|link| [link.endpoint.poll_timeout(), link.greeting.deadline()]);
        let rails = self.nics.iter().map(|nic| nic.down);
        let messengers = self.messengers.iter().map(Messenger::poll_timeout);
        let others = [self.node.poll_timeout(), self.next_look()];
        links.chain(rails).chain(messengers).chain(others).flatten().min()
    }

    /// Tells the node what has happened.
    fn tell_node(&mut self, now: Time, input: Input) {
        self.stirred.node = true;
        self.node.handle(now, input);
    }

    /// Tells a messenger what has happened.
    fn tell(&mut self, now: Time, context: Context, input: message::Input) {
        let messenger = &mut self.messengers[context as usize];
        messenger.handle(now, input);
        self.stirred.messengers[context as usize] |= messenger.wants();
        self.hurry_for(context);
    }

    /// A messenger that has been told something may want to be asked again at a time.
    #[inline]
    fn hurry_for(&mut self, context: Context) {
        self.hurry(self.messengers[context as usize].poll_timeout());
    }

    /// Does what the node wants.
    fn serve_node(&mut self, now: Time) {
        while let Some(action) = self.node.poll_action(now) {
            match action {
                Action::Transmit(packet) => self.transmit(now, &packet),
                Action::Control { rail, to, packet, serial } => {
                    self.transmit_control(now, rail, to, packet, serial);
                }
                Action::Deliver { from, message, .. } => {
                    let key = ArrivalKey::from(KeyData::from_ffi(message.0));
                    self.delivered(now, from.0 as u16, key);
                }
                Action::Landed { message } => {
                    let key = PostKey::from(KeyData::from_ffi(message.0));
                    if let Some(Post { context, post, load, .. }) = self.posts.remove(key) {
                        if let Load::Own(bytes) = load {
                            self.put_back(bytes);
                        }
                        self.tell(now, context, message::Input::Landed { post });
                    }
                }
                Action::Unreachable { peer } => self.lose(now, peer.0 as u16, Loss::Silent),
                // Nobody waits for these: data are seen to be in place.
                Action::Complete { .. } | Action::HandedOver { .. } => {}
            }
        }
        self.stirred.node = false;
        self.hurry(self.node.poll_timeout());
    }

    /// A message has arrived whole.
    fn delivered(&mut self, now: Time, from: u16, key: ArrivalKey) {
        let Some(arrival) = self.arrivals.remove(key) else { return };
        let peer = &mut self.peers[usize::from(from)];
        peer.partial.retain(|&(_, other)| other != key);
        match arrival {
            Arrival::Envelope(bytes) => {
                peer.staged = peer.staged.saturating_sub(bytes.len());
                self.open(now, from, bytes);
            }
            Arrival::Data { place } => self.place_filled(now, place),
        }
    }

    /// A peer is given up: everything that waits for it fails.
    fn lose(&mut self, now: Time, rank: u16, cause: Loss) {
        let lost = self.posts.values().filter(|post| post.to == rank && post.is_sent());
        let lost = lost.count() + self.waiting_locally(rank);
        if lost > 0 {
            *self.undelivered.entry(rank).or_default() += lost;
        }
        let peer = &mut self.peers[usize::from(rank)];
        peer.links.clear();
        if !std::mem::replace(&mut peer.gone, true) {
            peer.loss = cause;
        }
        peer.staged = 0;
        for (_, key) in peer.partial.drain(..) {
            self.arrivals.remove(key);
        }
        for place in &mut self.places {
            if place.as_ref().is_some_and(|place| place.from == rank) {
                *place = None;
            }
        }
        self.posts.retain(|_, post| post.to != rank);
        self.nics.iter_mut().for_each(|nic| nic.queue.forget(rank));
        self.touched.retain(|&(peer, _)| peer != rank);
        self.riding.retain(|&(peer, ..)| peer != rank);
        self.acknowledged.retain(|&(peer, ..)| peer != rank);
        self.forget_neighbour(rank);
        let peer = RankId(rank.into());
        for context in Context::ALL {
            self.tell(now, context, message::Input::Unreachable { peer });
        }
    }

    /// Whether a rank has been given up.
    pub fn is_gone(&self, rank: u16) -> bool {
        self.peers[usize::from(rank)].gone
    }

    /// Why.
    pub fn loss(&self, rank: u16) -> Loss {
        self.peers[usize::from(rank)].loss
    }

    /// A rank that has left without waiting for anybody.
    pub fn deserter(&self) -> Option<u16> {
        let left = |peer: &Peer| peer.gone && peer.loss == Loss::Left;
        self.peers.iter().position(left).map(|rank| rank as u16)
    }

    /// Messages that were sent and not received, as far as this rank knows: to whom, and how many.
    pub fn undelivered(&self) -> Option<(u16, usize)> {
        let asked = self.messengers.iter().find_map(Messenger::unanswered);
        let asked = asked.map(|(to, count)| (to.0 as u16, count));
        self.undelivered.first_key_value().map(|(&to, &count)| (to, count)).or(asked)
    }

    /// A message that came and that nobody has received, and how many of these there are.
    pub fn unreceived(&self) -> Option<(Status, usize)> {
        let mut all = self.messengers.iter().flat_map(Messenger::unexpected);
        let (from, tag, bytes) = all.next()?;
        Some((Status { from: from.0 as u16, tag, bytes }, all.count() + 1))
    }

    /// A message of a collective operation that came and that nobody has asked for, for which this
    /// holds.
    pub fn stray(&self, mut is_so: impl FnMut(u16, Tag) -> bool) -> Option<Status> {
        let mut all = self.messengers[Context::Collective as usize].unexpected();
        let (from, tag, bytes) = all.find(|&(from, tag, _)| is_so(from.0 as u16, tag))?;
        Some(Status { from: from.0 as u16, tag, bytes })
    }

    /// Everything that a rank waits on when it sleeps.
    #[cfg(unix)]
    pub fn waits_on(&self) -> impl Iterator<Item = (std::os::fd::BorrowedFd<'_>, bool)> {
        let nics = self.rails.iter().zip(&self.nics);
        nics.map(|(rail, nic)| (rail.waits_on(), !nic.queue.is_empty()))
    }

    /// Whether all that was sent has arrived.
    pub fn has_sent_all(&self) -> bool {
        let rests = self.posts.is_empty() && self.own.is_empty();
        rests && self.node.is_idle() && !self.has_backlog() && !self.is_read()
    }

    /// Bytes of messages that are kept because nobody has asked for them, or because they are not
    /// whole.
    #[cfg(any(test, feature = "bare"))]
    pub fn kept_bytes(&self) -> usize {
        let kept = self.peers.iter().map(|peer| peer.kept_bytes).sum::<usize>();
        let arrivals = self.arrivals.values().map(|arrival| match arrival {
            Arrival::Envelope(bytes) => bytes.len(),
            Arrival::Data { .. } => 0,
        });
        kept + arrivals.sum::<usize>()
    }

    /// How many these are at most.
    #[cfg(any(test, feature = "bare"))]
    pub fn most_kept_bytes(&self) -> usize {
        self.peers.len() * (self.most_kept_of_a_peer() + 2 * self.credit as usize)
    }

    /// Whether nothing is under way in any direction.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        let links = || self.peers.iter().flat_map(|peer| &peer.links).flatten();
        self.node.is_idle()
            && self.posts.is_empty()
            && !self.has_backlog()
            && links().all(|link| link.endpoint.is_idle())
            && self.nics.iter().all(|nic| nic.queue.is_empty())
    }
}

/// The number by which a sender names the place for the data of a message: the receive and the
/// context.
fn place_number(context: Context, receive: u32) -> u32 {
    // A receive that a peer made up may be any number; then its data go nowhere.
    receive.wrapping_mul(Context::ALL.len() as u32).wrapping_add(context as u32)
}

/// Whether an error of a rail is worth to be told.
fn is_serious(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionRefused, Interrupted, WouldBlock};
    !matches!(error.kind(), WouldBlock | Interrupted | ConnectionRefused)
}

#[cfg(test)]
mod tests;
