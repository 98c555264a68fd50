//! Under every policy, whatever the delays: every message arrives once and whole, and at the end
//! every NIC is free.

mod kinds;
mod network;

use crosstie_protocol::*;
use crosstie_units::{Bytes, Seed, Time};
use kinds::kinds;
use network::{Network, Wires};
use proptest::prelude::*;

const NODES: u32 = 4;

/// Nodes with one PE or several, stripes whole or cut, and NICs that do much or little at once.
fn specs() -> impl Strategy<Value = NodeSpec> {
    let limit = || prop::option::of(1u32..5);
    let payload = prop::option::of(100u32..3_000);
    (1u32..5, 1u32..6, payload, limit(), limit(), any::<bool>()).prop_map(
        |(pes, rails, payload, window, transfers, blocking)| {
            let packing = Packing { payload, overhead: 8 };
            let spec = NodeSpec::new(NodeId(0), rails);
            NodeSpec { pes, packing, window, transfers, blocking, ..spec }
        },
    )
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
        kind in kinds(20_000, 0..5_000), spec in specs(), wires in wires(), seed: u64
    ) {
        // Three nodes and more take four rails under static allocation.
        let rails = if kind == (PolicyKind::Static {}) { 4 } else { spec.rails };
        let spec = NodeSpec { rails, ..spec };
        let mut network = Network::of(kind, NODES, spec, wires).seed(seed);
        load(&mut network, spec.pes, seed, 60);
        network.finish();
    }
}

#[test]
fn items_7_8_9_hold_in_a_long_run_with_late_answers() {
    let (striping, timeout) = (StripingRatio::ALL, Some(Time::from_ns(2_000)));
    let kind = PolicyKind::Hybrid { striping, timeout, threshold: Bytes::new(1_000) };
    let wires = Wires { control: 500..8_000, in_order: false, ..Wires::quick() };
    let mut network = Network::new(kind, NODES, 4, 4, wires);
    load(&mut network, 4, 5, 10_000);
    network.finish();
    assert!(network.watch.timeouts > 1_000, "{} time-outs", network.watch.timeouts);
    assert!(network.watch.count("ABORT") > 1_000, "{:?}", network.watch.packets);
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    let kind = PolicyKind::Dynamic { striping: StripingRatio::ONE, timeout: None };
    let run = || {
        let mut network = Network::new(kind, NODES, 2, 3, Wires::quick()).seed(3);
        load(&mut network, 2, 3, 50);
        network.finish();
        network.watch.log
    };
    let first = run();
    assert!(first.len() > 200);
    assert_eq!(first, run());
}
