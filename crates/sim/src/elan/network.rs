//! All Elans of a cluster, as a network: what is handed to it are puts, and it does gets. A put has
//! left when the process that sends it knows that it is acknowledged, and is acknowledged itself
//! when both ends know. A get has arrived when the process that asked for it knows so; nothing else
//! is told of it.

use super::mmu::{Grant, Memory, Process, Stretch, Violation};
use super::nic::{Action, Descriptor, End, Input, Kind, Nic, Packet, Put};
use super::routes::{Hosts, Route};
use super::{Capability, ElanSpec};
use crate::agenda::{Agenda, Entry};
use crate::network::{
    self, Attention, Blueprint, ChannelTally, Chore, Deadlock, Ends, Event, Fate, Grain, Interest,
    Network, Pace, Part, Passage, Priority,
};
use crate::slab::Slab;
use crosstie_units::Time;
use std::collections::{BTreeMap, BTreeSet};

/// A network whose hosts have Elans.
pub struct WithElans<'a> {
    /// The network between them.
    pub network: Box<dyn Blueprint + 'a>,
    /// What they are made of.
    pub elan: ElanSpec,
}

impl Blueprint for WithElans<'_> {
    fn hosts(&self) -> u32 {
        self.network.hosts()
    }

    fn rails(&self) -> u32 {
        self.network.rails()
    }

    fn build(&self, interest: Interest) -> Box<dyn Network + '_> {
        // NICs hear of everything, and react at once.
        let within = Interest {
            departures: true,
            arriving: false,
            acknowledges: true,
            attention: Attention::AtOnce,
        };
        Box::new(Elans::new(self, self.network.build(within), interest, &everything))
    }

    fn pace(&self) -> Pace {
        self.network.pace()
    }

    fn channel_name(&self, channel: u32) -> String {
        self.network.channel_name(channel)
    }

    fn switch_name(&self, switch: u32) -> String {
        self.network.switch_name(switch)
    }
}

/// The memory of a process that others reach: half of its addresses lead to main memory, the other
/// half to that of its NIC.
const HALF: u32 = 1 << 31;

/// A process grants all partners all that it has, and has a route to each: to the host of its
/// number.
pub(super) fn everything(process: Process) -> Capability {
    let grant = |memory, start| Grant {
        process,
        stretch: Stretch { start, bytes: HALF },
        memory,
        read: true,
        write: true,
        partners: 0..=Process::MAX,
    };
    let route = Route { process, partners: 0..=Process::MAX, host: 0 };
    Capability {
        grants: vec![grant(Memory::Main, 0), grant(Memory::Elan, HALF)],
        routes: vec![route],
    }
}

/// What those above handed over, and when its first packet left.
#[derive(Debug, Clone, Copy)]
struct Order {
    id: u64,
    rail: u32,
    /// The process whose memory is written.
    to: Process,
    kind: Kind,
    /// Of a put to several hosts, and of what each of these keeps of it: the put.
    cast: Option<u32>,
    is_told: bool,
    departs: bool,
    passage: Passage,
    /// How many of its ends have not been told.
    expected: u32,
}

/// A packet on the network.
#[derive(Debug, Clone, Copy)]
struct Sent {
    packet: Packet,
    /// The host that it is from, and those that it goes to.
    from: u32,
    to: Hosts,
    /// Why its destination refused it.
    violation: Option<Violation>,
}

/// What the answer of its destination is to the NIC that has sent a packet.
fn answered(packet: Packet, violation: Option<Violation>) -> Input {
    match violation {
        None => Input::Acknowledged(packet),
        Some(violation) => Input::Refused(packet, violation),
    }
}

/// What the hosts of a put to several of them keep of it.
#[derive(Debug)]
struct Cast {
    /// A put for each host, which knows what this host has taken in.
    shares: Vec<u32>,
    /// Packets that have come in at a host and are not acknowledged by all: they may go again, for
    /// others.
    reached: BTreeSet<(u32, u32)>,
}

pub(super) struct Elans<'a> {
    network: Box<dyn Network + 'a>,
    hosts: u32,
    spec: ElanSpec,
    interest: Interest,
    /// By `rail * hosts + host`.
    nics: Vec<Nic>,
    /// Puts by their numbers, and the order that each belongs to, at the same place.
    puts: Slab<Put>,
    orders: Slab<Order>,
    /// Puts to several hosts by their numbers.
    casts: BTreeMap<u32, Cast>,
    /// Packets on the network by their numbers there.
    packets: Slab<Sent>,
    /// What each NIC is told when.
    agenda: Agenda<(u32, Input)>,
    entries: u64,
    actions: Vec<Action>,
    heard: Vec<Event>,
    told: Vec<Event>,
}

impl<'a> Elans<'a> {
    /// NICs at rest. There is one process to a host, which may do something.
    pub fn new(
        spec: &WithElans<'_>,
        network: Box<dyn Network + 'a>,
        interest: Interest,
        capability: &dyn Fn(Process) -> Capability,
    ) -> Elans<'a> {
        let (hosts, elan) = (spec.hosts(), spec.elan);
        let nics = (0..spec.rails() * hosts).map(|nic| Nic::new(elan, capability(nic % hosts)));
        Elans {
            network,
            hosts,
            spec: elan,
            interest,
            nics: nics.collect(),
            puts: Slab::default(),
            orders: Slab::default(),
            casts: BTreeMap::new(),
            packets: Slab::default(),
            agenda: Agenda::default(),
            entries: 0,
            actions: Vec::new(),
            heard: Vec::new(),
            told: Vec::new(),
        }
    }

    /// Tells a NIC something and does what it then wants.
    fn tell(&mut self, nic: u32, input: Input) {
        let now = self.network.now();
        let mut actions = std::mem::take(&mut self.actions);
        self.nics[nic as usize].handle(now, input, &mut self.puts, &mut actions);
        for action in actions.drain(..) {
            self.act(now, nic, action);
        }
        self.actions = actions;
    }

    fn enter(&mut self, at: Time, nic: u32, input: Input) {
        self.agenda.enter(at, self.entries, (nic, input));
        self.entries += 1;
    }

    fn act(&mut self, now: Time, nic: u32, action: Action) {
        match action {
            Action::Later(at, step) => self.enter(at, nic, Input::Step(step)),
            Action::Transmit(packet, to) => {
                let Order { rail, cast, .. } = *self.orders.get(packet.put);
                let from = nic % self.hosts;
                let bytes = self.spec.format.wire_bytes(packet.bytes);
                let place = self.packets.put(Sent { packet, from, to, violation: None });
                let id = u64::from(place) << network::Packet::NUMBER;
                if cast.is_none() && from == to.first {
                    // Between processes of one node it passes through the NIC, and no link.
                    self.enter(now, nic, Input::Left);
                    return self.enter(now, nic, Input::Arrived(id, packet));
                }
                let (siblings, departs) = (1, true);
                let (ends, priority) = (Ends::Memories, Priority::Low);
                let packet = network::Packet {
                    rail,
                    from,
                    to: to.first,
                    bytes,
                    id,
                    siblings,
                    departs,
                    ends,
                    priority,
                };
                match cast {
                    Some(_) => self.network.cast(packet, to.last),
                    None => self.network.inject(packet),
                }
            }
            Action::Acknowledge(id, answer) => {
                let place = (id >> network::Packet::NUMBER) as u32;
                let Sent { packet, from, to, .. } = *self.packets.get(place);
                if self.orders.get(packet.put).cast.is_none() && from == to.first {
                    self.packets.take(place);
                    return self.enter(now, nic, answered(packet, answer.err()));
                }
                // One host that refuses, refuses for all.
                let violation = &mut self.packets.get_mut(place).violation;
                *violation = violation.or(answer.err());
                self.network.acknowledge(id, nic);
            }
            Action::Arriving(put) => {
                let order = *self.orders.get(put);
                if self.interest.arriving && order.is_told {
                    self.told.push(Event { at: now, id: order.id, fate: Fate::Arriving });
                }
            }
            Action::Done(put, end) => self.done(now, put, end),
            Action::Violated(put, _) => {
                // It keeps its place: parts of it may still be on their way to memory.
                let Order { id, .. } = *self.orders.get(put);
                self.told.push(Event { at: now, id, fate: Fate::Dropped });
            }
            Action::Did(id) => self.told.push(Event { at: now, id, fate: Fate::Done }),
        }
    }

    /// The process of the host that a packet is from writes a descriptor of it: from the memory of
    /// one host to that of the other.
    fn post(&mut self, packet: network::Packet, (from, to): (u32, u32), kind: Kind) {
        let network::Packet { rail, from: by, bytes, id, departs, ends, .. } = packet;
        let half = |memory| if memory == Memory::Elan { HALF } else { 0 };
        let memories = (
            kind.memory(End::Source, self.spec.source),
            kind.memory(End::Destination, self.spec.destination),
        );
        let descriptor = Descriptor {
            by,
            from,
            to,
            last: to,
            source: Stretch { start: half(memories.0), bytes },
            destination: half(memories.1),
        };
        let passage = Passage { began: self.network.now(), switches: 0 };
        let is_told = ends == Ends::Memories && kind == Kind::Put;
        let (cast, expected) = (None, 2);
        let order = Order { id, rail, to, kind, cast, is_told, departs, passage, expected };
        let put = self.keep(descriptor, memories, order);
        self.tell(rail * self.hosts + by, Input::Post(put));
    }

    fn keep(&mut self, descriptor: Descriptor, memories: (Memory, Memory), order: Order) -> u32 {
        let put = self.puts.put(Put::new(descriptor, order.kind, memories));
        let place = self.orders.put(order);
        debug_assert_eq!(put, place, "puts and orders come and go together");
        put
    }

    /// The process of the host that a packet is from writes a descriptor of it: from its memory to
    /// those of all hosts from the one it goes to up to the last.
    fn post_to_all(&mut self, packet: network::Packet, last: u32) {
        let network::Packet { rail, from, to: first, bytes, id, .. } = packet;
        let half = |memory| if memory == Memory::Elan { HALF } else { 0 };
        let memories = (self.spec.source, self.spec.destination);
        let source = Stretch { start: half(memories.0), bytes };
        let destination = half(memories.1);
        let descriptor = |to, last| Descriptor { by: from, from, to, last, source, destination };
        let passage = Passage { began: self.network.now(), switches: 0 };
        let (kind, is_told, departs) = (Kind::Put, false, true);
        let order =
            |to| Order { id, rail, to, kind, cast: None, is_told, departs, passage, expected: 0 };
        let put = self.keep(descriptor(first, last), memories, order(first));
        let share = |to| (descriptor(to, to), Order { cast: Some(put), ..order(to) });
        let shares: Vec<u32> = (first..=last)
            .map(share)
            .map(|(descriptor, order)| self.keep(descriptor, memories, order))
            .collect();
        // All hosts, and the source.
        let expected = shares.len() as u32 + 1;
        let source = self.orders.get_mut(put);
        (source.cast, source.expected) = (Some(put), expected);
        self.casts.insert(put, Cast { shares, reached: BTreeSet::new() });
        self.tell(rail * self.hosts + from, Input::Post(put));
    }

    /// The process at one end of a put to several hosts knows that it is done.
    fn cast_done(&mut self, now: Time, (put, host): (u32, u32), end: End, passage: Passage) {
        let order = self.orders.get_mut(put);
        order.expected -= 1;
        let Order { id, expected, .. } = *order;
        let fate = match end {
            End::Destination => Fate::Reached(passage, host),
            End::Source => Fate::Left,
        };
        self.told.push(Event { at: now, id, fate });
        if expected == 0 {
            self.told.push(Event { at: now, id, fate: Fate::Acknowledged });
            let Cast { shares, .. } = self.casts.remove(&put).expect("a put to several hosts");
            for put in shares.into_iter().chain([put]) {
                self.orders.take(put);
                self.puts.take(put);
            }
        }
    }

    /// A packet of a put to several hosts has come in at one of them. One that has come in before,
    /// and goes again for others, is acknowledged at once: the host has answered for it before.
    fn reached(&mut self, id: u64, sent: Sent, host: u32, passage: Passage) {
        let Sent { packet, to, .. } = sent;
        let rail = self.orders.get(packet.put).rail;
        let nic = rail * self.hosts + host;
        let cast = self.casts.get_mut(&packet.put).expect("a put to several hosts");
        if !cast.reached.insert((packet.offset, host)) {
            return self.network.acknowledge(id, nic);
        }
        let put = cast.shares[(host - to.first) as usize];
        if packet.offset == 0 {
            self.orders.get_mut(put).passage = passage;
        }
        self.tell(nic, Input::Arrived(id, Packet { put, ..packet }));
    }

    /// The process at one end of a put knows that it is done.
    fn done(&mut self, now: Time, put: u32, end: End) {
        if let Order { cast: Some(cast), to, passage, .. } = *self.orders.get(put) {
            return self.cast_done(now, (cast, to), end, passage);
        }
        let order = self.orders.get_mut(put);
        order.expected -= 1;
        let Order { id, passage, expected, departs, kind, .. } = *order;
        match end {
            End::Source if kind == Kind::Get => {}
            End::Destination => {
                self.told.push(Event { at: now, id, fate: Fate::Arrived(passage) });
            }
            End::Source => {
                if self.interest.departures && departs {
                    self.told.push(Event { at: now, id, fate: Fate::Left });
                }
            }
        }
        if expected == 0 {
            // Either end may know first.
            if self.interest.acknowledges && kind != Kind::Get {
                self.told.push(Event { at: now, id, fate: Fate::Acknowledged });
            }
            self.orders.take(put);
            self.puts.take(put);
        }
    }

    /// What the network tells.
    fn hear(&mut self, event: Event) {
        let place = (event.id >> network::Packet::NUMBER) as u32;
        let sent = *self.packets.get(place);
        let Sent { packet, from, to, violation } = sent;
        let rail = self.orders.get(packet.put).rail;
        let [source, destination] = [from, to.first].map(|host| rail * self.hosts + host);
        match event.fate {
            Fate::Left => self.tell(source, Input::Left),
            Fate::Arriving => {}
            Fate::Arrived(passage) => {
                let order = self.orders.get_mut(packet.put);
                if packet.offset == 0 && !packet.asks {
                    order.passage = passage;
                }
                self.tell(destination, Input::Arrived(event.id, packet));
            }
            Fate::Reached(passage, host) => self.reached(event.id, sent, host, passage),
            Fate::Acknowledged => {
                self.packets.take(place);
                if let Some(cast) = self.casts.get_mut(&packet.put) {
                    cast.reached.retain(|&(offset, _)| offset != packet.offset);
                }
                self.tell(source, answered(packet, violation));
            }
            Fate::Refused => {
                self.packets.take(place);
                self.tell(source, Input::Garbled(packet));
            }
            Fate::Dropped | Fate::Done => unreachable!("a network of circuits loses nothing"),
        }
    }
}

impl Network for Elans<'_> {
    fn now(&self) -> Time {
        self.network.now()
    }

    fn next(&self) -> Option<Time> {
        self.agenda.next().into_iter().chain(self.network.next()).min()
    }

    fn inject(&mut self, packet: network::Packet) {
        let network::Packet { from, to, .. } = packet;
        self.post(packet, (from, to), Kind::Put);
    }

    fn cast(&mut self, packet: network::Packet, last: u32) {
        self.post_to_all(packet, last);
    }

    fn get(&mut self, packet: network::Packet) {
        let network::Packet { from, to, .. } = packet;
        self.post(packet, (to, from), Kind::Get);
    }

    fn carry(&mut self, packet: network::Packet, part: Part) {
        let network::Packet { from, to, .. } = packet;
        self.post(packet, (from, to), Kind::Port(part));
    }

    fn charge(&mut self, rail: u32, host: u32, id: u64, chore: Chore) {
        self.tell(rail * self.hosts + host, Input::Chore(id, chore));
    }

    fn run_until(&mut self, until: Time, told: &mut Vec<Event>) {
        let before = told.len();
        loop {
            told.append(&mut self.told);
            if self.interest.stops(told.len() > before) || self.network.now() >= until {
                return;
            }
            while self.agenda.next().is_some_and(|at| at <= self.network.now()) {
                let Some(Entry { what: (nic, input), .. }) = self.agenda.take() else { break };
                self.tell(nic, input);
            }
            told.append(&mut self.told);
            if self.interest.stops(told.len() > before) {
                return;
            }
            let limit = self.agenda.next().map_or(until, |at| at.min(until));
            let mut heard = std::mem::take(&mut self.heard);
            self.network.run_until(limit, &mut heard);
            for event in heard.drain(..) {
                self.hear(event);
            }
            self.heard = heard;
        }
    }

    fn grain(&self) -> Grain {
        self.network.grain()
    }

    fn channels(&mut self) -> Vec<ChannelTally> {
        self.network.channels()
    }

    fn deadlock(&self) -> Option<Deadlock> {
        self.network.deadlock()
    }

    fn longest_wait(&self) -> Option<(u64, u32)> {
        self.network.longest_wait()
    }

    fn steps(&self) -> u64 {
        self.network.steps()
    }
}
