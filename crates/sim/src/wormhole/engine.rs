//! The engine's state, its clock, and what it shows to the outside.

use super::cast::Casting;
use super::circuit::Holding;
use super::flow::{Ahead, Gate, gates};
use super::plan::Mux;
use super::prefetch::{BATCH, PASSES};
use super::switching::Switch;
use super::timeline::Timelines;
use super::wheel::Wheel;
use super::wiring::{NONE, Wiring};
use super::{Config, EPOCH, NEVER, Tick};
use crate::network::{Ends, Priority};
use crosstie_fabric::{Fabric, HostId};
use crosstie_routing::{Route, Routing, Tag};
use std::collections::VecDeque;

/// A packet to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Source, as `rail * hosts + host`.
    pub from: u32,
    /// Destination on the same rail, numbered likewise.
    pub to: u32,
    /// How many hosts after that it goes to as well, in the order of their numbers. A packet to
    /// several hosts, a *broadcast*, may go to its source too.
    pub more: u16,
    /// Length, header and tail included, without the flits that switches take off
    /// ([`Config::consumes_headers`]); at least 1.
    pub flits: u32,
    /// The sender's own number for it, given back on delivery.
    pub id: u64,
    /// Where it begins and ends.
    pub ends: Ends,
    /// Before which others it goes ([`Config::priorities`]).
    pub priority: Priority,
}

/// A packet that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Delivery {
    /// What was sent.
    pub packet: Packet,
    /// When it was given to the source host.
    pub queued: Tick,
    /// When its first flit left the source.
    pub injected: Tick,
    /// When its last flit reached the memory of the destination; of a circuit, the last before
    /// the EOP.
    pub delivered: Tick,
    /// Switches crossed.
    pub switches: u32,
    /// True if it went to other hosts too.
    pub is_branch: bool,
}

/// Is told what happens, as it happens.
pub trait Observer {
    /// A packet has arrived whole.
    fn delivered(&mut self, _delivery: &Delivery) {}
    /// The first flit of a packet left on a channel.
    fn head(&mut self, _packet: &Packet, _channel: u32, _vc: u32, _at: Tick) {}
    /// The last flit of a packet left on a channel. Told when it has left.
    fn tail(&mut self, _packet: &Packet, _channel: u32, _vc: u32, _at: Tick) {}
    /// The last flit before the EOP left the source, which keeps the EOP until the acknowledge is
    /// back. Told of circuits alone, when that flit has left.
    fn left(&mut self, _packet: &Packet, _at: Tick) {}
    /// The acknowledge of a packet is back at the source. Told of circuits alone.
    fn acknowledged(&mut self, _packet: &Packet, _at: Tick) {}
    /// A packet was garbled on its way and is not delivered; the source hears of it now. Told of
    /// circuits alone.
    fn refused(&mut self, _packet: &Packet, _at: Tick) {}
    /// Whether it ever halts. If so, it is told of all deliveries of a tick in the first half of
    /// it.
    fn may_halt(&self) -> bool {
        false
    }
    /// Whether the engine is to stop within the tick it is in, after packets were delivered and
    /// before hosts start new ones.
    fn halts(&self) -> bool {
        false
    }
    /// Whether the engine is to stop after the tick it is in.
    fn interrupts(&self) -> bool {
        false
    }
}

/// An observer that looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {}

/// What a channel has done since its counters were last reset.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChannelCount {
    /// Flits sent.
    pub flits: u64,
    /// Ticks in which it sent nothing although a flit was ready, for want of a credit or because
    /// it was told to stop.
    pub blocked: u64,
    /// Ticks that headers at the end of this channel waited for an output, after their routing
    /// delay, summed over headers and counted when they got it.
    pub waiting: u64,
}

/// One virtual channel: its buffer, the packet entering it and the packet leaving it. All that a
/// decision needs of it fills one cache line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Vc {
    /// The packet being sent into it, or `NONE`: the channel's side is free.
    pub packet: u32,
    /// Where that packet's flits come from: another VC's buffer, or `NONE` for a host's memory.
    pub feeder: u32,
    /// How many of its flits are still to be sent, those of the running plan included.
    pub remaining: u32,
    /// Its first flit has not left yet.
    pub head_waits: bool,
    /// It has a part in the plan of its multiplexer.
    pub planned: bool,
    /// The packet at the front of the buffer, or `NONE`.
    pub front: u32,
    /// The VC into which the front packet is being sent, or `NONE`.
    pub next: u32,
    /// Packets behind the front: first and last entry in `Engine::behind`.
    pub behind: (u32, u32),
    /// When the next flit to be sent into it becomes ready at the feeder, if the multiplexer
    /// waits.
    pub arrives: Tick,
    /// When the front header may ask for an output.
    pub ready: Tick,
    /// Its channel.
    pub channel: u32,
    /// Its multiplexer, and its bit there.
    pub mux: u32,
    pub bit: u8,
    /// What a sender into it has to heed.
    pub ahead: Ahead,
    /// Ticks for which a flit occupies the channel.
    pub cost: u32,
    /// Ticks from sending a flit until the other end can use it, and for a credit to come back.
    pub latency: u32,
}

/// A packet waiting in a buffer behind another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Behind {
    pub packet: u32,
    pub next: u32,
    pub head_arrives: Tick,
}

/// A packet in the network.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worm {
    pub packet: Packet,
    pub queued: Tick,
    pub injected: Tick,
    /// The tag the header obeys next.
    pub hop: u32,
    /// Flits that it has on its present channel beyond `packet.flits`.
    pub headers: u32,
}

/// What can happen at a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    /// A multiplexer has something to decide.
    Mux(u32),
    /// The header at the front of a VC's buffer has been routed.
    Header(u32),
    /// A host has something new to send.
    Host(u32),
    /// A packet's last flit reaches memory; of a circuit, the last before the EOP.
    Delivered(u32),
    /// The acknowledge of a packet is back, positive or negative.
    Acknowledged(u32),
    /// A header that waits in a switch, behind one that is to be forked, has grown old.
    Aged(u32),
}

/// A wormhole network in motion.
pub struct Engine<'a> {
    pub(super) network: Wiring,
    pub(super) routing: &'a dyn Routing,
    pub(super) vcs: Timelines<Vc>,
    /// What senders know of buffers whose receivers say *stop* and *go*; empty if there are none.
    pub(super) gates: Vec<Gate>,
    /// What sources and destinations keep of circuits.
    pub(super) holding: Option<Box<Holding>>,
    /// What is kept of broadcasts; `None` until there is one.
    pub(super) casting: Option<Box<Casting>>,
    pub(super) muxes: Vec<Mux>,
    pub(super) switches: Vec<Switch>,
    /// Free VCs per channel, one bit each.
    pub(super) free: Vec<u8>,
    /// The VCs whose headers wait for an output, switch by switch, with room for all of them.
    pub(super) line: Vec<u32>,
    /// Packets that wait at each host, by their [`Ends`].
    pub(super) queues: [Vec<VecDeque<(Packet, Tick)>>; 2],
    /// Those of them that go before others by their priority; empty without priorities.
    pub(super) urgent: [Vec<VecDeque<(Packet, Tick)>>; 2],
    /// Ticks after which what waits counts as of high priority; `None` without priorities.
    pub(super) age: Option<Tick>,
    pub(super) worms: Vec<Worm>,
    pub(super) spare_worms: Vec<u32>,
    pub(super) behind: Vec<Behind>,
    pub(super) spare_behind: Vec<u32>,
    /// The tags of every worm, `tags_per_worm` each; ports, or `GROUP` plus a group.
    pub(super) tags: Vec<u16>,
    pub(super) tags_per_worm: usize,
    pub(super) groups: Vec<Vec<u16>>,
    pub(super) counts: Vec<ChannelCount>,
    pub(super) counting_since: Tick,
    pub(super) wheel: Wheel<Event>,
    pub(super) now: Tick,
    /// Events taken.
    events: u64,
    /// It stands within the tick `now`, between its two halves.
    halted: bool,
    /// Ticks per cycle.
    ticks: u32,
    pub(super) hosts_per_rail: u32,
    flits_delivered: u64,
    pub(super) route: Route,
    due: Vec<Event>,
    pub(super) mux_todo: Vec<u32>,
    pub(super) switch_todo: Vec<u32>,
    pub(super) host_todo: Vec<u32>,
    pub(super) cuts: Vec<(u32, u32)>,
}

/// Marks a tag that is a group.
pub(super) const GROUP: u16 = 1 << 15;

/// Marks a tag that leads into an in-transit buffer.
pub(super) const STOP: u16 = 1 << 14;

/// The most ports of a switch: their numbers leave the marks of a tag alone.
pub const MOST_PORTS: u16 = STOP;

impl<'a> Engine<'a> {
    /// A network at rest: `rails` copies of `fabric`.
    ///
    /// # Panics
    /// If [`Config::check`] refuses the configuration, if there is no rail, or if a switch has
    /// more than [`MOST_PORTS`] ports.
    pub fn new(fabric: &Fabric, routing: &'a dyn Routing, rails: u32, config: &Config) -> Self {
        if let Err(error) = config.check() {
            panic!("{error}");
        }
        assert!(rails > 0, "at least one rail");
        let countable = |switch| fabric.ports(switch) <= MOST_PORTS;
        assert!(fabric.switches().all(countable), "at most {MOST_PORTS} ports per switch");
        let network = Wiring::new(fabric, rails, config);
        let ports = network.port_out.len();
        let idle = |vc: u32| {
            let channel = vc / network.vcs;
            let wire = network.wires[channel as usize];
            Vc {
                packet: NONE,
                feeder: NONE,
                remaining: 0,
                head_waits: false,
                planned: false,
                front: NONE,
                next: NONE,
                behind: (NONE, NONE),
                arrives: NEVER,
                ready: NEVER,
                channel,
                mux: wire.mux,
                bit: wire.bit + (vc % network.vcs) as u8,
                ahead: Ahead::of(network.targets[channel as usize], config.flow),
                cost: wire.cost,
                latency: wire.latency,
            }
        };
        // Events are at least a cycle apart. Where there is a gate, a flit matters to its sender
        // until the signal it causes is back.
        let count = network.wires.len() as u32 * network.vcs;
        let gates = gates(&network, config);
        let mut remembered = if gates.is_empty() { config.wire + 2 } else { 2 * config.wire + 2 };
        if config.consumes_headers {
            // A header is taken off in the tick in which the flit behind it may leave.
            remembered *= 2;
        }
        let mut vcs = Timelines::new((0..count).map(idle), remembered);
        for vc in 0..count {
            vcs.grant_past(grants(vc), u64::from(config.buffer));
        }
        // Hosts whose packets have priorities.
        let prioritising = config.priorities.map_or(0, |_| network.host_out.len());
        let reach = u64::from(config.buffer) * 2 * u64::from(config.ticks);
        Engine {
            routing,
            vcs,
            gates,
            holding: Holding::of(config),
            casting: None,
            muxes: vec![Mux::default(); network.wires.len()],
            switches: vec![Switch::default(); network.first_port.len() - 1],
            free: vec![((1u16 << config.virtual_channels) - 1) as u8; network.wires.len()],
            line: vec![NONE; ports * network.vcs as usize],
            queues: [(); 2].map(|()| vec![VecDeque::new(); network.host_out.len()]),
            urgent: [(); 2].map(|()| vec![VecDeque::new(); prioritising]),
            age: config
                .priorities
                .map(|priorities| Tick::from(priorities.age) * Tick::from(config.ticks)),
            worms: Vec::new(),
            spare_worms: Vec::new(),
            behind: Vec::new(),
            spare_behind: Vec::new(),
            tags: Vec::new(),
            tags_per_worm: ports.min(8),
            groups: routing
                .groups()
                .iter()
                .map(|g| g.iter().map(|port| port.0).collect())
                .collect(),
            counts: vec![ChannelCount::default(); network.wires.len()],
            counting_since: EPOCH,
            wheel: Wheel::new(reach.clamp(256, 8192) as usize),
            now: EPOCH,
            events: 0,
            halted: false,
            ticks: config.ticks,
            hosts_per_rail: fabric.hosts().len() as u32,
            flits_delivered: 0,
            route: Route::default(),
            due: Vec::new(),
            mux_todo: Vec::new(),
            switch_todo: Vec::new(),
            host_todo: Vec::new(),
            cuts: Vec::new(),
            network,
        }
    }

    /// The tick that comes next: everything before it has happened.
    pub fn now(&self) -> Tick {
        self.now
    }

    /// Events taken so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Ticks per cycle.
    pub fn ticks_per_cycle(&self) -> u32 {
        self.ticks
    }

    /// Queues a packet at its source; the source may start it at tick `at`.
    ///
    /// # Panics
    /// If `at` is over, the packet has no flits (of a circuit: fewer than one and the EOP), its
    /// ends are the same host or on two rails, or it goes to hosts that do not exist.
    pub fn inject(&mut self, at: Tick, packet: Packet) {
        assert!(at >= self.now, "a packet for tick {at} came at tick {}", self.now);
        let least = 1 + u32::from(self.holding.is_some());
        assert!(packet.flits >= least, "a packet has a flit, and a circuit its EOP besides");
        let rail = |host: u32| host / self.hosts_per_rail;
        let last = packet.to + u32::from(packet.more);
        assert!(rail(packet.from) == rail(packet.to), "a packet cannot change rail");
        assert!(rail(packet.to) == rail(last), "host {last} is not on the rail of the packet");
        let elsewhere = packet.from != packet.to || packet.more > 0;
        assert!(elsewhere, "a packet needs another host to go to");
        let urgent = self.age.is_some() && packet.priority == Priority::High;
        let queues = if urgent { &mut self.urgent } else { &mut self.queues };
        queues[packet.ends as usize][packet.from as usize].push_back((packet, at));
        if self.halted && at == self.now {
            self.host_todo.push(packet.from);
        } else {
            self.wheel.push(at, Event::Host(packet.from));
        }
    }

    /// Runs every tick before `until`, then stands at `until`; or stands within or after the tick
    /// in which the observer halted or interrupted it.
    pub fn run_until(&mut self, until: Tick, observer: &mut impl Observer) {
        if self.halted {
            if self.now >= until {
                return;
            }
            self.halted = false;
            if self.act(observer) {
                return;
            }
        }
        while let Some(tick) = self.wheel.advance(until) {
            self.now = tick;
            self.take_events(observer);
            if observer.halts() {
                self.halted = true;
                return;
            }
            if self.act(observer) {
                return;
            }
        }
        self.now = self.now.max(until);
    }

    /// A tick before which nothing happens unless a packet is injected; `None` if nothing ever
    /// does.
    pub fn next(&self) -> Option<Tick> {
        if self.halted { Some(self.now) } else { self.wheel.next() }
    }

    /// Runs until nothing can move any more: all is delivered, or the network is deadlocked.
    pub fn drain(&mut self, observer: &mut impl Observer) {
        while let Some(tick) = self.wheel.advance(NEVER) {
            self.now = tick;
            self.take_events(observer);
            self.act(observer);
        }
    }

    /// Packets between their first flit sent and their last flit delivered; circuits until they
    /// are closed. Each branch of a broadcast counts, and each fork.
    pub fn in_flight(&self) -> usize {
        self.worms.len() - self.spare_worms.len()
    }

    /// Whether nothing is left of any packet: every buffer is empty, every virtual channel free and
    /// every credit back where it came from, or on its way there.
    pub fn is_at_rest(&self) -> bool {
        let whole = u64::from(self.network.depth);
        self.in_flight() == 0
            && self.queued() == 0
            && self.buffers().all(|vc| {
                let Vc { packet, front, .. } = self.vcs[vc];
                let room = self.vcs.known(grants(vc)) - self.vcs.known(sends(vc));
                (packet, front) == (NONE, NONE) && room == whole
            })
    }

    /// All virtual channels that have a channel.
    pub(super) fn buffers(&self) -> std::ops::Range<u32> {
        0..self.network.wires.len() as u32 * self.network.vcs
    }

    /// Packets that wait at sources.
    pub fn queued(&self) -> usize {
        self.queues.iter().chain(&self.urgent).flatten().map(VecDeque::len).sum()
    }

    /// Flits of packets that wait at sources.
    pub fn queued_flits(&self) -> u64 {
        let queued = self.queues.iter().chain(&self.urgent).flatten().flatten();
        queued.map(|(packet, _)| u64::from(packet.flits)).sum()
    }

    /// Flits delivered, in whole packets, since time began.
    pub fn flits_delivered(&self) -> u64 {
        self.flits_delivered
    }

    /// Starts counting channel use afresh.
    pub fn reset_counts(&mut self) {
        self.settle_counts();
        self.counts.fill(ChannelCount::default());
        self.counting_since = self.now;
    }

    /// What every channel has done since the counters were reset, and for how many ticks.
    ///
    /// [`Layout`](super::Layout) says which is which.
    pub fn counts(&mut self) -> (&[ChannelCount], Tick) {
        self.settle_counts();
        (&self.counts, self.now - self.counting_since)
    }

    /// The first half of a tick: what is due happens.
    fn take_events(&mut self, observer: &mut impl Observer) {
        let mut due = std::mem::take(&mut self.due);
        self.wheel.take(&mut due);
        self.events += due.len() as u64;
        let batch = |number: Option<usize>| {
            let begin = number.map_or(due.len(), |n| due.len().min(n * BATCH));
            &due[begin..due.len().min(begin + BATCH)]
        };
        let passes = if self.is_large() { PASSES } else { 0 };
        for number in 0..due.len().div_ceil(BATCH) + passes {
            for pass in 0..passes {
                self.prefetch(batch(number.checked_sub(pass)), pass);
            }
            for &event in batch(number.checked_sub(passes)) {
                match event {
                    Event::Mux(mux) => self.wake(mux, observer),
                    Event::Header(vc) => self.header_routed(vc),
                    Event::Host(host) => self.host_todo.push(host),
                    Event::Delivered(worm) => self.deliver(worm, observer),
                    Event::Acknowledged(worm) => self.acknowledged(worm, observer),
                    Event::Aged(switch) => self.arbitrate_soon(switch),
                }
            }
        }
        self.due = due;
    }

    /// The second half: hosts start packets, switches allocate, multiplexers plan. Whether the
    /// observer then interrupts, in which case the tick is over.
    fn act(&mut self, observer: &mut impl Observer) -> bool {
        self.start_packets();
        self.allocate();
        // Planning may cut short the plans of others and add them here.
        while let Some(mux) = self.mux_todo.pop() {
            self.plan(mux, observer);
        }
        let interrupted = observer.interrupts();
        self.now += u64::from(interrupted);
        interrupted
    }

    /// Puts a queued packet into the network's books and writes its tags.
    pub(super) fn new_worm(&mut self, packet: Packet, queued: Tick) -> u32 {
        let id = self.put_worm(Worm { packet, queued, injected: NEVER, hop: 0, headers: 0 });
        if packet.more > 0 {
            self.begin_cast(id);
            return id;
        }
        if self.casting.is_some() {
            self.forget_strand(id);
        }
        let host = |h: u32| HostId(h % self.hosts_per_rail);
        self.routing.route(host(packet.from), host(packet.to), &mut self.route);
        if self.network.consumes_headers {
            self.worms[id as usize].headers = self.route.tags().len() as u32;
        }
        self.write_tags(id);
        id
    }

    /// Keeps a worm, with room for its tags.
    #[inline]
    pub(super) fn put_worm(&mut self, worm: Worm) -> u32 {
        match self.spare_worms.pop() {
            Some(id) => {
                self.worms[id as usize] = worm;
                id
            }
            None => {
                self.worms.push(worm);
                self.tags.resize(self.worms.len() * self.tags_per_worm, 0);
                self.worms.len() as u32 - 1
            }
        }
    }

    /// Writes the tags of the route at hand for a worm.
    #[inline]
    pub(super) fn write_tags(&mut self, id: u32) {
        if self.route.tags().len() > self.tags_per_worm {
            self.widen_tags(self.route.tags().len());
        }
        let base = id as usize * self.tags_per_worm;
        let mut slots = self.tags[base..].iter_mut();
        for leg in self.route.legs() {
            let mut last = None;
            for (tag, slot) in leg.tags.iter().zip(&mut slots) {
                *slot = match *tag {
                    Tag::Port(port) => port.0,
                    Tag::Group(group) => GROUP | group.0,
                };
                last = Some(slot);
            }
            if let Some(host) = leg.stop {
                assert!(
                    self.network.in_transit.is_some(),
                    "a route stops at {host:?}, but NICs have no in-transit buffers"
                );
                *last.expect("a leg crosses a switch") |= STOP;
            }
        }
    }

    fn widen_tags(&mut self, width: usize) {
        let mut wide = vec![0; self.worms.len() * width];
        for (new, old) in wide.chunks_mut(width).zip(self.tags.chunks(self.tags_per_worm)) {
            new[..old.len()].copy_from_slice(old);
        }
        self.tags = wide;
        self.tags_per_worm = width;
    }

    pub(super) fn deliver(&mut self, id: u32, observer: &mut impl Observer) {
        let worm = self.worms[id as usize];
        if self.holding.is_none() {
            self.spare_worms.push(id);
        } else if !self.answer(id) {
            return;
        }
        self.flits_delivered += u64::from(worm.packet.flits);
        observer.delivered(&Delivery {
            packet: worm.packet,
            queued: worm.queued,
            injected: worm.injected,
            delivered: self.now,
            switches: worm.hop,
            is_branch: self.casting.is_some() && self.is_branch(id),
        });
    }
}

/// The timeline of flits sent into a VC.
#[inline]
pub(super) fn sends(vc: u32) -> usize {
    2 * vc as usize
}

/// The timeline of flits leaving the buffer of a VC, each of which grants a credit to the sender
/// into it; as many credits as the buffer is deep were granted before time began.
#[inline]
pub(super) fn grants(vc: u32) -> usize {
    2 * vc as usize + 1
}
