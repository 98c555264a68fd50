//! Runs of work on small networks.

mod closed_loop;
mod collectives;
mod exchange;
mod loggops;
mod many_to_one;
mod messaging;
mod ports;
mod probes;
mod profile;
mod schedules;
mod stations;

use super::ledger::Ledger;
use super::*;
use crate::network::Blueprint;
use crate::node::{Audience, Letter, Nodes, NodesSpec};
use crate::wormhole::{Bus, Config, WormholeSpec};
use crosstie_fabric::{End, Fabric, FabricBuilder, HostId, Port, Shape, SwitchId, tree};
use crosstie_measure::Saturation;
use crosstie_protocol::{NodeId, Packing, PeId, PolicyKind, StripingRatio};
use crosstie_routing::{Routing, Shortest, TreeAdaptive};
use crosstie_units::{Bytes, Seed, Time};
use crosstie_work::traffic::{Arrival, Destination, Pattern, Permutation, Size};
use crosstie_work::{Flits, Workload};
use std::ops::ControlFlow;

const EFFORT: Effort =
    Effort { precision: 0.05, confidence: 0.95, min_cycles: 4000, max_cycles: 60_000 };

const CYCLE: Time = Time::from_ns(5);
const WHOLE: Packing = Packing { payload: None, overhead: 0 };

/// A pattern whose file, if it names one, has this text.
fn pattern(destination: Destination, fabric: &Fabric, text: &str) -> Pattern {
    destination.on(fabric, &|_| Ok(text.to_owned())).unwrap()
}

fn fixed(bytes: u64) -> Size {
    Size::Fixed { size: Bytes::new(bytes) }
}

fn workload(fabric: &Fabric) -> Workload {
    Workload {
        arrival: Arrival::Exponential {},
        size: fixed(32),
        pattern: pattern(Destination::Uniform {}, fabric, ""),
        flits: Flits { flit: 2, packing: WHOLE },
    }
}

/// Nodes that hand everything to the network at once.
fn plain_nodes(rails: u32, packing: Packing) -> NodesSpec {
    NodesSpec {
        policy: PolicyKind::RoundRobin {},
        pes: 1,
        blocking: true,
        rails,
        transfers: 1,
        window: Some(2),
        packing,
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

fn full_duplex() -> Config {
    Config { bus: Bus::Full, wire: 3, ..Config::default() }
}

fn wormhole<'a>(
    fabric: &'a Fabric,
    routing: &'a dyn Routing,
    rails: u32,
    config: &'a Config,
) -> WormholeSpec<'a> {
    WormholeSpec { fabric, routing, rails, config, flit: 2, cycle: CYCLE }
}

/// A 2-ary 3-tree of 8 hosts.
struct Bench {
    fabric: Fabric,
    routing: TreeAdaptive,
    config: Config,
    workload: Workload,
}

impl Bench {
    fn new() -> Bench {
        let fabric = tree(2, 3).unwrap();
        let routing = TreeAdaptive::new(&fabric).unwrap();
        let workload = workload(&fabric);
        Bench { fabric, routing, config: full_duplex(), workload }
    }

    fn blueprint(&self, rails: u32) -> WormholeSpec<'_> {
        wormhole(&self.fabric, &self.routing, rails, &self.config)
    }

    /// Does something with a trial.
    fn trying<T>(&self, rails: u32, what: impl FnOnce(Trial<'_>) -> T) -> T {
        let (blueprint, packing) = (self.blueprint(rails), self.workload.flits.packing);
        let (nodes, workload) = (plain_nodes(rails, packing), &self.workload);
        let (blueprint, nodes) = (&blueprint, &nodes);
        what(Trial { blueprint, nodes, workload, seed: Seed(1), effort: EFFORT })
    }

    fn run(&self, rails: u32, load: f64) -> Findings {
        self.trying(rails, |trial| run(&trial, load))
    }
}

fn run(trial: &Trial<'_>, load: f64) -> Findings {
    trial.run(load, &mut |_| ControlFlow::Continue(())).unwrap().unwrap()
}

#[test]
fn a_light_load_is_carried_and_every_number_agrees_with_the_others() {
    let bench = Bench::new();
    let found = bench.run(1, 0.2);
    assert_eq!(found.ending, Ending::Converged);
    assert!(found.starving.is_none() && found.note(&bench.blueprint(1)).is_empty());
    let measured = found.measured.unwrap();
    assert!((measured.offered / 0.2 - 1.0).abs() < 0.1, "{measured:?}");
    assert!((measured.accepted.mean / measured.offered - 1.0).abs() < 0.02, "{measured:?}");
    let mean = measured.latency.unwrap().mean;
    assert!((measured.latencies.mean().unwrap() / mean - 1.0).abs() < 0.05, "{measured:?}");
    assert_eq!(measured.packets, measured.latencies.count(), "a message is a packet");
    // 4 of 7 destinations are 5 switches away, 2 are 3 and 1 is 1.
    let switches = measured.switches_mean.unwrap();
    assert!((switches - 27.0 / 7.0).abs() < 0.1, "{switches}");
    // Uncontended: 16 flits, and per channel 1 cycle and 3 of wire, per switch 6 of routing.
    let least = 15.0 + (switches + 1.0) * 4.0 + switches * 6.0;
    let network = measured.network_mean.unwrap();
    assert!((least..mean).contains(&network), "{least} {network} {mean}");
}

#[test]
fn channels_are_counted_over_the_time_measured() {
    let bench = Bench::new();
    let found = bench.run(1, 0.4);
    let measured = found.measured.unwrap();
    let ejection = |host| measured.channels[bench.fabric.host_in(host).0 as usize];
    let flits: u64 = bench.fabric.hosts().map(|host| ejection(host).flits).sum();
    // Packets are counted when they are whole, so a few flits more or less are under way.
    assert!(flits.abs_diff(measured.packets * 16) <= 2 * 8 * 16, "{flits}");
    let utilisation: f64 = bench.fabric.hosts().map(|h| ejection(h).utilisation).sum::<f64>() / 8.0;
    assert!((utilisation / measured.accepted.mean - 1.0).abs() < 0.1, "{utilisation}");
    assert_eq!(measured.channels.len(), bench.fabric.channels().len());
}

#[test]
fn rails_multiply_what_a_node_sends_and_not_the_load() {
    let bench = Bench::new();
    let (one, three) = (bench.run(1, 0.3), bench.run(3, 0.3));
    let (one, three) = (one.measured.unwrap(), three.measured.unwrap());
    assert!((three.accepted.mean / one.accepted.mean - 1.0).abs() < 0.1);
    let ratio = three.latency.unwrap().mean / one.latency.unwrap().mean;
    assert!((0.85..1.02).contains(&ratio), "turns are less bursty than chance: {ratio}");
    let channels = bench.fabric.channels().len();
    assert_eq!(three.channels.len(), 3 * channels);
    let flits: Vec<u64> =
        three.channels.chunks(channels).map(|c| c.iter().map(|c| c.flits).sum()).collect();
    assert!(flits.iter().all(|&f| f.abs_diff(flits[0]) * 20 < flits[0]), "{flits:?}");
}

#[test]
fn a_message_in_packets_ends_with_the_last() {
    let mut bench = Bench::new();
    bench.workload.size = fixed(256);
    let whole = bench.run(1, 0.1).measured.unwrap();
    bench.workload.flits.packing.payload = Some(64);
    let cut = bench.run(1, 0.1).measured.unwrap();
    assert!(cut.packets > 3 * cut.latencies.count());
    assert!(cut.latency.unwrap().mean > 128.0 + 30.0, "the source sends 128 flits one by one");
    assert!(cut.network_mean.unwrap() < whole.network_mean.unwrap(), "a packet is shorter");
    assert!((cut.accepted.mean / whole.accepted.mean - 1.0).abs() < 0.1);
}

#[test]
fn times_are_in_cycles_whatever_the_ticks_of_a_bus() {
    let mut bench = Bench::new();
    let mean = |bench: &Bench| bench.run(1, 0.02).measured.unwrap().latency.unwrap().mean;
    let full = mean(&bench);
    bench.config = full_duplex().with_shared_bus(2.0, 400.0 / 275.0);
    assert_eq!(bench.config.ticks, 11);
    let slow = mean(&bench);
    // A single packet to the neighbour takes 29 cycles, and 456 ticks with the slow bus.
    let expected = 456.0 / 11.0 - 29.0;
    assert!((slow - full - expected).abs() < 1.0, "{full} {slow}");
}

#[test]
fn too_much_is_saturation_and_too_short_is_not_convergence() {
    let bench = Bench::new();
    let flood = bench.run(1, 1.0);
    assert_eq!(flood.ending, Ending::Saturated);
    let measured = flood.measured.unwrap();
    assert!(measured.latency.is_none());
    assert!(measured.accepted.mean < 0.97 && measured.offered > 0.97);
    let strict = Effort { precision: 0.001, max_cycles: 5000, ..EFFORT };
    let short = bench.trying(1, |trial| run(&Trial { effort: strict, ..trial }, 0.2));
    assert!(matches!(short.ending, Ending::NotConverged(_)));
    let note = short.note(&bench.blueprint(1));
    assert!(note.starts_with("stopped at 4977 cycles: ") && note.contains("asked for"), "{note}");
}

#[test]
fn a_deadlock_ends_the_run_and_names_its_channels() {
    // Five switches in a ring with three hosts each, everyone to the second next switch: the
    // circle of the textbooks.
    let mut builder = FabricBuilder::default();
    let switches: Vec<SwitchId> = (0..5).map(|s| builder.switch(format!("s{s}"), 5)).collect();
    for (s, &switch) in switches.iter().enumerate() {
        for port in 0..3 {
            let host = builder.host(format!("h{s}.{port}"));
            builder.connect(End::host(host), End::switch(switch, Port(port)));
        }
        let next = switches[(s + 1) % 5];
        builder.connect(End::switch(switch, Port(3)), End::switch(next, Port(4)));
    }
    let fabric = builder.build("ring", Shape::Irregular).unwrap();
    let routing = Shortest::new(&fabric);
    let config = Config { virtual_channels: 1, buffer: 4, ..full_duplex() };
    let text: String = (0..15).map(|host| format!("{}\n", (host + 6) % 15)).collect();
    let destination = Destination::Permutation(Permutation { file: "p.txt".to_owned() });
    let pattern = pattern(destination, &fabric, &text);
    let workload = Workload { size: fixed(128), pattern, ..workload(&fabric) };
    let blueprint = wormhole(&fabric, &routing, 1, &config);
    let nodes = plain_nodes(1, WHOLE);
    let trial = Trial {
        blueprint: &blueprint,
        nodes: &nodes,
        workload: &workload,
        seed: Seed(1),
        effort: EFFORT,
    };
    let found = run(&trial, 0.9);
    let Ending::Deadlocked(deadlock) = &found.ending else { panic!("{:?}", found.ending) };
    assert_eq!(deadlock.circle.len(), 5, "all the way round");
    assert!(found.measured.is_none());
    assert!(found.cycles < EFFORT.min_cycles, "found while it runs: {}", found.cycles);
    let note = found.note(&blueprint);
    assert!(note.contains("along s") && note.contains("s0:3 -> s1:4"), "{note}");
    let searched = trial.search(to(0.1), &mut |_| ControlFlow::Continue(())).unwrap().unwrap();
    assert!(searched.saturation.is_none(), "a search ends with a deadlock");
    assert!(matches!(searched.limit.ending, Ending::Deadlocked(_)));
}

/// A search with runs of the length that the effort allows, and no longer ones.
fn to(precision: f64) -> SearchSpec {
    SearchSpec { precision, budget: 0 }
}

#[test]
fn a_search_goes_on_with_longer_runs_until_its_budget_is_spent() {
    let mut bench = Bench::new();
    bench.workload.size = fixed(512);
    let search = |max_cycles, budget| {
        let effort = Effort { max_cycles, min_cycles: 250, ..EFFORT };
        let spec = SearchSpec { precision: 0.04, budget };
        let go_on = &mut |_| ControlFlow::Continue(());
        bench.trying(1, |trial| Trial { effort, ..trial }.search(spec, go_on)).unwrap().unwrap()
    };
    let width = |found: &Searched| {
        let Saturation { carried, refused, .. } = found.saturation.unwrap();
        refused.unwrap_or(1.0) - carried.unwrap_or(0.0)
    };
    let none = search(1000, 0);
    let (little, much) = (search(1000, none.work + none.work / 2), search(1000, u64::MAX));
    assert!(none.longest == 1000 && !none.saturation.unwrap().resolved, "{:?}", none.saturation);
    assert!(width(&little) <= width(&none) && !little.saturation.unwrap().resolved);
    assert!(little.runs > none.runs && little.longest <= much.longest);
    assert!(much.saturation.unwrap().resolved && much.longest > 8 * 1000, "{}", much.longest);
    // Wherever the budget ends, a limit that was seen to be refused counts.
    for part in 0..16 {
        let found = search(1000, none.work + none.work * part / 4);
        let refused = found.saturation.unwrap().refused;
        assert!(found.limit.ending != Ending::Saturated || refused.is_some(), "part {part}");
    }
    // It is where long runs find it at once.
    let Saturation { carried, refused, .. } = search(much.longest, 0).saturation.unwrap();
    let found = much.saturation.unwrap();
    assert!(found.carried < refused && found.refused > carried, "{found:?}");
}

#[test]
fn saturation_is_searched_for() {
    let bench = Bench::new();
    let mut most = 0;
    let mut watch = |cycles| {
        assert!(cycles > most, "cycles of all runs together");
        most = cycles;
        ControlFlow::Continue(())
    };
    let found = bench.trying(1, |trial| trial.search(to(0.05), &mut watch)).unwrap().unwrap();
    let saturation = found.saturation.unwrap();
    let (carried, refused) = (saturation.carried.unwrap(), saturation.refused.unwrap());
    assert!(carried > 0.4 && refused - carried <= 0.1 && saturation.resolved, "{saturation:?}");
    assert!(found.limit.load <= refused && found.limit.load > carried);
    assert!(found.cycles >= most && found.runs >= 6);
    // The network carries what the search says it does.
    assert_ne!(bench.run(1, carried).ending, Ending::Saturated);
    assert_eq!(bench.run(1, refused + 0.05).ending, Ending::Saturated);
}

#[test]
fn a_run_can_be_broken_off() {
    let bench = Bench::new();
    let mut windows = 0;
    let mut watch = |_| {
        windows += 1;
        if windows == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    assert!(bench.trying(1, |trial| trial.run(0.2, &mut watch)).unwrap().is_none());
    let mut at_once = |_| ControlFlow::Break(());
    let (mut last, mut longest) = (0, 0);
    let mut asked = |cycle: u64| {
        longest = longest.max(cycle - last);
        last = cycle;
        ControlFlow::Continue(())
    };
    let effort = Effort { min_cycles: 2_000_000, max_cycles: 2_000_000, ..EFFORT };
    let long = |trial: Trial<'_>| Trial { effort, ..trial }.run(0.01, &mut asked);
    assert!(bench.trying(1, long).unwrap().is_some());
    assert!(longest <= 4096, "{longest} cycles, also where windows are longer");
    assert!(bench.trying(1, |trial| trial.search(to(0.05), &mut at_once)).unwrap().is_none());
}

#[test]
fn the_same_trial_gives_the_same_findings() {
    let bench = Bench::new();
    let words = |found: Findings| {
        let measured = found.measured.unwrap();
        format!("{} {:?}", found.cycles, (measured.accepted, measured.latency, measured.channels))
    };
    let once = words(bench.run(2, 0.5));
    assert_eq!(once, words(bench.run(2, 0.5)));
    let other = bench.trying(2, |trial| run(&Trial { seed: Seed(2), ..trial }, 0.5));
    assert_ne!(once, words(other));
}

#[test]
fn silent_hosts_do_not_dilute_the_load() {
    let mut bench = Bench::new();
    // Hosts 0 and 7 read the same backwards and send nothing, as do 2 and 5.
    bench.workload.pattern = pattern(Destination::BitReversal {}, &bench.fabric, "");
    let measured = bench.run(1, 0.3).measured.unwrap();
    assert!((measured.offered / 0.3 - 1.0).abs() < 0.1, "{measured:?}");
    assert!((measured.accepted.mean / measured.offered - 1.0).abs() < 0.03, "{measured:?}");
    let silent = bench.fabric.host_out(HostId(7)).0 as usize;
    assert_eq!(measured.channels[silent].flits, 0);
}

#[test]
fn stripes_count_as_they_arrive_and_add_up_to_their_message() {
    let fabric = crosstie_fabric::single(3).unwrap();
    let routing = Shortest::new(&fabric);
    let config = Config { bus: Bus::Full, ..Config::default() };
    let packing = Packing { payload: Some(100), overhead: 8 };
    let blueprint = wormhole(&fabric, &routing, 2, &config);
    let policy = PolicyKind::LocalDynamic { striping: StripingRatio::ALL };
    let spec = NodesSpec { policy, ..plain_nodes(2, packing) };
    let mut nodes = Nodes::new(&spec, 3, Audience::Silent).unwrap();
    let mut network = blueprint.build(nodes.interest());
    let mut ledger = Ledger::new(Flits { flit: 2, packing }, &spec, network.grain(), 1000);
    let bytes = 10_250;
    ledger.generated(bytes);
    let (from, pe, to) = (NodeId(0), PeId(0), NodeId(1));
    let letter = Letter { from, pe, to, bytes, id: 0, rail: None, whole: false, placed: true };
    nodes.send(&mut *network, letter, &mut ledger);
    // Two rails carry two flits per cycle, and the message has 5537 on one rail.
    nodes.run_until(&mut *network, CYCLE * 1500, &mut ledger);
    assert_eq!(ledger.totals.messages, 0);
    let delivered = ledger.totals.delivered;
    assert!((2500..3000).contains(&delivered), "{delivered}");
    nodes.run_until(&mut *network, CYCLE * 10_000, &mut ledger);
    assert_eq!((ledger.totals.messages, ledger.totals.generated), (1, 5537));
    assert_eq!(ledger.totals.delivered, 5537);
}

#[test]
fn a_message_arrives_with_its_last_packet_and_rails_take_turns() {
    let fabric = crosstie_fabric::single(3).unwrap();
    let routing = Shortest::new(&fabric);
    let config = Config { bus: Bus::Full, ..Config::default() };
    let packing = Packing { payload: Some(100), overhead: 8 };
    let blueprint = wormhole(&fabric, &routing, 2, &config);
    let spec = plain_nodes(2, packing);
    let mut nodes = Nodes::new(&spec, 3, Audience::Silent).unwrap();
    let mut network = blueprint.build(nodes.interest());
    let flits = Flits { flit: 2, packing };
    let mut ledger = Ledger::new(flits, &spec, network.grain(), 1000);
    for _ in 0..3 {
        ledger.generated(250);
        let (from, pe, to) = (NodeId(0), PeId(0), NodeId(1));
        nodes.send(
            &mut *network,
            Letter { from, pe, to, bytes: 250, id: 0, rail: None, whole: false, placed: true },
            &mut ledger,
        );
    }
    assert_eq!(ledger.totals.generated, 3 * (54 + 54 + 29));
    nodes.run_until(&mut *network, CYCLE * 10_000, &mut ledger);
    let totals = ledger.totals;
    assert_eq!((totals.messages, totals.packets, totals.switches), (3, 9, 9));
    assert_eq!(totals.delivered, totals.generated);
    assert!(nodes.is_idle());
    // Messages 1 and 3 queue on rail 0, message 2 has rail 1 for itself.
    let channels = fabric.channels().len();
    let out = fabric.host_out(HostId(0)).0 as usize;
    let tallies = network.channels();
    assert_eq!([tallies[out].flits, tallies[channels + out].flits], [2 * 137, 137]);
    assert!(ledger.log.since(0).max().unwrap() > 2 * 137);
    assert_eq!(ledger.window(&Default::default()).backlog, 0);
}
