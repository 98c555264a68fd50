//! Ranks that exchange messages by envelopes, against closed forms, and under every policy.

use super::*;
use crate::host::{MessagingSpec, Overhead};
use crate::ideal::IdealSpec;
use crate::network::Pace;
use crosstie_collective::{Builder, Rank, Schedule, Tag};
use crosstie_protocol::Pacing;
use crosstie_protocol::message::MessageSpec;
use crosstie_work::{Application, Ping, PingSpec, Player, Stream, StreamSpec};
use std::sync::Arc;

const LIMIT: Time = Time::from_ns(1_000_000_000);
const EAGER: u64 = 1000;
const ENVELOPE: u32 = 40;
/// From the last byte leaving to its being there, in nanoseconds: the first leaves at once.
const WAY: u64 = 999;

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// A byte in a nanosecond, and a microsecond besides.
fn ideal(hosts: u32, rails: u32) -> IdealSpec {
    let pace = Pace { time: ns(1), bytes: 1 };
    IdealSpec { hosts, rails, pace, latency: ns(1000), gap: ns(1), cycle: ns(1) }
}

fn messaging() -> MessagingSpec {
    MessagingSpec {
        protocol: MessageSpec::new(EAGER),
        envelope: ENVELOPE,
        memory: Pace { time: ns(2), bytes: 1 },
        latency: ns(100),
        ports: false,
    }
}

fn nodes(rails: u32, pes: u32, policy: PolicyKind) -> NodesSpec {
    let packing = Packing { payload: Some(500), overhead: 0 };
    NodesSpec { pes, policy, window: None, ..plain_nodes(rails, packing) }
}

fn play(
    blueprint: &dyn Blueprint,
    nodes: &NodesSpec,
    overhead: Option<Overhead>,
    application: &mut dyn Application,
) -> Played {
    let messaging = Some(messaging());
    let play = Play { blueprint, nodes, messaging, overhead, limit: LIMIT, records: true };
    let played = play.run(application, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(played.failure, None);
    played
}

fn ping(from: u32, to: u32, bytes: u32) -> Ping {
    Ping::new(PingSpec { from: Rank(from), to: Rank(to), bytes, iterations: 3 })
}

/// How long a message takes from one rank to another.
fn one_way(rails: u32, policy: PolicyKind, overhead: Option<Overhead>, bytes: u32) -> u64 {
    let nodes = nodes(rails, 1, policy);
    let played = play(&ideal(2, rails), &nodes, overhead, &mut ping(0, 1, bytes));
    assert!(played.iterations.iter().all(|&took| took == played.iterations[0]), "{played:?}");
    played.iterations[0].ps() / 2000
}

const EVEN: PolicyKind = PolicyKind::EvenStriping { threshold: Bytes::new(1001) };

#[test]
fn short_messages_take_an_envelope_and_long_ones_are_asked_for() {
    let envelope = u64::from(ENVELOPE);
    for policy in [PolicyKind::RoundRobin {}, PolicyKind::Pull {}, EVEN] {
        assert_eq!(one_way(1, policy, None, 300), 300 + envelope + WAY, "{policy:?}");
    }
    // RTS, CTS, then the data and behind them a FIN.
    let asked = 2 * (envelope + WAY);
    let there = |bytes| bytes + envelope + WAY;
    assert_eq!(one_way(1, EVEN, None, 8000), asked + there(8000));
    assert_eq!(one_way(2, EVEN, None, 8000), asked + there(4000));
    assert_eq!(one_way(4, EVEN, None, 8000), asked + there(2000));
    assert_eq!(one_way(2, PolicyKind::Binding {}, None, 8000), asked + there(8000));
}

#[test]
fn processors_take_their_time_over_envelopes_and_not_over_data() {
    let overhead = Overhead { message: ns(70), byte: Time::from_ps(1000), eager: None };
    let envelope = u64::from(ENVELOPE);
    // It is handed over at o; all of it is opened at the other end.
    let short = 70 + (300 + envelope + WAY) + 70 + 299;
    assert_eq!(one_way(1, EVEN, Some(overhead), 300), short);
    // RTS, CTS and data are posted, and RTS, CTS and FIN opened; the FIN is posted while the data
    // go.
    let asked = 2 * (70 + envelope + WAY + 70);
    assert_eq!(one_way(1, EVEN, Some(overhead), 8000), asked + 70 + 8000 + envelope + WAY + 70);
    // Two FINs are posted one after the other while the data go, and opened one after the other.
    let both = 4000 + envelope + WAY + 2 * 70;
    assert_eq!(one_way(2, EVEN, Some(overhead), 8000), asked + 70 + both);
}

#[test]
fn ranks_of_one_node_reach_each_other_through_memory() {
    let nodes = nodes(2, 2, PolicyKind::Binding {});
    let took = |from, to, bytes| {
        let played = play(&ideal(2, 2), &nodes, None, &mut ping(from, to, bytes));
        played.iterations[0].ps() / 2000
    };
    let envelope = u64::from(ENVELOPE);
    assert_eq!(took(0, 1, 300), 2 * (300 + envelope) + 100);
    assert_eq!(took(2, 3, 8000), 2 * (2 * envelope + 100) + 2 * (8000 + envelope) + 100);
    assert_eq!(took(0, 2, 300), 300 + envelope + WAY);
    assert_eq!(took(1, 3, 300), 300 + envelope + WAY);
}

#[test]
fn pairs_stream_at_once_and_crossed_ones_the_other_way() {
    let spec = StreamSpec {
        from: Rank(0),
        to: Rank(2),
        bytes: 100_000,
        window: 4,
        both_ways: false,
        pairs: 2,
        crossed: false,
        iterations: 3,
    };
    let bandwidth = |policy, crossed| {
        let mut stream = Stream::new(StreamSpec { crossed, ..spec });
        let played = play(&ideal(2, 2), &nodes(2, 2, policy), None, &mut stream);
        let took: u64 = played.iterations.iter().map(|time| time.ps()).sum();
        (3 * played.bytes_per_iteration) as f64 / (took as f64 / 1000.0)
    };
    for (policy, crossed, rails) in [
        // Each rank has a rail; a wire goes each way.
        (PolicyKind::Binding {}, false, 2.0),
        (PolicyKind::Binding {}, true, 2.0),
        (EVEN, false, 2.0),
        (EVEN, true, 4.0),
    ] {
        let share = bandwidth(policy, crossed) / rails;
        assert!((0.95..1.0).contains(&share), "{policy:?} {crossed}: {share}");
    }
}

/// Every rank sends messages of all kinds to every other, and asks for them in another order, with
/// and without wildcards.
fn all_kinds(ranks: u32) -> Schedule {
    let mut builder = Builder::new(ranks);
    let sizes = [0, 1, 999, 1000, 1001, 4567, 20_000];
    for from in 0..ranks {
        for step in 1..ranks {
            let to = (from + step) % ranks;
            for (tag, &bytes) in sizes.iter().enumerate() {
                builder.send(Rank(from), Rank(to), Tag(tag as u32), bytes);
            }
        }
    }
    for to in 0..ranks {
        for step in (1..ranks).rev() {
            let from = (to + step) % ranks;
            for (tag, &bytes) in sizes.iter().enumerate().rev() {
                builder.receive(Rank(to), Rank(from), Tag(tag as u32), bytes);
            }
        }
    }
    builder.finish().unwrap()
}

#[test]
fn every_message_is_received_under_every_policy() {
    for policy in PolicyKind::all() {
        for (hosts, pes) in [(4, 1), (3, 2)] {
            if pes > 1 && policy.pacing() == Pacing::AtOnce {
                continue;
            }
            let rails = 4;
            let overhead = Some(Overhead { message: ns(50), byte: Time::ZERO, eager: None });
            for overhead in [None, overhead] {
                let schedule = all_kinds(hosts * pes);
                let mut player = Player::new(Arc::new(schedule), 2);
                let nodes = nodes(rails, pes, policy);
                let played = play(&ideal(hosts, rails), &nodes, overhead, &mut player);
                let ranks = u64::from(hosts * pes);
                assert_eq!(played.finished.len() as u64, ranks);
                assert_eq!(played.episodes.len() as u64, 2 * 7 * ranks * (ranks - 1));
                for episode in &played.episodes {
                    assert!(episode.begin <= episode.left && episode.begin <= episode.end);
                }
            }
        }
    }
}

/// A receiver that asks for nothing keeps what it has credit for, and no more.
#[test]
fn long_messages_wait_for_their_receive() {
    let mut builder = Builder::new(2);
    builder.send(Rank(0), Rank(1), Tag(0), 50_000);
    let late = builder.compute(Rank(1), ns(500_000));
    let receive = builder.receive(Rank(1), Rank(0), Tag(0), 50_000);
    builder.after(Rank(1), receive, late);
    let mut player = Player::new(Arc::new(builder.finish().unwrap()), 1);
    let played = play(&ideal(2, 1), &nodes(1, 1, EVEN), None, &mut player);
    let episode = played.episodes.iter().find(|episode| episode.message.is_some()).unwrap();
    // CTS, data and FIN.
    let envelope = ns(u64::from(ENVELOPE));
    assert_eq!(episode.begin, Time::ZERO);
    assert_eq!(episode.end, ns(500_000) + envelope + ns(WAY) + ns(50_000) + envelope + ns(WAY));
}
