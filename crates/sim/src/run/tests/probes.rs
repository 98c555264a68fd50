//! Microbenchmarks recover what a cluster was made of [tam, app. A].

use super::*;
use crate::frame::{Capacity, Forwarding, FrameSpec, HandOver, Line, Memory, SwitchSpec};
use crate::network::Pace;
use crate::node::StationSpec;
use crosstie_units::Cost;
use crosstie_work::probe::{Burst, Inflow, Pairs, ReceiveOverhead, TransmitRing};
use crosstie_work::{Note, Program, Rank};

const BYTE: Time = Time::from_ns(80);
const PAYLOAD: u32 = 1492;
/// Between two full frames on Fast Ethernet.
const SLOT: Time = Time::from_ns(123_040);
const LATENCY: Time = Time::from_ns(5_000);
const WIRE: Time = Time::from_ns(500);

fn us(us: f64) -> Time {
    Time::from_ps((us * 1e6).round() as u64)
}

fn in_us(time: Time) -> f64 {
    time.ps() as f64 / 1e6
}

/// Table 5.2 of the thesis, with a part of O_s, O_r and U_r for every byte.
fn node() -> StationSpec {
    let cost =
        |fixed, byte| Cost { fixed: us(fixed), byte: Time::from_ps(byte), ..Cost::default() };
    StationSpec {
        send: cost(5.0, 5_000),
        receive: cost(8.0, 8_000),
        pickup: cost(1.0, 4_000),
        outward: cost(0.5, 0),
        inward: cost(0.7, 0),
        interrupts: true,
        ring: Some(32),
        ..StationSpec::default()
    }
}

/// A cluster of Fast Ethernet.
#[derive(Clone)]
struct Cluster {
    hosts: u32,
    /// `None`: two hosts and a link.
    switch: Option<SwitchSpec>,
    node: StationSpec,
    seed: u64,
}

impl Cluster {
    fn new(hosts: u32, memory: Memory, node: StationSpec) -> Cluster {
        let forwarding = Forwarding::StoreAndForward;
        let switch = SwitchSpec { forwarding, lookup: Time::ZERO, latency: LATENCY, memory };
        Cluster { hosts, switch: Some(switch), node, seed: 1 }
    }

    fn back_to_back(node: StationSpec) -> Cluster {
        Cluster { hosts: 2, switch: None, node, seed: 1 }
    }

    fn run(&self, mut program: Program) -> Played {
        let fabric = match self.switch {
            Some(_) => crosstie_fabric::single(self.hosts).unwrap(),
            None => {
                let mut builder = FabricBuilder::default();
                let ends = ["a", "b"].map(|name| End::host(builder.host(name.to_owned())));
                builder.connect(ends[0], ends[1]);
                builder.build("two", Shape::Irregular).unwrap()
            }
        };
        let routing = Shortest::new(&fabric);
        let line = Line { pace: Pace { time: BYTE, bytes: 1 }, wire: WIRE };
        let lines = vec![line; fabric.links().len()];
        let switches = Vec::from_iter(self.switch);
        let blueprint = FrameSpec {
            fabric: &fabric,
            routing: &routing,
            rails: 1,
            ports: &[],
            lines: &lines,
            clocks: &[],
            switches: &switches,
            cycle: BYTE,
            changes: &[],
        };
        let nodes = NodesSpec {
            station: Some(self.node),
            seed: Seed(self.seed),
            ..plain_nodes(1, Packing { payload: Some(PAYLOAD), overhead: 8 })
        };
        let limit = Time::from_ns(1_000_000_000_000);
        let (blueprint, nodes) = (&blueprint, &nodes);
        let play =
            Play { blueprint, nodes, messaging: None, overhead: None, limit, records: false };
        let played = play.run(&mut program, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(played.failure, None);
        played
    }
}

/// What a cost is for a message of so many bytes, which has 8 more on the wire.
fn at(cost: Cost, bytes: u32) -> f64 {
    in_us(cost.at(u64::from(bytes) + 8, 2))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn times(played: &Played, of: impl Fn(Note) -> Option<Time>) -> Vec<f64> {
    played.notes.iter().filter_map(|&(_, note)| of(note)).map(in_us).collect()
}

fn memory(frames: u32) -> Memory {
    Memory::Shared { all: Capacity::Frames(frames), cap: None, uplink: None }
}

fn transmit(cluster: &Cluster, bytes: u32, rounds: u32) -> Vec<(u32, f64)> {
    let drain = SLOT * 2;
    let (from, to, ring, most) = (Rank(0), Rank(1), 32, 512);
    let probe = TransmitRing { from, to, bytes, ring, most, rounds, drain };
    let note = |&(_, note): &_| match note {
        Note::Written { packets, took } => Some((packets, in_us(took))),
        _ => None,
    };
    cluster.run(probe.program()).notes.iter().filter_map(note).collect()
}

/// O_s from the numbers that fit in the ring, and g_s from the two largest.
fn overhead_and_gap(written: &[(u32, f64)]) -> (f64, f64) {
    let all = |packets| -> Vec<f64> {
        written.iter().filter(|found| found.0 == packets).map(|found| found.1).collect()
    };
    let fits = mean(&all(24)) / 24.0;
    (fits, (mean(&all(512)) - mean(&all(256))) / 256.0)
}

fn near(found: f64, expected: f64, within: f64) {
    assert!((found - expected).abs() <= within, "found {found}, expected {expected}");
}

#[test]
fn a_ring_tells_what_sending_takes_processor_and_nic() {
    let two = Cluster::back_to_back(node());
    for cluster in [&two, &Cluster::new(3, memory(100), node())] {
        for bytes in [700, PAYLOAD] {
            let written = transmit(cluster, bytes, 1);
            let (overhead, gap) = overhead_and_gap(&written);
            near(overhead, at(node().send, bytes), 1e-6);
            near(gap, f64::from(bytes + 8 + 38) * 0.08, 1e-6);
            // Both plateaus, as algorithm 7 prints them: the second is reached slowly.
            let each = |place: usize| written[place].1 / f64::from(written[place].0);
            let last = each(written.len() - 1);
            near(each(0), overhead, 1e-6);
            assert!(last < gap && last > gap * (1.0 - 33.0 / 512.0), "{last} {gap}");
        }
    }
    // A NIC that is slower than its link.
    let slow = StationSpec { send_gap: Cost::fixed(us(187.6)), ..node() };
    near(overhead_and_gap(&transmit(&Cluster::back_to_back(slow), PAYLOAD, 1)).1, 187.6, 1e-6);
    // Where the processor is slower than the NIC, it is all that shows.
    let slow = StationSpec { send: Cost::fixed(us(150.0)), ..node() };
    let written = transmit(&Cluster::back_to_back(slow), PAYLOAD, 1);
    assert!(written.iter().all(|&(packets, took)| took == 150.0 * f64::from(packets)));
}

struct Reception {
    rtt: Vec<f64>,
    pickup: Vec<f64>,
    receive: Vec<f64>,
    discarded: usize,
}

fn reception(cluster: &Cluster, bytes: u32, iterations: u32) -> Reception {
    let (master, slave, segment) = (Rank(0), Rank(1), us(2.0));
    let played = cluster
        .run(ReceiveOverhead { master, slave, bytes, iterations, segment, idle: false }.program());
    let stolen = |kept| {
        times(&played, |note| match note {
            Note::Stolen { took, kept: found } if found == kept => Some(took),
            _ => None,
        })
    };
    Reception {
        rtt: round_trips(&played),
        pickup: times(&played, |note| match note {
            Note::PickedUp { took } => Some(took),
            _ => None,
        }),
        receive: stolen(true),
        discarded: stolen(false).len(),
    }
}

fn round_trips(played: &Played) -> Vec<f64> {
    times(played, |note| match note {
        Note::RoundTrip { took } => Some(took),
        _ => None,
    })
}

/// From the ring of a node into that of another, by so many links.
fn latency(bytes: u32, links: u32) -> f64 {
    let link = f64::from((bytes + 8).max(46) + 26) * 0.08 + in_us(WIRE);
    0.5 + 0.7 + link * f64::from(links) + in_us(LATENCY) * f64::from(links - 1)
}

#[test]
fn an_echo_tells_what_receiving_takes_system_and_process() {
    let two = Cluster::back_to_back(node());
    for (cluster, links) in [(&two, 1), (&Cluster::new(4, memory(100), node()), 2)] {
        for bytes in [1, 300, PAYLOAD] {
            let Reception { rtt, pickup, receive, discarded } = reception(cluster, bytes, 50);
            assert_eq!((rtt.len(), pickup.len(), receive.len(), discarded), (50, 50, 50, 0));
            near(mean(&pickup), at(node().pickup, bytes), 1e-6);
            near(mean(&receive), at(node().receive, bytes), 1e-6);
            let rest = at(node().send, bytes) + mean(&receive) + mean(&pickup);
            near(mean(&rtt) / 2.0 - rest, latency(bytes, links), 1e-6);
        }
    }
    // Without interrupts it is all the process's, and nothing is taken for a reception.
    let polled = StationSpec { interrupts: false, ..node() };
    let found = reception(&Cluster::back_to_back(polled), PAYLOAD, 50);
    near(mean(&found.pickup), at(node().pickup, PAYLOAD) + at(node().receive, PAYLOAD), 1e-6);
    assert_eq!((found.receive.len(), found.discarded), (0, 50));
}

fn inflow(cluster: &Cluster, bytes: u32) -> Vec<f64> {
    let receiver = Rank(cluster.hosts - 1);
    let probe = Inflow {
        senders: (0..receiver.0).map(Rank).collect(),
        receiver,
        bytes,
        packets: 200,
        settle: Time::ZERO,
        rise: us(2_000.0),
        window: us(10_000.0),
        every: us(400_000.0),
        rounds: 5,
    };
    let played = cluster.run(probe.program());
    let gap = |&(_, note): &_| match note {
        Note::Arrived { packets, took } => Some(in_us(took) / f64::from(packets - 1)),
        _ => None,
    };
    played.notes.iter().filter_map(gap).collect()
}

#[test]
fn a_flood_tells_how_fast_packets_come_in() {
    let cluster = Cluster::new(5, memory(100), node());
    let all_near = |found: Vec<f64>, expected| {
        assert_eq!(found.len(), 5);
        found.into_iter().for_each(|gap| near(gap, expected, 1e-6));
    };
    all_near(inflow(&cluster, PAYLOAD), 123.04);
    all_near(inflow(&cluster, 692), 59.04);
    let slow = StationSpec { receive_gap: Cost::fixed(us(140.0)), ..node() };
    all_near(inflow(&Cluster::new(5, memory(100), slow), PAYLOAD), 140.0);
}

fn pairs(cluster: &Cluster, count: u32, every: Option<Time>) -> f64 {
    let pairs = (0..count).map(|left| (Rank(left), Rank(cluster.hosts / 2 + left))).collect();
    let probe = Pairs { pairs, bytes: PAYLOAD, iterations: 40, every };
    let trips = round_trips(&cluster.run(probe.program()));
    assert_eq!(trips.len(), 40 * count as usize);
    let rest: f64 =
        [node().send, node().receive, node().pickup].map(|c| at(c, PAYLOAD)).iter().sum();
    mean(&trips) / 2.0 - rest
}

#[test]
fn latency_grows_with_the_pairs_that_share_a_forwarding_engine() {
    let lookup = us(2.0);
    let mut cluster = Cluster::new(16, memory(100), node());
    let every = Some(us(1_000.0));
    near(pairs(&cluster, 8, every), latency(PAYLOAD, 2), 1e-6);
    cluster.switch.as_mut().unwrap().lookup = lookup;
    for count in [1, 2, 4, 8] {
        // Pings come together, and wait for each other; echoes come one after the other.
        let waits = in_us(lookup) * f64::from(count - 1) / 2.0;
        near(pairs(&cluster, count, every), latency(PAYLOAD, 2) + 2.0 + waits / 2.0, 1e-6);
    }
    // Left alone, pairs get out of each other's way.
    let alone = pairs(&cluster, 8, None) - latency(PAYLOAD, 2) - 2.0;
    assert!((0.0..0.2).contains(&alone), "{alone}");
}

/// What came through of each burst, as (k, received).
fn bursts(cluster: &Cluster, sources: u32, sinks: u32, lengths: &[u32]) -> Vec<(u32, u32)> {
    let probe = Burst {
        sources: (0..sources).map(Rank).collect(),
        sinks: (sources..sources + sinks).map(Rank).collect(),
        bytes: PAYLOAD,
        bursts: lengths.to_vec(),
        settle: Time::ZERO,
        drain: SLOT,
        rest: us(1_000.0),
    };
    let played = cluster.run(probe.program());
    let received = |length| {
        let share = |&(_, note): &_| match note {
            Note::Received { burst, packets } if burst == length => Some(packets),
            _ => None,
        };
        (length, played.notes.iter().filter_map(share).sum())
    };
    assert_eq!(played.delivery.overflows, Default::default());
    lengths.iter().map(|&length| received(length)).collect()
}

fn input(frames: u32) -> Memory {
    let room = Capacity::Frames(frames);
    Memory::Input {
        host: room,
        uplink: room,
        hand_over: HandOver::default(),
        stage: 0,
        circuit: None,
    }
}

fn output(frames: u32) -> Memory {
    Memory::Output { host: Capacity::Frames(frames), uplink: Capacity::Frames(frames) }
}

#[test]
fn bursts_tell_where_a_switch_keeps_packets_and_how_many() {
    // Memory, S, R, and B~: S B_L, R B_L, B_L.
    for (memory, sources, sinks, frames) in [
        (input(43), 2, 1, 86),
        (input(43), 4, 1, 172),
        (input(43), 15, 1, 645),
        (output(95), 2, 1, 95),
        (output(95), 4, 1, 95),
        (output(95), 8, 1, 95),
        (output(95), 8, 2, 190),
        (output(95), 12, 3, 285),
        (memory(200), 2, 1, 200),
        (memory(200), 8, 1, 200),
        (memory(200), 8, 2, 200),
        (memory(200), 12, 3, 200),
    ] {
        let cluster = Cluster::new(sources + sinks, memory, node());
        let share = f64::from(sinks) / f64::from(sources);
        let longest = f64::from(frames) / (1.0 - share);
        let least = (longest as u32 / sources + 2) * sources;
        let lengths = [least / sources / 2 * sources, 2 * least, 4 * least, 8 * least];
        let found = bursts(&cluster, sources, sinks, &lengths);
        let case = format!("{memory:?}, {sources} to {sinks}: {found:?}");
        assert_eq!(found[0].1, found[0].0, "nothing of a short burst is lost: {case}");
        for (length, received) in &found[1..] {
            // A.2, rho = D/A + B~/k, counts those that wait: one more is leaving to each sink, and
            // has its room until its last bit has left.
            let waiting = f64::from(*received) - share * f64::from(*length);
            near(waiting, f64::from(frames - sinks), 1e-6);
        }
    }
}

/// What writing a packet takes more at random is half its most on average. Only what is told by
/// differences of a processor's own times stays exact.
#[test]
fn jitter_blurs_what_depends_on_writing_and_nothing_else() {
    let jitter = us(5.0);
    for seed in 1..=4 {
        let jittery = StationSpec { jitter, ..node() };
        let two = Cluster { seed, ..Cluster::back_to_back(jittery) };
        let (overhead, gap) = overhead_and_gap(&transmit(&two, PAYLOAD, 20));
        let written = at(node().send, PAYLOAD) + 2.5;
        near(overhead, written, 0.02 * written);
        near(gap, 123.04, 0.01);
        let found = reception(&two, PAYLOAD, 200);
        assert_eq!(found.receive.len(), 200);
        near(mean(&found.pickup), at(node().pickup, PAYLOAD), 1e-6);
        near(mean(&found.receive), at(node().receive, PAYLOAD), 1e-6);
        let rest = written + mean(&found.receive) + mean(&found.pickup);
        near(mean(&found.rtt) / 2.0 - rest, latency(PAYLOAD, 1), 0.25);
        let cluster = Cluster { seed, ..Cluster::new(5, memory(100), jittery) };
        inflow(&cluster, PAYLOAD).into_iter().for_each(|gap| near(gap, 123.04, 1e-6));
        for (memory, frames) in [(input(43), 172), (output(95), 95), (memory(200), 200)] {
            let cluster = Cluster { seed, ..Cluster::new(5, memory, jittery) };
            for (length, received) in bursts(&cluster, 4, 1, &[1000, 2000]) {
                let waiting = f64::from(received) - f64::from(length) / 4.0;
                near(waiting, f64::from(frames - 1), 1.0);
            }
        }
    }
}

/// A rank that waits for a time goes on at that time, whatever the network, and nobody takes it for
/// a standstill.
#[test]
fn times_are_waited_for_where_nothing_else_happens() {
    let bench = Bench::new();
    let wormhole = bench.blueprint(1);
    let ideal = crate::ideal::IdealSpec {
        hosts: 8,
        rails: 1,
        pace: Pace { time: CYCLE, bytes: 2 },
        latency: CYCLE,
        gap: CYCLE,
        cycle: CYCLE,
    };
    let blueprints: [&dyn Blueprint; 2] = [&wormhole, &ideal];
    for blueprint in blueprints {
        let every = CYCLE * 1000;
        let probe =
            Pairs { pairs: vec![(Rank(0), Rank(7))], bytes: 16, iterations: 3, every: Some(every) };
        let nodes = plain_nodes(1, WHOLE);
        let play = |limit| {
            let play = Play {
                blueprint,
                nodes: &nodes,
                messaging: None,
                overhead: None,
                limit,
                records: false,
            };
            let mut program = probe.clone().program();
            play.run(&mut program, &mut |_| ControlFlow::Continue(())).unwrap()
        };
        let played = play(every * 10);
        assert_eq!(played.failure, None);
        let trips = round_trips(&played);
        assert_eq!(trips, [trips[0]; 3]);
        // The barrier, and then three times.
        near(in_us(played.time), in_us(every) * 3.0 + trips[0], 1e-6);
        let failure = play(every * 2).failure.unwrap();
        assert_eq!(failure, "not done at the limit of 10 us, after 0 iterations");
    }
}
