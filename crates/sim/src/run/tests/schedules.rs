//! Schedules on hosts that take time: the LogGOPS machine, and the same schedules through nodes and
//! networks.

use super::*;
use crate::host::Overhead;
use crate::ideal::IdealSpec;
use crate::network::Pace;
use crosstie_collective::{Builder, Need, Op, OpId, Rank, Schedule, Step, Tag, When};
use crosstie_work::Player;
use proptest::prelude::*;
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

pub(super) const LIMIT: Time = Time::from_ns(1_000_000_000_000);

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
pub(super) fn finish(schedule: &Schedule) -> Vec<u64> {
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
                // A few picoseconds more: what ends with a message may come before or after it.
                let time = Time::from_ps(1000 * ns + u64::from(number) + 1);
                let step = Step::Compute { time };
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
