//! Exchanges whose packets take turns [tam, 5, 6].

use super::stations::{GAP, PAYLOAD, latency, message, nodes, play, played_by, station};
use super::*;
use crosstie_collective::algorithm::{AllToAll, Pairs, Permutation};
use crosstie_collective::{Counting, Operation, Schedule};
use crosstie_protocol::channel::GoBackNSpec;

fn exchange(algorithm: AllToAll, packets: u32, ranks: u32) -> Schedule {
    let size = Bytes::new(u64::from(packets * PAYLOAD));
    Operation::AllToAll { algorithm, size }.collective(ranks).unwrap().schedule
}

fn group(group: u32) -> AllToAll {
    AllToAll::GroupShuffle { group, pairs: Pairs::EdgeColour, hosts_per_switch: None }
}

fn shuffle(permutation: Permutation, window: Option<u32>, counts: Counting) -> AllToAll {
    let permutation = Some(permutation);
    AllToAll::SynchronousShuffle { permutation, hosts_per_switch: None, window, counts }
}

/// How long an exchange takes on one switch with more memory than anybody needs.
fn time(algorithm: AllToAll, packets: u32, ranks: u32, change: impl Fn(&mut NodesSpec)) -> Time {
    let schedule = exchange(algorithm, packets, ranks);
    let mut nodes = nodes(station());
    nodes.injection = crosstie_work::injection(&schedule);
    change(&mut nodes);
    let played = played_by(ranks, &nodes, schedule);
    assert_eq!((played.failure, played.delivery.lost), (None, 0));
    played.time
}

/// O_s + O_r + U_r: what processors take of a packet.
const ENDS: Time = Time::from_ns(12_500 + 20_000 + 7_000);

/// Rounds of so many packets, each of which waits for the last packet of the one before
/// [tam, 5.1-5.4].
fn rounds(packets: impl IntoIterator<Item = u32>) -> Time {
    let round = |packets: u32| ENDS + GAP * u64::from(packets - 1) + latency(1500);
    packets.into_iter().map(round).fold(Time::ZERO, |sum, time| sum + time)
}

#[test]
fn exchanges_take_what_the_formulas_say() {
    for ranks in [2, 4, 8, 16] {
        for packets in [1, 2, 4, 13] {
            let found = |algorithm| time(algorithm, packets, ranks, |_| ());
            let all = packets * (ranks - 1);
            // Equation 5.3, which is the lower bound 5.1.
            for permutation in [Permutation::Shift, Permutation::Xor, Permutation::EdgeColour] {
                let shuffle = shuffle(permutation, None, Counting::Unacknowledged);
                assert_eq!(found(shuffle), rounds([all]), "{permutation:?}, {packets} to {ranks}");
            }
            // Equation 5.2.
            let steps = rounds((1..ranks).map(|_| packets));
            assert_eq!(found(AllToAll::Shift {}), steps, "{packets} to {ranks}");
            assert_eq!(found(AllToAll::PAIRWISE), steps, "{packets} to {ranks}");
            // Equation 5.4.
            for omega in 1..ranks {
                let groups = (1..ranks).step_by(omega as usize);
                let members = groups.map(|first| packets * omega.min(ranks - first));
                assert_eq!(found(group(omega)), rounds(members), "{omega}: {packets} to {ranks}");
            }
        }
    }
}

#[test]
fn odd_numbers_of_ranks_take_what_the_formulas_say() {
    for (ranks, packets) in [(3, 4), (5, 1), (5, 7), (9, 3)] {
        let found = |algorithm| time(algorithm, packets, ranks, |_| ());
        assert_eq!(found(AllToAll::SYNCHRONOUS_SHUFFLE), rounds([packets * (ranks - 1)]));
        assert_eq!(found(AllToAll::Shift {}), rounds((1..ranks).map(|_| packets)));
        // A rank that rests runs ahead to its next partner, and meets there whoever that still
        // exchanges with.
        let pairwise = found(AllToAll::PAIRWISE);
        let (least, most) =
            (rounds((1..ranks).map(|_| packets)), rounds((0..2 * ranks).map(|_| packets)));
        assert!((least..=most).contains(&pairwise), "{pairwise}, {least} to {most}");
    }
}

/// On a wormhole network a packet is at two places at once, and waits in the network for one that
/// goes to the same host. In all of these exchanges none does: g and L, which one message tells,
/// say what they take.
#[test]
fn exchanges_on_wormholes_take_what_the_formulas_say() {
    let time = |ranks: u32, schedule: Schedule| {
        let fabric = crosstie_fabric::single(ranks).unwrap();
        let (routing, config) = (Shortest::new(&fabric), full_duplex());
        let packing = Packing { payload: Some(PAYLOAD), overhead: 8 };
        let injection = crosstie_work::injection(&schedule);
        let nodes = NodesSpec { injection, ..plain_nodes(1, packing) };
        let played = play(&wormhole(&fabric, &routing, 1, &config), &nodes, schedule);
        assert_eq!((played.failure, played.delivery.lost), (None, 0));
        played.time.seconds()
    };
    let one = time(2, message(PAYLOAD));
    let gap = (time(2, message(11 * PAYLOAD)) - one) / 10.0;
    let rounds = |packets: &[u32]| -> f64 {
        packets.iter().map(|&packets| one + gap * f64::from(packets - 1)).sum()
    };
    for ranks in [4, 8] {
        for packets in [1, 4, 13] {
            let check = |algorithm, expected: f64| {
                let found = time(ranks, exchange(algorithm, packets, ranks));
                let off = found / expected - 1.0;
                assert!(off.abs() < 0.01, "{algorithm:?}, {packets} to {ranks}: {found}, {off}");
            };
            // Equations 5.3, 5.2 and 5.4.
            for permutation in [Permutation::Shift, Permutation::Xor, Permutation::EdgeColour] {
                let shuffle = shuffle(permutation, None, Counting::Unacknowledged);
                check(shuffle, rounds(&[packets * (ranks - 1)]));
            }
            let steps = vec![packets; ranks as usize - 1];
            check(AllToAll::Shift {}, rounds(&steps));
            check(AllToAll::PAIRWISE, rounds(&steps));
            for omega in 2..ranks - 1 {
                let firsts = (1..ranks).step_by(omega as usize);
                let members = firsts.map(|first| packets * omega.min(ranks - first));
                check(group(omega), rounds(&members.collect::<Vec<u32>>()));
            }
        }
    }
}

/// Nodes with channels, so that packets are acknowledged.
fn with_channels(window: u32) -> impl Fn(&mut NodesSpec) {
    move |nodes| {
        let (timeout, after) = (Time::from_ns(1_000_000_000), Time::from_ns(1_000_000));
        let every = 4;
        nodes.channel = Some(GoBackNSpec { window, timeout, every, after, simple: false }.into());
        nodes.control = 8;
    }
}

#[test]
fn a_global_window_never_locks_up() {
    for counts in [Counting::Unacknowledged, Counting::Received] {
        for ranks in [2, 3, 5, 8] {
            for window in [1, 2, 5, 40] {
                for channel in [1, 2, 32] {
                    let shuffle = shuffle(Permutation::Shift, Some(window), counts);
                    let late = |nodes: &mut NodesSpec| {
                        with_channels(channel)(nodes);
                        let station = nodes.station.as_mut().unwrap();
                        station.jitter = Time::from_ns(200_000);
                        (station.ring, station.receive_ring) = (Some(2), None);
                        nodes.seed = Seed(u64::from(ranks * window * channel));
                    };
                    time(shuffle, 6, ranks, late);
                }
            }
        }
    }
}

#[test]
fn a_window_of_one_waits_for_every_acknowledgement() {
    let shuffle = |window| shuffle(Permutation::Shift, window, Counting::Unacknowledged);
    let found = |window| {
        time(shuffle(window), 8, 8, |nodes| {
            with_channels(32)(nodes);
            let Some(crosstie_protocol::channel::ChannelSpec::GoBackN(spec)) = &mut nodes.channel
            else {
                unreachable!("it is go-back-N")
            };
            spec.every = 1;
        })
    };
    let one_way = ENDS + latency(1500);
    // Each of 56 packets goes when the one before has been acknowledged.
    assert!(found(Some(1)) >= one_way * 56, "{}", found(Some(1)));
    let mut before = found(Some(1));
    for window in [2, 3, 4, 8] {
        let now = found(Some(window));
        assert!(now <= before, "{window}: {now} after {before}");
        before = now;
    }
    assert!(found(None) <= before && found(None) < GAP * 56 * 2);
}
