//! The processor time that it takes to make and to check routes, single thread. `cargo bench -p crosstie-routing`
//! runs all works; words after `--` choose works by name.

use cpu_time::ThreadTime;
use crosstie_fabric::{Fabric, Irregular, irregular};
use crosstie_routing::{Choice, Method, Pick, Root, RouteTable, Summary, certify};
use crosstie_units::Seed;

const UD: Method = Method::UpDown { root: Root::Central, pick: Pick::Random };
const DFS: Method = Method::Dfs { root: Root::FewestRestrictions, pick: Pick::Random };
const SMART: Method = Method::Smart { moves: 2000 };
const UD_ITB: Method = Method::UpDownItb { root: Root::Central, choice: Choice::Random };
const UD_MITB: Method = Method::UpDownItb { root: Root::Central, choice: Choice::CompliantFirst };
const DFS_ITB: Method = Method::DfsItb { root: Root::FewestRestrictions, choice: Choice::Random };

struct Work {
    name: &'static str,
    switches: u32,
    method: Method,
    /// The best of so many runs counts, being the least disturbed.
    runs: u32,
}

const WORKS: &[Work] = &[
    Work { name: "UD 64", switches: 64, method: UD, runs: 10 },
    Work { name: "DFS 64", switches: 64, method: DFS, runs: 10 },
    Work { name: "UD_MITB 64", switches: 64, method: UD_MITB, runs: 10 },
    Work { name: "UD_ITB 64", switches: 64, method: UD_ITB, runs: 10 },
    Work { name: "DFS_ITB 64", switches: 64, method: DFS_ITB, runs: 10 },
    Work { name: "B_ITB 64", switches: 64, method: Method::BalancedItb, runs: 5 },
    Work { name: "SMART 16", switches: 16, method: SMART, runs: 2 },
    Work { name: "SMART 32", switches: 32, method: SMART, runs: 2 },
    Work { name: "SMART 64", switches: 64, method: SMART, runs: 2 },
    Work { name: "UD_ITB 1000", switches: 1000, method: UD_ITB, runs: 2 },
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
        let (routes, made) = best(work.runs, || routes(work.method, &fabric));
        let (summary, summed) = best(work.runs, || Summary::of(&fabric, &routes));
        let (proof, proved) = best(work.runs, || certify(&fabric, &routes));
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

fn routes(method: Method, fabric: &Fabric) -> RouteTable {
    method.routes(fabric, Seed(1)).expect("every switch carries hosts")
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
