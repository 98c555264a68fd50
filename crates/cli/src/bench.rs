//! `crosstie bench`: the microbenchmarks that everybody knows, on a simulated cluster, on real
//! ranks, and on paper.

mod catalogue;
pub mod side;
mod table;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use crosstie_lab::Preset;
use crosstie_lab::live::Lead;
use crosstie_study::{Row, Spec, Status, Study, World};
use toml::Table as Toml;

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::progress::Meter;
use crate::run;
use crate::sizes::Sizes;
use catalogue::{Benchmark, Quantity};
use side::Side;
use table::{Column, Line, Rails, Table};

const EXAMPLES: &str = "\
Examples:
  crosstie bench ping --sim qsnet                     latency by size
  crosstie bench bw --sim myrinet --sizes 64..64KiB
      bandwidth of a window of messages
  crosstie bench all-reduce --sim qsnet --algorithm all
      one column for each algorithm
  crosstie bench hotspot --sim qsnet-elan3            all against one rank
  crosstie bench broadcast --sim qsnet --ranks 16 --world wormhole,ideal
  crosstie bench barrier --sim loggops --json
  crosstie bench ping --sim qsnet --set cluster.rails=4 --set policy=pull
  crosstie bench all-to-all --sim my-machine.toml     a preset of your own
  crosstie bench bw --box experiments/box/two-rails.toml
      real ranks on the hosts of a box
  crosstie bench ping --box two-rails.toml --predict
      and what the model says of these rails
  crosstie bench all-reduce --live --ranks 4          real ranks on this machine
  crosstie bench ping --live=a,b --sim qsnet
      on machines a and b, by mpiexec.hydra
  mpiexec.hydra -hosts a,b crosstie bench bw --live
      on the ranks that a launcher has started
  crosstie bench --list
      benchmarks, algorithms, presets

A preset is an experiment file that says nothing about what is to be done. The
simulator repeats itself exactly, so that each size is tried a few times only.
Real ranks try it many times: the table has the median, and beside it what 99 of
100 do not exceed, or of bandwidths do not fall below.

Started as several ranks by `mpiexec.hydra`, `srun --mpi=pmi2` or `crosstie
launch`, --live measures these ranks and starts none: messages of ping, bw and
bibw go between the first and the last of them. Rank 0 prints the table.";

/// Arguments of `crosstie bench`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BenchArguments {
    /// What to measure: ping, bw, bibw, hotspot, exchange, or a collective operation such as
    /// broadcast
    #[arg(value_name = "BENCHMARK", required_unless_present = "list")]
    #[arg(value_parser = catalogue::parser(), hide_possible_values = true)]
    benchmark: Option<String>,

    /// The simulated machine: a preset by name, or a file
    #[arg(long, value_name = "PRESET", required_unless_present_any = ["boxed", "live", "list"])]
    sim: Option<String>,

    /// Real ranks on the hosts of a box, which is made for it; a file as for `crosstie box`
    #[arg(long = "box", value_name = "FILE", id = "boxed", conflicts_with = "live")]
    boxed: Option<PathBuf>,

    /// Real ranks on this machine, or on others by name; or those that a launcher has started
    #[arg(long, value_name = "HOSTS", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "localhost")]
    live: Option<String>,

    /// Add what the model says: of the simulated machine, or else of the rails of the box
    #[arg(long)]
    predict: bool,

    /// The algorithm of a collective operation, or `all` for one column each
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,

    /// The ranks that take part in a collective operation [default: one per host; live, per core]
    #[arg(long, value_name = "N")]
    ranks: Option<u32>,

    /// Message sizes: `8..64KiB` for powers of two, or a list `8,100,1KiB`; 0 for empty ones, of
    /// ping
    #[arg(long, alias = "size", value_name = "SIZES")]
    sizes: Option<Sizes>,

    /// Worlds of the preset, one column each [default: its own]
    #[arg(long, value_name = "WORLD", value_delimiter = ',', requires = "sim")]
    world: Vec<String>,

    /// Change a key of the preset, and of what real ranks are told
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// List benchmarks, algorithms and presets
    #[arg(long)]
    #[arg(conflicts_with_all = ["benchmark", "sim", "boxed", "live", "predict", "algorithm", "ranks", "sizes", "world", "set"])]
    list: bool,
}

impl BenchArguments {
    /// Whether real ranks are wanted.
    pub fn is_live(&self) -> bool {
        self.boxed.is_some() || self.live.is_some()
    }
}

/// Runs a benchmark and prints its table; with the ranks of a launcher's job if this one leads
/// them.
pub fn bench(
    arguments: &BenchArguments,
    threads: Option<NonZeroUsize>,
    lead: Option<&Lead>,
    console: &Console,
) -> Exit {
    let Some(name) = &arguments.benchmark else { return list(console) };
    let benchmark = Benchmark::find(name).expect("the command line takes no other");
    let mut algorithms = benchmark.algorithms(arguments.algorithm.as_deref())?;
    if arguments.ranks.is_some() && !benchmark.is_collective() {
        return Err(Failure::user(format!("--ranks: {name} is between two ranks")));
    }
    let sizes = match (&arguments.sizes, benchmark.sizes()) {
        (Some(_), None) => {
            return Err(Failure::user(format!("--sizes: {name} sends nothing of any size")));
        }
        (Some(Sizes(sizes)), Some(_)) if sizes.contains(&0) && benchmark != Benchmark::Ping => {
            return Err(Failure::user(format!(
                "--sizes: found 0, expected 1 or more: {name} is about bytes; only ping sends empty messages"
            )));
        }
        (Some(Sizes(sizes)), Some(_)) => sizes.clone(),
        (None, Some(usual)) => Sizes::powers(usual.0, usual.1).0,
        // One line, without a size.
        (None, None) => vec![0],
    };
    let sides = Side::all(arguments, benchmark, lead, console)?;
    // The same number everywhere, so that columns can be compared.
    let ranks = arguments.ranks.or_else(|| sides.iter().map(Side::hosts).min()).unwrap_or(2);
    let quantity = benchmark.quantity(ranks);
    let runner = run::Runner::new(threads, lead)?;
    let mut columns: Vec<Column> = Vec::new();
    let has_sizes = benchmark.sizes().is_some();
    let line = |&size: &u64| Line { size: has_sizes.then_some(size), ..Line::default() };
    let mut lines: Vec<Line> = sizes.iter().map(line).collect();
    let mut failed = false;
    let mut remarks: Vec<String> = Vec::new();
    if benchmark.name() == "barrier" {
        let is_spread =
            |algorithm: &Option<String>| algorithm.as_deref() == Some(catalogue::SPREAD);
        match (sides.iter().all(Side::casts), arguments.algorithm.as_deref()) {
            (true, None) => algorithms = vec![Some(catalogue::SPREAD.to_owned())],
            (false, Some("all")) => {
                algorithms.retain(|algorithm| !is_spread(algorithm));
                let missing = "which needs NICs that put, on a tree that forks packets";
                remarks.push(format!("without {}, {missing}", catalogue::SPREAD));
            }
            _ => {}
        }
    }
    if matches!(benchmark.name(), "exchange" | "all-to-all")
        && arguments.algorithm.as_deref() == Some("all")
    {
        let names = catalogue::TAKES_TURNS.join(", ");
        remarks.push(format!("without {names}, which are asked for by name"));
    }
    for side in &sides {
        let text = text(side, benchmark, ranks, &sizes, &algorithms);
        let study = side.machine().understood(&text)?;
        let meter = Meter::new(&format!("{name}, {}", side.name()), study.points().len(), console);
        let rows = crosstie_lab::rows(&study, runner.options(), &meter);
        meter.close();
        let Some(rows) = rows? else { return Ok(Answer::Interrupted) };
        remarks.extend(doubts(side, benchmark, &study, arguments));
        let locate = |path: &str| side.machine().locate(path);
        let carried =
            study.points().iter().map(|point| crosstie_lab::predict::carried(&point.spec, &locate));
        let carried = carried.collect::<Result<Vec<_>, _>>()?;
        let own = columns_of(side, benchmark, &algorithms);
        let each = rows.len() / sizes.len();
        for (line, carried) in lines.iter_mut().zip(carried.chunks(each)) {
            let rails = carried.iter().zip(own.iter()).filter(|(rails, _)| rails.len() > 1);
            line.rails.extend(rails.map(|(rails, column)| Rails {
                algorithm: column.algorithm.clone(),
                shares: rails.iter().map(|rail| rail.share).collect(),
                busy: rails.iter().map(|rail| rail.busy.ps() as f64 / 1e6).collect(),
            }));
        }
        for (line, rows) in lines.iter_mut().zip(rows.chunks(each)) {
            let statistics = side.statistics();
            for row in rows {
                let value = |statistic: &Option<_>| value(row, quantity, line.size, *statistic);
                line.values.extend(statistics.iter().map(value));
                line.busy = line.busy.into_iter().chain(row.measured("busy")).reduce(f64::max);
            }
        }
        columns.extend(own);
        for row in rows.iter().filter(|row| row.status != Status::Completed) {
            console.remark(format!("{}, point {}: {}", side.name(), row.point, row.note));
            failed = true;
        }
    }
    let live = sides.iter().find(|side| side.is_live()).map(|side| side.name().to_owned());
    let working = if benchmark.is_collective() { ranks } else { 2 };
    remarks.extend(sides.iter().filter_map(|side| side.crowd(working)));
    let titles = sides.iter().map(Side::title).collect();
    let mut table = Table {
        benchmark: benchmark.name(),
        sim: arguments.sim.clone(),
        live,
        machine: distinct(titles).join("\n"),
        remarks: distinct(remarks.iter().map(String::as_str).collect())
            .into_iter()
            .map(str::to_owned)
            .collect(),
        ranks: benchmark.is_collective().then_some(ranks),
        quantity: quantity.name(),
        unit: quantity.unit(),
        columns,
        lines,
    };
    if benchmark.is_collective() && benchmark != Benchmark::Hotspot {
        table.rank(quantity);
    }
    if console.json {
        console.print_json(&table)?;
    } else {
        console.tell(&table.to_string())?;
    }
    Ok(if failed { Answer::No } else { Answer::Yes })
}

/// The experiment of one machine.
fn text(
    side: &Side,
    benchmark: Benchmark,
    ranks: u32,
    sizes: &[u64],
    algorithms: &[Option<String>],
) -> String {
    let mut schedule = Toml::new();
    if benchmark.is_collective() {
        schedule.insert("ranks".to_owned(), i64::from(ranks).into());
        if side.is_live() {
            schedule.insert("iterations".to_owned(), benchmark.live_iterations(0).into());
        }
    }
    let who = side.ranks();
    side.machine().experiment(schedule, side.worlds(), || {
        let each = |size: &u64| {
            let size = *size;
            algorithms.iter().map(move |algorithm| (size, algorithm))
        };
        let work = |(size, algorithm): (u64, &Option<String>)| {
            benchmark.work(size, algorithm.as_deref(), who)
        };
        sizes.iter().flat_map(each).map(work).collect()
    })
}

/// What a reader of the numbers of a machine should know.
fn doubts(
    side: &Side,
    benchmark: Benchmark,
    study: &Study,
    arguments: &BenchArguments,
) -> Vec<String> {
    let set = |key: &str| arguments.set.iter().any(|setting| is_set(setting, key));
    // A preset is written for all worlds, a file for its own.
    let own = !side.is_live() && !side.machine().is_preset() && arguments.world.is_empty();
    let mut doubts = side.told().to_vec();
    for point in study.points() {
        let Spec { world, policy, cluster, .. } = &point.spec;
        let mut unused = study.unused(point);
        unused.retain(|key| *world == World::Model || own || set(key));
        doubts.extend(world.does_not_use(&unused));
        doubts.extend(point.spec.takes_whole_turns());
        let rails = cluster.rails.count();
        let has_rails = rails > 1 && !matches!(world, World::Model | World::Live);
        if has_rails && !policy.stripes() && !benchmark.is_stream() {
            doubts.push(format!(
                "policy {}: each message takes one of the {rails} rails; pull takes all of them",
                policy.name()
            ));
        }
    }
    doubts
}

/// Returns true if a setting such as `link={rate='1 GB/s'}` is about a key such as `link.rate`.
fn is_set(setting: &str, key: &str) -> bool {
    let name = setting.split('=').next().unwrap_or_default().trim();
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    within(name, key) || within(key, name)
}

/// The columns of one machine.
fn columns_of(side: &Side, benchmark: Benchmark, algorithms: &[Option<String>]) -> Vec<Column> {
    let mut columns = Vec::new();
    for algorithm in algorithms {
        for world in side.worlds() {
            for statistic in side.statistics() {
                columns.push(Column {
                    algorithm: algorithm.clone().or_else(|| benchmark.usual_algorithm()),
                    world: world.clone(),
                    statistic: *statistic,
                });
            }
        }
    }
    columns
}

/// Each once.
fn distinct(mut words: Vec<&str>) -> Vec<&str> {
    let mut seen: Vec<&str> = Vec::new();
    words.retain(|word| {
        let new = !seen.contains(word);
        seen.push(word);
        new
    });
    words
}

/// What a row says of the quantity that a benchmark is about; `None` of a run that failed.
fn value(row: &Row, quantity: Quantity, size: Option<u64>, statistic: Option<&str>) -> Option<f64> {
    if row.status != Status::Completed {
        return None;
    }
    // The middle one of a few that are alike once a policy has found its pace, or of many that
    // vary.
    let time = row.measured(if statistic.is_some() { "time_p99" } else { "time_p50" })?;
    Some(match quantity {
        Quantity::HalfRoundTrip => time / 2.0,
        Quantity::Time => time,
        // Bytes per microsecond are millions of bytes per second.
        Quantity::Bandwidth { messages } => messages as f64 * size.unwrap_or(0) as f64 / time,
    })
}

fn list(console: &Console) -> Exit {
    let benchmarks: Vec<Benchmark> = Benchmark::all();
    if console.json {
        console.print_json(&catalogue::Listing::of(&benchmarks))?;
        return Ok(Answer::Yes);
    }
    let mut text = String::from("benchmarks\n");
    for benchmark in &benchmarks {
        text += &format!("  {:<12}  {}\n", benchmark.name(), benchmark.sentence());
        for (algorithm, sentence) in benchmark.described() {
            text += &format!("    {algorithm:<20}  {sentence}\n");
        }
    }
    text += "\npresets, for --sim\n";
    let widest = Preset::ALL.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    for Preset { name, title, .. } in Preset::ALL {
        text += &format!("  {name:<widest$}  {title}\n");
    }
    console.tell(&text)?;
    Ok(Answer::Yes)
}
