//! Simulated frame-hops per second of processor time, single thread: `cargo bench -p crosstie-sim
//! -- frames`; see `benches/README.md` for what the works are. A frame-hop is one frame through one
//! switch.

use cpu_time::ThreadTime;
use crosstie_collective::{Builder, Rank, Tag};
use crosstie_fabric::{Fabric, single, tree};
use crosstie_protocol::channel::GoBackNSpec;
use crosstie_protocol::{Packing, PolicyKind};
use crosstie_routing::{Routing, Shortest, TreeAdaptive};
use crosstie_sim::frame::{Capacity, Forwarding, FrameSpec, Frames, Line, Memory, SwitchSpec};
use crosstie_sim::network::{Attention, Ends, Interest, Network, Pace, Packet, Priority};
use crosstie_sim::node::{NodesSpec, StationSpec};
use crosstie_sim::run::Play;
use crosstie_units::{Bytes, Cost, Seed, Time};
use crosstie_work::Player;
use crosstie_work::traffic::{Arrival, Demand, Destination, Size, Traffic};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Runs per work; the best one counts, being the least disturbed.
const RUNS: u32 = 5;

/// What a run shows: how long it took, how many frames went through switches, and what is the same
/// everywhere.
struct Timing {
    seconds: f64,
    hops: u64,
    lost: u64,
    result: f64,
}

type Work = (&'static str, fn(f64) -> Timing);

const WORKS: [Work; 4] = [
    ("frames F1", |share| many_to_one(share, None)),
    ("frames commodity", |share| many_to_one(share, Some(COMMODITY))),
    ("frames F2", |share| uniform(share, 32, 40_000)),
    ("frames 4096 hosts", |share| uniform(share, 64, 6_000)),
];

/// Table 5.2 of Tam's thesis, and a little jitter.
const COMMODITY: StationSpec = StationSpec {
    send: Cost::fixed(Time::from_ns(12_500)),
    receive: Cost::fixed(Time::from_ns(20_000)),
    pickup: Cost::fixed(Time::from_ns(7_000)),
    send_gap: Cost::fixed(Time::ZERO),
    outward: Cost::fixed(Time::ZERO),
    inward: Cost::fixed(Time::ZERO),
    receive_gap: Cost::fixed(Time::ZERO),
    interrupts: true,
    ring: None,
    receive_ring: None,
    pool: None,
    jitter: Time::from_ns(5_000),
};

fn main() {
    let filter: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    // A share of the usual length, for instruction counts under callgrind.
    let share: f64 =
        std::env::var("CROSSTIE_BENCH_SHARE").map_or(1.0, |s| s.parse().expect("a number"));
    let chosen =
        |(name, _): &&Work| filter.is_empty() || filter.iter().any(|f| name.contains(f.as_str()));
    let works: Vec<&Work> = WORKS.iter().filter(chosen).collect();
    if works.is_empty() {
        return;
    }
    println!(
        "{:<20} {:>14} {:>8} {:>10} {:>10} {:>10}",
        "work", "frame-hops/s", "ns each", "hops", "lost", "result"
    );
    for (name, run) in works {
        let runs = (0..if share < 1.0 { 1 } else { RUNS }).map(|_| run(share));
        let best = runs.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("a run");
        let each = best.seconds / best.hops as f64;
        println!(
            "{name:<20} {:>12.2} M {:>8.1} {:>10} {:>10} {:>10.4}",
            1e-6 / each,
            each * 1e9,
            best.hops,
            best.lost,
            best.result
        );
    }
}

fn line(nanoseconds: u64) -> Line {
    Line { pace: Pace { time: Time::from_ns(nanoseconds), bytes: 1 }, wire: Time::ZERO }
}

fn switch(frames: u32) -> SwitchSpec {
    let room = Capacity::Frames(frames);
    SwitchSpec {
        forwarding: Forwarding::StoreAndForward,
        lookup: Time::ZERO,
        latency: Time::from_ns(5_000),
        memory: Memory::Output { host: room, uplink: room },
    }
}

fn spec<'a>(
    fabric: &'a Fabric,
    routing: &'a dyn Routing,
    lines: &'a [Line],
    switches: &'a [SwitchSpec],
) -> FrameSpec<'a> {
    let cycle = lines[0].pace.time;
    FrameSpec {
        fabric,
        routing,
        rails: 1,
        ports: &[],
        lines,
        clocks: &[],
        switches,
        cycle,
        changes: &[],
    }
}

/// F1: 32 hosts send to one through a switch that keeps 95 frames, go-back-N with a window of 12.
fn many_to_one(share: f64, station: Option<StationSpec>) -> Timing {
    const SENDERS: u32 = 32;
    const PAYLOAD: u32 = 1492;
    let packets = (30_000.0 * share) as u32;
    let fabric = single(SENDERS + 1).expect("a switch");
    let routing = Shortest::new(&fabric);
    let (lines, switches) = (vec![line(80); fabric.links().len()], [switch(95)]);
    let blueprint = spec(&fabric, &routing, &lines, &switches);
    let slot = lines[0].occupied(PAYLOAD + 8);
    let nodes = NodesSpec {
        policy: PolicyKind::RoundRobin {},
        pes: 1,
        blocking: true,
        rails: 1,
        transfers: 1,
        window: Some(1),
        packing: Packing { payload: Some(PAYLOAD), overhead: 8 },
        control: 8,
        response: Time::ZERO,
        channel: Some(
            GoBackNSpec { window: 12, timeout: slot * 700, every: 1, after: slot, simple: false }
                .into(),
        ),
        ahead: None,
        exchange: None,
        patience: None,
        rates: Vec::new(),
        station,
        puts: false,
        injection: Default::default(),
        seed: Seed(1),
    };
    let mut builder = Builder::new(SENDERS + 1);
    let (root, tag, bytes) = (Rank(SENDERS), Tag(0), packets * PAYLOAD);
    for sender in (0..SENDERS).map(Rank) {
        builder.send(sender, root, tag, bytes);
        builder.receive(root, sender, tag, bytes);
    }
    let schedule = Arc::new(builder.finish().expect("nothing waits for itself"));
    let limit = Time::from_ns(u64::MAX / 4000);
    let play = Play {
        blueprint: &blueprint,
        nodes: &nodes,
        messaging: None,
        overhead: None,
        limit,
        records: false,
    };
    let clock = ThreadTime::now();
    let played = play
        .run(&mut Player::new(schedule, 1), &mut |_| ControlFlow::Continue(()))
        .expect("it is not broken off");
    let seconds = clock.elapsed().as_secs_f64();
    assert_eq!(played.failure, None);
    let best = (slot * u64::from(SENDERS) * u64::from(packets)).ps() as f64;
    Timing {
        seconds,
        hops: played.buffers.iter().map(|buffer| buffer.taken).sum(),
        lost: played.delivery.lost,
        result: best / played.time.ps() as f64,
    }
}

/// F2: two levels of switches with k hosts, k links up each; full frames to anybody at half the
/// rate of a link.
fn uniform(share: f64, k: u16, frame_times: u64) -> Timing {
    const FRAME: u32 = 1500;
    let fabric = tree(k, 2).expect("a tree");
    let routing = TreeAdaptive::new(&fabric).expect("a tree");
    let lines = vec![line(8); fabric.links().len()];
    let switches = vec![switch(512); fabric.switches().len()];
    let blueprint = spec(&fabric, &routing, &lines, &switches);
    let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let demand = Demand {
        load: 0.5,
        arrival: Arrival::Exponential {},
        size: Size::Fixed { size: Bytes::new(u64::from(FRAME)) },
        pattern: Destination::Uniform {}.on(&fabric, &no_files).expect("two hosts or more"),
    };
    let mut traffic = Traffic::new(Seed(1), &demand).expect("valid traffic");
    let attention = Attention::Late;
    let mut network = Frames::new(
        &blueprint,
        Interest { departures: false, arriving: false, acknowledges: false, attention },
    );
    let (mut told, mut arrived, mut latency) = (Vec::new(), 0u64, 0u64);
    let cycle = lines[0].pace.time;
    let mut run_to = |until: u64, arrived: &mut u64, latency: &mut u64| {
        while traffic.next_cycle() < until {
            let message = traffic.draw();
            network.run_until(cycle * message.cycle, &mut told);
            let (from, to, bytes) = (message.from, message.to, message.bytes);
            // The number is the time, for the latency.
            let id = message.cycle;
            let ends = Ends::Memories;
            network.inject(Packet {
                rail: 0,
                from,
                to,
                bytes,
                id,
                siblings: 1,
                departs: true,
                ends,
                priority: Priority::Low,
            });
            for event in told.drain(..) {
                *arrived += 1;
                *latency += (event.at.ps() / cycle.ps()).saturating_sub(event.id);
            }
        }
        network.buffers().iter().fold((0, 0), |(t, d), b| (t + b.taken, d + b.dropped))
    };
    let cycles = (frame_times as f64 * share) as u64 * u64::from(FRAME + 38) / 32;
    let before = run_to(cycles / 10, &mut arrived, &mut latency);
    (arrived, latency) = (0, 0);
    let clock = ThreadTime::now();
    let after = run_to(cycles / 10 + cycles, &mut arrived, &mut latency);
    let seconds = clock.elapsed().as_secs_f64();
    Timing {
        seconds,
        hops: after.0 - before.0,
        lost: after.1 - before.1,
        result: latency as f64 / arrived as f64,
    }
}
