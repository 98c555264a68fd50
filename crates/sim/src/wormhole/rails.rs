//! The wormhole engine as a [`Network`]: bytes become flits, ticks become [`Time`].

use super::{Bus, Config, Delivery, EPOCH, Engine, Layout, Observer, Packet, Place, Silent, Tick};
use crate::network::{
    self, Attention, Blueprint, ChannelTally, Deadlock, Ends, Event, Fate, Grain, Interest,
    Network, Pace, Passage,
};
use crosstie_fabric::{Fabric, Node};
use crosstie_routing::Routing;
use crosstie_units::Time;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

const NUMBER: u32 = network::Packet::NUMBER;

/// Copies of one fabric under the wormhole engine, one for each rail.
///
/// `W` watches the engine beside it; tests use that.
pub struct Wormhole<'a, W = Silent> {
    engine: Engine<'a>,
    listener: Listener<W>,
    config: Config,
    /// Bytes per flit.
    flit: u32,
}

/// What wormhole networks are built from.
#[derive(Clone, Copy)]
pub struct WormholeSpec<'a> {
    /// The network of one rail.
    pub fabric: &'a Fabric,
    /// How packets find their way through it.
    pub routing: &'a dyn Routing,
    /// How many copies of it there are.
    pub rails: u32,
    /// Switches, links and buses.
    pub config: &'a Config,
    /// Bytes of a flit.
    pub flit: u32,
    /// How long a link takes for one. A tick of the configuration must last a picosecond or more.
    pub cycle: Time,
}

impl Blueprint for WormholeSpec<'_> {
    fn hosts(&self) -> u32 {
        self.fabric.hosts().len() as u32
    }

    fn rails(&self) -> u32 {
        self.rails
    }

    fn build(&self, interest: Interest) -> Box<dyn Network + '_> {
        Box::new(Wormhole::new(self, interest))
    }

    fn pace(&self) -> Pace {
        Pace { time: self.cycle, bytes: u64::from(self.flit) }
    }

    /// For example `⟨0,1⟩:4 -> ⟨0,0⟩:0 on rail 1`.
    fn channel_name(&self, channel: u32) -> String {
        let fabric = self.fabric;
        let (rail, place) = Layout::new(fabric, self.rails).place(channel);
        let label = |host| fabric.label(Node::Host(host));
        let name = match place {
            Place::Fabric(channel) => fabric.describe(channel),
            Place::Read(host) => format!("the bus of host {} (reading)", label(host)),
            Place::Write(host) => format!("the bus of host {} (writing)", label(host)),
            Place::Intake(host) => format!("the NIC of host {}", label(host)),
        };
        if self.rails > 1 { format!("{name} on rail {rail}") } else { name }
    }
}

/// Hears the engine and keeps what those above want to be told.
struct Listener<W> {
    /// The host that each channel of the fabric leads out of, or into.
    doors: Vec<Door>,
    layout: Layout,
    interest: Interest,
    grain: Grain,
    /// Packets hold circuits.
    circuits: bool,
    told: Vec<Event>,
    /// Packets that belong together and have not all left or arrived, by what their numbers share.
    groups: BTreeMap<u64, Group>,
    watch: W,
}

/// Packets that belong together.
struct Group {
    size: u32,
    left: u32,
    arrived: u32,
    /// Whether the first of them has begun to arrive.
    arriving: bool,
}

#[derive(Debug, Clone, Copy)]
enum Door {
    Out { host: u32 },
    In { host: u32 },
    Neither,
}

impl<'a> Wormhole<'a> {
    /// A network at rest.
    ///
    /// # Panics
    /// As [`Engine::new`], and if a tick lasts less than a picosecond.
    pub fn new(spec: &WormholeSpec<'a>, interest: Interest) -> Wormhole<'a> {
        Wormhole::watched(spec, interest, Silent)
    }
}

impl<'a, W: Observer> Wormhole<'a, W> {
    /// The same, with somebody who watches the engine.
    pub fn watched(spec: &WormholeSpec<'a>, interest: Interest, watch: W) -> Wormhole<'a, W> {
        let WormholeSpec { fabric, routing, rails, config, flit, cycle } = *spec;
        let door = |channel| {
            let channel = fabric.channel(channel);
            match (channel.from.node, channel.to.node) {
                (Node::Host(host), _) => Door::Out { host: host.0 },
                (_, Node::Host(host)) => Door::In { host: host.0 },
                (Node::Switch(_), Node::Switch(_)) => Door::Neither,
            }
        };
        let grain = Grain::new(cycle, u64::from(config.ticks)).unwrap_or_else(|e| panic!("{e}"));
        let listener = Listener {
            doors: fabric.channels().map(door).collect(),
            layout: Layout::new(fabric, rails),
            interest,
            grain,
            circuits: config.circuits.is_some(),
            told: Vec::new(),
            groups: BTreeMap::new(),
            watch,
        };
        let engine = Engine::new(fabric, routing, rails, config);
        Wormhole { engine, listener, config: config.clone(), flit }
    }

    /// Who watches the engine.
    pub fn watch(&self) -> &W {
        &self.listener.watch
    }

    /// For how many ticks a flit keeps a channel busy.
    fn cost(&self, channel: u32) -> u32 {
        match (self.listener.layout.place(channel).1, self.config.bus) {
            (Place::Read(_), Bus::Shared { read, .. }) => read,
            (Place::Write(_), Bus::Shared { write, .. }) => write,
            _ => self.config.ticks,
        }
    }

    /// Hands a packet to its host, for its destination and the `more` hosts that follow it.
    fn hand_over(&mut self, packet: network::Packet, more: u16) {
        let network::Packet { rail, from, to, bytes, id, siblings, ends, priority, .. } = packet;
        let Interest { departures, arriving, .. } = self.listener.interest;
        // A circuit may be refused and come again: each is told of by itself.
        if siblings > 1 && (departures || arriving) && !self.listener.circuits {
            let new = Group { size: siblings, left: 0, arrived: 0, arriving: false };
            self.listener.groups.entry(id >> NUMBER).or_insert(new);
        }
        let host = |host: u32| rail * self.listener.layout.hosts() + host;
        let least = if self.listener.circuits { 2 } else { 1 };
        let flits = bytes.div_ceil(self.flit).max(least);
        let packet = Packet { from: host(from), to: host(to), more, flits, id, ends, priority };
        self.engine.inject(self.engine.now(), packet);
    }
}

impl<W> Listener<W> {
    fn time(&self, tick: Tick) -> Time {
        self.grain.time(tick - EPOCH)
    }

    /// Where a channel leads, if it is an injection or ejection channel of a host, numbered as by
    /// the engine.
    #[inline]
    fn door(&self, channel: u32) -> Door {
        match self.layout.place(channel) {
            (rail, Place::Fabric(channel)) => match self.doors[channel.0 as usize] {
                Door::Out { host } => Door::Out { host: rail * self.layout.hosts() + host },
                Door::In { host } => Door::In { host: rail * self.layout.hosts() + host },
                Door::Neither => Door::Neither,
            },
            _ => Door::Neither,
        }
    }

    fn tell(&mut self, at: Tick, id: u64, fate: Fate) {
        let at = self.time(at);
        self.told.push(Event { at, id, fate });
    }

    /// The last flit of a packet began to leave its source.
    fn departed(&mut self, packet: &Packet, at: Tick) {
        if !self.interest.departures || packet.ends != Ends::Memories {
            return;
        }
        let times = match self.groups.get_mut(&(packet.id >> NUMBER)) {
            None => 1,
            Some(group) => {
                group.left += 1;
                if group.left == group.size { group.size } else { 0 }
            }
        };
        for _ in 0..times {
            self.tell(at + self.grain.ticks_per_cycle(), packet.id, Fate::Left);
        }
    }
}

impl<W: Observer> Observer for Listener<W> {
    #[inline]
    fn delivered(&mut self, delivery: &Delivery) {
        self.watch.delivered(delivery);
        if let Entry::Occupied(mut group) = self.groups.entry(delivery.packet.id >> NUMBER) {
            group.get_mut().arrived += 1;
            if group.get().arrived == group.get().size {
                group.remove();
            }
        }
        let passage = Passage { began: self.time(delivery.injected), switches: delivery.switches };
        let fate = match delivery.is_branch {
            false => Fate::Arrived(passage),
            true => Fate::Reached(passage, delivery.packet.to % self.layout.hosts()),
        };
        self.tell(delivery.delivered, delivery.packet.id, fate);
    }

    #[inline]
    fn head(&mut self, packet: &Packet, channel: u32, vc: u32, at: Tick) {
        self.watch.head(packet, channel, vc, at);
        // A host where the packet only stops on its way is not where it arrives.
        if self.interest.arriving
            && packet.ends == Ends::Memories
            && matches!(self.door(channel), Door::In { host } if host == packet.to)
        {
            let group = self.groups.get_mut(&(packet.id >> NUMBER));
            if !group.is_some_and(|group| std::mem::replace(&mut group.arriving, true)) {
                self.tell(at + 1, packet.id, Fate::Arriving);
            }
        }
    }

    #[inline]
    fn tail(&mut self, packet: &Packet, channel: u32, vc: u32, at: Tick) {
        self.watch.tail(packet, channel, vc, at);
        if self.interest.departures
            && !self.circuits
            && matches!(self.door(channel), Door::Out { host } if host == packet.from)
        {
            self.departed(packet, at);
        }
    }

    fn left(&mut self, packet: &Packet, at: Tick) {
        self.watch.left(packet, at);
        self.departed(packet, at);
    }

    fn acknowledged(&mut self, packet: &Packet, at: Tick) {
        self.watch.acknowledged(packet, at);
        if self.interest.acknowledges {
            self.tell(at, packet.id, Fate::Acknowledged);
        }
    }

    fn refused(&mut self, packet: &Packet, at: Tick) {
        self.watch.refused(packet, at);
        self.tell(at, packet.id, Fate::Refused);
    }

    #[inline]
    fn may_halt(&self) -> bool {
        self.interest.attention == Attention::AtOnce
    }

    #[inline]
    fn halts(&self) -> bool {
        self.may_halt() && !self.told.is_empty()
    }

    #[inline]
    fn interrupts(&self) -> bool {
        self.interest.attention != Attention::Late && !self.told.is_empty()
    }
}

impl<W: Observer> Network for Wormhole<'_, W> {
    fn now(&self) -> Time {
        self.listener.time(self.engine.now())
    }

    fn next(&self) -> Option<Time> {
        self.engine.next().map(|tick| self.listener.time(tick))
    }

    fn inject(&mut self, packet: network::Packet) {
        self.hand_over(packet, 0);
    }

    fn cast(&mut self, packet: network::Packet, last: u32) {
        let more = last - packet.to;
        self.hand_over(packet, u16::try_from(more).expect("at most 65536 hosts in a range"));
    }

    fn acknowledge(&mut self, id: u64, nic: u32) {
        self.engine.acknowledge(id, nic);
    }

    fn run_until(&mut self, until: Time, told: &mut Vec<Event>) {
        let until = EPOCH + self.listener.grain.ticks(until);
        self.engine.run_until(until, &mut self.listener);
        told.append(&mut self.listener.told);
    }

    fn grain(&self) -> Grain {
        self.listener.grain
    }

    fn channels(&mut self) -> Vec<ChannelTally> {
        let counts = self.engine.counts().0.to_vec();
        (0..)
            .zip(counts)
            .map(|(channel, count)| ChannelTally {
                flits: count.flits,
                busy: count.flits * u64::from(self.cost(channel)),
                blocked: count.blocked,
                waiting: count.waiting,
            })
            .collect()
    }

    fn deadlock(&self) -> Option<Deadlock> {
        self.engine.deadlock()
    }

    fn longest_wait(&self) -> Option<(u64, u32)> {
        self.engine.longest_wait()
    }

    fn steps(&self) -> u64 {
        self.engine.events()
    }

    fn pool_peak(&self) -> Option<u32> {
        self.engine.pool_peaks().into_iter().max()
    }
}
