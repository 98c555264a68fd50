//! Clusters under every scheme: nothing lost, nothing left, and no conflict where none may be.

use super::*;
use crate::Packing;
use crate::wormhole::{Bus, Config, Delivery, InTransit};
use crosstie_fabric::{Irregular, irregular, tree};
use crosstie_protocol::{Allocation, Scheme, StripingRatio, matrix};
use crosstie_routing::kind::UpDownItb;
use crosstie_routing::{Routing, Summary, TreeAdaptive};
use crosstie_units::Seed;
use proptest::prelude::*;
use std::sync::Arc;

#[derive(Default)]
struct Delivered {
    messages: u64,
    flits: u64,
    packets: u64,
    packet_flits: u64,
    by_sender: BTreeMap<(u32, u32), u64>,
}

impl Books for Delivered {
    fn packet_delivered(&mut self, delivery: &Delivery) {
        self.packets += 1;
        self.packet_flits += u64::from(delivery.packet.flits);
    }
    fn message_delivered(&mut self, receipt: &Receipt) {
        let Receipt { from: (node, pe), handed_over, delivered, flits } = *receipt;
        let least = flits / u64::from(RAILS);
        assert!(delivered >= handed_over + least, "four rails carry four flits a tick at most");
        self.messages += 1;
        self.flits += flits;
        *self.by_sender.entry((node.0, pe.0)).or_default() += flits;
    }
}

const RAILS: u32 = 4;
const PES: u32 = 2;

/// Stripes go whole, or in packets of the QsNet's size.
const PAYLOADS: [Option<u32>; 2] = [None, Some(320)];

fn spec(scheme: Scheme, payload: Option<u32>) -> ClusterSpec {
    ClusterSpec {
        scheme,
        pes: PES,
        blocking: false,
        rails: RAILS,
        transfers: 2,
        window: 2,
        packing: Packing { flit: 2, payload, overhead: 0 },
        control: 24,
        response: 300,
        tick: Time::from_ns(5),
    }
}

fn schemes() -> Vec<Scheme> {
    let patience = Some(Time::from_ns(3_000));
    let mut all = vec![Scheme::Basic];
    for ratio in [StripingRatio::ONE, StripingRatio::ALL] {
        all.push(Scheme::LocalDynamic { ratio });
        all.push(Scheme::Dynamic { ratio, patience: None });
        all.push(Scheme::Dynamic { ratio, patience });
        all.push(Scheme::Hybrid { ratio, patience: None, threshold: 1024 });
    }
    all
}

/// Runs 400 messages between 16 nodes at once, gives the cluster and what it delivered.
fn rush(scheme: Scheme, payload: Option<u32>, bus: Bus, seed: u64) -> (Cluster, Delivered) {
    let fabric = tree(4, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let config = Config { bus, ..Config::default() };
    rush_on(&fabric, &routing, &config, spec(scheme, payload), seed)
}

/// The same between the nodes of any network.
fn rush_on(
    fabric: &Fabric,
    routing: &dyn Routing,
    config: &Config,
    spec: ClusterSpec,
    seed: u64,
) -> (Cluster, Delivered) {
    let mut engine = Engine::new(fabric, routing, RAILS, config);
    let mut cluster = Cluster::new(fabric, &spec).unwrap();
    let mut books = Delivered::default();
    let nodes = fabric.hosts().len() as u64;
    let mut draw = Seed(seed).stream("messages", 0);
    let (mut handed_over, mut flits) = (0, 0);
    for _ in 0..400 {
        let wait = draw.below(200);
        cluster.run_until(&mut engine, EPOCH + handed_over * 50 + wait, &mut books);
        let from = NodeId(draw.below(nodes) as u32);
        let to = NodeId((from.0 + 1 + draw.below(nodes - 1) as u32) % nodes as u32);
        let pe = PeId(draw.below(u64::from(PES)) as u32);
        let bytes = draw.exponential(3000.0) as u32 + 1;
        flits += cluster.send(&mut engine, (from, pe), to, bytes, &mut books);
        handed_over += 1;
    }
    cluster.run_until(&mut engine, 4_000_000, &mut books);
    let name = cluster.spec.scheme.name();
    assert_eq!((books.messages, books.flits), (handed_over, flits), "{name}");
    assert!(cluster.is_idle() && engine.is_at_rest(), "{name}");
    assert_eq!(cluster.violations(), 0, "{name}");
    // Each stripe rounds up to whole flits.
    assert!((flits..flits + books.packets).contains(&books.packet_flits), "{name}");
    (cluster, books)
}

const HALF: Bus = Bus::Shared { read: 1, write: 1 };

#[test]
fn every_scheme_delivers_every_message_once_and_whole() {
    for scheme in schemes() {
        for bus in [HALF, Bus::Full] {
            for payload in PAYLOADS {
                rush(scheme.clone(), payload, bus, 1);
            }
        }
    }
}

#[test]
fn dynamic_allocation_never_lets_data_meet() {
    for scheme in schemes().into_iter().filter(|s| matches!(s, Scheme::Dynamic { .. })) {
        for seed in 1..4 {
            for payload in PAYLOADS {
                let (cluster, _) = rush(scheme.clone(), payload, HALF, seed);
                let BusWatch { opposed, crowded, .. } = cluster.bus_watch();
                assert_eq!((opposed, crowded), (0, 0));
            }
        }
    }
    // The others do let them meet, so the watch is awake.
    let (cluster, _) = rush(Scheme::Basic, None, HALF, 1);
    let BusWatch { opposed, crowded, .. } = cluster.bus_watch();
    assert!(opposed > 10 && crowded > 10, "{opposed} {crowded}");
}

#[test]
fn static_allocation_has_no_opposing_data() {
    // Four rails serve six nodes.
    let allocation = Allocation::new(matrix::algorithm2(RAILS, 6).unwrap()).unwrap();
    let fabric = crosstie_fabric::single(6).unwrap();
    let routing = crosstie_routing::Shortest::new(&fabric);
    let mut engine = Engine::new(&fabric, &routing, RAILS, &Config::default());
    let scheme = Scheme::Static(Arc::new(allocation));
    let mut cluster = Cluster::new(&fabric, &spec(scheme, None)).unwrap();
    let mut books = Delivered::default();
    for from in 0..6 {
        for to in (0..6).filter(|&to| to != from) {
            let at = (NodeId(from), PeId(from % PES));
            cluster.send(&mut engine, at, NodeId(to), 2000, &mut books);
        }
    }
    cluster.run_until(&mut engine, 1_000_000, &mut books);
    assert_eq!((books.messages, cluster.violations()), (30, 0));
    assert!(cluster.is_idle());
    assert_eq!(cluster.bus_watch().opposed, 0);
}

/// Packets that stop at hosts on their way pass nodes that they are not for.
#[test]
fn a_stop_on_the_way_is_nobodys_departure_or_arrival() {
    let shape = Irregular { switches: 5, ports: 3, hosts_per_switch: 1, links: None };
    let fabric = irregular(&shape, Seed(1)).unwrap();
    let routing = UpDownItb::default().routes(&fabric, Seed(1)).unwrap();
    assert!(Summary::of(&fabric, &routing).unwrap().stops > 0);
    let in_transit = Some(InTransit { recognition: 44, setup: 32, pool: 512 * 1024 });
    let config = Config { bus: Bus::Full, in_transit, ..Config::default() };
    let allocation = Allocation::new(matrix::algorithm2(RAILS, 5).unwrap()).unwrap();
    let fixed = Scheme::Static(Arc::new(allocation));
    for scheme in schemes().into_iter().chain([fixed]) {
        let reserves = matches!(scheme, Scheme::Dynamic { .. });
        for payload in PAYLOADS {
            let spec = spec(scheme.clone(), payload);
            let (cluster, _) = rush_on(&fabric, &routing, &config, spec, 1);
            assert!(!reserves || cluster.bus_watch().crowded == 0, "two senders at one NIC");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the scheme, the sizes, the haste and the packets: every message arrives once and
    /// whole, also if the patience of PEs ends before the answers come.
    #[test]
    fn nothing_is_lost_or_made_up(
        seed in any::<u64>(),
        kind in 0..4u32,
        ratio in 0.0..=1.0f64,
        // A control packet takes 300 ticks to be answered, and much longer if they come in crowds.
        (response, patience) in (1..400u32, prop::option::of(20..3000u64)),
        (mean, gap) in (prop::sample::select(vec![40.0, 700.0, 8000.0]), 1..400u64),
        (payload, transfers) in (prop::option::of(50..1000u32), 1..4u32),
        (full_bus, blocking) in any::<(bool, bool)>(),
    ) {
        let ratio = StripingRatio::new(ratio).unwrap();
        let patience = patience.map(|ticks| Time::from_ns(5) * ticks);
        let scheme = match kind {
            0 => Scheme::Basic,
            1 => Scheme::LocalDynamic { ratio },
            2 => Scheme::Dynamic { ratio, patience },
            _ => Scheme::Hybrid { ratio, patience, threshold: 600 },
        };
        let fabric = tree(2, 3).unwrap();
        let routing = TreeAdaptive::new(&fabric).unwrap();
        let bus = if full_bus { Bus::Full } else { HALF };
        let config = Config { bus, ..Config::default() };
        let mut engine = Engine::new(&fabric, &routing, RAILS, &config);
        let spec = ClusterSpec { response, transfers, blocking, ..spec(scheme, payload) };
        let mut cluster = Cluster::new(&fabric, &spec).unwrap();
        let mut books = Delivered::default();
        let mut draw = Seed(seed).stream("messages", 0);
        let (mut at, mut flits) = (EPOCH, 0);
        for _ in 0..60 {
            at += draw.below(gap);
            cluster.run_until(&mut engine, at, &mut books);
            let from = NodeId(draw.below(8) as u32);
            let to = NodeId((from.0 + 1 + draw.below(7) as u32) % 8);
            let pe = PeId(draw.below(u64::from(PES)) as u32);
            let bytes = draw.exponential(mean) as u32 + 1;
            flits += cluster.send(&mut engine, (from, pe), to, bytes, &mut books);
        }
        cluster.run_until(&mut engine, at + 3_000_000, &mut books);
        prop_assert_eq!((books.messages, books.flits), (60, flits));
        prop_assert!(cluster.is_idle() && engine.is_at_rest());
        prop_assert_eq!(cluster.violations(), 0);
    }
}

/// Every PE of eight nodes always has messages to send; gives what the PE with the least and the one
/// with the most got through, relative to the mean. About a hundred messages each leave them a
/// tenth apart by chance.
fn shares(scheme: Scheme, to: impl Fn(u32, u64) -> u32) -> (f64, f64) {
    let fabric = tree(2, 3).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let mut engine = Engine::new(&fabric, &routing, RAILS, &Config::default());
    let mut cluster = Cluster::new(&fabric, &spec(scheme, Some(320))).unwrap();
    let mut books = Delivered::default();
    let mut draw = Seed(7).stream("destinations", 0);
    let senders: Vec<u32> = (0..8).filter(|&from| to(from, 0) != from).collect();
    for _ in 0..2000 {
        for (&from, pe) in senders.iter().flat_map(|from| (0..PES).map(move |pe| (from, pe))) {
            let to = NodeId(to(from, draw.below(7)));
            let bytes = draw.exponential(4000.0) as u32 + 1;
            cluster.send(&mut engine, (NodeId(from), PeId(pe)), to, bytes, &mut books);
        }
    }
    cluster.run_until(&mut engine, EPOCH + 1_000_000, &mut books);
    let shares: Vec<u64> = books.by_sender.values().copied().collect();
    assert_eq!(shares.len(), senders.len() * PES as usize, "nobody got nothing");
    assert!(shares.iter().all(|&flits| flits < 2000 * 2000), "nobody had nothing to send");
    let mean = shares.iter().sum::<u64>() as f64 / shares.len() as f64;
    let relative = |flits: Option<&u64>| *flits.unwrap() as f64 / mean;
    (relative(shares.iter().min()), relative(shares.iter().max()))
}

#[test]
fn under_permanent_contention_shares_stay_within_a_third_of_the_mean() {
    for ratio in [StripingRatio::ONE, StripingRatio::ALL] {
        let scheme = Scheme::Dynamic { ratio, patience: None };
        let everybody_to_everybody = |from, draw: u64| (from + 1 + draw as u32) % 8;
        let everybody_to_node_0 = |_, _| 0;
        for (least, most) in [
            shares(scheme.clone(), everybody_to_everybody),
            shares(scheme.clone(), everybody_to_node_0),
        ] {
            assert!(least > 0.67 && most < 1.33, "{least} to {most}");
        }
    }
}
