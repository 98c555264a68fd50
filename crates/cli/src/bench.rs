//! `crosstie bench`: the microbenchmarks that everybody knows, on a simulated cluster.

mod catalogue;
mod table;

use std::num::NonZeroUsize;

use clap::Args;
use crosstie_lab::{Preset, RunOptions};
use crosstie_study::{Row, Status, Study};

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::machine::Machine;
use crate::progress::Meter;
use crate::sizes::Sizes;
use crate::{experiment, interrupt, run};
use catalogue::{Benchmark, Quantity};
use table::{Column, Table};

const EXAMPLES: &str = "\
Examples:
  crosstie bench ping --sim qsnet                       latency by size
  crosstie bench bw --sim myrinet --sizes 64..64KiB     bandwidth of a window of messages
  crosstie bench all-reduce --sim qsnet --algorithm all  one column for each algorithm
  crosstie bench broadcast --sim qsnet --ranks 16 --world wormhole,ideal
  crosstie bench barrier --sim loggops --json
  crosstie bench ping --sim qsnet --set cluster.rails=4 --set policy=local-dynamic
  crosstie bench all-to-all --sim my-machine.toml       a preset of your own
  crosstie bench --list                                 benchmarks, algorithms, presets

A preset is an experiment file that says nothing about what is to be done. The simulator repeats itself
exactly, so that each size is tried a few times only.";

/// Arguments of `crosstie bench`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct BenchArguments {
    /// What to measure: ping, bw, bibw, or a collective operation such as broadcast
    #[arg(value_name = "BENCHMARK", required_unless_present = "list")]
    #[arg(value_parser = catalogue::parser(), hide_possible_values = true)]
    benchmark: Option<String>,

    /// The simulated machine: a preset by name, or a file
    #[arg(long, value_name = "PRESET", required_unless_present = "list")]
    sim: Option<String>,

    /// The algorithm of a collective operation, or `all` for one column each
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,

    /// The ranks that take part in a collective operation [default: one per host]
    #[arg(long, value_name = "N")]
    ranks: Option<u32>,

    /// Message sizes: `8..64KiB` for powers of two, or a list `8,100,1KiB`
    #[arg(long, value_name = "SIZES")]
    sizes: Option<Sizes>,

    /// Worlds, one column each [default: that of the preset]
    #[arg(long, value_name = "WORLD", value_delimiter = ',')]
    world: Vec<String>,

    /// Change a key of the preset
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// List benchmarks, algorithms and presets
    #[arg(long)]
    #[arg(conflicts_with_all = ["benchmark", "sim", "algorithm", "ranks", "sizes", "world", "set"])]
    list: bool,
}

/// Runs a benchmark and prints its table.
pub fn bench(arguments: &BenchArguments, threads: Option<NonZeroUsize>, console: &Console) -> Exit {
    let (Some(name), Some(sim)) = (&arguments.benchmark, &arguments.sim) else {
        return list(console);
    };
    let benchmark = Benchmark::find(name).expect("the command line takes no other");
    let machine = Machine::load("--sim", sim)?.with(&arguments.set)?;
    let algorithms = benchmark.algorithms(arguments.algorithm.as_deref())?;
    let default = [machine.world()];
    let worlds = if arguments.world.is_empty() { &default[..] } else { &arguments.world };
    if arguments.ranks.is_some() && !benchmark.is_collective() {
        return Err(Failure::user(format!("--ranks: {name} is between two ranks")));
    }
    let sizes = match (&arguments.sizes, benchmark.sizes()) {
        (Some(_), None) => {
            return Err(Failure::user(format!("--sizes: {name} sends nothing of any size")));
        }
        (Some(Sizes(sizes)), Some(_)) => sizes.clone(),
        (None, Some(usual)) => Sizes::powers(usual.0, usual.1).0,
        // One line, without a size.
        (None, None) => vec![0],
    };
    let peer = machine.last_host(console)?;
    let text = machine.experiment(arguments.ranks, worlds, || {
        let each = |size: &u64| {
            let size = *size;
            algorithms.iter().map(move |algorithm| (size, algorithm))
        };
        let work = sizes.iter().flat_map(each);
        work.map(|(size, algorithm)| benchmark.work(size, algorithm.as_deref(), peer)).collect()
    });
    let study = Study::parse(&format!("{sim}, {name}"), &text)
        .map_err(|mistake| Failure::rendered(mistake.render(console.colours_messages())))?;
    let interrupted = interrupt::watch()?;
    let executable = run::executable();
    let options = RunOptions {
        threads: run::threads(threads),
        cancel: &interrupted,
        executable: executable.as_deref(),
    };
    let meter = Meter::new(name, study.points().len(), console);
    let rows = crosstie_lab::rows(&study, options, &meter);
    meter.close();
    let rows = rows.map_err(|error| experiment::refused(&study, error, console))?;
    let Some(rows) = rows else { return Ok(Answer::Interrupted) };
    let columns: Vec<Column> = algorithms
        .iter()
        .flat_map(|algorithm| {
            worlds.iter().map(|world| Column {
                algorithm: algorithm.clone().or_else(|| benchmark.usual_algorithm()),
                world: world.clone(),
            })
        })
        .collect();
    let quantity = benchmark.quantity();
    let lines = sizes.iter().zip(rows.chunks(columns.len()));
    let lines = lines.map(|(&size, rows)| {
        let size = benchmark.sizes().is_some().then_some(size);
        (size, rows.iter().map(|row| value(row, &benchmark, size)).collect())
    });
    let table = Table {
        benchmark: benchmark.name(),
        machine: machine.title().to_owned(),
        sim: sim.clone(),
        ranks: benchmark.is_collective().then(|| arguments.ranks.unwrap_or(peer + 1)),
        quantity: quantity.name(),
        unit: quantity.unit(),
        columns,
        lines: lines.collect(),
    };
    for row in rows.iter().filter(|row| row.status != Status::Completed) {
        console.remark(format!("point {}: {}", row.point, row.note));
    }
    if console.json {
        console.print_json(&table)?;
    } else {
        console.tell(&table.to_string())?;
    }
    let failed = rows.iter().any(|row| row.status != Status::Completed);
    Ok(if failed { Answer::No } else { Answer::Yes })
}

/// What a row says of the quantity that a benchmark is about; `None` of a run that failed.
fn value(row: &Row, benchmark: &Benchmark, size: Option<u64>) -> Option<f64> {
    if row.status != Status::Completed {
        return None;
    }
    // The middle one of a few that are alike once a policy has found its pace.
    let time = row.measured("time_p50")?;
    Some(match benchmark.quantity() {
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
