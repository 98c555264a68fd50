//! Hosts round one switch: a small network of frames with rates, delays and finite buffers, which
//! loses, repeats, delays and garbles what it is told to, and hosts that are busy with something
//! else at times. Reliable channels run over it, and everything that they deliver is watched.
//!
//! A frame waits at the NIC of its sender, takes its time on the wire to the switch, waits at the
//! port of its receiver, if there is room, and takes its time on the wire from there.

#![allow(dead_code, reason = "not everybody who has hosts needs everything")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

use crosstie_protocol::Machine;
use crosstie_protocol::channel::*;
use crosstie_units::{Seed, Stream, Time};

/// Bytes of a frame that are not its packet's.
pub const OVERHEAD: u32 = 42;

/// Picoseconds in a second.
const SECOND: u64 = 1_000_000_000_000;

pub fn us(us: u64) -> Time {
    Time::from_ns(1_000 * us)
}

pub fn ms(ms: u64) -> Time {
    us(1_000 * ms)
}

/// A rate in Mbit/s, in bytes per second.
pub fn mbit(rate: u64) -> u64 {
    rate * 125_000
}

/// What a network is like for frames.
#[derive(Debug, Clone)]
pub struct Plan {
    pub spec: ChannelSpec,
    pub hosts: usize,
    /// Bytes per second of each NIC, and of each port of the switch.
    pub nic: u64,
    pub port: u64,
    /// Frames that wait at a NIC, and at a port, at most.
    pub nic_room: usize,
    pub port_room: usize,
    /// From NIC to NIC, besides what the bytes take.
    pub delay: Time,
    /// A frame takes up to so much longer, without overtaking others: else those who send
    /// regularly could keep others out.
    pub jitter: Time,
    /// Of a hundred thousand frames, so many are lost, repeated, garbled, or delayed by up to so
    /// long.
    pub loss: u64,
    pub repetition: u64,
    pub garbling: u64,
    pub late: (u64, Time),
    /// The rates of NICs and ports change: from when, of whom, to how many bytes per second.
    pub changes: Vec<(Time, Place, u64)>,
    /// Hosts are busy with something else once in this time on average, for up to this long.
    pub busy: Option<(Time, Time)>,
    pub seed: u64,
}

/// Where frames wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Nic(usize),
    Port(usize),
}

impl Plan {
    /// Two hosts or more, as fast as told, that lose nothing.
    pub fn new(spec: impl Into<ChannelSpec>, hosts: usize, rate: u64) -> Plan {
        Plan {
            spec: spec.into(),
            hosts,
            nic: rate,
            port: rate,
            nic_room: 10_000,
            port_room: 10_000,
            delay: us(20),
            jitter: us(1),
            loss: 0,
            repetition: 0,
            garbling: 0,
            late: (0, Time::ZERO),
            changes: Vec::new(),
            busy: None,
            seed: 1,
        }
    }
}

/// What one host sends to another.
#[derive(Debug, Clone, Copy)]
pub struct Flow {
    pub from: usize,
    pub to: usize,
    /// The shortest and the longest packet.
    pub bytes: (u32, u32),
    /// When it begins, and how many packets there are.
    pub begin: Time,
    pub packets: u64,
    /// Packets handed over at once, and how long until more are; `None`: whenever few are left.
    pub pace: Option<(u64, Time)>,
}

impl Flow {
    /// As many full packets as the channel takes, from the beginning on.
    pub fn endless(from: usize, to: usize) -> Flow {
        let bytes = (1472, 1472);
        Flow { from, to, bytes, begin: Time::ZERO, packets: u64::MAX, pace: None }
    }
}

/// What has become of a flow.
#[derive(Debug)]
struct Course {
    flow: Flow,
    handed: u64,
    /// Packets delivered and acknowledged, those from `first` on one by one.
    delivered: Marks,
    acknowledged: Marks,
    delivered_bytes: u64,
    sizes: Stream,
}

/// A growing set of numbers of which the first are all there.
#[derive(Debug, Default)]
struct Marks {
    first: u64,
    rest: BTreeMap<u64, ()>,
}

impl Marks {
    fn insert(&mut self, number: u64) {
        assert!(number >= self.first && self.rest.insert(number, ()).is_none(), "{number} once");
        while self.rest.remove(&self.first).is_some() {
            self.first += 1;
        }
    }

    fn len(&self) -> u64 {
        self.first + self.rest.len() as u64
    }
}

/// A packet: of which flow, its number there and its bytes.
pub type Item = (u32, u64, u32);

#[derive(Debug, Clone, Copy)]
struct Carried {
    from: usize,
    to: usize,
    /// `None`: of somebody else.
    frame: Option<Frame<Item>>,
    bytes: u32,
}

/// Frames that wait for a wire.
#[derive(Debug)]
struct Queue {
    rate: u64,
    room: usize,
    frames: VecDeque<Carried>,
    bytes: u64,
    busy: bool,
    /// When the last frame was at the switch.
    last: Time,
    /// The most bytes there were since somebody asked, and how many frames were lost.
    most: u64,
    lost: u64,
}

#[derive(Debug)]
enum Event {
    /// A frame has left a queue.
    Left(Place, Carried),
    AtSwitch(Carried),
    AtHost(Carried),
    /// A host looks at what has come, and at its clock.
    Wake(usize),
    More(u32),
    Rate(Place, u64),
    /// Somebody else's frame, and how long until the next.
    Cross {
        from: usize,
        to: usize,
        bytes: u32,
        gap: Time,
        until: Time,
    },
}

#[derive(Debug)]
struct Host {
    channels: BTreeMap<usize, Endpoint<Item>>,
    /// What has come while it was busy.
    inbox: VecDeque<Carried>,
    /// Until when it is busy, and when it is next.
    away: Time,
    next: Time,
    alarm: Option<Time>,
}

pub struct Star {
    pub now: Time,
    plan: Plan,
    hosts: Vec<Host>,
    queues: BTreeMap<Place, Queue>,
    flows: Vec<Course>,
    agenda: BinaryHeap<Reverse<(Time, u64, usize)>>,
    events: Vec<Option<Event>>,
    free: Vec<usize>,
    entries: u64,
    draws: Stream,
    pub lost: u64,
}

impl Star {
    pub fn new(plan: Plan, flows: &[Flow]) -> Star {
        let mut draws = Seed(plan.seed).stream("star", 0);
        let host = |_| Host {
            channels: BTreeMap::new(),
            inbox: VecDeque::new(),
            away: Time::ZERO,
            next: plan.busy.map_or(Time::from_ps(u64::MAX), |(every, _)| {
                Time::from_ps(draws.below(2 * every.ps()))
            }),
            alarm: None,
        };
        let queue = |rate, room| Queue {
            rate,
            room,
            frames: VecDeque::new(),
            bytes: 0,
            busy: false,
            last: Time::ZERO,
            most: 0,
            lost: 0,
        };
        let hosts: Vec<Host> = (0..plan.hosts).map(host).collect();
        let nics = (0..plan.hosts).map(|host| (Place::Nic(host), queue(plan.nic, plan.nic_room)));
        let ports =
            (0..plan.hosts).map(|host| (Place::Port(host), queue(plan.port, plan.port_room)));
        let course = |(place, &flow): (usize, &Flow)| Course {
            flow,
            handed: 0,
            delivered: Marks::default(),
            acknowledged: Marks::default(),
            delivered_bytes: 0,
            sizes: Seed(plan.seed).stream("sizes", place as u64),
        };
        let mut star = Star {
            now: Time::ZERO,
            queues: nics.chain(ports).collect(),
            flows: flows.iter().enumerate().map(course).collect(),
            hosts,
            agenda: BinaryHeap::new(),
            events: Vec::new(),
            free: Vec::new(),
            entries: 0,
            draws,
            lost: 0,
            plan,
        };
        for (number, flow) in (0..).zip(flows) {
            star.enter(flow.begin, Event::More(number));
        }
        for (at, place, rate) in star.plan.changes.clone() {
            star.enter(at, Event::Rate(place, rate));
        }
        star
    }

    /// Frames of somebody else, from one host's NIC to another, evenly for a while.
    pub fn cross(&mut self, from: usize, to: usize, rate: u64, begin: Time, until: Time) {
        let gap = Time::from_ps(u64::from(1514u32) * SECOND / rate);
        self.enter(begin, Event::Cross { from, to, bytes: 1514, gap, until });
    }

    fn enter(&mut self, at: Time, event: Event) {
        let place = self.free.pop().unwrap_or_else(|| {
            self.events.push(None);
            self.events.len() - 1
        });
        self.events[place] = Some(event);
        self.agenda.push(Reverse((at, self.entries, place)));
        self.entries += 1;
    }

    /// Lets everything happen until a time.
    pub fn run_until(&mut self, until: Time) {
        while let Some(&Reverse((at, ..))) = self.agenda.peek()
            && at <= until
        {
            self.step();
        }
        self.now = until;
    }

    /// Lets everything happen, but not for longer than a time; then everything has been delivered,
    /// and nobody has anything to do.
    pub fn run_to_rest(&mut self, longest: Time) {
        while self.agenda.peek().is_some() {
            self.step();
            assert!(self.now < longest, "it does not end: {:?}", self.hosts);
        }
        for course in &self.flows {
            let counts = (course.delivered.len(), course.acknowledged.len());
            assert_eq!(counts, (course.handed, course.handed), "{:?}", course.flow);
            assert_eq!(course.handed, course.flow.packets);
        }
        for host in &self.hosts {
            for channel in host.channels.values() {
                assert!(channel.is_idle() && channel.poll_timeout().is_none(), "{channel:?}");
                assert_eq!(channel.tally().refused, 0, "{channel:?}");
            }
        }
    }

    fn step(&mut self) {
        let Some(Reverse((at, _, place))) = self.agenda.pop() else { return };
        self.now = at;
        let event = self.events[place].take().expect("an event happens once");
        self.free.push(place);
        match event {
            Event::Left(place, carried) => self.left(place, carried),
            Event::AtSwitch(carried) => self.queue(Place::Port(carried.to), carried),
            Event::AtHost(carried) => {
                if carried.frame.is_some() {
                    self.hosts[carried.to].inbox.push_back(carried);
                    self.wake(carried.to);
                }
            }
            // Others were set before one that came sooner.
            Event::Wake(host) if self.hosts[host].alarm == Some(at) => self.serve(host),
            Event::Wake(_) => {}
            Event::More(flow) => self.more(flow as usize),
            Event::Rate(place, rate) => {
                self.queues.get_mut(&place).expect("a place of the network").rate = rate;
                self.start(place);
            }
            Event::Cross { from, to, bytes, gap, until } => {
                self.queue(Place::Nic(from), Carried { from, to, frame: None, bytes });
                if self.now < until {
                    let event = Event::Cross { from, to, bytes, gap, until };
                    self.enter(self.now + gap, event);
                }
            }
        }
    }

    /// Lets a host look at what there is, now or when it is back.
    fn wake(&mut self, host: usize) {
        let at = self.back(host);
        // Everything that comes at this instant is looked at together.
        if self.hosts[host].alarm != Some(at) {
            self.hosts[host].alarm = Some(at);
            self.enter(at, Event::Wake(host));
        }
    }

    /// When a host has time.
    fn back(&mut self, host: usize) -> Time {
        if let Some((every, longest)) = self.plan.busy {
            while self.hosts[host].next <= self.now {
                let from = self.hosts[host].next;
                let away = Time::from_ps(self.draws.below(longest.ps().max(1)));
                let pause = Time::from_ps(self.draws.below(2 * every.ps()));
                self.hosts[host].away = from + away;
                self.hosts[host].next = from + away + pause;
            }
        }
        self.now.max(self.hosts[host].away)
    }

    fn serve(&mut self, host: usize) {
        let back = self.back(host);
        if back > self.now {
            self.hosts[host].alarm = Some(back);
            return self.enter(back, Event::Wake(host));
        }
        self.hosts[host].alarm = None;
        while let Some(Carried { from, frame: Some(frame), .. }) =
            self.hosts[host].inbox.pop_front()
        {
            let input =
                if self.chance(self.plan.garbling) { Input::Corrupt } else { Input::Frame(frame) };
            let now = self.now;
            self.channel(host, from).handle(now, input);
        }
        let peers: Vec<usize> = self.hosts[host].channels.keys().copied().collect();
        for &peer in &peers {
            let now = self.now;
            let channel = self.channel(host, peer);
            if channel.poll_timeout().is_some_and(|at| at <= now) {
                channel.handle_timeout(now);
            }
            self.act(host, peer);
        }
        let alarm = |channel: &Endpoint<Item>| channel.poll_timeout();
        let next = self.hosts[host].channels.values().filter_map(alarm).min();
        if let Some(at) = next {
            assert!(at >= self.now, "a time-out in the past");
            if self.hosts[host].alarm.is_none_or(|alarm| at < alarm) {
                self.hosts[host].alarm = Some(at);
                self.enter(at, Event::Wake(host));
            }
        }
    }

    pub fn channel(&mut self, host: usize, peer: usize) -> &mut Endpoint<Item> {
        let spec = self.plan.spec;
        let new = || Endpoint::new(spec).expect("a sound channel");
        self.hosts[host].channels.entry(peer).or_insert_with(new)
    }

    fn act(&mut self, host: usize, peer: usize) {
        let now = self.now;
        while let Some(action) = self.channel(host, peer).poll_action(now) {
            match action {
                Action::Transmit(frame) => {
                    let bytes = OVERHEAD + frame.item().map_or(20, |item| item.2);
                    let carried = Carried { from: host, to: peer, frame: Some(frame), bytes };
                    self.queue(Place::Nic(host), carried);
                }
                Action::Deliver((flow, number, bytes)) => {
                    let course = &mut self.flows[flow as usize];
                    assert_eq!((course.flow.from, course.flow.to), (peer, host));
                    course.delivered.insert(number);
                    course.delivered_bytes += u64::from(bytes);
                }
                Action::Acknowledged((flow, number, _)) => {
                    let course = &mut self.flows[flow as usize];
                    let delivered = &course.delivered;
                    assert!(number < delivered.first || delivered.rest.contains_key(&number));
                    course.acknowledged.insert(number);
                    if course.flow.pace.is_none() {
                        self.hand(flow as usize);
                    }
                }
            }
        }
    }

    /// The application of a flow has time to hand over more.
    fn more(&mut self, flow: usize) {
        match self.flows[flow].flow.pace {
            None => self.hand(flow),
            Some((packets, pause)) => {
                for _ in 0..packets {
                    self.hand_one(flow);
                }
                if self.flows[flow].handed < self.flows[flow].flow.packets {
                    self.enter(self.now + pause, Event::More(flow as u32));
                }
            }
        }
        self.wake(self.flows[flow].flow.from);
    }

    /// Keeps a few packets waiting, beside those that a window has room for.
    fn hand(&mut self, flow: usize) {
        let Flow { from, to, .. } = self.flows[flow].flow;
        let open = |course: &Course| course.handed - course.acknowledged.len();
        while (open(&self.flows[flow]) < 300 || self.channel(from, to).queued() < 40)
            && self.hand_one(flow)
        {}
    }

    fn hand_one(&mut self, flow: usize) -> bool {
        let course = &mut self.flows[flow];
        let Flow { from, to, bytes: (least, most), packets, .. } = course.flow;
        if course.handed >= packets {
            return false;
        }
        let bytes = least + course.sizes.below(u64::from(most - least) + 1) as u32;
        let item = (flow as u32, course.handed, bytes);
        course.handed += 1;
        let now = self.now;
        self.channel(from, to)
            .handle(now, Input::Send { item, bytes: bytes + OVERHEAD, rides: true });
        true
    }

    /// A frame comes to where it waits.
    fn queue(&mut self, place: Place, carried: Carried) {
        let queue = self.queues.get_mut(&place).expect("a place of the network");
        if queue.frames.len() >= queue.room {
            queue.lost += 1;
            return;
        }
        queue.frames.push_back(carried);
        queue.bytes += u64::from(carried.bytes);
        queue.most = queue.most.max(queue.bytes);
        self.start(place);
    }

    /// Puts the next frame on the wire.
    fn start(&mut self, place: Place) {
        let queue = self.queues.get_mut(&place).expect("a place of the network");
        if queue.busy || queue.rate == 0 {
            return;
        }
        if let Some(carried) = queue.frames.pop_front() {
            queue.busy = true;
            let time = Time::from_ps(u64::from(carried.bytes) * SECOND / queue.rate);
            self.enter(self.now + time, Event::Left(place, carried));
        }
    }

    fn left(&mut self, place: Place, carried: Carried) {
        let queue = self.queues.get_mut(&place).expect("a place of the network");
        queue.busy = false;
        queue.bytes -= u64::from(carried.bytes);
        self.start(place);
        let half = Time::from_ps(self.plan.delay.ps() / 2);
        match place {
            Place::Nic(_) => {
                let copies = match (self.chance(self.plan.loss), self.chance(self.plan.repetition))
                {
                    (true, _) => 0,
                    (false, false) => 1,
                    (false, true) => 2,
                };
                self.lost += u64::from(copies == 0);
                for _ in 0..copies {
                    let (chance, longest) = self.plan.late;
                    let late = if self.chance(chance) { self.draws.below(longest.ps()) } else { 0 };
                    let jitter = Time::from_ps(self.draws.below(1 + self.plan.jitter.ps()));
                    let queue = self.queues.get_mut(&place).expect("a place of the network");
                    queue.last = queue.last.max(self.now + half + jitter);
                    let at = queue.last + Time::from_ps(late);
                    self.enter(at, Event::AtSwitch(carried));
                }
            }
            Place::Port(_) => self.enter(self.now + half, Event::AtHost(carried)),
        }
    }

    fn chance(&mut self, of_a_hundred_thousand: u64) -> bool {
        of_a_hundred_thousand > 0 && self.draws.below(100_000) < of_a_hundred_thousand
    }

    /// Bytes of a flow that have been delivered.
    pub fn delivered(&self, flow: usize) -> u64 {
        self.flows[flow].delivered_bytes
    }

    /// The most bytes that have waited at a place since this was last asked.
    pub fn most(&mut self, place: Place) -> u64 {
        let queue = self.queues.get_mut(&place).expect("a place of the network");
        std::mem::replace(&mut queue.most, queue.bytes)
    }

    /// Frames lost at a place that was full.
    pub fn overflowed(&self, place: Place) -> u64 {
        self.queues[&place].lost
    }

    /// Bytes per second of a flow while everything happens for so long.
    pub fn rate(&mut self, flow: usize, time: Time) -> f64 {
        let before = self.delivered(flow);
        self.run_until(self.now + time);
        (self.delivered(flow) - before) as f64 / time.seconds()
    }

    /// What a sender has found out.
    pub fn path(&mut self, flow: usize) -> Path {
        let Flow { from, to, .. } = self.flows[flow].flow;
        self.channel(from, to).path().expect("a channel that finds out something")
    }

    /// What a sender has counted.
    pub fn tally(&mut self, flow: usize) -> Tally {
        let Flow { from, to, .. } = self.flows[flow].flow;
        *self.channel(from, to).tally()
    }
}
