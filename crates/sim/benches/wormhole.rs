//! Simulated flit-hops per second of processor time, single thread. `cargo bench -p crosstie-sim`
//! runs all works; see `benches/README.md` for what they are.

use cpu_time::ThreadTime;
use crosstie_fabric::{Fabric, Node, tree};
use crosstie_routing::TreeAdaptive;
use crosstie_sim::network::{Ends, Priority};
use crosstie_sim::wormhole::{Bus, Config, Delivery, EPOCH, Engine, Flow, Observer, Packet};
use crosstie_units::{Bytes, Seed};
use crosstie_work::traffic::{Arrival, Demand, Destination, Size, Traffic};

struct Work {
    name: &'static str,
    n: u16,
    flits: u32,
    load: f64,
    cycles: u64,
    machine: Machine,
}

/// Whose links a work has.
#[derive(Clone, Copy)]
enum Machine {
    Qsnet,
    Myrinet,
}

impl Machine {
    fn config(self) -> Config {
        let qsnet = Config { bus: Bus::Full, ..Config::default() };
        match self {
            Machine::Qsnet => qsnet,
            Machine::Myrinet => Config {
                virtual_channels: 1,
                buffer: 80,
                flow: Flow::StopAndGo { stop: 56, go: 40 },
                routing_delay: 23,
                wire: 8,
                ..qsnet
            },
        }
    }
}

use Machine::{Myrinet, Qsnet};

const WORKS: &[Work] = &[
    Work { name: "A 0.1", n: 4, flits: 32, load: 0.1, cycles: 200_000, machine: Qsnet },
    Work { name: "A 0.3", n: 4, flits: 32, load: 0.3, cycles: 80_000, machine: Qsnet },
    Work { name: "A 0.5", n: 4, flits: 32, load: 0.5, cycles: 50_000, machine: Qsnet },
    Work { name: "B 0.3", n: 4, flits: 2048, load: 0.3, cycles: 400_000, machine: Qsnet },
    Work { name: "C 0.3", n: 5, flits: 32, load: 0.3, cycles: 20_000, machine: Qsnet },
    Work { name: "64 hosts 0.3", n: 3, flits: 32, load: 0.3, cycles: 400_000, machine: Qsnet },
    Work { name: "4096 hosts 0.3", n: 6, flits: 32, load: 0.3, cycles: 4_000, machine: Qsnet },
    Work { name: "M 0.1", n: 4, flits: 512, load: 0.1, cycles: 400_000, machine: Myrinet },
    Work { name: "M 0.3", n: 4, flits: 512, load: 0.3, cycles: 200_000, machine: Myrinet },
];

/// Runs per work; the best one counts, being the least disturbed. The works take turns, so that
/// what disturbs one of them for a while disturbs them all.
const RUNS: u32 = 5;

/// What a run of a work shows.
#[derive(Clone, Copy)]
struct Timing {
    seconds_per_flit_hop: f64,
    accepted: f64,
    latency: f64,
}

#[derive(Default)]
struct Latencies {
    sum: u64,
    packets: u64,
}

impl Observer for Latencies {
    fn delivered(&mut self, delivery: &Delivery) {
        self.sum += delivery.delivered - delivery.queued;
        self.packets += 1;
    }
}

fn run_to(until: u64, engine: &mut Engine<'_>, traffic: &mut Traffic, seen: &mut Latencies) {
    while traffic.next_cycle() + EPOCH < until {
        let message = traffic.draw();
        let at = message.cycle + EPOCH;
        engine.run_until(at, seen);
        let packet = Packet {
            from: message.from,
            to: message.to,
            more: 0,
            flits: message.bytes,
            id: 0,
            ends: Ends::Memories,
            priority: Priority::Low,
        };
        engine.inject(at, packet);
    }
    engine.run_until(until, seen);
}

/// Flits sent by switches.
fn flit_hops(engine: &mut Engine<'_>, fabric: &Fabric) -> u64 {
    let (counts, _) = engine.counts();
    let by_switch =
        |&c: &crosstie_fabric::ChannelId| matches!(fabric.channel(c).from.node, Node::Switch(_));
    fabric.channels().filter(by_switch).map(|c| counts[c.0 as usize].flits).sum()
}

fn main() {
    let filter: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    // A share of the usual length, for instruction counts under callgrind.
    let share: f64 =
        std::env::var("CROSSTIE_BENCH_SHARE").map_or(1.0, |s| s.parse().expect("a number"));
    let chosen =
        |work: &&Work| filter.is_empty() || filter.iter().any(|f| work.name.contains(f.as_str()));
    let works: Vec<&Work> = WORKS.iter().filter(chosen).collect();
    let mut best: Vec<Timing> = works.iter().map(|work| measure(work, share)).collect();
    for _ in 1..RUNS {
        for (work, best) in works.iter().zip(&mut best) {
            let outcome = measure(work, share);
            if outcome.seconds_per_flit_hop < best.seconds_per_flit_hop {
                *best = outcome;
            }
        }
    }
    println!(
        "{:<16} {:>14} {:>10} {:>10} {:>8}",
        "work", "flit-hops/s", "ns each", "accepted", "latency"
    );
    for (work, outcome) in works.iter().zip(&best) {
        println!(
            "{:<16} {:>12.1} M {:>10.2} {:>10.3} {:>8.1}",
            work.name,
            1e-6 / outcome.seconds_per_flit_hop,
            outcome.seconds_per_flit_hop * 1e9,
            outcome.accepted,
            outcome.latency
        );
    }
    let cost = |name: &str| {
        let place = works.iter().position(|work| work.name.starts_with(name))?;
        Some(best[place].seconds_per_flit_hop)
    };
    if let (Some(small), Some(large)) = (cost("64 hosts"), cost("4096 hosts")) {
        println!("cost per flit-hop, 4096 hosts against 64: {:.2} times", large / small);
    }
}

/// Runs a work once.
fn measure(work: &Work, share: f64) -> Timing {
    let fabric = tree(4, work.n).expect("a valid tree");
    let routing = TreeAdaptive::new(&fabric).expect("a tree");
    let config = work.machine.config();
    let no_files = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let demand = Demand {
        load: work.load,
        arrival: Arrival::Exponential {},
        size: Size::Fixed { size: Bytes::new(u64::from(work.flits)) },
        pattern: Destination::Uniform {}.on(&fabric, &no_files).expect("two hosts or more"),
    };
    let cycles = (work.cycles as f64 * share) as u64;
    let hosts = fabric.hosts().len() as u32;
    let mut traffic = Traffic::new(Seed(1), &demand).expect("valid traffic");
    let mut engine = Engine::new(&fabric, &routing, 1, &config);
    let mut seen = Latencies::default();
    let warm = EPOCH + cycles / 10;
    run_to(warm, &mut engine, &mut traffic, &mut seen);
    engine.reset_counts();
    seen = Latencies::default();
    let before = engine.flits_delivered();
    let clock = ThreadTime::now();
    run_to(warm + cycles, &mut engine, &mut traffic, &mut seen);
    let seconds = clock.elapsed().as_secs_f64();
    Timing {
        seconds_per_flit_hop: seconds / flit_hops(&mut engine, &fabric) as f64,
        accepted: (engine.flits_delivered() - before) as f64 / (cycles as f64 * f64::from(hosts)),
        latency: seen.sum as f64 / seen.packets as f64,
    }
}
