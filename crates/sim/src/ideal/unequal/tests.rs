//! Rails that differ against the ideal network, and against its rules written down packet by
//! packet.

use super::*;
use crate::ideal::tests::{in_words, packet};
use crate::ideal::{Ideal, IdealSpec};
use crate::network::Attention;
use proptest::prelude::*;

const INTEREST: Interest =
    Interest { departures: true, arriving: true, acknowledges: false, attention: Attention::Late };
const HOSTS: u32 = 4;
const LATENCY: Time = Time::from_ns(100);
const GAP: Time = Time::from_ns(7);

fn pace(ns: u64) -> Pace {
    Pace { time: Time::from_ns(ns), bytes: 4 }
}

fn spec(ports: &[u32], paces: &[u64], changes: Vec<Change>) -> UnequalSpec {
    UnequalSpec {
        hosts: HOSTS,
        ports: ports.to_vec(),
        paces: paces.iter().map(|&ns| pace(ns)).collect(),
        latency: LATENCY,
        gap: Some(GAP),
        cycle: Time::from_ns(5),
        changes,
    }
}

fn change(at: u64, port: u32, hosts: Option<Vec<u32>>, to: Condition) -> Change {
    Change { at: Time::from_ns(at), port, hosts, to }
}

/// A packet handed over: when in nanoseconds, rail, sender, distance of the receiver, bytes.
type Sent = (u64, u32, u32, u32, u32);

/// Hands packets over, in order of time, and gives all that becomes of them.
fn all(network: &mut dyn Network, sent: &[Sent], nics: bool) -> Vec<Event> {
    let mut told = Vec::new();
    for (id, &(at, rail, from, step, bytes)) in (0..).zip(sent) {
        network.run_until(Time::from_ns(at), &mut told);
        let ends = if nics && id % 3 == 0 { Ends::Nics } else { Ends::Memories };
        network.inject(Packet { ends, ..packet(id, rail, from, (from + step) % HOSTS, bytes) });
    }
    network.run_until(Time::from_ns(1_000_000), &mut told);
    assert!(told.is_sorted_by_key(|event| event.at));
    told
}

#[test]
fn every_rail_has_its_speed() {
    let spec = spec(&[0, 1], &[10, 40], vec![]);
    let told =
        all(&mut Unequal::new(&spec, INTEREST), &[(0, 0, 0, 1, 41), (0, 1, 0, 1, 41)], false);
    let arrived: Vec<_> =
        in_words(&told).into_iter().filter(|(.., fate)| *fate == "arrived").collect();
    assert_eq!(arrived, [(200, 0, "arrived"), (500, 1, "arrived")]);
    assert_eq!(spec.pace(), pace(10));
}

#[test]
fn rails_of_one_port_share_its_wires() {
    let spec = spec(&[0, 0, 1], &[10, 10], vec![]);
    let sent = [(0, 0, 0, 1, 41), (0, 1, 0, 1, 41), (0, 2, 0, 1, 41)];
    let told = all(&mut Unequal::new(&spec, INTEREST), &sent, false);
    let arrived: Vec<_> =
        in_words(&told).into_iter().filter(|(.., fate)| *fate == "arrived").collect();
    assert_eq!(arrived, [(200, 0, "arrived"), (200, 2, "arrived"), (307, 1, "arrived")]);
}

#[test]
fn a_wire_that_goes_down_loses_what_is_on_it_and_what_comes_to_it() {
    let down = change(50, 0, Some(vec![0]), Condition::Down);
    let up = change(500, 0, None, Condition::Up);
    let spec = spec(&[0], &[10], vec![down, up]);
    // On the wire, waiting for it, coming to it, and after all that; then one that comes from
    // elsewhere.
    let sent = [
        (0, 0, 0, 1, 41),
        (0, 0, 0, 1, 41),
        (60, 0, 0, 1, 41),
        (60, 0, 1, 3, 5),
        (500, 0, 0, 1, 5),
    ];
    let told = all(&mut Unequal::new(&spec, INTEREST), &sent, false);
    let expected = [
        (50, 1, "left"),
        (50, 1, "dropped"),
        (60, 2, "left"),
        (60, 2, "dropped"),
        (70, 3, "left"),
        (100, 0, "left"),
        (100, 0, "dropped"),
        (160, 3, "dropped"),
        (510, 4, "left"),
        (600, 4, "arriving"),
        (610, 4, "arrived"),
    ];
    assert_eq!(in_words(&told), expected);
}

#[test]
fn a_new_pace_is_that_of_packets_that_begin_from_then_on() {
    let slow = change(50, 0, None, Condition::Pace(pace(100)));
    let again = change(2_000, 0, None, Condition::OwnPace);
    let spec = spec(&[0], &[10], vec![slow, again]);
    let sent = [(0, 0, 0, 1, 41), (0, 0, 0, 1, 41), (2_000, 0, 0, 1, 41)];
    let told = all(&mut Unequal::new(&spec, INTEREST), &sent, false);
    let arrived: Vec<_> =
        in_words(&told).into_iter().filter(|(.., fate)| *fate == "arrived").collect();
    // The wire in is slow when the first packet comes to it, at 100 ns.
    assert_eq!(arrived, [(1_100, 0, "arrived"), (2_107, 1, "arrived"), (2_214, 2, "arrived")]);
}

/// The rules of one packet after the other.
struct Rules<'a> {
    spec: &'a UnequalSpec,
    /// When each wire is free; those out of ports, then those into them.
    free: Vec<Time>,
}

impl Rules<'_> {
    fn changes(&self, port: u32, host: u32) -> Vec<(Time, Condition)> {
        let of = |change: &&Change| change.port == port && change.concerns(host);
        let mut all: Vec<_> =
            self.spec.changes.iter().filter(of).map(|change| (change.at, change.to)).collect();
        all.sort_by_key(|&(at, _)| at);
        all
    }

    fn pace_at(&self, port: u32, host: u32, at: Time) -> Pace {
        let mut pace = self.spec.paces[port as usize];
        for (_, to) in self.changes(port, host).into_iter().filter(|&(when, _)| when <= at) {
            match to {
                Condition::Pace(other) => pace = other,
                Condition::OwnPace => pace = self.spec.paces[port as usize],
                Condition::Down | Condition::Up => {}
            }
        }
        pace
    }

    fn is_down(&self, port: u32, host: u32, at: Time) -> bool {
        let mut changes = self.changes(port, host).into_iter().filter(|&(when, _)| when <= at);
        let last = changes.rfind(|(_, to)| matches!(to, Condition::Down | Condition::Up));
        last.is_some_and(|(_, to)| to == Condition::Down)
    }

    /// The first time at which a wire goes down behind one time and not behind another.
    fn cut(&self, port: u32, host: u32, behind: Time, until: Time) -> Option<Time> {
        let downs = self.changes(port, host).into_iter().filter(|&(_, to)| to == Condition::Down);
        downs.map(|(at, _)| at).find(|&at| behind < at && at <= until)
    }
}

/// When each packet arrives, or when it shows that it is lost.
fn by_rules(spec: &UnequalSpec, sent: &[Sent]) -> Vec<Result<Time, Time>> {
    let wires = spec.paces.len() * HOSTS as usize;
    let mut rules = Rules { spec, free: vec![Time::ZERO; 2 * wires] };
    let before = Time::from_ps(1);
    let mut fates = vec![None; sent.len()];
    let mut reached = Vec::new();
    for (id, &(at, rail, from, _, bytes)) in sent.iter().enumerate() {
        let (at, port) = (Time::from_ns(at), spec.ports[rail as usize]);
        let wire = (port * HOSTS + from) as usize;
        let begins = at.max(rules.free[wire]);
        let lost_at = match rules.is_down(port, from, at) {
            true => Some(at),
            false => rules.cut(port, from, at, begins),
        };
        if let Some(lost_at) = lost_at {
            fates[id] = Some(Err(lost_at));
            continue;
        }
        let left = begins + rules.pace_at(port, from, begins).time_for(bytes - 1);
        rules.free[wire] = left + GAP;
        let cut = rules.cut(port, from, begins, left).filter(|&cut| cut < left);
        reached.push((begins + LATENCY, id, left, cut));
    }
    reached.sort_unstable();
    for (reach, id, left, cut) in reached {
        let (_, rail, from, step, bytes) = sent[id];
        let (port, to) = (spec.ports[rail as usize], (from + step) % HOSTS);
        let wire = wires + (port * HOSTS + to) as usize;
        if cut.is_some_and(|cut| cut <= reach) || rules.is_down(port, to, reach) {
            fates[id] = Some(Err(reach.max(left)));
            continue;
        }
        let begins = reach.max(rules.free[wire]);
        if let Some(down) = rules.cut(port, to, reach, begins) {
            fates[id] = Some(Err(down.max(left)));
            continue;
        }
        let length = rules.pace_at(port, to, begins).time_for(bytes - 1);
        rules.free[wire] = begins + length + GAP;
        let arrives = (begins + length).max(left + LATENCY);
        let late = rules.cut(port, to, begins, arrives - before);
        fates[id] = Some(if cut.or(late).is_some() { Err(arrives) } else { Ok(arrives) });
    }
    fates.into_iter().map(|fate| fate.expect("all have been looked at")).collect()
}

fn sent(rails: u32) -> impl Strategy<Value = Vec<Sent>> {
    let one = (0..2000u64, 0..rails, 0..HOSTS, 1..HOSTS, 1..300u32);
    prop::collection::vec(one, 1..40).prop_map(|mut sent| {
        sent.sort_unstable();
        sent
    })
}

fn changes(ports: u32) -> impl Strategy<Value = Vec<Change>> {
    let hosts = prop::option::of(prop::collection::vec(0..HOSTS, 1..3));
    let to = prop_oneof![
        (1..60u64).prop_map(|ns| Condition::Pace(pace(ns))),
        Just(Condition::OwnPace),
        Just(Condition::Down),
        Just(Condition::Up),
        Just(Condition::Up),
    ];
    let one = (0..4000u64, 0..ports, hosts, to)
        .prop_map(|(at, port, hosts, to)| change(at, port, hosts, to));
    prop::collection::vec(one, 0..12)
}

proptest! {
    /// With rails that are all alike it is the ideal network, to the picosecond.
    #[test]
    fn alike_they_are_the_ideal_network(sent in sent(2), nics in any::<bool>()) {
        let ideal = IdealSpec {
            hosts: HOSTS, rails: 2, pace: pace(10), latency: LATENCY, gap: GAP, cycle: Time::from_ns(5),
        };
        let spec = spec(&[0, 1], &[10, 10], vec![]);
        let sorted = |network: &mut dyn Network| {
            let mut told = all(network, &sent, nics);
            told.sort_by_key(|event| (event.at, event.id, event.fate != Fate::Left, event.fate != Fate::Arriving));
            told
        };
        prop_assert_eq!(
            sorted(&mut Unequal::new(&spec, INTEREST)),
            sorted(&mut Ideal::new(ideal, INTEREST))
        );
    }

    /// Rails of several speeds, of which two share a port, and wires that change.
    #[test]
    fn wires_obey_the_rules(sent in sent(3), changes in changes(2)) {
        let spec = spec(&[0, 1, 1], &[10, 40], changes);
        let told = all(&mut Unequal::new(&spec, INTEREST), &sent, false);
        for (id, expected) in (0..).zip(by_rules(&spec, &sent)) {
            let of_it = || told.iter().filter(|event| event.id == id);
            let ended: Vec<_> = of_it().filter_map(|event| match event.fate {
                Fate::Arrived(_) | Fate::Reached(..) => Some(Ok(event.at)),
                Fate::Dropped | Fate::Refused => Some(Err(event.at)),
                Fate::Left | Fate::Arriving | Fate::Acknowledged | Fate::Done => None,
            }).collect();
            prop_assert_eq!(ended, vec![expected], "packet {}", id);
            let left: Vec<_> = of_it().filter(|event| event.fate == Fate::Left).collect();
            prop_assert_eq!(left.len(), 1);
            prop_assert!(left[0].at <= expected.unwrap_or_else(|lost| lost));
        }
    }
}
