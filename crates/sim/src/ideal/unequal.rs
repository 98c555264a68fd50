//! The ideal network with rails that differ: wires of several speeds, wires that rails share, and
//! wires that change.
//!
//! The rules are those of [`Ideal`](super::Ideal). Every *port* of a host has one wire out and one
//! wire in, and rails that have a port in common share them. A packet begins to cross a wire when
//! it is its turn, and does so at the pace that the wire has then; where the wire in is faster than
//! the wire out, the last byte comes in no sooner than `latency` after it has left.
//!
//! A packet that is lost on a wire is told of when its first byte should have come to the other
//! end, or its last, if the first has; and not before its last byte has left.

use crate::network::{
    Blueprint, Change, Condition, Ends, Event, Fate, Grain, Interest, Network, Pace, Packet,
    Passage,
};
use crosstie_units::Time;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// What an ideal network of rails that differ is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnequalSpec {
    /// Hosts on each rail.
    pub hosts: u32,
    /// The port of each rail, numbered from 0.
    pub ports: Vec<u32>,
    /// The speed of the wires of each port.
    pub paces: Vec<Pace>,
    /// From the first byte sent to the first byte received.
    pub latency: Time,
    /// What a wire takes for the last byte of a packet: g of LogGP. `None`: as long as for any
    /// other.
    pub gap: Option<Time>,
    /// The cycle that those who measure count in.
    pub cycle: Time,
    /// What happens to wires.
    pub changes: Vec<Change>,
}

/// What happens, in the order in which it does at one instant; each with the number of what it
/// happens to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Wires change.
    Change,
    /// A packet between NICs begins to leave.
    Pass,
    /// A wire out takes the next packet.
    Send,
    /// The last byte of a packet leaves.
    Leave,
    /// The first byte of a packet is at the other end.
    Reach,
    /// A wire in takes the next packet.
    Take,
    /// It shows that a packet is lost.
    Lose,
    /// The last byte of a packet is there.
    Arrive,
}

/// A wire, out of a port or into it.
#[derive(Debug, Clone)]
struct Wire {
    pace: Pace,
    is_down: bool,
    free: Time,
    waiting: VecDeque<u64>,
    /// When it looks for the next packet; the end of time if it does not.
    called: Time,
}

impl Wire {
    /// From the first byte of a packet to its last.
    fn length(&self, packet: &Packet) -> Time {
        self.pace.time_for(packet.bytes - 1)
    }
}

/// A packet under way.
#[derive(Debug, Clone, Copy)]
struct Flight {
    packet: Packet,
    /// When its first byte and its last leave; the end of time before they are known.
    began: Time,
    left: Time,
    /// When its last byte is there, likewise.
    arrives: Time,
    /// Whether a wire went down under it.
    is_lost: bool,
}

const NEVER: Time = Time::from_ps(u64::MAX);

/// An ideal network of rails that differ.
pub struct Unequal<'a> {
    spec: &'a UnequalSpec,
    interest: Interest,
    now: Time,
    /// Wires out of ports, and then wires into them, each by `port * hosts + host`.
    wires: Vec<Wire>,
    agenda: BinaryHeap<Reverse<(Time, Step, u64)>>,
    /// Packets by the order in which they were handed over.
    flights: BTreeMap<u64, Flight>,
    handed_over: u64,
}

impl<'a> Unequal<'a> {
    /// A network at rest.
    pub fn new(spec: &'a UnequalSpec, interest: Interest) -> Unequal<'a> {
        let wire = |pace: &Pace| Wire {
            pace: *pace,
            is_down: false,
            free: Time::ZERO,
            waiting: VecDeque::new(),
            called: NEVER,
        };
        let ports = spec.paces.iter().chain(&spec.paces);
        let wires = ports.flat_map(|pace| vec![wire(pace); spec.hosts as usize]).collect();
        let changes = (0..).zip(&spec.changes);
        Unequal {
            spec,
            interest,
            now: Time::ZERO,
            wires,
            agenda: changes.map(|(i, change)| Reverse((change.at, Step::Change, i))).collect(),
            flights: BTreeMap::new(),
            handed_over: 0,
        }
    }

    fn enter(&mut self, at: Time, step: Step, number: u64) {
        self.agenda.push(Reverse((at, step, number)));
    }

    /// The wire out of a port of a host.
    fn outward(&self, rail: u32, host: u32) -> usize {
        (self.spec.ports[rail as usize] * self.spec.hosts + host) as usize
    }

    /// The wire into it.
    fn inward(&self, rail: u32, host: u32) -> usize {
        self.wires.len() / 2 + self.outward(rail, host)
    }

    fn flight(&mut self, number: u64) -> &mut Flight {
        self.flights.get_mut(&number).expect("it is under way")
    }

    /// A packet waits for a wire.
    fn wait(&mut self, wire: usize, number: u64) {
        self.wires[wire].waiting.push_back(number);
        self.call(wire);
    }

    /// Sees to it that a wire takes the next packet as soon as it is free, or loses it if it is
    /// down.
    fn call(&mut self, number: usize) {
        let step = if number < self.wires.len() / 2 { Step::Send } else { Step::Take };
        let wire = &mut self.wires[number];
        let at = if wire.is_down { self.now } else { wire.free.max(self.now) };
        if !wire.waiting.is_empty() && at < wire.called {
            wire.called = at;
            self.enter(at, step, number as u64);
        }
    }

    /// The next packet that a wire takes, and for how long it does, from its first byte to its
    /// last. What waits for a wire that is down is lost.
    fn next_of(&mut self, number: usize, told: &mut Vec<Event>) -> Option<(u64, Time)> {
        let now = self.now;
        self.wires[number].called = NEVER;
        if self.wires[number].is_down {
            for waiting in std::mem::take(&mut self.wires[number].waiting) {
                self.lose(waiting, told);
            }
            return None;
        }
        if self.wires[number].free > now {
            self.call(number);
            return None;
        }
        let taken = self.wires[number].waiting.pop_front()?;
        let packet = self.flights[&taken].packet;
        let wire = &mut self.wires[number];
        let length = wire.length(&packet);
        wire.free = now + length + self.spec.gap.unwrap_or_else(|| wire.pace.time_for(1));
        self.call(number);
        Some((taken, length))
    }

    /// A packet begins to leave, and takes so long.
    fn leave(&mut self, number: u64, length: Time) {
        let now = self.now;
        let flight = self.flight(number);
        (flight.began, flight.left) = (now, now + length);
        let ends = flight.packet.ends;
        if self.interest.departures && ends == Ends::Memories {
            self.enter(now + length, Step::Leave, number);
        }
        self.enter(now + self.spec.latency, Step::Reach, number);
    }

    /// A packet begins to come in, and takes so long.
    fn come_in(&mut self, number: u64, length: Time, told: &mut Vec<Event>) {
        let (now, latency) = (self.now, self.spec.latency);
        let flight = self.flight(number);
        flight.arrives = (now + length).max(flight.left + latency);
        let Flight { packet, arrives, .. } = *flight;
        if self.interest.arriving && packet.ends == Ends::Memories {
            told.push(Event { at: now, id: packet.id, fate: Fate::Arriving });
        }
        self.enter(arrives, Step::Arrive, number);
    }

    /// A packet is lost: it shows now, or when its last byte has left.
    fn lose(&mut self, number: u64, told: &mut Vec<Event>) {
        let left = self.flights[&number].left;
        // What leaves at this very moment has perhaps not been told to.
        if left != NEVER && left >= self.now {
            return self.enter(left, Step::Lose, number);
        }
        self.drop_now(number, told);
    }

    /// It shows that a packet is lost.
    fn drop_now(&mut self, number: u64, told: &mut Vec<Event>) {
        let Flight { packet, left, .. } = self.flights[&number];
        let mut tell = |fate| told.push(Event { at: self.now, id: packet.id, fate });
        if left == NEVER && self.interest.departures && packet.ends == Ends::Memories {
            tell(Fate::Left);
        }
        tell(Fate::Dropped);
        self.flights.remove(&number);
    }

    /// Wires change.
    fn change(&mut self, change: &Change, told: &mut Vec<Event>) {
        let Change { port, to, .. } = *change;
        for host in (0..self.spec.hosts).filter(|&host| change.concerns(host)) {
            let out = (port * self.spec.hosts + host) as usize;
            for number in [out, self.wires.len() / 2 + out] {
                let wire = &mut self.wires[number];
                match to {
                    Condition::Pace(pace) => wire.pace = pace,
                    Condition::OwnPace => wire.pace = self.spec.paces[port as usize],
                    Condition::Up => wire.is_down = false,
                    Condition::Down => wire.is_down = true,
                }
                if wire.is_down {
                    for waiting in std::mem::take(&mut wire.waiting) {
                        self.lose(waiting, told);
                    }
                }
            }
            if to == Condition::Down {
                self.cut(port, host);
            }
        }
    }

    /// What is crossing the wires of a port is lost.
    fn cut(&mut self, port: u32, host: u32) {
        let now = self.now;
        let ports = &self.spec.ports;
        let on_port = |flight: &&mut Flight| ports[flight.packet.rail as usize] == port;
        for flight in self.flights.values_mut().filter(on_port) {
            let Flight { packet, left, arrives, .. } = *flight;
            let leaving = packet.from == host && left != NEVER && left > now;
            let coming = packet.to == host && arrives != NEVER && arrives > now;
            flight.is_lost |= leaving || coming;
        }
    }

    /// Lets something happen at the time it is.
    fn step(&mut self, step: Step, number: u64, told: &mut Vec<Event>) {
        match step {
            Step::Change => {
                let spec = self.spec;
                self.change(&spec.changes[number as usize], told);
            }
            Step::Pass => {
                let packet = self.flights[&number].packet;
                let wire = &self.wires[self.outward(packet.rail, packet.from)];
                match wire.is_down {
                    true => self.lose(number, told),
                    false => self.leave(number, wire.length(&packet)),
                }
            }
            Step::Send => {
                if let Some((packet, length)) = self.next_of(number as usize, told) {
                    self.leave(packet, length);
                }
            }
            Step::Leave => {
                let id = self.flights[&number].packet.id;
                told.push(Event { at: self.now, id, fate: Fate::Left });
            }
            Step::Reach => {
                let Flight { packet, is_lost, .. } = self.flights[&number];
                let wire = self.inward(packet.rail, packet.to);
                if is_lost || self.wires[wire].is_down {
                    self.lose(number, told);
                } else if packet.ends == Ends::Nics {
                    self.come_in(number, self.wires[wire].length(&packet), told);
                } else {
                    self.wait(wire, number);
                }
            }
            Step::Take => {
                if let Some((packet, length)) = self.next_of(number as usize, told) {
                    self.come_in(packet, length, told);
                }
            }
            Step::Lose => self.drop_now(number, told),
            Step::Arrive => {
                let Flight { packet, began, is_lost, .. } = self.flights[&number];
                if is_lost {
                    return self.lose(number, told);
                }
                let fate = Fate::Arrived(Passage { began, switches: 0 });
                told.push(Event { at: self.now, id: packet.id, fate });
                self.flights.remove(&number);
            }
        }
    }
}

impl Blueprint for UnequalSpec {
    fn hosts(&self) -> u32 {
        self.hosts
    }

    fn rails(&self) -> u32 {
        self.ports.len() as u32
    }

    fn build(&self, interest: Interest) -> Box<dyn Network + '_> {
        Box::new(Unequal::new(self, interest))
    }

    /// That of the fastest rail.
    fn pace(&self) -> Pace {
        Pace::fastest(self.paces.iter().copied()).expect("there is a rail")
    }
}

impl Network for Unequal<'_> {
    fn now(&self) -> Time {
        self.now
    }

    fn next(&self) -> Option<Time> {
        self.agenda.peek().map(|Reverse((at, ..))| *at)
    }

    fn inject(&mut self, packet: Packet) {
        let number = self.handed_over;
        self.handed_over += 1;
        let [began, left, arrives] = [NEVER; 3];
        self.flights.insert(number, Flight { packet, began, left, arrives, is_lost: false });
        match packet.ends {
            Ends::Nics => self.enter(self.now, Step::Pass, number),
            Ends::Memories => self.wait(self.outward(packet.rail, packet.from), number),
        }
    }

    fn run_until(&mut self, until: Time, told: &mut Vec<Event>) {
        let before = told.len();
        while let Some(&Reverse((at, step, number))) = self.agenda.peek()
            && at < until
        {
            // Who hears that a packet begins to arrive does so before it is there, also if that is
            // one byte.
            let begins = |event: &Event| {
                step == Step::Arrive
                    && event.fate == Fate::Arriving
                    && event.id == self.flights[&number].packet.id
            };
            let is_due = at > self.now || told[before..].iter().any(begins);
            if is_due && self.interest.stops(told.len() > before) {
                return;
            }
            self.agenda.pop();
            self.now = at;
            self.step(step, number, told);
        }
        self.now = self.interest.stands(told.len() > before, self.now, until);
    }

    fn grain(&self) -> Grain {
        Grain::picoseconds(self.spec.cycle)
    }
}

#[cfg(test)]
mod tests;
