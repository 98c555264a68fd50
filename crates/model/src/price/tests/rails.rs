//! Several rails: prices against closed forms, by hand, and what must hold for all.

use super::*;
use crate::testing::{drawn, us};
use crate::{Cluster, Messages, Processors, Transfer};
use crosstie_collective::Overhead;
use crosstie_protocol::PolicyKind;
use crosstie_protocol::message::MessageSpec;
use crosstie_protocol::policy::Shares as Weights;
use crosstie_units::{Cost, Rate, Seed};

/// A rail of 1000-byte packets, one every `gap` microseconds, 20 us under way.
fn rail(gap: f64) -> Parameters {
    let gap = Cost { byte: us(gap / 1000.0), ..Cost::default() };
    Parameters {
        packet: Bytes::new(1000),
        send_gap: gap,
        latency: Cost { fixed: us(20.0), ..gap },
        receive_gap: gap,
        ..Parameters::default()
    }
}

fn cluster(gaps: &[f64], policy: PolicyKind) -> Cluster {
    Cluster { policy, ..Cluster::of_rails(gaps.iter().map(|&gap| rail(gap))) }
}

fn rendezvous(eager: u64, fins: bool) -> Option<Messages> {
    let spec = MessageSpec { fins, ..MessageSpec::new(eager) };
    Some(Messages { spec, header: 100 })
}

fn on(schedule: &Schedule, cluster: &Cluster) -> Price {
    price_on(schedule, cluster, 2).unwrap_or_else(|error| panic!("{error}"))
}

fn one_way(gap: f64, bytes: u64) -> Time {
    Transfer::one_way(&rail(gap), bytes, 2).time
}

fn bytes_of(price: &Price) -> Vec<u64> {
    price.rails.iter().map(|RailUse { bytes, .. }| *bytes).collect()
}

#[test]
fn rails_that_are_alike_pull_as_many_packets_each() {
    let found = on(&messages(8000, false), &cluster(&[10.0, 10.0], PolicyKind::Pull {}));
    assert_eq!((found.time, bytes_of(&found)), (one_way(10.0, 4000), vec![4000, 4000]));
    assert_eq!(found.time, us(20.0 + 4.0 * 10.0));
    // The path goes along the rail that is done last, without a gap.
    assert_eq!((found.path[0].from, found.path.last().unwrap().to), (Time::ZERO, found.time));
}

#[test]
fn rails_that_differ_finish_together() {
    let found = on(&messages(100_000, false), &cluster(&[10.0, 40.0], PolicyKind::Pull {}));
    // T = (k + sum (L_i - g_i) / g_i) / sum 1 / g_i, where L_i - g_i is 20 us.
    let together: f64 = (100.0 + 20.0 / 10.0 + 20.0 / 40.0) / (1.0 / 10.0 + 1.0 / 40.0);
    let off = found.time.ps() as f64 / 1e6 - together;
    assert!((0.0..10.0).contains(&off), "{} against {together}", found.time);
    assert_eq!(bytes_of(&found), [80_000, 20_000]);
    // A rail that would be done later than the others takes nothing.
    let slow = on(&messages(3000, false), &cluster(&[10.0, 500.0], PolicyKind::Pull {}));
    assert_eq!((slow.time, bytes_of(&slow)), (one_way(10.0, 3000), vec![3000, 0]));
}

#[test]
fn the_last_stripe_decides() {
    let threshold = Bytes::new(1000);
    let even = cluster(&[10.0, 40.0], PolicyKind::EvenStriping { threshold });
    let found = on(&messages(10_000, false), &even);
    assert_eq!((found.time, bytes_of(&found)), (one_way(40.0, 5000), vec![5000, 5000]));
    let weights = Weights::new(&[4, 1]).unwrap();
    let weighted = cluster(&[10.0, 40.0], PolicyKind::WeightedStriping { weights, threshold });
    let found = on(&messages(10_000, false), &weighted);
    assert_eq!((found.time, bytes_of(&found)), (one_way(10.0, 8000), vec![8000, 2000]));
    // Stripes of adaptive striping settle where they take the same.
    let adaptive = PolicyKind::AdaptiveStriping { alpha: 0.5, floor: 0.01, units: None, threshold };
    let found = on(&messages(100_000, false), &cluster(&[10.0, 40.0], adaptive));
    assert!(found.time >= us(820.0) && found.time <= us(830.0), "{}", found.time);
}

#[test]
fn messages_take_turns_from_one_iteration_to_the_next() {
    let schedule = messages(1000, false);
    let turns = cluster(&[10.0, 40.0], PolicyKind::RoundRobin {});
    let prices = iterations(&schedule, &turns, 2, 100).unwrap();
    let times: Vec<Time> = prices.iter().map(|price| price.time).collect();
    assert_eq!(times, [0, 1].map(|turn| one_way([10.0, 40.0][turn], 1000)));
    assert_eq!(iterations(&schedule, &turns, 2, 1).unwrap().len(), 1);
    // Nothing takes turns.
    let fastest = cluster(&[40.0, 10.0], PolicyKind::Fastest {});
    let prices = iterations(&schedule, &fastest, 2, 100).unwrap();
    assert_eq!((prices.len(), prices[0].time), (1, one_way(10.0, 1000)));
}

#[test]
fn a_rendezvous_goes_there_and_back_before_the_data() {
    let (gap, bytes) = (10.0, 50_000);
    let control = us(20.0 + 0.1 * gap);
    for (fins, after) in [(false, 0.0), (true, 0.1 * gap)] {
        let rails = cluster(&[gap], PolicyKind::Pull {});
        let asks = Cluster { messages: rendezvous(0, fins), ..rails };
        let found = on(&messages(bytes, false), &asks);
        // RTS, CTS, the data, and a FIN right behind them.
        assert_eq!(found.time, control * 2 + one_way(gap, bytes.into()) + us(after));
        assert_eq!((found.path[0].from, found.path.last().unwrap().to), (Time::ZERO, found.time));
    }
    // A short message goes with its header, without an RTS.
    let short =
        Cluster { messages: rendezvous(1 << 20, true), ..cluster(&[gap], PolicyKind::Pull {}) };
    let found = on(&messages(bytes, false), &short);
    assert_eq!(found.time, one_way(gap, u64::from(bytes) + 100));
}

#[test]
fn a_send_that_nobody_asks_for_waits_for_ever() {
    let mut builder = Builder::new(2);
    builder.send(Rank(0), Rank(1), Tag(7), 1000);
    let lonely = builder.finish().unwrap();
    let asks = Cluster { messages: rendezvous(0, false), ..cluster(&[1.0], PolicyKind::Pull {}) };
    let error = price_on(&lonely, &asks, 2).unwrap_err();
    assert_eq!(
        error.to_string(),
        "operation 0 of rank 0 waits for ever for rank 1 to ask for its message, tag 7"
    );
    let eager = Cluster { messages: rendezvous(1000, false), ..asks };
    assert_eq!(on(&lonely, &eager).time, Time::ZERO, "the message is on its way");
}

#[test]
fn hosts_of_loggops_take_o_for_each_message() {
    let overhead = Overhead { message: us(5.0), byte: Time::ZERO, eager: None };
    let rate = Rate::from_bytes_per_second(100_000_000);
    let processors = Some(Processors { overhead, rate });
    let hosts = Cluster { processors, ..cluster(&[10.0], PolicyKind::default()) };
    assert_eq!(on(&messages(4000, false), &hosts).time, one_way(10.0, 4000) + us(10.0));
    // Among ranks with a protocol, each envelope is posted and opened; data are in place.
    let asks = Cluster { messages: rendezvous(0, false), ..hosts };
    let control = us(21.0);
    let found = on(&messages(4000, false), &asks);
    assert_eq!(found.time, control * 2 + one_way(10.0, 4000) + us(5.0 * 5.0));
}

#[test]
fn messages_of_a_stream_share_rails() {
    let stream = super::super::stream(10_000, 8, 4);
    let found = on(&stream, &cluster(&[10.0, 40.0], PolicyKind::Pull {}));
    // 80 packets, and an answer.
    let least = 80.0 / (1.0 / 10.0 + 1.0 / 40.0);
    let time = found.time.ps() as f64 / 1e6;
    assert!((least..least + 2.0 * 20.0 + 40.0).contains(&time), "{time} against {least}");
}

#[test]
fn whatever_the_policy_bytes_are_carried_once_and_rails_are_the_limit() {
    for case in 0..300 {
        let mut stream = Seed(5).stream("rails", case);
        let rails = 1 + stream.below(4);
        let rails: Vec<Parameters> = (0..rails).map(|_| drawn(&mut stream)).collect();
        let packet = rails[0].packet;
        let rails = rails.into_iter().map(|rail| Parameters { packet, ..rail });
        let all = PolicyKind::all();
        let policy = all[stream.below(all.len() as u64) as usize];
        let messages = rendezvous(stream.below(20_000), stream.chance(0.5));
        let messages = messages.filter(|_| stream.chance(0.5));
        let cluster = Cluster { policy, messages, ..Cluster::of_rails(rails) };
        let (bytes, window) = (1 + stream.below(60_000) as u32, 1 + stream.below(6) as u32);
        let schedule = super::super::both_ways(bytes, window, 4);
        for price in iterations(&schedule, &cluster, 2, 4).unwrap() {
            let sent: u64 = price.rails.iter().map(|rail| rail.bytes).sum();
            let payload = 2 * (u64::from(bytes) * u64::from(window) + 4);
            match messages {
                None => assert_eq!(sent, payload, "{cluster:?}"),
                Some(_) => assert!(sent > payload, "{cluster:?}"),
            }
            // Each rail has two NICs, one for each way.
            let busiest = price.rails.iter().map(|rail| rail.busy).max().unwrap();
            assert!(price.time * 2 >= busiest, "{}: {:?}", price.time, price.rails);
            let path: u64 = price.path.iter().map(|part| (part.to - part.from).ps()).sum();
            assert_eq!(path, price.time.ps(), "the path has no gap: {cluster:?}");
        }
    }
}
