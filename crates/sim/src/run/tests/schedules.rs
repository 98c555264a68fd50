//! Schedules on hosts that take time: the LogGOPS machine, and the same schedules through nodes and networks.

use super::*;
use crate::host::Overhead;
use crate::ideal::IdealSpec;
use crate::network::Pace;
use crosstie_collective::{Builder, Need, Op, OpId, Rank, Schedule, Step, Tag, When};
use crosstie_work::Player;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::sync::Arc;

/// The defaults of LogGOPSim: L, g and G.
fn wires(hosts: u32, rails: u32) -> IdealSpec {
    IdealSpec {
        hosts,
        rails,
        pace: Pace { time: Time::from_ns(6), bytes: 1 },
        latency: Time::from_ns(2500),
        gap: Time::from_ns(1000),
        cycle: Time::from_ns(6),
    }
}

/// o, O and S.
const OVERHEAD: Overhead =
    Overhead { message: Time::from_ns(1500), byte: Time::ZERO, eager: Some(65_535) };

const LIMIT: Time = Time::from_ns(1_000_000_000_000);

fn played(
    blueprint: &dyn Blueprint,
    nodes: &NodesSpec,
    overhead: Option<Overhead>,
    schedule: &Schedule,
    through_nodes: bool,
) -> Played {
    let play = Play { blueprint, nodes, messaging: None, overhead, limit: LIMIT, records: true };
    let mut player = Player::new(Arc::new(schedule.clone()), 1);
    let watch = &mut |_| ControlFlow::Continue(());
    if through_nodes {
        play.run_on(play.hosts(play.through_nodes()), &mut player, watch).unwrap()
    } else {
        play.run(&mut player, watch).unwrap()
    }
}

/// When each rank finishes on a LogGOPS machine, in nanoseconds.
fn finish(schedule: &Schedule) -> Vec<u64> {
    let ranks = schedule.ranks();
    let played = played(&wires(ranks, 1), &plain_nodes(1, WHOLE), Some(OVERHEAD), schedule, false);
    assert_eq!(played.failure, None);
    played.finished.values().map(|at| at.ps() / 1000).collect()
}

/// One operation after the other.
struct InOrder {
    builder: Builder,
    last: Vec<Option<OpId>>,
}

impl InOrder {
    fn new(ranks: u32) -> InOrder {
        InOrder { builder: Builder::new(ranks), last: vec![None; ranks as usize] }
    }

    fn then(&mut self, rank: u32, op: impl FnOnce(&mut Builder, Rank) -> OpId) {
        let op = op(&mut self.builder, Rank(rank));
        if let Some(last) = self.last[rank as usize].replace(op) {
            self.builder.after(Rank(rank), op, last);
        }
    }

    fn message(&mut self, from: u32, to: u32, bytes: u32) {
        self.then(from, |builder, rank| builder.send(rank, Rank(to), Tag(0), bytes));
        self.then(to, |builder, rank| builder.receive(rank, Rank(from), Tag(0), bytes));
    }

    fn finish(self) -> Schedule {
        self.builder.finish().unwrap()
    }
}

#[test]
fn binomial_trees_take_what_loggopsim_says() {
    let mut reduction = InOrder::new(8);
    for step in [4, 2, 1] {
        (0..step).for_each(|rank| reduction.message(rank + step, rank, 1024));
    }
    let expected = [34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500];
    assert_eq!(finish(&reduction.finish()), expected);
    let mut builder = Builder::new(8);
    // Sends wait for the receive, and not for each other.
    for rank in 0..8u32 {
        let parent = (0..3).map(|k| 1 << k).filter(|&bit| rank & bit != 0).max();
        let received =
            parent.map(|bit| builder.receive(Rank(rank), Rank(rank - bit), Tag(0), 1024));
        for bit in [1, 2, 4].into_iter().filter(|&bit| parent.is_none_or(|p| bit > p)) {
            let sent = builder.send(Rank(rank), Rank(rank + bit), Tag(0), 1024);
            if let Some(received) = received {
                builder.after(Rank(rank), sent, received);
            }
        }
    }
    let expected = [15776, 20276, 20276, 24776, 25914, 30414, 30414, 34914];
    assert_eq!(finish(&builder.finish().unwrap()), expected);
}

#[test]
fn dissemination_and_all_to_all_take_what_loggopsim_says() {
    let mut builder = Builder::new(8);
    for rank in 0..8 {
        let mut before = None;
        for step in [1, 2, 4] {
            let sent = builder.send(Rank(rank), Rank((rank + step) % 8), Tag(step), 1024);
            let received =
                builder.receive(Rank(rank), Rank((rank + 8 - step) % 8), Tag(step), 1024);
            if let Some(before) = before.replace(received) {
                builder.after(Rank(rank), sent, before);
                builder.after(Rank(rank), received, before);
            }
        }
    }
    assert_eq!(finish(&builder.finish().unwrap()), [34914; 8]);
    assert_eq!(finish(&linear_all_to_all(8, 1024)), [81466; 8]);
}

fn linear_all_to_all(ranks: u32, bytes: u32) -> Schedule {
    let mut builder = Builder::new(ranks);
    for rank in 0..ranks {
        for step in 1..ranks {
            builder.receive(Rank(rank), Rank((rank + ranks - step) % ranks), Tag(0), bytes);
            builder.send(Rank(rank), Rank((rank + step) % ranks), Tag(0), bytes);
        }
    }
    builder.finish().unwrap()
}

#[test]
fn long_messages_wait_for_their_receives() {
    let ns = Time::from_ns;
    let mut late = InOrder::new(2);
    late.then(0, |builder, rank| builder.send(rank, Rank(1), Tag(0), 100_000));
    late.then(0, |builder, rank| builder.compute(rank, ns(10)));
    late.then(1, |builder, rank| builder.compute(rank, ns(2_000_000)));
    late.then(1, |builder, rank| builder.receive(rank, Rank(0), Tag(0), 100_000));
    assert_eq!(finish(&late.finish()), [2_000_010, 2_601_494]);
    let mut early = InOrder::new(2);
    early.then(0, |builder, rank| builder.compute(rank, ns(5000)));
    early.then(0, |builder, rank| builder.send(rank, Rank(1), Tag(0), 100_000));
    early.then(0, |builder, rank| builder.send(rank, Rank(1), Tag(1), 8));
    let first = early.builder.receive(Rank(1), Rank(0), Tag(0), 100_000);
    early.then(1, |builder, rank| builder.receive(rank, Rank(0), Tag(1), 8));
    early.then(1, |builder, rank| builder.compute(rank, ns(100)));
    assert_eq!(first, OpId(0));
    assert_eq!(finish(&early.finish()), [607_494, 612_136]);
}

/// Operations of a rank: who, what, on which processor and NIC, after which earlier ones.
type Drawn = (u32, Kind, u16, u16, Vec<(prop::sample::Index, bool)>);

#[derive(Debug, Clone, Copy)]
enum Kind {
    Compute(u64),
    Message { step: u32, bytes: u32 },
}

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let kind = prop_oneof![
        (0..5000u64).prop_map(Kind::Compute),
        (1..4u32, prop_oneof![0..200u32, 60_000..70_000u32])
            .prop_map(|(step, bytes)| Kind::Message { step, bytes }),
    ];
    let needs = prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..2);
    prop::collection::vec((0..4u32, kind, 0..2u16, 0..2u16, needs), 1..40)
}

/// A schedule that cannot lock up: whatever waits, waits for something that was drawn before it.
fn schedule(drawn: &[Drawn], nics: bool) -> Schedule {
    let mut builder = Builder::new(4);
    let mut counts = [0u32; 4];
    for (number, (rank, kind, cpu, nic, needs)) in (0u32..).zip(drawn) {
        let nic = nics.then_some(*nic);
        let (rank, cpu) = (Rank(*rank), *cpu);
        let op = match *kind {
            Kind::Compute(ns) => {
                let step = Step::Compute { time: Time::from_ns(ns) };
                builder.add(rank, Op { step, cpu, nic: None })
            }
            Kind::Message { step, bytes } => {
                let (to, tag) = (Rank((rank.0 + step) % 4), Tag(number % 3));
                let from = Some(rank);
                let receive = Step::Receive { from, tag: Some(tag), bytes };
                builder.add(to, Op { step: receive, cpu, nic });
                counts[to.0 as usize] += 1;
                builder.add(rank, Op { step: Step::Send { to, tag, bytes }, cpu, nic })
            }
        };
        let earlier = counts[rank.0 as usize];
        counts[rank.0 as usize] += 1;
        for (index, started) in needs.iter().filter(|_| earlier > 0) {
            let other = OpId(index.index(earlier as usize) as u32);
            let when = if *started { When::Started } else { When::Done };
            builder.need(rank, op, Need { op: other, when });
        }
    }
    builder.finish().unwrap()
}

/// The rules of a LogGOPS machine, looked at anew in every nanosecond at which anything may happen. Slow and
/// plain.
mod reference {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    const L: u64 = 2500;
    const O: u64 = 1500;
    const GAP: u64 = 1000;
    const G: u64 = 6;
    const S: u32 = 65_535;

    #[derive(Clone, Copy, PartialEq, Debug)]
    enum State {
        Waits,
        Ready { since: (u64, u64) },
        Runs { from: u64, until: Option<u64> },
        Done,
    }

    struct Flight {
        send: (usize, usize),
        to: usize,
        key: (usize, u32),
        cpu: u16,
        nic: u16,
        bytes: u32,
        reaches: u64,
        ready: Option<(u64, u64)>,
        reception: Option<u64>,
        receive: Option<usize>,
    }

    /// An operation of a rank, or the reception of a flight.
    type Who = Result<(usize, usize), usize>;

    /// When each rank is done; `None` if that depends on who goes first of two that are ready together.
    #[expect(clippy::needless_range_loop, reason = "ranks and operations are numbers here")]
    pub fn finish(schedule: &Schedule) -> Option<Vec<u64>> {
        let ranks = schedule.ranks() as usize;
        let ops: Vec<&[Op]> = (0..ranks).map(|r| schedule.ops(Rank(r as u32))).collect();
        let mut state: Vec<Vec<State>> =
            ops.iter().map(|ops| vec![State::Waits; ops.len()]).collect();
        let mut cpus: BTreeMap<(usize, u16), u64> = BTreeMap::new();
        let mut held: BTreeMap<(usize, u16), u64> = BTreeMap::new();
        let mut out: BTreeMap<(usize, u16), u64> = BTreeMap::new();
        let mut into: BTreeMap<(usize, u16), u64> = BTreeMap::new();
        let mut posted: BTreeMap<(usize, (usize, u32)), Vec<usize>> = BTreeMap::new();
        let mut waiting: BTreeMap<(usize, (usize, u32)), Vec<usize>> = BTreeMap::new();
        let mut flights: Vec<Flight> = Vec::new();
        let mut turns = 0u64;
        let mut finish = vec![0; ranks];
        let mut times = BTreeSet::from([0u64]);
        while let Some(now) = times.pop_first() {
            loop {
                let mut changed = false;
                for rank in 0..ranks {
                    for op in 0..ops[rank].len() {
                        if let State::Runs { until: Some(until), .. } = state[rank][op]
                            && until <= now
                        {
                            state[rank][op] = State::Done;
                            finish[rank] = finish[rank].max(until);
                            changed = true;
                        }
                    }
                }
                for rank in 0..ranks {
                    let first = schedule.places(Rank(rank as u32)).start;
                    for op in 0..ops[rank].len() {
                        let met = schedule.needs(first + op).iter().all(|need| {
                            matches!(
                                (need.when, state[rank][need.op.0 as usize]),
                                (_, State::Done) | (When::Started, State::Runs { .. })
                            )
                        });
                        if state[rank][op] != State::Waits || !met {
                            continue;
                        }
                        turns += 1;
                        changed = true;
                        state[rank][op] = State::Ready { since: (now, turns) };
                        if let Step::Receive { from, tag, .. } = ops[rank][op].step {
                            let key = (rank, (from.unwrap().0 as usize, tag.unwrap().0));
                            state[rank][op] = State::Runs { from: now, until: None };
                            match waiting.get_mut(&key).filter(|line| !line.is_empty()) {
                                Some(line) => {
                                    let flight = line.remove(0);
                                    flights[flight].receive = Some(op);
                                }
                                None => posted.entry(key).or_default().push(op),
                            }
                        }
                    }
                }
                for flight in &mut flights {
                    if flight.ready.is_none() && flight.reaches <= now {
                        turns += 1;
                        flight.ready = Some((now, turns));
                        changed = true;
                    }
                }
                // Of all who can start, the one who has been ready for longest.
                let mut starts: Vec<((u64, u64), Who)> = Vec::new();
                let is_free = |times: &BTreeMap<(usize, u16), u64>, key| {
                    times.get(&key).is_none_or(|&at| at <= now)
                };
                for rank in 0..ranks {
                    for op in 0..ops[rank].len() {
                        let Op { cpu, nic, step } = ops[rank][op];
                        let State::Ready { since } = state[rank][op] else { continue };
                        let nic_free = !matches!(step, Step::Send { .. })
                            || is_free(&out, (rank, nic.unwrap_or(0)));
                        let processor = is_free(&cpus, (rank, cpu)) && is_free(&held, (rank, cpu));
                        if processor && nic_free {
                            starts.push((since, Ok((rank, op))));
                        }
                    }
                }
                for (number, flight) in flights.iter().enumerate() {
                    if let (Some(since), None) = (flight.ready, flight.reception)
                        && is_free(&cpus, (flight.to, flight.cpu))
                        && is_free(&into, (flight.to, flight.nic))
                    {
                        starts.push((since, Err(number)));
                    }
                }
                // Two that became ready together may go in either order: nobody says which, but for those
                // that wait for nothing, which go in the order in which they are written.
                let host = |who: &Who| match *who {
                    Ok((rank, _)) => rank,
                    Err(number) => flights[number].to,
                };
                let (first, others) = (starts.iter().min(), starts.iter());
                let rivals = others.filter(|other| {
                    let (since, who) = first.expect("there are others");
                    other.0.0 == since.0 && host(&other.1) == host(who)
                });
                let needy = |who: &Who| match *who {
                    Ok((rank, op)) => {
                        let first = schedule.places(Rank(rank as u32)).start;
                        !schedule.needs(first + op).is_empty()
                    }
                    Err(_) => true,
                };
                let rivals: Vec<bool> = rivals.map(|(_, who)| needy(who)).collect();
                if rivals.len() > 1 && rivals.contains(&true) {
                    return None;
                }
                match starts.into_iter().min_by_key(|&(since, _)| since).map(|(_, who)| who) {
                    Some(Ok((rank, op))) => {
                        let Op { cpu, nic, step } = ops[rank][op];
                        let nic = nic.unwrap_or(0);
                        match step {
                            Step::Compute { time } => {
                                let until = now + time.ps() / 1000;
                                cpus.insert((rank, cpu), until);
                                state[rank][op] = State::Runs { from: now, until: Some(until) };
                                times.insert(until);
                            }
                            Step::Send { to, tag, bytes } => {
                                let bytes = bytes.max(1);
                                let eager = bytes <= S;
                                let until = eager.then_some(now + O);
                                let length = u64::from(bytes - 1) * G;
                                cpus.insert((rank, cpu), now + O);
                                if !eager {
                                    held.insert((rank, cpu), u64::MAX);
                                }
                                let free = if eager { now + GAP + length } else { u64::MAX };
                                out.insert((rank, nic), free);
                                state[rank][op] = State::Runs { from: now, until };
                                times.extend([now + O, now + GAP + length, now + O + L]);
                                flights.push(Flight {
                                    send: (rank, op),
                                    to: to.0 as usize,
                                    key: (rank, tag.0),
                                    cpu,
                                    nic,
                                    bytes,
                                    reaches: now + O + L,
                                    ready: None,
                                    reception: None,
                                    receive: None,
                                });
                            }
                            Step::Receive { .. } => unreachable!("receives start at once"),
                        }
                        changed = true;
                    }
                    Some(Err(number)) => {
                        let flight = &mut flights[number];
                        let length = u64::from(flight.bytes - 1) * G;
                        flight.reception = Some(now);
                        cpus.insert((flight.to, flight.cpu), now + O + length);
                        into.insert((flight.to, flight.nic), now + GAP + length);
                        times.extend([now + O + length, now + GAP + length]);
                        let key = (flight.to, flight.key);
                        match posted.get_mut(&key).filter(|line| !line.is_empty()) {
                            Some(line) => flight.receive = Some(line.remove(0)),
                            None => waiting.entry(key).or_default().push(number),
                        }
                        changed = true;
                    }
                    None => {}
                }
                // Messages and receives that have met.
                for flight in &flights {
                    let (Some(began), Some(receive)) = (flight.reception, flight.receive) else {
                        continue;
                    };
                    let length = u64::from(flight.bytes - 1) * G;
                    let end = (began + O + length).max(now);
                    let place = &mut state[flight.to][receive];
                    if let State::Runs { from, until: None } = *place {
                        *place = State::Runs { from, until: Some(end) };
                        times.insert(end);
                        changed = true;
                    }
                    let (rank, op) = flight.send;
                    if let State::Runs { from, until: None } = state[rank][op] {
                        let Op { cpu, nic, .. } = ops[rank][op];
                        let (busy, free) = ((from + O).max(now), (from + GAP + length).max(now));
                        held.insert((rank, cpu), busy);
                        out.insert((rank, nic.unwrap_or(0)), free);
                        state[rank][op] = State::Runs { from, until: Some(busy) };
                        times.extend([busy, free]);
                        changed = true;
                    }
                }
                if !changed {
                    break;
                }
            }
        }
        Some(finish)
    }
}

/// Hosts and wires keep the rules of LogGOPS, eager and rendezvous, with two processors and two NICs.
#[test]
fn hosts_keep_the_rules() {
    let mut runner = TestRunner::deterministic();
    let mut compared = 0;
    for _ in 0..3000 {
        let drawn = drawn().new_tree(&mut runner).unwrap().current();
        let schedule = schedule(&drawn, true);
        let Some(expected) = reference::finish(&schedule) else { continue };
        let nodes = plain_nodes(2, WHOLE);
        let played = played(&wires(4, 2), &nodes, Some(OVERHEAD), &schedule, false);
        if played.failure.is_none() {
            let found: Vec<u64> = played.finished.values().map(|at| at.ps() / 1000).collect();
            assert_eq!(found, expected, "{drawn:?}");
            let messages = drawn.len();
            assert_eq!(played.episodes.len(), messages);
            compared += 1;
        }
    }
    assert!(compared > 300, "{compared} were compared");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Wires do what nodes on the ideal network do, to the picosecond.
    #[test]
    fn wires_are_the_ideal_network(drawn in drawn(), nics in any::<bool>()) {
        let schedule = schedule(&drawn, nics);
        let play = |through| played(&wires(4, 2), &plain_nodes(2, WHOLE), None, &schedule, through);
        let (wires, nodes) = (play(false), play(true));
        prop_assert_eq!(&wires.failure, &nodes.failure);
        prop_assert_eq!(wires.finished, nodes.finished);
    }
}
