//! What stands between nodes and a network: I/O buses, and others who use them.
//!
//! **Buses.** A packet that begins and ends in memories crosses a bus of its sender before it is
//! handed to the network, and one of its receiver when it has arrived there. NICs on one bus share
//! it. A bus takes packets whole ([`BusSpec`]): a packet that comes in is *arriving* when it begins
//! to cross the receiver's bus, and has *arrived* when it has crossed it. Control packets, which
//! NICs make and take, cross no bus.
//!
//! **Competitors.** Streams of packets over the same buses, ports and wires ([`CompetitorSpec`]),
//! each with so many under way at once. Nodes hear nothing of them. What a competitor loses is not
//! sent again; the next packet follows after the time that all it has under way takes on a link.

mod bus;
mod competitor;
#[cfg(test)]
mod tests;

pub use bus::BusSpec;
pub use competitor::{Carried, CompetitorSpec};

use crate::agenda::{Agenda, Entry};
use crate::network::{
    Attention, Blueprint, BufferTally, ChannelTally, Deadlock, Ends, Event, Fate, Grain, Interest,
    Network, Pace, Packet, Passage, Priority,
};
use crate::slab::Slab;
use bus::{Bus, Way};
use competitor::Competitor;
use crosstie_units::Time;

/// What stands between nodes and a network.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PremisesSpec {
    /// What buses are, and on which of its node's the NIC of each rail sits; `None`: packets cross
    /// none.
    pub buses: Option<(BusSpec, Vec<u32>)>,
    /// Others.
    pub competitors: Vec<CompetitorSpec>,
}

impl PremisesSpec {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.buses.is_none() && self.competitors.is_empty()
    }
}

/// A network and what stands before it.
pub struct Equipped<'a> {
    /// The network.
    pub network: Box<dyn Blueprint + 'a>,
    /// What stands before it.
    pub premises: &'a PremisesSpec,
}

impl Blueprint for Equipped<'_> {
    fn hosts(&self) -> u32 {
        self.network.hosts()
    }

    fn rails(&self) -> u32 {
        self.network.rails()
    }

    fn build(&self, interest: Interest) -> Box<dyn Network + '_> {
        // The premises react at once, and know themselves when packets come in. Beyond a bus an
        // acknowledge would say nothing.
        let arriving = interest.arriving && self.premises.buses.is_none();
        let attention = Attention::AtOnce;
        let within = Interest { arriving, acknowledges: false, attention, ..interest };
        Box::new(Premises::new(self, self.network.build(within), interest))
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

/// A packet under way.
#[derive(Debug, Clone, Copy)]
struct Passing {
    packet: Packet,
    /// Whose it is, and what it carries, if it is a competitor's.
    competitor: Option<(u32, u32)>,
    /// What it went through, when that is known.
    passage: Passage,
}

/// Something that comes at a known time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    /// A competitor begins.
    Begin(u32),
    /// A competitor sends another packet in the place of one that was lost.
    Again(u32),
    /// A packet has crossed a bus.
    Crossed(Way, u32),
}

/// A network with what stands before it. It does all that happens at an instant before the network
/// within does.
struct Premises<'a> {
    spec: &'a PremisesSpec,
    hosts: u32,
    pace: Pace,
    network: Box<dyn Network + 'a>,
    interest: Interest,
    /// The buses, by `bus * hosts + host`.
    buses: Vec<Bus>,
    competitors: Vec<Competitor>,
    /// Packets by their places, which are their numbers within.
    passing: Slab<Passing>,
    agenda: Agenda<Due>,
    entries: u64,
    heard: Vec<Event>,
}

impl<'a> Premises<'a> {
    fn new(
        equipped: &Equipped<'a>,
        network: Box<dyn Network + 'a>,
        interest: Interest,
    ) -> Premises<'a> {
        let (spec, hosts, pace) = (equipped.premises, equipped.hosts(), equipped.pace());
        let numbers = spec.buses.iter().flat_map(|(_, numbers)| numbers);
        let buses = numbers.max().map_or(0, |last| (last + 1) * hosts);
        let mut premises = Premises {
            spec,
            hosts,
            pace,
            network,
            interest,
            buses: vec![Bus::default(); buses as usize],
            competitors: spec.competitors.iter().map(|&spec| Competitor::new(spec)).collect(),
            passing: Slab::default(),
            agenda: Agenda::default(),
            entries: 0,
            heard: Vec::new(),
        };
        for (number, competitor) in (0..).zip(&spec.competitors) {
            premises.enter(competitor.begin, Due::Begin(number));
        }
        premises
    }

    fn enter(&mut self, at: Time, due: Due) {
        self.agenda.enter(at, self.entries, due);
        self.entries += 1;
    }

    /// A packet waits to cross a bus, or does not have to: false.
    fn wait(&mut self, way: Way, place: u32, told: &mut Vec<Event>) -> bool {
        let packet = self.passing.get(place).packet;
        if self.spec.buses.is_none() || packet.ends == Ends::Nics {
            return false;
        }
        let bus = self.bus(way, &packet);
        self.buses[bus].wait(way, place);
        self.serve(bus, told);
        true
    }

    /// The bus that a packet crosses on its way out of memory, or into it.
    fn bus(&self, way: Way, packet: &Packet) -> usize {
        let (_, numbers) = self.spec.buses.as_ref().expect("there are buses");
        let host = match way {
            Way::Read => packet.from,
            Way::Write => packet.to,
        };
        (numbers[packet.rail as usize] * self.hosts + host) as usize
    }

    /// Lets those cross a bus who can.
    fn serve(&mut self, bus: usize, told: &mut Vec<Event>) {
        let (spec, _) = self.spec.buses.as_ref().expect("there are buses");
        let now = self.network.now();
        while let Some((way, place)) = self.buses[bus].next(spec) {
            let Passing { packet, competitor, .. } = *self.passing.get(place);
            if way == Way::Write && self.interest.arriving && competitor.is_none() {
                told.push(Event { at: now, id: packet.id, fate: Fate::Arriving });
            }
            self.enter(now + spec.time(way, packet.bytes), Due::Crossed(way, place));
        }
    }

    /// A packet has crossed a bus.
    fn crossed(&mut self, way: Way, place: u32, told: &mut Vec<Event>) {
        let packet = self.passing.get(place).packet;
        let bus = self.bus(way, &packet);
        match way {
            Way::Read => self.hand_over(place),
            Way::Write => self.arrived(place, told),
        }
        self.buses[bus].crossed(way);
        self.serve(bus, told);
    }

    /// Gives a packet to the network.
    fn hand_over(&mut self, place: u32) {
        let packet = self.passing.get(place).packet;
        self.network.inject(Packet { id: u64::from(place), siblings: 1, ..packet });
    }

    /// A packet is where it was to go.
    fn arrived(&mut self, place: u32, told: &mut Vec<Event>) {
        let Passing { packet, competitor, passage } = self.passing.take(place);
        match competitor {
            None => {
                let fate = Fate::Arrived(passage);
                told.push(Event { at: self.network.now(), id: packet.id, fate });
            }
            Some((competitor, payload)) => {
                self.competitors[competitor as usize].carried.bytes += u64::from(payload);
                self.compete(competitor, told);
            }
        }
    }

    /// A competitor sends a packet, unless its time is over.
    fn compete(&mut self, number: u32, told: &mut Vec<Event>) {
        let competitor = &mut self.competitors[number as usize];
        let CompetitorSpec { rail, from, to, packing, end, .. } = competitor.spec;
        if self.network.now() >= end {
            return;
        }
        let payload = competitor.next_payload();
        let bytes = packing.wire_bytes(u64::from(payload)) as u32;
        let (id, siblings, departs) = (0, 1, false);
        let (ends, priority) = (Ends::Memories, Priority::Low);
        let packet = Packet { rail, from, to, bytes, id, siblings, departs, ends, priority };
        self.send(packet, Some((number, payload)), told);
    }

    fn send(&mut self, packet: Packet, competitor: Option<(u32, u32)>, told: &mut Vec<Event>) {
        let passage = Passage { began: self.network.now(), switches: 0 };
        let place = self.passing.put(Passing { packet, competitor, passage });
        if !self.wait(Way::Read, place, told) {
            self.hand_over(place);
        }
    }

    /// What the network tells.
    fn hear(&mut self, event: Event, told: &mut Vec<Event>) {
        let place = event.id as u32;
        let Passing { packet, competitor, .. } = *self.passing.get(place);
        match event.fate {
            Fate::Left | Fate::Arriving if competitor.is_some() => {}
            Fate::Left | Fate::Arriving => told.push(Event { id: packet.id, ..event }),
            Fate::Acknowledged | Fate::Reached(..) | Fate::Done => {
                unreachable!("nobody asked to be told")
            }
            Fate::Arrived(passage) => {
                self.passing.get_mut(place).passage = passage;
                if !self.wait(Way::Write, place, told) {
                    self.arrived(place, told);
                }
            }
            Fate::Dropped | Fate::Refused => {
                self.passing.take(place);
                match competitor {
                    None => told.push(Event { id: packet.id, ..event }),
                    Some((number, _)) => {
                        let competitor = &mut self.competitors[number as usize];
                        competitor.carried.lost += 1;
                        // A link that is down loses at once: nobody sends to it any faster than to
                        // one that is not.
                        let window =
                            self.pace.time_for(packet.bytes) * competitor.spec.window.into();
                        let again = self.network.now() + window.max(Time::from_ps(1));
                        self.enter(again, Due::Again(number));
                    }
                }
            }
        }
    }
}

impl Network for Premises<'_> {
    fn now(&self) -> Time {
        self.network.now()
    }

    fn next(&self) -> Option<Time> {
        self.agenda.next().into_iter().chain(self.network.next()).min()
    }

    fn inject(&mut self, packet: Packet) {
        // What a bus does then is told by itself when time goes on.
        let mut told = Vec::new();
        self.send(packet, None, &mut told);
        debug_assert!(told.is_empty(), "nothing comes in because something goes out");
    }

    fn run_until(&mut self, until: Time, told: &mut Vec<Event>) {
        let before = told.len();
        while self.network.now() < until {
            while self.agenda.next().is_some_and(|at| at <= self.network.now()) {
                let Some(Entry { what, .. }) = self.agenda.take() else { break };
                match what {
                    Due::Crossed(way, place) => self.crossed(way, place, told),
                    Due::Again(number) => self.compete(number, told),
                    Due::Begin(number) => {
                        for _ in 0..self.competitors[number as usize].spec.window {
                            self.compete(number, told);
                        }
                    }
                }
            }
            if self.interest.stops(told.len() > before) {
                return;
            }
            let limit = self.agenda.next().map_or(until, |at| at.min(until));
            let mut heard = std::mem::take(&mut self.heard);
            self.network.run_until(limit, &mut heard);
            for event in heard.drain(..) {
                self.hear(event, told);
            }
            self.heard = heard;
            if self.interest.stops(told.len() > before) {
                return;
            }
        }
    }

    fn grain(&self) -> Grain {
        self.network.grain()
    }

    fn channels(&mut self) -> Vec<ChannelTally> {
        self.network.channels()
    }

    fn buffers(&mut self) -> Vec<BufferTally> {
        self.network.buffers()
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

    fn pool_peak(&self) -> Option<u32> {
        self.network.pool_peak()
    }

    fn carried(&self) -> Vec<Carried> {
        self.competitors.iter().map(|competitor| competitor.carried).collect()
    }
}
