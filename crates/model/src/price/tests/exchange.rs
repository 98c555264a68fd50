//! Complete exchanges against 5.1 to 5.4, windows and uplinks.

use super::*;
use crate::testing::{cut_through, store_and_forward, us};
use crate::{Cost, Exchange, Uplink};
use crosstie_collective::algorithm::{Pairs, Permutation};
use crosstie_collective::{Counting, Reading, Window, global_window};

fn block(packets: u64) -> u64 {
    packets * 1492
}

fn group_of(group: u32) -> AllToAll {
    AllToAll::GroupShuffle { group, pairs: Pairs::EdgeColour, hosts_per_switch: None }
}

fn shuffle(hosts_per_switch: Option<u32>, window: Option<(u32, Counting)>) -> AllToAll {
    AllToAll::SynchronousShuffle {
        permutation: None,
        hosts_per_switch,
        window: window.map(|(packets, _)| packets),
        counts: window.map_or(Counting::Unacknowledged, |(_, counts)| counts),
    }
}

#[test]
fn an_ideal_network_takes_what_5_1_to_5_4_say() {
    for (on, ranks, packets) in [cut_through(), store_and_forward()]
        .into_iter()
        .flat_map(|on| (2..=16).map(move |ranks| (on, ranks)))
        .flat_map(|(on, ranks)| [1, 2, 17].map(|packets| (on, ranks, packets)))
    {
        let exchange = Exchange { ranks, packets };
        let time = |algorithm| priced(&all_to_all(algorithm, block(packets), ranks), &on).time;
        let case = format!("p {ranks}, k {packets}");
        assert_eq!(time(shuffle(None, None)), exchange.time(&on, 1), "5.3, {case}");
        assert_eq!(time(AllToAll::Shift {}), exchange.time(&on, ranks - 1), "5.2, {case}");
        let full = on.packet_of(1492, ranks);
        let tail = full.send + full.latency + full.receive - full.gap();
        for group in 1..=exchange.colours() {
            let rounds = exchange.group_rounds(group);
            let found = time(group_of(group));
            if ranks.is_multiple_of(2) {
                assert_eq!(found, exchange.time(&on, rounds), "5.4, {case}, omega {group}");
                continue;
            }
            // A rank rests in one round. It goes on and sends to one that still receives from
            // another, so that rounds by pairs take longer than when all wait for all.
            let together = full.gap() * packets * u64::from(ranks) + tail * u64::from(rounds);
            let least = exchange.time(&on, 1);
            assert!(least <= found && found < together * 2, "5.4, {case}, omega {group}: {found}");
        }
        if ranks.is_multiple_of(2) {
            let pairs = Some(Pairs::EdgeColour);
            let pairwise = AllToAll::Pairwise { pairs, hosts_per_switch: None };
            assert_eq!(time(pairwise), exchange.time(&on, ranks - 1), "5.2, {case}");
        }
    }
}

/// Packet i goes when packet i - 1 has left and packet i - W has had its feedback.
fn last_hand_over(packets: u64, gap: Time, window: u64, feedback: Time) -> Time {
    let mut starts: Vec<Time> = Vec::new();
    for i in 0..packets as usize {
        let behind = if i > 0 { starts[i - 1] + gap } else { Time::ZERO };
        let back = i.checked_sub(window as usize).map_or(Time::ZERO, |i| starts[i] + feedback);
        starts.push(behind.max(back));
    }
    starts[packets as usize - 1]
}

#[test]
fn a_global_window_holds_back_what_has_no_feedback() {
    let on = store_and_forward();
    for (ranks, packets, counts) in [3, 8, 16]
        .into_iter()
        .flat_map(|ranks| [1, 5, 40].map(|packets| (ranks, packets)))
        .flat_map(|(ranks, packets)| {
            [Counting::Received, Counting::Unacknowledged].map(|counts| (ranks, packets, counts))
        })
    {
        let full = on.packet_of(1492, ranks);
        let tail = full.send + full.latency + full.receive;
        let feedback = feedback(&on, ranks, counts);
        let all = packets * u64::from(ranks - 1);
        let mut limited = 0;
        for window in 1..=8 {
            let algorithm = shuffle(None, Some((window, counts)));
            let found = priced(&all_to_all(algorithm, block(packets), ranks), &on).time;
            let last = last_hand_over(all, full.gap(), window.into(), feedback);
            let case = format!("p {ranks}, k {packets}, {counts:?} {window}");
            assert_eq!(found, last + tail, "{case}");
            let pace = pace(&on, ranks, Window { packets: window, counts });
            let even = pace * (all - 1) + tail;
            assert!(found <= even && even - found < feedback, "{case}: {found}, {even}");
            limited += u32::from(pace > full.gap());
        }
        assert!((1..8).contains(&limited), "some windows limit, and some do not");
    }
}

/// Two levels of switches, with 103 MB/s both ways through each uplink.
fn two_levels(hosts: u32) -> Parameters {
    let way = Cost::fixed(us(1492.0 / 103.0));
    let uplink =
        Uplink { hosts, outward: way, inward: way, shared: true, frames: Some(45), core: None };
    let buffer = Some(crate::Buffer { architecture: Architecture::Input, frames: 43 });
    Parameters { uplink: Some(uplink), buffer, ..cut_through() }
}

#[test]
fn uplinks_take_what_6_4_says() {
    for (hosts, switches) in [(8, 2), (8, 3), (6, 4), (8, 4)] {
        let (on, ranks) = (two_levels(hosts), hosts * switches);
        let exchange = Exchange { ranks, packets: 40 };
        let least = exchange.of_uplinks(&on.uplink.unwrap(), 1492).max(exchange.time(&on, 1));
        let window = global_window(ranks, hosts, 45, Reading::Published);
        let modified = shuffle(Some(hosts), Some((window, Counting::Received)));
        let modified = priced(&all_to_all(modified, block(40), ranks), &on);
        let over = modified.time.seconds() / least.seconds();
        assert!((1.0..1.06).contains(&over), "{hosts}x{switches}: {over}");
        assert_eq!(modified.congestion, None, "{hosts}x{switches}");
        // Without a window the tight ones overflow.
        let plain = priced(&all_to_all(shuffle(None, None), block(40), ranks), &on);
        assert!(plain.time.seconds() > 0.999 * least.seconds());
        if hosts * switches > 16 {
            assert!(plain.congestion.is_some(), "{hosts}x{switches}");
            assert_eq!(plain.bottleneck, Resource::Buffer);
        }
        assert!(modified.shares.uplink > Time::ZERO);
    }
}

/// What stays at a switch never waits for its uplink.
#[test]
fn neighbours_pass_no_uplink() {
    let on = two_levels(4);
    let alone = priced(&all_to_all(AllToAll::Shift {}, block(9), 4), &on);
    assert_eq!(
        alone.time,
        priced(&all_to_all(AllToAll::Shift {}, block(9), 4), &cut_through()).time
    );
    let permutation = Some(Permutation::Shift);
    let algorithm = AllToAll::SynchronousShuffle {
        permutation,
        hosts_per_switch: None,
        window: None,
        counts: Counting::Unacknowledged,
    };
    assert_eq!(priced(&all_to_all(algorithm, block(9), 4), &on).shares.uplink, Time::ZERO);
}

/// Very many packets are priced a few together, which changes nothing where none is in the way.
#[test]
fn packets_may_go_together() {
    let on = cut_through();
    for algorithm in [shuffle(None, None), group_of(3)] {
        let exchange = Exchange { ranks: 16, packets: 1000 };
        let rounds = if algorithm == group_of(3) { 5 } else { 1 };
        let found = priced(&all_to_all(algorithm, block(1000), 16), &on).time;
        assert_eq!(found, exchange.time(&on, rounds));
    }
}

/// Where a window would have to hold back very many packets, they follow each other evenly.
#[test]
fn very_many_packets_are_spread_over_the_feedback() {
    let (on, ranks, packets) = (store_and_forward(), 40, 700);
    let full = on.packet_of(1492, ranks);
    let window = Window { packets: 2, counts: Counting::Received };
    let algorithm = shuffle(None, Some((window.packets, window.counts)));
    let found = priced(&all_to_all(algorithm, block(packets), ranks), &on).time;
    let all = packets * u64::from(ranks - 1);
    let pace = pace(&on, ranks, window);
    assert!(pace > full.gap(), "it limits");
    assert_eq!(found, pace * (all - 1) + full.send + full.latency + full.receive);
}
