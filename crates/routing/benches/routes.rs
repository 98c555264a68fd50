//! The processor time that it takes to make and to check routes, single thread. `cargo bench -p
//! crosstie-routing` runs all works; words after `--` choose works by name.

use cpu_time::ThreadTime;
use crosstie_fabric::{Fabric, Irregular, irregular};
use crosstie_routing::{Routing, RoutingKind, Summary, certify};
use crosstie_units::Seed;

struct Work {
    name: &'static str,
    switches: u32,
    kind: &'static str,
    /// The best of so many runs counts, being the least disturbed.
    runs: u32,
}

const WORKS: &[Work] = &[
    Work { name: "UD 64", switches: 64, kind: "up-down", runs: 10 },
    Work { name: "DFS 64", switches: 64, kind: "dfs", runs: 10 },
    Work { name: "UD_MITB 64", switches: 64, kind: "up-down-mitb", runs: 10 },
    Work { name: "UD_ITB 64", switches: 64, kind: "up-down-itb", runs: 10 },
    Work { name: "DFS_ITB 64", switches: 64, kind: "dfs-itb", runs: 10 },
    Work { name: "B_ITB 64", switches: 64, kind: "balanced-itb", runs: 5 },
    Work { name: "SMART 16", switches: 16, kind: "smart", runs: 2 },
    Work { name: "SMART 32", switches: 32, kind: "smart", runs: 2 },
    Work { name: "SMART 64", switches: 64, kind: "smart", runs: 2 },
    Work { name: "UD_ITB 1000", switches: 1000, kind: "up-down-itb", runs: 2 },
];

fn main() {
    let filter: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let chosen =
        |work: &&Work| filter.is_empty() || filter.iter().any(|f| work.name.contains(f.as_str()));
    println!(
        "{:<12} {:>12} {:>12} {:>12} {:>9} {:>9}",
        "work", "routes, ms", "summary, ms", "proof, ms", "minimal", "busiest"
    );
    for work in WORKS.iter().filter(chosen) {
        let size =
            Irregular { switches: work.switches, ports: 8, hosts_per_switch: 4, links: None };
        let fabric = irregular(&size, Seed(1)).expect("a network of the paper's kind");
        let (routes, made) = best(work.runs, || routes(work.kind, &fabric));
        let (summary, summed) = best(work.runs, || Summary::of(&fabric, &*routes));
        let (proof, proved) = best(work.runs, || certify(&fabric, &*routes));
        let summary = summary.expect("routes arrive");
        assert!(proof.expect("routes arrive").is_deadlock_free());
        let busiest = summary.load.map_or(0.0, |load| load.max / load.mean);
        let minimal = 100.0 * summary.minimal_share();
        let name = work.name;
        println!(
            "{name:<12} {made:>12.2} {summed:>12.2} {proved:>12.2} {minimal:>8.1}% {busiest:>9.2}"
        );
    }
}

/// The routes of a kind with the defaults of its keys.
fn routes(name: &str, fabric: &Fabric) -> Box<dyn Routing> {
    let kind = RoutingKind::all().into_iter().find(|kind| kind.name() == name);
    let (_, routes) = kind
        .expect("a kind of that name")
        .routes(fabric, Seed(1))
        .expect("every switch carries hosts");
    routes
}

/// What a piece of work gives, and the milliseconds of its best run.
fn best<T>(runs: u32, work: impl Fn() -> T) -> (T, f64) {
    let timed = || {
        let clock = ThreadTime::now();
        let made = work();
        (made, clock.elapsed().as_secs_f64() * 1e3)
    };
    let first = timed();
    (1..runs).map(|_| timed()).fold(first, |best, run| if run.1 < best.1 { run } else { best })
}
