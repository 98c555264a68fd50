//! The ideal network: a wire for every host, and nothing contended between.
//!
//! It is what LogGP assumes of a network, and what the best one could do. A host has one wire out
//! and one wire in on every rail. Of a packet of b bytes (with LogGP's L, g and G = 1/rate)
//!
//! ```text
//! the first byte leaves at                s
//! the last byte has left at               s + (b-1) G     and others may begin at   s + (b-1) G + g
//! the first byte reaches the other at     s + L           or when its wire in has become free, r
//! the last byte is there at               r + (b-1) G     and others may begin at   r + (b-1) G + g
//! ```
//!
//! Packets reach a host in the order in which their first bytes do. `(b-1) G` is rounded down to a
//! picosecond, packet by packet. Packets between NICs ([`Ends::Nics`]) wait for nobody, and nobody
//! waits for them: the best network has room for them.
//!
//! Rails may differ in speed, share wires, and change while time goes on: [`Unequal`].
//!
//! A wire takes packets whole, first come, first served. A network that lets packets share a wire
//! flit by flit may have a short one there sooner that was sent behind a long one, and the long one
//! later.

mod unequal;

pub use unequal::{Unequal, UnequalSpec};

use crate::network::{
    Blueprint, Ends, Event, Fate, Grain, Interest, Network, Pace, Packet, Passage,
};
use crate::slab::Slab;
use crosstie_units::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What an ideal network is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdealSpec {
    /// Hosts on each rail.
    pub hosts: u32,
    /// Rails.
    pub rails: u32,
    /// The speed of the wires.
    pub pace: Pace,
    /// From the first byte sent to the first byte received.
    pub latency: Time,
    /// What a wire takes for a packet of one byte, the last byte of any: g of LogGP.
    pub gap: Time,
    /// The cycle that those who measure count in.
    pub cycle: Time,
}

impl IdealSpec {
    /// The time from the first byte of a packet to its last.
    fn length(&self, packet: &Packet) -> Time {
        self.pace.time_for(packet.bytes - 1)
    }

    /// When a packet that has come to a wire begins to cross it. `free` is when the wire is.
    fn occupy(&self, free: &mut Time, now: Time, packet: &Packet) -> Time {
        if packet.ends == Ends::Nics {
            return now;
        }
        let begins = now.max(*free);
        *free = begins + self.length(packet) + self.gap;
        begins
    }
}

/// What happens next to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Its last byte leaves.
    Leave,
    /// Its first byte is at the other end.
    Reach,
    /// The wire in is free for it.
    Enter,
    /// Its last byte is there.
    Arrive,
}

/// A packet under way.
#[derive(Debug, Clone, Copy)]
struct Flight {
    packet: Packet,
    began: Time,
}

/// A network without contention.
pub struct Ideal {
    spec: IdealSpec,
    interest: Interest,
    now: Time,
    /// When each wire out, and each wire in, is free; by `rail * hosts + host`.
    out: Vec<Time>,
    into: Vec<Time>,
    /// What happens when, in order of time and then of being known; the packet by its place.
    agenda: BinaryHeap<Reverse<(Time, u64, Step, u32)>>,
    entries: u64,
    flights: Slab<Flight>,
}

impl Ideal {
    /// A network at rest.
    pub fn new(spec: IdealSpec, interest: Interest) -> Ideal {
        let wires = vec![Time::ZERO; (spec.hosts * spec.rails) as usize];
        Ideal {
            spec,
            interest,
            now: Time::ZERO,
            out: wires.clone(),
            into: wires,
            agenda: BinaryHeap::new(),
            entries: 0,
            flights: Slab::default(),
        }
    }

    fn enter(&mut self, at: Time, step: Step, place: u32) {
        self.agenda.push(Reverse((at, self.entries, step, place)));
        self.entries += 1;
    }

    fn wire(&self, rail: u32, host: u32) -> usize {
        (rail * self.spec.hosts + host) as usize
    }

    /// Lets something happen at the time it is.
    fn step(&mut self, step: Step, place: u32, told: &mut Vec<Event>) {
        let Flight { packet, began } = *self.flights.get(place);
        let length = self.spec.length(&packet);
        let mut tell = |fate| told.push(Event { at: self.now, id: packet.id, fate });
        match step {
            Step::Leave => tell(Fate::Left),
            Step::Reach => {
                let wire = self.wire(packet.rail, packet.to);
                let begins = self.spec.occupy(&mut self.into[wire], self.now, &packet);
                if self.interest.arriving && packet.ends == Ends::Memories {
                    self.enter(begins, Step::Enter, place);
                }
                self.enter(begins + length, Step::Arrive, place);
            }
            Step::Enter => tell(Fate::Arriving),
            Step::Arrive => {
                tell(Fate::Arrived(Passage { began, switches: 0 }));
                self.flights.take(place);
            }
        }
    }
}

impl Blueprint for IdealSpec {
    fn hosts(&self) -> u32 {
        self.hosts
    }

    fn rails(&self) -> u32 {
        self.rails
    }

    fn build(&self, interest: Interest) -> Box<dyn Network + '_> {
        Box::new(Ideal::new(*self, interest))
    }

    fn pace(&self) -> Pace {
        self.pace
    }

    fn wires(&self) -> Option<IdealSpec> {
        Some(*self)
    }
}

impl Network for Ideal {
    fn now(&self) -> Time {
        self.now
    }

    fn next(&self) -> Option<Time> {
        self.agenda.peek().map(|Reverse((at, ..))| *at)
    }

    fn inject(&mut self, packet: Packet) {
        let wire = self.wire(packet.rail, packet.from);
        let length = self.spec.length(&packet);
        let began = self.spec.occupy(&mut self.out[wire], self.now, &packet);
        let place = self.flights.put(Flight { packet, began });
        if self.interest.departures && packet.ends == Ends::Memories {
            self.enter(began + length, Step::Leave, place);
        }
        self.enter(began + self.spec.latency, Step::Reach, place);
    }

    fn run_until(&mut self, until: Time, told: &mut Vec<Event>) {
        let before = told.len();
        while let Some(&Reverse((at, _, step, place))) = self.agenda.peek()
            && at < until
        {
            // Who hears that a packet begins to arrive does so before it is there, also if that is
            // one byte.
            let begins = |event: &Event| {
                let id = self.flights.get(place).packet.id;
                step == Step::Arrive && (event.id, event.fate) == (id, Fate::Arriving)
            };
            let is_due = at > self.now || told[before..].iter().any(begins);
            if is_due && self.interest.stops(told.len() > before) {
                return;
            }
            self.agenda.pop();
            self.now = at;
            self.step(step, place, told);
        }
        self.now = self.interest.stands(told.len() > before, self.now, until);
    }

    fn grain(&self) -> Grain {
        Grain::picoseconds(self.spec.cycle)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::network::{Attention, Priority};
    use proptest::prelude::*;

    const INTEREST: Interest = Interest {
        departures: true,
        arriving: true,
        acknowledges: false,
        attention: Attention::AtOnce,
    };

    fn spec() -> IdealSpec {
        IdealSpec {
            hosts: 4,
            rails: 2,
            pace: Pace { time: Time::from_ns(10), bytes: 4 },
            latency: Time::from_ns(100),
            gap: Time::from_ns(7),
            cycle: Time::from_ns(5),
        }
    }

    /// A network on which nothing happens.
    pub(crate) fn idle() -> Ideal {
        Ideal::new(spec(), INTEREST)
    }

    pub(crate) fn packet(id: u64, rail: u32, from: u32, to: u32, bytes: u32) -> Packet {
        let (siblings, departs, ends) = (1, true, Ends::Memories);
        Packet { rail, from, to, bytes, id, siblings, departs, ends, priority: Priority::Low }
    }

    /// What became of packets, as (nanoseconds, packet, fate).
    pub(crate) fn in_words(told: &[Event]) -> Vec<(u64, u64, &'static str)> {
        let word = |event: &Event| match event.fate {
            Fate::Left => "left",
            Fate::Arriving => "arriving",
            Fate::Arrived(_) | Fate::Reached(..) => "arrived",
            Fate::Acknowledged => "acknowledged",
            Fate::Refused => "refused",
            Fate::Dropped => "dropped",
            Fate::Done => "done",
        };
        told.iter().map(|event| (event.at.ps() / 1000, event.id, word(event))).collect()
    }

    /// Everything that happens.
    fn all(network: &mut Ideal) -> Vec<(u64, u64, &'static str)> {
        let mut told = Vec::new();
        while let Some(next) = network.next() {
            network.run_until(next + Time::from_ps(1), &mut told);
        }
        in_words(&told)
    }

    #[test]
    fn a_packet_takes_its_length_and_the_latency() {
        let mut network = Ideal::new(spec(), INTEREST);
        network.inject(packet(1, 1, 0, 3, 41));
        let expected = [(100, 1, "left"), (100, 1, "arriving"), (200, 1, "arrived")];
        assert_eq!(all(&mut network), expected);
    }

    #[test]
    fn wires_take_one_packet_after_the_other_at_both_ends() {
        let mut network = Ideal::new(spec(), INTEREST);
        network.inject(packet(1, 0, 0, 3, 41));
        network.inject(packet(2, 0, 0, 2, 41)); // behind it on the wire out, a gap later
        network.inject(packet(3, 0, 1, 3, 5)); // behind it on the wire in
        network.inject(packet(4, 1, 1, 3, 5)); // on a rail of its own
        let arrived = |(at, id, fate): (u64, u64, &str)| (fate == "arrived").then_some((at, id));
        let found: Vec<_> = all(&mut network).into_iter().filter_map(arrived).collect();
        assert_eq!(found, [(110, 4), (200, 1), (217, 3), (307, 2)]);
    }

    #[test]
    fn who_hears_of_an_arrival_can_answer_at_once() {
        let mut network = Ideal::new(spec(), INTEREST);
        network.inject(packet(1, 0, 0, 1, 5));
        let (mut told, end) = (Vec::new(), Time::from_ns(1000));
        while !told.iter().any(|event: &Event| matches!(event.fate, Fate::Arrived(_))) {
            network.run_until(end, &mut told);
        }
        assert_eq!(network.now(), Time::from_ns(110));
        network.inject(packet(2, 0, 1, 0, 5));
        assert_eq!(all(&mut network).last(), Some(&(220, 2, "arrived")));
        network.run_until(end, &mut told);
        assert_eq!(network.now(), end);
    }

    #[test]
    fn packets_between_nics_wait_for_nobody() {
        let mut network = Ideal::new(spec(), INTEREST);
        network.inject(packet(1, 0, 0, 1, 41));
        network.inject(Packet { ends: Ends::Nics, ..packet(2, 0, 0, 1, 5) });
        network.inject(packet(3, 0, 0, 1, 41));
        let arrived = |(at, id, fate): (u64, u64, &str)| (fate == "arrived").then_some((at, id));
        let found: Vec<_> = all(&mut network).into_iter().filter_map(arrived).collect();
        assert_eq!(found, [(110, 2), (200, 1), (307, 3)]);
    }

    proptest! {
        /// The wires of every host, written down as the rules say them.
        #[test]
        fn wires_obey_the_rules(
            sent in prop::collection::vec((0..2000u64, 0..2u32, 0..4u32, 1..4u32, 1..300u32), 1..40),
        ) {
            let spec = spec();
            let mut sent = sent;
            sent.sort_unstable();
            let mut network = Ideal::new(spec, Interest { attention: Attention::Late, ..INTEREST });
            let mut told = Vec::new();
            for (id, &(at, rail, from, step, bytes)) in (0..).zip(&sent) {
                network.run_until(Time::from_ns(at), &mut told);
                network.inject(packet(id, rail, from, (from + step) % 4, bytes));
            }
            network.run_until(Time::from_ns(1_000_000), &mut told);
            let (mut out, mut reached) = ([Time::ZERO; 8], Vec::new());
            for (id, &(at, rail, from, step, bytes)) in (0u64..).zip(&sent) {
                let wire = &mut out[(rail * 4 + from) as usize];
                let begins = Time::from_ns(at).max(*wire);
                *wire = begins + spec.pace.time_for(bytes - 1) + spec.gap;
                reached.push((begins + spec.latency, id, rail * 4 + (from + step) % 4, bytes));
            }
            reached.sort_unstable();
            let mut into = [Time::ZERO; 8];
            for (at, id, wire, bytes) in reached {
                let begins = at.max(into[wire as usize]);
                let arrives = begins + spec.pace.time_for(bytes - 1);
                into[wire as usize] = arrives + spec.gap;
                let is = |event: &&Event| event.id == id && matches!(event.fate, Fate::Arrived(_));
                let found: Vec<Time> = told.iter().filter(is).map(|event| event.at).collect();
                prop_assert_eq!(found, vec![arrives]);
            }
        }
    }
}
