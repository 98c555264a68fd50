//! Ranks over rails that lose packets, die and return: each a messenger over a node over reliable
//! channels.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use crosstie_protocol::channel::{self, ChannelSpec, Endpoint, Frame};
use crosstie_protocol::message::{self, MessageSpec, Messenger, PostId, RequestId, Tag};
use crosstie_protocol::*;
use crosstie_units::{Seed, Stream, Time};

/// What a rail carries, in one direction between any two ranks.
#[derive(Debug, Clone, Copy)]
pub struct Rail {
    /// Bytes per microsecond that a rank puts on it.
    pub rate: u64,
    pub latency: Time,
    /// Of a thousand frames, so many are lost.
    pub loss: u64,
}

/// When a rail carries nothing.
#[derive(Debug, Clone)]
pub struct Outage {
    pub rail: u32,
    /// Between which ranks, in this direction; `None`: any.
    pub from: Option<u32>,
    pub to: Option<u32>,
    pub time: Range<Time>,
}

/// A cluster, as it begins.
#[derive(Debug, Clone)]
pub struct Plan {
    pub ranks: u32,
    pub rails: Vec<Rail>,
    pub outages: Vec<Outage>,
    pub node: NodeSpec,
    pub kind: PolicyKind,
    pub channel: ChannelSpec,
    pub message: MessageSpec,
    pub seed: u64,
}

/// What channels carry.
#[derive(Debug, Clone)]
enum Cargo {
    Packet(Packet),
    Control { packet: Control, serial: u64 },
}

#[derive(Debug)]
enum Event {
    Frame { from: u32, to: u32, rail: u32, frame: Frame<Cargo> },
    Left { rank: u32, to: u32, stripe: StripeId },
    Rail { rank: u32, rail: u32, up: bool },
    Send { rank: u32, to: u32, tag: u32, bytes: u64, request: u64 },
    Receive { rank: u32, from: Option<u32>, tag: Option<u32>, request: u64 },
}

/// An envelope on its way.
#[derive(Debug)]
struct Letter {
    to: u32,
    envelope: message::Envelope,
    bytes: u64,
    /// What has come of it.
    present: Vec<bool>,
    came: bool,
    delivered: bool,
}

/// What has become of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Sent,
    Received { from: u32, tag: u32, bytes: u64 },
    Failed,
}

struct Rank {
    messenger: Messenger,
    node: Node,
    channels: BTreeMap<(u32, u32), Endpoint<Cargo>>,
    closed: Vec<bool>,
    /// When each rail has put everything on the wire.
    free: Vec<Time>,
}

pub struct Cluster {
    plan: Plan,
    pub now: Time,
    ranks: Vec<Rank>,
    draws: Stream,
    agenda: BTreeMap<(Time, u64), Event>,
    entries: u64,
    pub steps: u64,
    letters: Vec<Letter>,
    /// The letter of each post, and of each serial number between two ranks.
    current: BTreeMap<(u32, u64), usize>,
    serials: BTreeMap<(u32, u32, u64), usize>,
    transmitted: BTreeMap<(u32, StripeId, u32), Time>,
    /// Control packets under way, by sender, receiver and rail.
    controls: BTreeMap<(u32, u32, u32), u32>,
    /// The longest time from handing a packet to its channel until it was acknowledged.
    pub longest: Time,
    pub outcomes: BTreeMap<u64, (Time, Outcome)>,
    /// Who has given up whom, and when.
    pub given_up: BTreeMap<(u32, u32), Time>,
}

impl Cluster {
    pub fn new(plan: Plan) -> Cluster {
        let rails = plan.rails.len() as u32;
        let policies = plan.kind.policies(plan.ranks, rails).unwrap();
        let rank = |id| {
            let spec = NodeSpec { id: NodeId(id), rails, reports: true, ..plan.node };
            Rank {
                messenger: Messenger::new(plan.message, RankId(id)),
                node: Node::new(spec, policies.node(&spec).unwrap()).unwrap(),
                channels: BTreeMap::new(),
                closed: vec![false; plan.ranks as usize],
                free: vec![Time::ZERO; plan.rails.len()],
            }
        };
        Cluster {
            now: Time::ZERO,
            ranks: (0..plan.ranks).map(rank).collect(),
            draws: Seed(plan.seed).stream("wires", 0),
            agenda: BTreeMap::new(),
            entries: 0,
            steps: 0,
            letters: Vec::new(),
            current: BTreeMap::new(),
            serials: BTreeMap::new(),
            transmitted: BTreeMap::new(),
            controls: BTreeMap::new(),
            longest: Time::ZERO,
            outcomes: BTreeMap::new(),
            given_up: BTreeMap::new(),
            plan,
        }
    }

    fn enter(&mut self, at: Time, event: Event) {
        self.agenda.insert((at, self.entries), event);
        self.entries += 1;
    }

    pub fn send_at(&mut self, at: Time, rank: u32, to: u32, tag: u32, bytes: u64, request: u64) {
        self.enter(at, Event::Send { rank, to, tag, bytes, request });
    }

    pub fn receive_at(
        &mut self,
        at: Time,
        rank: u32,
        from: Option<u32>,
        tag: Option<u32>,
        request: u64,
    ) {
        self.enter(at, Event::Receive { rank, from, tag, request });
    }

    /// The driver of a rank says that a rail is up or down.
    pub fn tell_at(&mut self, at: Time, rank: u32, rail: u32, up: bool) {
        self.enter(at, Event::Rail { rank, rail, up });
    }

    /// Lets the next thing happen; false if nothing does.
    pub fn step(&mut self) -> bool {
        self.steps += 1;
        let next = self.agenda.first_key_value().map(|(&(at, _), _)| at);
        let mut alarm: Option<(Time, usize)> = None;
        for (id, rank) in self.ranks.iter().enumerate() {
            let channels = rank.channels.values().filter_map(Machine::poll_timeout);
            let machines = [rank.messenger.poll_timeout(), rank.node.poll_timeout()];
            let first = channels.chain(machines.into_iter().flatten()).min();
            if let Some(at) = first
                && alarm.is_none_or(|(other, _)| at < other)
            {
                alarm = Some((at, id));
            }
        }
        match (alarm, next) {
            (Some((at, id)), next) if next.is_none_or(|next| at < next) => {
                self.now = self.now.max(at);
                self.ring(id as u32);
            }
            (_, Some(_)) => {
                let ((at, _), event) = self.agenda.pop_first().unwrap();
                self.now = at;
                self.happen(event);
            }
            (_, None) => return false,
        }
        true
    }

    /// Every machine of a rank whose time has come is told so.
    fn ring(&mut self, id: u32) {
        let now = self.now;
        let rank = &mut self.ranks[id as usize];
        let is_due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if is_due(rank.messenger.poll_timeout()) {
            rank.messenger.handle_timeout(now);
        }
        if is_due(rank.node.poll_timeout()) {
            rank.node.handle_timeout(now);
        }
        let due: Vec<(u32, u32)> = rank
            .channels
            .iter()
            .filter(|(_, endpoint)| is_due(endpoint.poll_timeout()))
            .map(|(&way, _)| way)
            .collect();
        self.serve(id);
        for way in due {
            if let Some(endpoint) = self.ranks[id as usize].channels.get_mut(&way) {
                endpoint.handle_timeout(now);
                self.serve_channel(id, way);
            }
        }
    }

    fn happen(&mut self, event: Event) {
        let now = self.now;
        match event {
            Event::Frame { from, to, rail, frame } => {
                if !self.ranks[to as usize].closed[from as usize] {
                    self.channel(to, from, rail).handle(now, channel::Input::Frame(frame));
                    self.serve_channel(to, (from, rail));
                }
            }
            Event::Left { rank, to, stripe } => {
                if !self.ranks[rank as usize].closed[to as usize] {
                    self.tell(rank, Input::Left { stripe });
                }
            }
            Event::Rail { rank, rail, up } => {
                self.tell(rank, Input::Rail { rail: RailId(rail), up });
            }
            Event::Send { rank, to, tag, bytes, request } => {
                let (request, to, tag) = (RequestId(request), RankId(to), Tag(tag));
                let input = message::Input::Send {
                    request,
                    context: Default::default(),
                    to,
                    tag,
                    bytes,
                    synchronous: false,
                };
                self.ranks[rank as usize].messenger.handle(now, input);
                self.serve(rank);
            }
            Event::Receive { rank, from, tag, request } => {
                let (from, tag) = (from.map(RankId), tag.map(Tag));
                let (request, room) = (RequestId(request), u64::MAX);
                let input = message::Input::Receive {
                    request,
                    context: Default::default(),
                    from,
                    tag,
                    room,
                };
                self.ranks[rank as usize].messenger.handle(now, input);
                self.serve(rank);
            }
        }
    }

    fn channel(&mut self, rank: u32, peer: u32, rail: u32) -> &mut Endpoint<Cargo> {
        let new = || Endpoint::new(self.plan.channel).unwrap();
        self.ranks[rank as usize].channels.entry((peer, rail)).or_insert_with(new)
    }

    fn tell(&mut self, rank: u32, input: Input) {
        self.ranks[rank as usize].node.handle(self.now, input);
        self.serve(rank);
    }

    /// Does what a node and its messenger want.
    fn serve(&mut self, id: u32) {
        let now = self.now;
        let mut ways = Vec::new();
        loop {
            let rank = &mut self.ranks[id as usize];
            if let Some(action) = rank.messenger.poll_action(now) {
                self.heed(id, action);
            } else if let Some(action) = rank.node.poll_action(now) {
                self.act(id, action, &mut ways);
            } else {
                break;
            }
        }
        let window = self.plan.node.window.unwrap();
        for (peer, rail) in
            (0..self.plan.ranks).flat_map(|peer| self.rails().map(move |rail| (peer, rail)))
        {
            let ghosts = self.ranks[id as usize].node.ghosts(NodeId(peer), rail);
            let most = window + self.controls(id, peer, rail.0);
            assert!(ghosts <= most, "{ghosts} ghosts");
        }
        ways.dedup();
        for way in ways {
            self.serve_channel(id, way);
        }
    }

    /// Control packets that are under way to a peer on a rail.
    fn controls(&self, id: u32, to: u32, rail: u32) -> u32 {
        self.controls.get(&(id, to, rail)).copied().unwrap_or(0)
    }

    fn heed(&mut self, id: u32, action: message::Action) {
        let now = self.now;
        let (request, outcome) = match action {
            message::Action::Post { post, to, envelope, bytes, rail, whole, .. } => {
                let (to, present) = (to.0, vec![false; bytes as usize]);
                let (came, delivered) = (false, false);
                let letter = Letter { to, envelope, bytes, present, came, delivered };
                self.current.insert((id, u64::from(post.0)), self.letters.len());
                self.letters.push(letter);
                let pe = PeId(self.draws.below(u64::from(self.plan.node.pes)) as u32);
                let (message, to) = (MessageId(u64::from(post.0)), NodeId(to));
                let input = Input::Send { pe, message, to, bytes, rail, whole };
                self.ranks[id as usize].node.handle(now, input);
                return;
            }
            message::Action::Place { .. } | message::Action::Left { .. } => return,
            message::Action::Sent { request } => (request, Outcome::Sent),
            message::Action::Failed { request, .. } => (request, Outcome::Failed),
            message::Action::Received { request, from, tag, bytes, .. } => {
                (request, Outcome::Received { from: from.0, tag: tag.0, bytes })
            }
        };
        let before = self.outcomes.insert(request.0, (now, outcome));
        assert!(before.is_none(), "once: {request:?}");
    }

    fn act(&mut self, id: u32, action: Action, ways: &mut Vec<(u32, u32)>) {
        let now = self.now;
        let post = |message: MessageId| PostId(message.0 as u32);
        let input = match action {
            Action::Transmit(packet) => {
                let (to, rail) = (packet.parcel.to.0, packet.parcel.stripe.rail.0);
                assert!(!self.ranks[id as usize].closed[to as usize], "it was given up");
                let key = (id, to, packet.parcel.serial);
                let letter = self.current[&(id, packet.parcel.message.0)];
                self.serials.entry(key).or_insert(letter);
                let stripe = packet.parcel.id;
                let before = self.transmitted.insert((id, stripe, packet.number), now);
                assert!(before.is_none(), "a packet that is under way is not given again");
                if self.ranks[id as usize].node.needs_departures() {
                    let later = Time::from_ns(1 + self.draws.below(20_000));
                    self.enter(now + later, Event::Left { rank: id, to, stripe });
                }
                let most = (self.plan.node.window.unwrap() + self.controls(id, to, rail)) as usize;
                let endpoint = self.channel(id, to, rail);
                let (bytes, item) = (packet.len() as u32, Cargo::Packet(packet));
                endpoint.handle(now, channel::Input::Send { bytes, item, rides: true });
                let kept = endpoint.outstanding() + endpoint.queued();
                assert!(kept <= most, "{kept} packets are kept");
                ways.push((to, rail));
                return;
            }
            Action::Deliver { from, message, bytes } => {
                let letter = &mut self.letters[self.current[&(from.0, message.0)]];
                assert_eq!((letter.to, letter.bytes), (id, bytes), "here, and as long");
                assert!(letter.came && letter.present.iter().all(|&byte| byte), "whole");
                assert!(!std::mem::replace(&mut letter.delivered, true), "once");
                message::Input::Arrived { from: RankId(from.0), envelope: letter.envelope, bytes }
            }
            Action::HandedOver { message, rails } => {
                message::Input::HandedOver { post: post(message), rails }
            }
            Action::Landed { message } => {
                let letter = &self.letters[self.current[&(id, message.0)]];
                assert!(letter.delivered, "what has landed is there");
                message::Input::Landed { post: post(message) }
            }
            Action::Unreachable { peer } => {
                let rank = &mut self.ranks[id as usize];
                rank.closed[peer.0 as usize] = true;
                rank.channels.retain(|&(other, _), _| other != peer.0);
                self.transmitted.retain(|&(rank, ..), _| rank != id);
                self.given_up.entry((id, peer.0)).or_insert(now);
                message::Input::Unreachable { peer: RankId(peer.0) }
            }
            Action::Complete { .. } => return,
            Action::Control { rail, to, packet, serial } => {
                assert!(!self.ranks[id as usize].closed[to.0 as usize], "it was given up");
                let item = Cargo::Control { packet, serial };
                let send = channel::Input::Send { bytes: 0, item, rides: true };
                self.channel(id, to.0, rail.0).handle(now, send);
                *self.controls.entry((id, to.0, rail.0)).or_default() += 1;
                ways.push((to.0, rail.0));
                return;
            }
        };
        self.ranks[id as usize].messenger.handle(now, input);
    }

    /// Does what one end of a channel wants.
    fn serve_channel(&mut self, id: u32, (peer, rail): (u32, u32)) {
        let now = self.now;
        let mut inputs = VecDeque::new();
        while let Some(endpoint) = self.ranks[id as usize].channels.get_mut(&(peer, rail)) {
            match endpoint.poll_action(now) {
                None => break,
                Some(channel::Action::Transmit(frame)) => self.carry(id, peer, rail, frame),
                Some(channel::Action::Deliver(Cargo::Control { packet, serial })) => {
                    let (rail, from) = (RailId(rail), NodeId(peer));
                    inputs.push_back(Input::Control { rail, from, packet, serial });
                }
                Some(channel::Action::Acknowledged(Cargo::Control { .. })) => {
                    let (to, rail) = (NodeId(peer), RailId(rail));
                    inputs.push_back(Input::ControlAcknowledged { to, rail });
                }
                Some(channel::Action::Deliver(Cargo::Packet(packet))) => {
                    let key = (packet.parcel.from.0, id, packet.parcel.serial);
                    let letter = &mut self.letters[self.serials[&key]];
                    letter.came = true;
                    let bytes = packet.bytes.start as usize..packet.bytes.end as usize;
                    letter.present[bytes].fill(true);
                    inputs.push_back(Input::Arrived(packet));
                }
                Some(channel::Action::Acknowledged(Cargo::Packet(packet))) => {
                    let (stripe, number) = (packet.parcel.id, packet.number);
                    if let Some(at) = self.transmitted.remove(&(id, stripe, number)) {
                        self.longest = self.longest.max(now - at);
                    }
                    inputs.push_back(Input::Acknowledged { stripe, number });
                }
            }
        }
        for input in inputs {
            if let Input::ControlAcknowledged { .. } = input {
                *self.controls.get_mut(&(id, peer, rail)).unwrap() -= 1;
            }
            if !self.ranks[id as usize].closed[peer as usize] {
                self.tell(id, input);
            }
        }
    }

    fn carry(&mut self, from: u32, to: u32, rail: u32, frame: Frame<Cargo>) {
        let Rail { rate, latency, loss } = self.plan.rails[rail as usize];
        let load = match frame.item() {
            Some(Cargo::Packet(packet)) => packet.len(),
            Some(Cargo::Control { .. }) | None => 0,
        };
        let bytes = 20 + load;
        let free = &mut self.ranks[from as usize].free[rail as usize];
        let begin = self.now.max(*free);
        if begin > self.now + Time::from_ns(20_000_000) {
            // A NIC whose ring is full.
            return;
        }
        *free = begin + Time::from_ps(bytes * 1_000_000 / rate);
        let jitter = Time::from_ps(self.draws.below(1 + latency.ps() / 4));
        let there = *free + latency + jitter;
        let lost = self.draws.below(1000) < loss;
        let takes = |outage: &Outage| {
            let fits = |asked: Option<u32>, found| asked.is_none_or(|asked| asked == found);
            outage.rail == rail && fits(outage.from, from) && fits(outage.to, to)
        };
        let cut = self.plan.outages.iter().filter(|outage| takes(outage));
        if lost || { cut }.any(|outage| outage.time.start <= there && begin < outage.time.end) {
            return;
        }
        self.enter(there, Event::Frame { from, to, rail, frame });
    }

    /// Whether nobody has anything to do. Channels may still send what has gone on other ways.
    pub fn rests(&self) -> bool {
        self.ranks.iter().all(|rank| rank.messenger.is_idle() && rank.node.is_idle())
    }

    /// The same, and no ghost is left, and no channel has anything to do.
    pub fn is_idle(&self) -> bool {
        let ranks = 0..self.plan.ranks;
        let ways = ranks.flat_map(|peer| self.rails().map(move |rail| (NodeId(peer), rail)));
        let ways: Vec<(NodeId, RailId)> = ways.collect();
        let rests = |rank: &Rank| {
            ways.iter().all(|&(peer, rail)| rank.node.ghosts(peer, rail) == 0)
                && rank.channels.values().all(Endpoint::is_idle)
        };
        self.rests() && self.ranks.iter().all(rests)
    }

    fn rails(&self) -> impl Iterator<Item = RailId> + use<> {
        (0..self.plan.rails.len() as u32).map(RailId)
    }

    /// What breaks a protocol, and packets that brought nothing new.
    pub fn strays(&self) -> (u64, u64) {
        let sum = |count: fn(&Rank) -> u64| self.ranks.iter().map(count).sum();
        (
            sum(|rank| rank.node.violations() + rank.messenger.strays()),
            sum(|rank| rank.node.repeated()),
        )
    }

    /// Who is not at rest.
    pub fn restless(&self) -> String {
        let rest = self.ranks.iter().enumerate().filter(|(_, rank)| {
            !rank.messenger.is_idle()
                || !rank.node.is_idle()
                || !rank.channels.values().all(Endpoint::is_idle)
        });
        let tell = |(id, rank): (usize, &Rank)| {
            format!("rank {id}: messenger {:?}\nnode {:?}\n", rank.messenger, rank.node)
        };
        rest.map(tell).collect()
    }
}
