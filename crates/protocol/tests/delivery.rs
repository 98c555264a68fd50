//! Under every scheme, whatever the delays: every message arrives once and whole, and at the end
//! every NIC is free.

mod network;

use std::sync::Arc;

use crosstie_protocol::*;
use crosstie_units::{Seed, Time};
use network::{Network, Wires};
use proptest::prelude::*;

const NODES: u32 = 4;

fn schemes() -> impl Strategy<Value = (Scheme, u32)> {
    let ratio = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0]
        .prop_map(|ratio| StripingRatio::new(ratio).unwrap());
    // From hopelessly short, so that answers come late, to longer than any answer takes.
    let patience = prop_oneof![
        Just(None),
        Just(Some(Time::ZERO)),
        (1u64..20_000).prop_map(|ns| Some(Time::from_ns(ns))),
    ];
    let allocation = algorithm2(4, NODES).unwrap();
    let allocation = Arc::new(Allocation::new(allocation).unwrap());
    let rails = 1u32..6;
    let dynamic = (ratio.clone(), patience.clone());
    prop_oneof![
        Just((Scheme::Static(allocation), 4)),
        rails.clone().prop_map(|rails| (Scheme::Basic, rails)),
        (ratio.clone(), rails.clone())
            .prop_map(|(ratio, rails)| (Scheme::LocalDynamic { ratio }, rails)),
        (dynamic.clone(), rails.clone())
            .prop_map(|((ratio, patience), rails)| (Scheme::Dynamic { ratio, patience }, rails)),
        (dynamic, rails, 0u64..5_000).prop_map(|((ratio, patience), rails, threshold)| {
            (Scheme::Hybrid { ratio, patience, threshold }, rails)
        }),
    ]
}

fn wires() -> impl Strategy<Value = Wires> {
    (1u64..3_000, 1u64..10_000, any::<bool>(), 1u64..2_000).prop_map(
        |(least, spread, in_order, data)| Wires {
            control: least..least + spread,
            in_order,
            data: data..2 * data,
            bytes_per_ns: 1,
        },
    )
}

/// Messages at random, most of them within a short time so that they meet.
fn load(network: &mut Network, pes: u32, seed: u64, messages: u64) {
    let mut draws = Seed(seed).stream("messages", 0);
    for message in 0..messages {
        let at = Time::from_ns(draws.below(20_000));
        let from = draws.below(u64::from(NODES)) as u32;
        let to = (from + 1 + draws.below(u64::from(NODES) - 1) as u32) % NODES;
        let bytes = match draws.below(4) {
            0 => draws.below(4),
            _ => draws.exponential(4_000.0) as u64,
        };
        network.send(at, from, draws.below(u64::from(pes)) as u32, to, message, bytes);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn items_8_9_every_message_arrives_once_and_every_nic_ends_free(
        (scheme, rails) in schemes(), wires in wires(), pes in 1u32..5, seed: u64
    ) {
        let mut network = Network::new(&scheme, NODES, pes, rails, wires).seed(seed);
        load(&mut network, pes, seed, 60);
        network.finish();
    }
}

#[test]
fn items_7_8_9_hold_in_a_long_run_with_late_answers() {
    let (ratio, patience) = (StripingRatio::ALL, Some(Time::from_ns(2_000)));
    let scheme = Scheme::Hybrid { ratio, patience, threshold: 1_000 };
    let wires = Wires { control: 500..8_000, in_order: false, ..Wires::quick() };
    let mut network = Network::new(&scheme, NODES, 4, 4, wires);
    load(&mut network, 4, 5, 10_000);
    network.finish();
    assert!(network.watch.timeouts > 1_000, "{} time-outs", network.watch.timeouts);
    assert!(network.watch.count("ABORT") > 1_000, "{:?}", network.watch.packets);
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    let scheme = Scheme::Dynamic { ratio: StripingRatio::ONE, patience: None };
    let run = || {
        let mut network = Network::new(&scheme, NODES, 2, 3, Wires::quick()).seed(3);
        load(&mut network, 2, 3, 50);
        network.finish();
        network.watch.log
    };
    let first = run();
    assert!(first.len() > 200);
    assert_eq!(first, run());
}
