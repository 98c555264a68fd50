//! One rank, as a stack of layers. Each owns its state, is told inputs and asked for actions; what
//! is here takes these from layer to layer.
//!
//! ```text
//!   requests        sends and receives of the program: their memory, and how far they are
//!   messages        eager or rendezvous, matched and in order
//!   rails           which bytes on which rail; failover     memory, for ranks of this machine
//!   links           one for each peer and rail: what is lost is sent again
//!   queues          datagrams, in trains, in front of each NIC
//! ```
//!
//! It reads no clock and never waits: its caller says what time it is. So the same code runs
//! over sockets and, in tests, over rails in memory with a clock of their own.

pub(crate) mod fault;
mod greeting;
mod link;
mod links;
pub(crate) mod lookout;
mod messages;
mod neighbours;
mod path_mtu;
mod queues;
mod rails;
mod requests;
mod statistics;

use std::ops::ControlFlow;

use crosstie_protocol::channel::Frame;
use crosstie_protocol::message::{Cancelled, ClaimId, Class, Context, Tag};
use crosstie_protocol::{
    Injection, Node, NodeError, NodeId, NodeSpec, Packing, Policies, Profile, Train,
};
use crosstie_units::Time;
use slotmap::Key as _;

use crate::datagram::{Address, Body, HEAD, LONGEST, Opened};
use crate::key::Key;
use crate::memory::Memory;
use crate::rail::Rail;
use links::Links;
use lookout::{Lookout, Open};
use messages::Messages;
pub(crate) use messages::{Selection, Send};
use neighbours::{Arrival, Neighbours};
pub use queues::RailCount;
use queues::{Datagrams, Event, Outgoing, Queues};
use rails::{Rails, Staged};
pub use requests::Loss;
use requests::Requests;
pub(crate) use requests::{Buffer, Failure, RequestKey, SetKey, Status};
pub use statistics::RailStatistics;

/// What a rank is made of.
pub(crate) struct RankSpec {
    pub rank: u16,
    pub size: u16,
    pub key: Key,
    pub profile: Profile,
    /// How the packets of this rank follow each other.
    pub injection: Injection,
}

/// One rank's end of everything.
pub(crate) struct Rank {
    rank: u16,
    requests: Requests,
    messages: Messages,
    rails: Rails,
    links: Links,
    queues: Queues,
    memory: Option<Box<Neighbours>>,
    /// Looks for devices that appear, and how many have.
    lookout: Option<Box<Lookout>>,
    appeared: u64,
    /// Ranks that nothing is heard from or sent to any more, and why.
    lost: Vec<Option<Loss>>,
    /// How often one was given up.
    losses: u64,
    /// What links have acknowledged, until nothing else is to be done.
    acknowledged: Vec<(u16, u8, rails::Item)>,
    /// True if memory is polled before rails, the next time.
    memory_first: bool,
    /// True if layers have not been asked what they want since something came.
    behind: bool,
    /// When something is to be done, if nothing happens before; perhaps earlier than that.
    deadline: Option<Time>,
    /// The latest time that it has been told.
    now: Time,
}

/// What a datagram carries on all of these rails, and how many datagrams a packet may have.
fn payload(profile: &Profile, rails: &[Box<dyn Rail>]) -> (u32, u32) {
    let longest = rails.iter().map(|rail| rail.longest()).min().unwrap_or(1472);
    let train = |(datagrams, bytes): (usize, usize)| Train {
        datagrams: datagrams as u32,
        bytes: bytes as u32,
    };
    let parts = rails.iter().map(|rail| profile.parts(longest as u32, train(rail.train())));
    ((longest - HEAD) as u32, parts.min().unwrap_or(1))
}

/// The earlier of two times, if there are any.
#[inline]
fn sooner(one: Option<Time>, other: Option<Time>) -> Option<Time> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl Rank {
    /// Rails in the order that all ranks of the job have agreed on; ranks that are reached through
    /// memory.
    pub fn new(
        spec: RankSpec,
        policies: &Policies,
        rails: Vec<Box<dyn Rail>>,
        memory: Option<(Memory, Vec<Option<usize>>)>,
    ) -> Result<Rank, NodeError> {
        let (payload, most) = payload(&spec.profile, &rails);
        let node = NodeSpec {
            packing: Packing { payload: Some(payload), overhead: HEAD as u32 },
            ahead: spec.profile.ahead(most),
            reports: true,
            repeats: true,
            patience: spec.profile.patience,
            injection: spec.injection,
            ..NodeSpec::new(NodeId(spec.rank.into()), rails.len().max(1) as u32)
        };
        Rank::with_node(spec, node, policies, rails, memory)
    }

    /// The same with this node.
    pub fn with_node(
        spec: RankSpec,
        node: NodeSpec,
        policies: &Policies,
        rails: Vec<Box<dyn Rail>>,
        memory: Option<(Memory, Vec<Option<usize>>)>,
    ) -> Result<Rank, NodeError> {
        let RankSpec { rank, size, key, profile: Profile { message, channel, .. }, .. } = spec;
        let channel = channel.expect("real ranks have a channel: what rails lose goes again");
        let node = Node::new(node, policies.node(&node)?)?;
        let longest = rails.iter().map(|rail| rail.longest()).collect();
        let departures = node.needs_departures();
        Ok(Rank {
            rank,
            requests: Requests::default(),
            messages: Messages::new(rank, size, message),
            rails: Rails::new(rank, size, node, (message.eager, message.credit)),
            links: Links::new(rank, size, key, channel, longest),
            queues: Queues::new(rank, key, rails, departures),
            memory: memory.map(|(memory, places)| Box::new(Neighbours::new(rank, memory, places))),
            lookout: None,
            appeared: 0,
            lost: vec![None; usize::from(size)],
            losses: 0,
            acknowledged: Vec::new(),
            memory_first: false,
            behind: false,
            // At once, for the first look.
            deadline: Some(Time::ZERO),
            now: Time::ZERO,
        })
    }

    /// The way to a peer on a rail lacks a NIC at one of its ends: nothing is sent there, and the
    /// rank does not wait to see it silent.
    pub fn has_no_way(&mut self, to: u16, rail: u8) {
        self.rails.set_there(self.now, to, rail, false);
    }

    /// It looks for devices that appear from now on.
    pub fn look_out_by(&mut self, lookout: Lookout) {
        self.lookout = Some(Box::new(lookout));
    }

    /// How many devices have appeared: [`Rank::waits_on`] is another one for each.
    pub fn appeared(&self) -> u64 {
        self.appeared
    }

    /// Looks for devices that have appeared, and uses them.
    #[cold]
    fn look_out(&mut self, now: Time) {
        let Some(mut lookout) = self.lookout.take() else { return };
        for (rail, driver) in lookout.look(now) {
            self.queues.replace(rail, driver);
            lookout.connect(rail, self.queues.driver(rail));
            self.appeared += 1;
        }
        for Open { to, rail, untold, ungreeted } in lookout.open() {
            if self.is_gone(to) || self.links.is_answered(to, rail) {
                lookout.settled(to, rail);
                continue;
            }
            if ungreeted {
                self.links.greet(now, to, rail);
            }
            if untold {
                let body = Body::Address { rail, asks: true, address: lookout.address(rail) };
                let others = (0..self.queues.len() as u8).filter(|&by| by != rail);
                let others: Vec<u8> = others.filter(|&by| lookout.has_device(by)).collect();
                let answered = |by: &&u8| self.links.is_answered(to, **by);
                let works = others.iter().find(answered);
                // Where none has been used yet, one of them will do.
                for &by in works.map_or(&others[..], std::slice::from_ref) {
                    self.queues.control(to, by, body);
                }
            }
        }
        self.lookout = Some(lookout);
    }

    /// Another rank has told over a rail where it is reached on another, and may ask the same.
    #[cold]
    fn told(&mut self, now: Time, (from, by): (u16, u8), told: Told) {
        let Told { rail, asks, address } = told;
        let Some(lookout) = &mut self.lookout else { return };
        if lookout.told(from, rail, address) {
            if lookout.has_device(rail) {
                lookout.connect(rail, self.queues.driver(rail));
            }
            self.look_out(now);
        }
        if asks {
            let address = self.lookout.as_ref().and_then(|lookout| lookout.address(rail));
            self.queues.control(from, by, Body::Address { rail, asks: false, address });
        }
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

    /// Returns true if it has rails to look at, which takes longer than memory.
    pub fn has_rails(&self) -> bool {
        self.queues.len() > 0
    }

    /// When it wants to be called, if nothing happens before.
    pub fn deadline(&self) -> Option<Time> {
        match self.owes() {
            true => Some(self.now),
            false => sooner(self.deadline, self.queues.looks_again(self.now)),
        }
    }

    /// Returns true if something is left to be done that the rank has had no time for.
    #[inline]
    fn owes(&self) -> bool {
        self.behind || self.links.has_acknowledgements() || !self.acknowledged.is_empty()
    }

    /// Begins to send bytes to a rank. What is done at once has the null key.
    pub fn send(&mut self, now: Time, send: &Send, buffer: Buffer) -> RequestKey {
        fault::input();
        let now = self.passes(now);
        let bytes = buffer.bytes();
        let length = bytes.len() as u64;
        debug_assert!(length <= LONGEST);
        if let Some(envelope) = self.messages.send_inline(now, send, length) {
            match &mut self.memory {
                Some(memory) if memory.is_one(send.to) => {
                    memory.send_inline(send.to, &envelope, bytes, &mut self.requests);
                    memory.wake();
                }
                _ => {
                    let mut own = self.requests.buffer();
                    own.extend_from_slice(&envelope);
                    own.extend_from_slice(bytes);
                    self.rails.post(now, messages::Post::inline(send.to, own), &self.requests);
                    self.settle_until(now, true);
                }
            }
            self.hurry(self.messages.deadline());
            if buffer.is_own() {
                return self.requests.done_at_once(buffer, self.sent());
            }
            return RequestKey::null();
        }
        let key = self.requests.begin(buffer);
        self.messages.send(now, send, key, length);
        self.settle(now);
        key
    }

    /// What is told of a send that is done.
    fn sent(&self) -> Status {
        Status { from: self.rank, tag: Tag(0), bytes: 0 }
    }

    /// Begins to receive a message.
    pub fn receive(&mut self, now: Time, what: &Selection, buffer: Buffer) -> RequestKey {
        fault::input();
        let now = self.passes(now);
        let room = buffer.room() as u64;
        let key = self.requests.begin(buffer);
        self.messages.receive(now, what, key, room);
        self.settle(now);
        key
    }

    /// Begins to receive a message that has been claimed.
    pub fn receive_claimed(&mut self, now: Time, claim: ClaimId, buffer: Buffer) -> RequestKey {
        fault::input();
        let now = self.passes(now);
        let room = buffer.room() as u64;
        let key = self.requests.begin(buffer);
        self.messages.receive_claimed(now, claim, key, room);
        self.settle(now);
        key
    }

    /// The oldest message that a receive would take.
    pub fn probe(&self, what: &Selection) -> Option<Status> {
        self.messages.probe(what)
    }

    /// The same, which is taken out of matching: no receive takes it.
    pub fn claim(&mut self, what: &Selection) -> Option<(ClaimId, Status)> {
        fault::input();
        self.messages.claim(what)
    }

    /// Gives back a message that was claimed: it stands where it stood.
    pub fn unclaim(&mut self, now: Time, claim: ClaimId) {
        fault::input();
        let now = self.passes(now);
        self.messages.unclaim(now, claim);
        self.settle(now);
    }

    /// Nothing more is asked for: messages that wait for that are refused.
    pub fn close(&mut self, now: Time) {
        fault::input();
        let now = self.passes(now);
        self.messages.close(now);
        self.settle(now);
    }

    /// What has become of a request that is done; then it is forgotten.
    #[inline]
    pub fn outcome(&mut self, key: RequestKey) -> Option<Result<Status, Failure>> {
        if key.is_null() {
            return Some(Ok(self.sent()));
        }
        self.requests.outcome(key)
    }

    /// Returns true if a request was begun, and its outcome was not taken yet.
    pub fn knows(&self, key: RequestKey) -> bool {
        key.is_null() || self.requests.knows(key)
    }

    /// The memory of a request that is done, if the rank owned it.
    pub fn take_memory(&mut self, key: RequestKey) -> Vec<u8> {
        self.requests.take_memory(key)
    }

    /// The program asks no more what becomes of a request, which goes on with its memory.
    pub fn release(&mut self, key: RequestKey) {
        self.requests.release(key);
    }

    /// Cancels a request, if it has had no effect yet: then it is done, as one that failed. Returns
    /// true if so.
    pub fn cancel(&mut self, now: Time, key: RequestKey) -> bool {
        fault::input();
        self.passes(now);
        if self.requests.is_done(key) {
            return false;
        }
        let withdrawn = self.messages.cancel(&[key]) == [(key, Cancelled::Withdrawn)];
        if withdrawn {
            self.requests.finish(key, requests::State::Failed(Failure::Cancelled));
        }
        withdrawn
    }

    /// Counts what a thread that sleeps may wait for: requests that are done, messages that have
    /// come, ranks that are lost.
    #[inline]
    pub fn news(&self) -> u64 {
        self.requests.completions() + self.messages.arrivals() + self.losses
    }

    /// Returns true if something waits for room, in a ring or in front of a NIC.
    pub fn has_waiting(&self) -> bool {
        let memory = |memory: &Neighbours| memory.has_backlog();
        self.queues.has_waiting() || self.memory.as_deref().is_some_and(memory)
    }

    /// Takes back the right to read any memory of this rank: after a panic no peer may use what was
    /// lent to it.
    pub fn revoke_all(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.revoke_all();
        }
    }

    /// Returns true if a request is done.
    #[inline]
    pub fn is_done(&self, key: RequestKey) -> bool {
        self.requests.is_done(key)
    }

    /// Begins a set of requests, which tells those that are done, each once.
    pub fn begin_set(&mut self) -> SetKey {
        self.requests.begin_set()
    }

    /// Puts a request into a set. What was done at once is not told.
    pub fn watch(&mut self, set: SetKey, key: RequestKey) {
        if !key.is_null() {
            self.requests.put(set, key);
        }
    }

    /// Returns true if there is such a set.
    pub fn has_set(&self, set: SetKey) -> bool {
        self.requests.has_set(set)
    }

    /// A request of a set that is done.
    pub fn next_done(&mut self, set: SetKey) -> Option<RequestKey> {
        self.requests.next_done(set)
    }

    /// Ends a set. Its requests go on.
    pub fn end_set(&mut self, set: SetKey) {
        self.requests.end_set(set);
    }

    /// Takes back the memory of requests that the program no longer waits for. Returns what becomes
    /// of those that were not done. A receive that waits is withdrawn. What another rank knows of
    /// goes on: what is still to be sent is copied, and what still comes is dropped.
    pub fn abandon(&mut self, now: Time, keys: &[RequestKey]) -> Vec<(RequestKey, Cancelled)> {
        fault::input();
        self.passes(now);
        let pending = keys.iter().copied().filter(|&key| !self.requests.is_done(key));
        let pending: Vec<RequestKey> = pending.collect();
        let cancelled = match pending.is_empty() {
            true => Vec::new(),
            false => self.messages.cancel(&pending),
        };
        for &(key, what) in &cancelled {
            if what == Cancelled::Withdrawn {
                self.requests.withdraw(key);
            }
        }
        if let Some(memory) = &mut self.memory {
            memory.revoke(keys);
        }
        keys.iter().for_each(|&key| self.requests.take_back(key));
        cancelled
    }

    /// Tells all other ranks that this one leaves. `failed`: after an error, without waiting for
    /// them.
    pub fn leave(&mut self, now: Time, failed: bool) {
        fault::input();
        let now = self.passes(now);
        for to in 0..self.lost.len() as u16 {
            if to != self.rank && !self.is_gone(to) {
                self.messages.leave(now, to, failed);
            }
        }
        self.settle(now);
    }

    /// Receives what has arrived and does what is due. Returns true if anything was received.
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
        fault::input();
        let before = self.requests.completions();
        self.passes(about);
        let mut came = match self.memory_first {
            true => self.receive_from_memory(),
            false => self.receive_from_rails(clock),
        };
        if self.requests.completions() != before {
            // A source that always has something must not keep the other waiting.
            self.memory_first = !self.memory_first;
        } else {
            came |= match self.memory_first {
                true => self.receive_from_rails(clock),
                false => self.receive_from_memory(),
            };
        }
        let now = self.now;
        let due = self.deadline.is_some_and(|deadline| deadline <= now);
        if self.requests.completions() != before && !due && !self.links.owes() {
            // The thread that waits may have something to send. All else has time until then.
            self.behind = true;
            return true;
        }
        if due {
            self.expire(now);
        }
        let waits = self.queues.has_waiting()
            || self.memory.as_ref().is_some_and(|memory| memory.has_backlog());
        if came || due || waits || self.owes() {
            self.settle(now);
        }
        if due {
            self.deadline = self.next_deadline();
        }
        came
    }

    /// Returns true if there are no rails, nothing has come through memory, and nothing is due or
    /// waits: a rank that spins sees this most often.
    #[inline]
    fn is_quiet(&self, now: Time) -> bool {
        let due = self.deadline.is_some_and(|deadline| deadline <= now);
        let quiet = self.queues.len() == 0 && !due && !self.owes();
        quiet && self.memory.as_ref().is_some_and(|memory| memory.is_quiet())
    }

    /// Receives all datagrams that have come. Returns true if there were any.
    fn receive_from_rails(&mut self, clock: &dyn Fn() -> Time) -> bool {
        let Rank { rank, queues, now, lost, .. } = self;
        if queues.len() == 0 {
            return false;
        }
        let (mut farewells, mut tellings) = (Vec::new(), Vec::new());
        let mut above = Above {
            now: *now,
            requests: &mut self.requests,
            messages: &mut self.messages,
            rails: &mut self.rails,
            links: &mut self.links,
            tellings: &mut tellings,
        };
        let mut first = true;
        let came = queues.receive(&mut |rail, opened| {
            if std::mem::take(&mut first) {
                above.now = above.now.max(clock());
            }
            let from = opened.from();
            let known = from != *rank && usize::from(from) < lost.len();
            if !known || lost[usize::from(from)].is_some() {
                if known && !matches!(opened.body(), Ok((Body::Farewell, _))) {
                    // Else it would wait in vain.
                    farewells.push((from, rail));
                }
                return false;
            }
            above.datagram(from, rail, &opened)
        });
        *now = above.now;
        for (from, rail) in farewells {
            self.queues.bid_farewell(from, rail);
        }
        for (link, told) in tellings {
            self.told(self.now, link, told);
        }
        came > 0
    }

    /// Receives what has arrived through memory. Returns true if anything was received.
    fn receive_from_memory(&mut self) -> bool {
        let Rank { memory: Some(memory), messages, requests, now, .. } = self else {
            return false;
        };
        let now = *now;
        let before = requests.completions();
        let came = memory.receive(requests, &mut |arrival, requests| {
            fault::input();
            match arrival {
                Arrival::Envelope { from, bytes } => messages.arrived(now, from, bytes, requests),
                Arrival::Filled(place) => messages.filled(now, &place),
                Arrival::Landed(post) => messages.landed(now, post),
            }
            // The thread that waits may have something to answer.
            match requests.completions() == before {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        let lost = memory.lost(now);
        for (rank, loss) in lost {
            self.lose(rank, loss);
        }
        came
    }

    /// Lets time-outs happen.
    fn expire(&mut self, now: Time) {
        fault::input();
        let is_due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        self.links.catch_up();
        if is_due(self.rails.deadline()) {
            self.rails.expire(now);
        }
        if is_due(self.messages.deadline()) {
            self.messages.expire(now);
        }
        self.links.expire(now);
        if is_due(self.lookout.as_ref().map(|lookout| lookout.deadline())) {
            self.look_out(now);
        }
        for rail in self.queues.expire(now) {
            if let Some(rank) = self.links.someone_on(rail.into()) {
                self.queues.control(rank, rail, Body::Hello { nonce: 0 });
            }
        }
    }

    /// Lets all layers do what they want, and sends what they have to send.
    #[inline]
    fn settle(&mut self, now: Time) {
        self.settle_until(now, false);
        if let Some(memory) = &mut self.memory {
            memory.wake();
        }
    }

    /// The same; acknowledgements are left for later if a thread waits for what is done.
    ///
    /// They come last in any case: no thread waits for what they let go, as long as something else
    /// is to be done.
    fn settle_until(&mut self, now: Time, mut done: bool) {
        self.behind = false;
        loop {
            self.serve(now);
            let Rank { queues, rails, requests, memory, .. } = self;
            let completions = requests.completions();
            queues.flush(now, &Maker { rails, requests });
            let mut again = false;
            while let Some(event) = queues.poll() {
                fault::input();
                again = true;
                match event {
                    Event::Left(item) => rails.left(now, item),
                    Event::Switched { rail, up } => rails.switch(now, rail, up),
                }
            }
            if let Some(memory) = memory {
                again |= memory.flush(requests);
            }
            if again {
                continue;
            }
            done |= requests.completions() != completions;
            if done || !self.owes() {
                break;
            }
            self.links.catch_up();
            self.serve_links(now);
            self.serve_acknowledged(now);
        }
        self.hurry(sooner(self.messages.deadline(), self.rails.deadline()));
        self.hurry(sooner(self.links.deadline(), self.queues.deadline()));
    }

    /// Takes what layers want done from each to the next.
    #[inline]
    fn serve(&mut self, now: Time) {
        loop {
            fault::input();
            // What fails though its rank is there was refused.
            let lost = |rank: u16| self.lost[usize::from(rank)].unwrap_or(Loss::Finished);
            let action = self.messages.poll(now, &mut self.requests, lost);
            if let Some(action) = action {
                self.act(now, action);
                continue;
            }
            if let Some(memory) = &mut self.memory
                && let Some(post) = memory.poll()
            {
                self.messages.landed(now, post);
                continue;
            }
            match self.rails.poll(now, &mut self.requests) {
                Some(rails::Action::Transmit { to, rail, item, bytes, rides }) => {
                    if self.lost[usize::from(to)].is_none() {
                        self.links.send(now, (to, rail), item, bytes, rides);
                    }
                    continue;
                }
                Some(rails::Action::Landed { post }) => {
                    self.messages.landed(now, post);
                    continue;
                }
                Some(rails::Action::Unreachable { rank }) => {
                    self.lose(rank, Loss::Silent);
                    continue;
                }
                None => {}
            }
            self.serve_links(now);
            return;
        }
    }

    /// Does what the layer of messages wants.
    #[inline]
    fn act(&mut self, now: Time, action: messages::Action) {
        fault::input();
        match action {
            messages::Action::Post(post) => match &mut self.memory {
                Some(memory) if memory.is_one(post.to) => memory.post(post, &mut self.requests),
                _ => self.rails.post(now, post, &self.requests),
            },
            messages::Action::Grant(place) => match &mut self.memory {
                Some(memory) if memory.is_one(place.from) => memory.grant(place),
                _ => self.rails.grant(place),
            },
            messages::Action::Left { rank, failed } => {
                self.lose(rank, if failed { Loss::Left } else { Loss::Departed });
            }
        }
    }

    /// Does what links want.
    #[inline]
    fn serve_links(&mut self, now: Time) {
        while let Some(action) = self.links.poll(now) {
            fault::input();
            match action {
                links::Action::Transmit { to, rail, seq, ack, item } => {
                    let chunk = self.rails.chunk(item);
                    let bytes = if self.rails.is_wanted(&chunk) { chunk.len() } else { HEAD };
                    let (link, seqs, what) = ((to, rail), (seq, ack), (item, chunk, bytes));
                    if let Some(packet) = self.links.dispatch(now, link, seqs, what) {
                        self.queues.packet(rail, packet);
                    }
                }
                links::Action::Send { rail, packet } => self.queues.packet(rail, packet),
                links::Action::Control { to, rail, body } => self.queues.control(to, rail, body),
                links::Action::Acknowledged { to, rail, item, shorter } => {
                    self.acknowledged.push((to, rail, item));
                    if shorter {
                        self.warn_of_path(to, rail);
                    }
                }
            }
        }
    }

    /// Tells the layer of rails what has been acknowledged, and what links have found out by it.
    #[inline]
    fn serve_acknowledged(&mut self, now: Time) {
        let mut acknowledged = std::mem::take(&mut self.acknowledged);
        let mut heard = None;
        for (rank, rail, item) in acknowledged.drain(..) {
            fault::input();
            let before = heard.replace((rank, rail)).filter(|&link| link != (rank, rail));
            if let Some((rank, rail)) = before {
                self.shown(now, rank, rail);
            }
            self.rails.acknowledged(now, item);
        }
        if let Some((rank, rail)) = heard {
            self.shown(now, rank, rail);
        }
        self.acknowledged = acknowledged;
    }

    /// Tells the layer of rails what a link has found out about its path.
    #[inline]
    fn shown(&mut self, now: Time, rank: u16, rail: u8) {
        if let Some(path) = self.links.path(rank, rail) {
            self.rails.shown(now, rank, rail, &path);
        }
    }

    /// Tells the user that a path drops long datagrams.
    #[cold]
    fn warn_of_path(&self, rank: u16, rail: u8) {
        let driver = self.queues.drivers().nth(rail.into());
        let (name, longest) =
            driver.map_or(("?", 0), |(driver, _)| (driver.name(), driver.longest()));
        eprintln!(
            "crosstie: rank {}: rail {name} drops datagrams of {longest} bytes to rank {rank}, and passes those of {}: \
             shorter ones are sent",
            self.rank,
            path_mtu::LEAST,
        );
    }

    /// Something is to be done at a time.
    #[inline]
    fn hurry(&mut self, at: Option<Time>) {
        self.deadline = sooner(self.deadline, at);
    }

    /// When something is to be done, if nothing happens before.
    fn next_deadline(&self) -> Option<Time> {
        let memory = self.memory.as_ref().and_then(|memory| memory.deadline());
        let all = [
            self.messages.deadline(),
            self.rails.deadline(),
            self.links.deadline(),
            self.queues.deadline(),
            memory,
            self.lookout.as_ref().map(|lookout| lookout.deadline()),
        ];
        all.into_iter().flatten().min()
    }

    /// A peer is given up: everything that waits for it fails.
    fn lose(&mut self, rank: u16, cause: Loss) {
        fault::input();
        self.losses += 1;
        self.lost[usize::from(rank)].get_or_insert(cause);
        let memory = self.memory.as_mut().map_or(0, |memory| memory.lose(rank));
        let lost = memory + self.rails.lose(rank);
        self.requests.lost(rank, lost);
        self.links.lose(rank);
        self.queues.lose(rank);
        self.acknowledged.retain(|&(peer, ..)| peer != rank);
        self.messages.lose(self.now, rank);
    }

    /// Returns true if a rank has been given up.
    pub fn is_gone(&self, rank: u16) -> bool {
        self.lost[usize::from(rank)].is_some()
    }

    /// Why.
    pub fn loss(&self, rank: u16) -> Loss {
        self.lost[usize::from(rank)].unwrap_or_default()
    }

    /// A rank that has left without waiting for others.
    pub fn deserter(&self) -> Option<u16> {
        self.lost.iter().position(|&lost| lost == Some(Loss::Left)).map(|rank| rank as u16)
    }

    /// Messages that were sent and not received, as far as this rank knows: to which, and how many.
    pub fn undelivered(&self) -> Option<(u16, usize)> {
        self.requests.undelivered().or_else(|| self.messages.unanswered())
    }

    /// A message that came and that no receive has taken, and how many of these there are.
    pub fn unreceived(&self) -> Option<(Status, usize)> {
        let mut all = self.messages.unexpected();
        let (_, status) = all.next()?;
        Some((status, all.count() + 1))
    }

    /// A message of a collective operation that came and that no receive has asked for, for which
    /// this holds.
    pub fn stray(&self, mut is_so: impl FnMut(u16, Tag) -> bool) -> Option<Status> {
        let all = self.messages.unexpected();
        let mut all = all.filter(|(context, _)| context.class == Class::Collective);
        all.find(|(_, status)| is_so(status.from, status.tag)).map(|(_, status)| status)
    }

    /// Returns true if a rank is reached through memory.
    #[inline]
    pub fn is_local(&self, rank: u16) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.is_one(rank))
    }

    /// The rings, for a rank that sleeps.
    #[cfg(unix)]
    pub fn memory(&mut self) -> Option<&mut Memory> {
        self.memory.as_mut().map(|memory| memory.memory())
    }

    /// What wakes this rank when something comes through memory.
    #[cfg(unix)]
    pub fn bell(&self) -> Option<&crate::memory::Bell> {
        self.memory.as_ref().map(|memory| memory.bell())
    }

    /// Looks no more whether the others live.
    pub fn stop_watching(&mut self) {
        if let Some(memory) = &mut self.memory {
            memory.stop_watching();
        }
    }

    /// Everything that a rank waits on when it sleeps.
    #[cfg(unix)]
    pub fn waits_on(&self) -> impl Iterator<Item = (std::os::fd::BorrowedFd<'_>, bool)> {
        self.queues.waits_on()
    }

    /// Returns true if nothing is left to be waited for: every send is done, all that was sent has
    /// arrived, and so is every request that was released.
    pub fn has_finished(&self) -> bool {
        self.requests.released() == 0 && self.messages.is_answered() && self.has_sent_all()
    }

    /// Returns true if all that was sent has arrived.
    pub fn has_sent_all(&self) -> bool {
        let memory = |memory: &Neighbours| memory.has_backlog() || memory.is_read();
        self.messages.has_sent_all()
            && self.rails.has_sent_all()
            && !self.memory.as_deref().is_some_and(memory)
    }

    /// Greets all peers on all rails.
    #[cfg(any(test, feature = "bare"))]
    pub fn greet_all(&mut self, now: Time) {
        for rank in (0..self.lost.len() as u16).filter(|&rank| rank != self.rank) {
            (0..self.queues.len() as u8).for_each(|rail| self.links.greet(now, rank, rail));
        }
        self.settle(now);
    }

    /// Bytes of messages that are kept because no receive has asked for them, or because they are
    /// not whole; and how many these are at most.
    #[cfg(any(test, feature = "bare"))]
    pub fn kept_bytes(&self) -> (usize, usize) {
        let ((kept, most), (staged, most_staged)) =
            (self.messages.kept_bytes(), self.rails.staged_bytes());
        (kept + staged, most + most_staged)
    }

    /// What waits for room in rings.
    #[cfg(any(test, feature = "bare"))]
    pub fn backlog(&self) -> usize {
        self.memory.as_ref().map_or(0, |memory| memory.backlog())
    }

    /// Returns true if nothing is under way in any direction.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        self.has_sent_all() && self.links.is_idle() && !self.queues.has_waiting()
    }
}

/// The context of what `Comm` sends and receives.
pub(crate) const fn context(class: Class) -> Context {
    Context { class, id: 0 }
}

/// Makes datagrams of packets, out of what the layers above have.
struct Maker<'a> {
    rails: &'a Rails,
    requests: &'a Requests,
}

impl Datagrams for Maker<'_> {
    #[inline]
    fn datagrams<'a>(&'a self, packet: &Outgoing, each: &mut dyn FnMut(Body, &'a [u8])) {
        let &Outgoing { seq, ack, longest, ref chunk, .. } = packet;
        self.rails.datagrams(self.requests, chunk, (seq, ack, longest), each);
    }
}

/// The layers above the queues, for a datagram that has come.
struct Above<'a> {
    now: Time,
    requests: &'a mut Requests,
    messages: &'a mut Messages,
    rails: &'a mut Rails,
    links: &'a mut Links,
    /// What others say of where they are, and over which rail.
    tellings: &'a mut Vec<((u16, u8), Told)>,
}

/// What a rank says of where it is reached.
struct Told {
    rail: u8,
    asks: bool,
    address: Option<Address>,
}

impl Above<'_> {
    /// Takes a datagram up through the layers. Returns false if it says what cannot be.
    #[inline]
    fn datagram(&mut self, from: u16, rail: u8, opened: &Opened<'_>) -> bool {
        fault::input();
        // Read and used in one go: what came before is still being written, and whatever is put
        // together in memory would have to wait for that.
        if let Some((data, load)) = opened.data() {
            return self.data(from, rail, &data, load);
        }
        let Ok((body, load)) = opened.body() else { return false };
        let is_control = matches!(body, Body::Pack(_) | Body::Nack(_) | Body::Sack(_));
        let now = self.now;
        match body {
            Body::Hello { nonce } => self.links.greeted(now, from, rail, nonce),
            Body::Welcome { nonce } => {
                if self.links.welcomed(now, from, rail, nonce) {
                    // Both have a NIC there, if they had not before.
                    self.rails.set_there(now, from, rail, true);
                }
            }
            Body::Address { rail: on, asks, address } => {
                self.tellings.push(((from, rail), Told { rail: on, asks, address }));
            }
            Body::Farewell => self.rails.farewell(now, from),
            // There are no raw endpoints here.
            Body::Raw { .. } => return false,
            _ if !self.links.hears(from, rail, !is_control) => return false,
            Body::Pack(ack) => self.links.acknowledge(now, from, rail, Frame::Pack(ack)),
            Body::Nack(ack) => self.links.acknowledge(now, from, rail, Frame::Nack(ack)),
            Body::Sack(sack) => self.links.acknowledge(now, from, rail, Frame::Sack(sack)),
            Body::Whole { seq, ack, serial } => {
                if self.links.receive(now, from, rail, seq)
                    && self.rails.whole_arrived(now, from, rail, serial, load.len())
                {
                    self.messages.arrived(now, from, load, self.requests);
                }
                self.links.rode(now, from, rail, ack);
            }
            Body::Void { seq } => _ = self.links.receive(now, from, rail, seq),
            Body::Piece { part, serial, offset, length } => {
                let staged = self.rails.stage(from, serial, (offset, length), load);
                if staged == Staged::Refused {
                    return false;
                }
                let start = u64::from(offset);
                let bytes = start..start + load.len() as u64;
                if let Some(bytes) = self.links.assemble(from, rail, part, bytes)
                    && self.links.receive(now, from, rail, part.seq)
                    && staged == Staged::Kept
                    && let Some(envelope) = self.rails.piece_arrived(now, from, rail, serial, bytes)
                {
                    self.messages.arrived(now, from, &envelope, self.requests);
                }
            }
            Body::Data(_) => return false,
        }
        true
    }

    /// Bytes of a long message have come.
    #[inline]
    fn data(&mut self, from: u16, rail: u8, data: &crate::datagram::Data, load: &[u8]) -> bool {
        if !self.links.hears(from, rail, true) {
            return false;
        }
        let now = self.now;
        let useful = self.rails.put(from, data, load, self.requests);
        let bytes = data.offset..data.offset + load.len() as u64;
        if let Some(bytes) = self.links.assemble(from, rail, data.part, bytes)
            && self.links.receive(now, from, rail, data.part.seq)
            && useful
            && let Some(place) = self.rails.data_arrived(now, from, rail, data, bytes)
        {
            self.messages.filled(now, &place);
        }
        true
    }
}

#[cfg(test)]
mod tests;
