//! Nodes under every policy: nothing lost, nothing left, and no conflict where none may be.

mod bus_watch;

use super::*;
use crate::ideal::{Ideal, IdealSpec};
use crate::network::Pace;
use crate::wormhole::{Bus, Config, InTransit, Wormhole, WormholeSpec};
use bus_watch::{BusWatch, Noting};
use crosstie_fabric::{Fabric, Irregular, irregular, tree};
use crosstie_protocol::{Packing, PeId, PolicyKind, StripingRatio};
use crosstie_routing::kind::UpDownItb;
use crosstie_routing::{Routing, Summary, TreeAdaptive};
use crosstie_units::{Bytes, Seed};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[derive(Default)]
struct Delivered {
    messages: u64,
    bytes: u64,
    packets: u64,
    packet_bytes: u64,
    by_sender: BTreeMap<(u32, u32), u64>,
}

impl Listener for Delivered {
    fn packet(
        &mut self,
        _began: Time,
        _at: Time,
        _packet: &protocol::Packet,
        wire: u32,
        _switches: u32,
    ) {
        self.packets += 1;
        self.packet_bytes += u64::from(wire);
    }
    fn delivered(&mut self, receipt: &Receipt) {
        let Receipt { letter: Letter { from, pe, bytes, .. }, handed_over, delivered } = *receipt;
        let least = u64::from(bytes) / u64::from(2 * RAILS);
        assert!(delivered >= handed_over + CYCLE * least, "four rails carry four flits a cycle");
        self.messages += 1;
        self.bytes += u64::from(bytes);
        *self.by_sender.entry((from.0, pe.0)).or_default() += u64::from(bytes);
    }
}

const RAILS: u32 = 4;
const PES: u32 = 2;

/// Stripes go whole, or in packets of the QsNet's size.
const PAYLOADS: [Option<u32>; 2] = [None, Some(320)];

const CYCLE: Time = Time::from_ns(5);

fn spec(policy: PolicyKind, payload: Option<u32>) -> NodesSpec {
    NodesSpec {
        policy,
        pes: PES,
        blocking: false,
        rails: RAILS,
        transfers: 2,
        window: Some(2),
        packing: Packing { payload, overhead: 0 },
        control: 48,
        response: CYCLE * 300,
        channel: None,
        ahead: None,
        exchange: None,
        patience: None,
        rates: Vec::new(),
        station: None,
        puts: false,
        injection: Default::default(),
        seed: Seed(1),
    }
}

fn policies() -> Vec<PolicyKind> {
    let timeout = Some(Time::from_ns(3_000));
    let mut all = vec![PolicyKind::Basic {}, PolicyKind::RoundRobin {}];
    for striping in [StripingRatio::ONE, StripingRatio::ALL] {
        all.push(PolicyKind::LocalDynamic { striping });
        all.push(PolicyKind::Dynamic { striping, timeout: None });
        all.push(PolicyKind::Dynamic { striping, timeout });
        all.push(PolicyKind::Hybrid { striping, timeout: None, threshold: Bytes::new(1024) });
    }
    all
}

fn wormhole<'a>(
    fabric: &'a Fabric,
    routing: &'a dyn Routing,
    config: &'a Config,
) -> WormholeSpec<'a> {
    WormholeSpec { fabric, routing, rails: RAILS, config, flit: 2, cycle: CYCLE }
}

/// A wormhole network with a watch over its buses.
fn watched<'a>(spec: &WormholeSpec<'a>, nodes: &Nodes) -> Wormhole<'a, BusWatch> {
    Wormhole::watched(spec, nodes.interest(), BusWatch::new(spec.fabric, RAILS))
}

/// Runs 400 messages between 16 nodes at once; gives the watch.
fn rush(policy: PolicyKind, payload: Option<u32>, bus: Bus, seed: u64) -> Meetings {
    let fabric = tree(4, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let config = Config { bus, ..Config::default() };
    rush_on(&wormhole(&fabric, &routing, &config), spec(policy, payload), seed)
}

/// What met where it should not.
struct Meetings {
    opposed: usize,
    crowded: usize,
}

/// The same between the nodes of any network.
fn rush_on(wormhole: &WormholeSpec<'_>, spec: NodesSpec, seed: u64) -> Meetings {
    let count = wormhole.fabric.hosts().len() as u32;
    let nodes = Nodes::new(&spec, count, Audience::Silent).unwrap();
    let mut network = watched(wormhole, &nodes);
    let stripes = network.watch().stripes();
    send_all(&mut Noting { network: &mut network, stripes }, nodes, count, seed);
    let watch = network.watch();
    Meetings { opposed: watch.opposed(), crowded: watch.crowded() }
}

/// Hands over 400 messages, waits for them, and checks that nothing is lost or left.
fn send_all(network: &mut dyn Network, mut nodes: Nodes, count: u32, seed: u64) {
    let mut books = Delivered::default();
    let count = u64::from(count);
    let mut draw = Seed(seed).stream("messages", 0);
    let (mut handed_over, mut bytes) = (0, 0);
    for _ in 0..400 {
        let wait = draw.below(200);
        nodes.run_until(network, CYCLE * (handed_over * 50 + wait), &mut books);
        let from = NodeId(draw.below(count) as u32);
        let to = NodeId((from.0 + 1 + draw.below(count - 1) as u32) % count as u32);
        let pe = PeId(draw.below(u64::from(PES)) as u32);
        let letter = Letter {
            from,
            pe,
            to,
            bytes: draw.exponential(3000.0) as u32 + 1,
            id: 0,
            rail: None,
            whole: false,
            placed: true,
        };
        nodes.send(network, letter, &mut books);
        bytes += u64::from(letter.bytes);
        handed_over += 1;
    }
    nodes.run_until(network, CYCLE * 4_000_000, &mut books);
    let policy = nodes.spec.policy;
    assert_eq!((books.messages, books.bytes), (handed_over, bytes), "{policy:?}");
    assert_eq!(books.packet_bytes, bytes, "{policy:?}");
    assert!(nodes.is_idle() && network.next().is_none(), "{policy:?}");
    assert_eq!(nodes.violations(), 0, "{policy:?}");
}

const HALF: Bus = Bus::Shared { read: 1, write: 1 };

#[test]
fn every_policy_delivers_every_message_once_and_whole() {
    for policy in policies() {
        for bus in [HALF, Bus::Full] {
            for payload in PAYLOADS {
                rush(policy, payload, bus, 1);
            }
        }
    }
}

#[test]
fn every_policy_does_so_on_the_ideal_network() {
    for policy in policies() {
        for payload in PAYLOADS {
            let nodes = Nodes::new(&spec(policy, payload), 16, Audience::Silent).unwrap();
            let ideal = IdealSpec {
                hosts: 16,
                rails: RAILS,
                pace: Pace { time: CYCLE, bytes: 2 },
                latency: Time::from_ns(15),
                gap: Time::ZERO,
                cycle: CYCLE,
            };
            let mut network = Ideal::new(ideal, nodes.interest());
            send_all(&mut network, nodes, 16, 1);
        }
    }
}

#[test]
fn dynamic_allocation_never_lets_data_meet() {
    for policy in policies().into_iter().filter(|p| matches!(p, PolicyKind::Dynamic { .. })) {
        for seed in 1..4 {
            for payload in PAYLOADS {
                let Meetings { opposed, crowded } = rush(policy, payload, HALF, seed);
                assert_eq!((opposed, crowded), (0, 0));
            }
        }
    }
    // The others do let them meet, so the watch is awake.
    let Meetings { opposed, crowded } = rush(PolicyKind::Basic {}, None, HALF, 1);
    assert!(opposed > 10 && crowded > 10, "{opposed} {crowded}");
}

#[test]
fn static_allocation_has_no_opposing_data() {
    // Four rails serve six nodes.
    let fabric = crosstie_fabric::single(6).unwrap();
    let routing = crosstie_routing::Shortest::new(&fabric);
    let config = Config::default();
    let mut nodes = Nodes::new(&spec(PolicyKind::Static {}, None), 6, Audience::Silent).unwrap();
    let mut watched = watched(&wormhole(&fabric, &routing, &config), &nodes);
    let stripes = watched.watch().stripes();
    let mut network = Noting { network: &mut watched, stripes };
    let mut books = Delivered::default();
    for from in 0..6 {
        for to in (0..6).filter(|&to| to != from) {
            let pe = PeId(from % PES);
            let (from, to) = (NodeId(from), NodeId(to));
            nodes.send(
                &mut network,
                Letter { from, pe, to, bytes: 2000, id: 0, rail: None, whole: false, placed: true },
                &mut books,
            );
        }
    }
    nodes.run_until(&mut network, CYCLE * 1_000_000, &mut books);
    assert_eq!((books.messages, nodes.violations()), (30, 0));
    assert!(nodes.is_idle());
    assert_eq!(watched.watch().opposed(), 0);
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
    for policy in policies().into_iter().chain([PolicyKind::Static {}]) {
        let reserves = matches!(policy, PolicyKind::Dynamic { .. });
        for payload in PAYLOADS {
            let spec = spec(policy, payload);
            let met = rush_on(&wormhole(&fabric, &routing, &config), spec, 1);
            assert!(!reserves || met.crowded == 0, "two senders at one NIC");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the policy, the sizes, the haste and the packets: every message arrives once and
    /// whole, also if the patience of PEs ends before the answers come.
    #[test]
    fn nothing_is_lost_or_made_up(
        seed in any::<u64>(),
        kind in 0..5u32,
        striping in 0.0..=1.0f64,
        // A control packet takes 300 ticks to be answered, and much longer if they come in crowds.
        (response, patience) in (1..400u32, prop::option::of(20..3000u64)),
        (mean, gap) in (prop::sample::select(vec![40.0, 700.0, 8000.0]), 1..400u64),
        (payload, transfers) in (prop::option::of(50..1000u32), 1..4u32),
        (full_bus, blocking) in any::<(bool, bool)>(),
    ) {
        let striping = StripingRatio::new(striping).unwrap();
        let timeout = patience.map(|ticks| CYCLE * ticks);
        let policy = match kind {
            0 => PolicyKind::Basic {},
            1 => PolicyKind::LocalDynamic { striping },
            2 => PolicyKind::Dynamic { striping, timeout },
            3 => PolicyKind::RoundRobin {},
            _ => PolicyKind::Hybrid { striping, timeout, threshold: Bytes::new(600) },
        };
        let fabric = tree(2, 3).unwrap();
        let routing = TreeAdaptive::new(&fabric).unwrap();
        let bus = if full_bus { Bus::Full } else { HALF };
        let config = Config { bus, ..Config::default() };
        let response = CYCLE * u64::from(response);
        let spec = NodesSpec { response, transfers, blocking, ..spec(policy, payload) };
        let mut nodes = Nodes::new(&spec, 8, Audience::Silent).unwrap();
        let mut network = Wormhole::new(&wormhole(&fabric, &routing, &config), nodes.interest());
        let mut books = Delivered::default();
        let mut draw = Seed(seed).stream("messages", 0);
        let (mut at, mut bytes) = (0, 0);
        for _ in 0..60 {
            at += draw.below(gap);
            nodes.run_until(&mut network, CYCLE * at, &mut books);
            let from = NodeId(draw.below(8) as u32);
            let to = NodeId((from.0 + 1 + draw.below(7) as u32) % 8);
            let pe = PeId(draw.below(u64::from(PES)) as u32);
            let letter = Letter { from, pe, to, bytes: draw.exponential(mean) as u32 + 1, id: 0, rail: None, whole: false, placed: true };
            nodes.send(&mut network, letter, &mut books);
            bytes += u64::from(letter.bytes);
        }
        nodes.run_until(&mut network, CYCLE * (at + 3_000_000), &mut books);
        prop_assert_eq!((books.messages, books.bytes), (60, bytes));
        prop_assert!(nodes.is_idle() && network.next().is_none());
        prop_assert_eq!(nodes.violations(), 0);
    }
}

/// Every PE of eight nodes always has messages to send; gives what the PE with the least and the
/// one with the most got through, relative to the mean. About a hundred messages each leave them a
/// tenth apart by chance.
fn shares(policy: PolicyKind, to: impl Fn(u32, u64) -> u32) -> (f64, f64) {
    let fabric = tree(2, 3).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let config = Config::default();
    let mut nodes = Nodes::new(&spec(policy, Some(320)), 8, Audience::Silent).unwrap();
    let mut network = Wormhole::new(&wormhole(&fabric, &routing, &config), nodes.interest());
    let mut books = Delivered::default();
    let mut draw = Seed(7).stream("destinations", 0);
    let senders: Vec<u32> = (0..8).filter(|&from| to(from, 0) != from).collect();
    for _ in 0..2000 {
        for (&from, pe) in senders.iter().flat_map(|from| (0..PES).map(move |pe| (from, pe))) {
            let to = NodeId(to(from, draw.below(7)));
            let bytes = draw.exponential(4000.0) as u32 + 1;
            let (from, pe) = (NodeId(from), PeId(pe));
            nodes.send(
                &mut network,
                Letter { from, pe, to, bytes, id: 0, rail: None, whole: false, placed: true },
                &mut books,
            );
        }
    }
    nodes.run_until(&mut network, CYCLE * 1_000_000, &mut books);
    let shares: Vec<u64> = books.by_sender.values().copied().collect();
    assert_eq!(shares.len(), senders.len() * PES as usize, "nobody got nothing");
    assert!(shares.iter().all(|&bytes| bytes < 2 * 2000 * 2000), "nobody had nothing to send");
    let mean = shares.iter().sum::<u64>() as f64 / shares.len() as f64;
    let relative = |bytes: Option<&u64>| *bytes.unwrap() as f64 / mean;
    (relative(shares.iter().min()), relative(shares.iter().max()))
}

#[test]
fn under_permanent_contention_shares_stay_within_a_third_of_the_mean() {
    for striping in [StripingRatio::ONE, StripingRatio::ALL] {
        let policy = PolicyKind::Dynamic { striping, timeout: None };
        let everybody_to_everybody = |from, draw: u64| (from + 1 + draw as u32) % 8;
        let everybody_to_node_0 = |_, _| 0;
        for (least, most) in
            [shares(policy, everybody_to_everybody), shares(policy, everybody_to_node_0)]
        {
            assert!(least > 0.67 && most < 1.33, "{least} to {most}");
        }
    }
}
