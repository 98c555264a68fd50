//! `crosstie predict`: what communication takes, on paper.

mod exchange;
mod layout;
mod table;

use std::fs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ArgGroup, Args};
use crosstie_lab::predict::{
    self as paper, Choice, Cluster, FlowQuestion, Losses, Patience, PredictError, Prediction,
    Question, Subject,
};
use crosstie_study::{World, nearest};
use serde::Serialize;

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::machine::Machine;
use crate::sizes::Sizes;

const EXAMPLES: &str = "\
Examples:
  crosstie predict transfer --sim p450-ibm-8275-326 --sizes 14920
  crosstie predict transfer --sim gedp-up --sizes 1KiB..1MiB
      one line for each size
  crosstie predict exchange --sim gedp-smp --sizes 64KiB --path
      the critical path too
  crosstie predict exchange --sim p733-ibm-8275-326 --sizes 64KiB
      which algorithm a complete exchange should take, and why
  crosstie predict exchange --sim p733-ibm-8275-326 --sizes 64KiB --simulate
      and what each takes on the frame network
  crosstie predict broadcast --sim p450-ibm-8275-416 --sizes 64KiB
  crosstie predict all-to-all --sim p450-ibm-8275-326 --ranks 8 --json
  crosstie predict gather --sim p733-ibm-8275-326 --window 50 --sizes 1MiB
  crosstie predict gather --sim p733-ibm-8275-416 --window 18 --loss .02,.05,.5
  crosstie predict broadcast --model cluster.toml --ranks 16
      parameters from a file
  crosstie predict transfer --sim my-machine.toml --set link.rate=1Gbit/s

What is predicted, with the numbers of the equations in Tam's thesis:
  transfer    a message from one node to another (2.6, 3.1)
  exchange    two nodes send each other a message at the same time (2.7); among
              more nodes, every node has a block for every other: the algorithms
              of chapters 5 and 6, the best first (5.1, 6.2, 6.4)
  broadcast, gather, all-to-all, scatter, all-gather, reduce, all-reduce,
  reduce-scatter, scan, exclusive-scan, barrier
              collective operations among all ranks, every algorithm priced; the
              formulas for packets down a tree (2.8, 2.9), for the least time of
              all-to-all (5.1) and for windows of a gather that overflow (4.2,
              4.10) are shown beside them

Parameters follow from links, switches and nodes of the machine, as a network of
frames, or are those of a model file. `crosstie bench --list` names the presets.";

/// Arguments of `crosstie predict`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("machine").args(["sim", "file", "model"]))]
pub struct PredictArguments {
    /// What is to be done: transfer, exchange, or a collective operation such as broadcast
    #[arg(value_name = "WHAT", value_parser = parser(), hide_possible_values = true)]
    what: String,

    /// The machine: a preset by name, or a file
    #[arg(long, alias = "preset", value_name = "PRESET")]
    #[arg(required_unless_present_any = ["file", "model"])]
    sim: Option<String>,

    /// The machine: a file, as --sim names it
    #[arg(value_name = "FILE", hide = true)]
    file: Option<String>,

    /// The parameters of the machine: a model file
    #[arg(long, value_name = "FILE", conflicts_with = "set")]
    model: Option<String>,

    /// Change a key of the machine
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,

    /// Sizes: `1KiB..1MiB` for powers of two, or a list `8,100,1KiB` [default: 1KiB]
    #[arg(long, alias = "size", value_name = "SIZES")]
    sizes: Option<Sizes>,

    /// The nodes that take part: p [default: 2 of a transfer, else all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    ranks: Option<u32>,

    /// Price this algorithm of a collective operation only
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,

    /// Of a gather: the most packets that each sender has outstanding, W_FC
    #[arg(long, value_name = "PACKETS", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    window: Option<u32>,

    /// Of a gather: when packets are sent again, in slots of g_r or as a time [default: the
    /// longest recommended]
    #[arg(long, value_name = "SLOTS", requires = "window")]
    timeout: Option<Patience>,

    /// Of a gather: how often what is lost is lost how, as the thesis counts it
    #[arg(long, value_name = "c,1-a,f", requires = "window")]
    loss: Option<Losses>,

    /// Print the critical path too, of the fastest way
    #[arg(long, visible_alias = "verbose")]
    path: bool,

    /// Of an exchange among several nodes: add what each algorithm takes on the frame network
    #[arg(long, conflicts_with = "model")]
    simulate: bool,

    /// Of an exchange among several nodes: add what each algorithm takes on the hosts of a box,
    /// which is made for it; a file as for `crosstie box`
    #[arg(long = "box", value_name = "FILE", id = "boxed")]
    boxed: Option<PathBuf>,
}

/// Names that others know an operation by.
const ALIASES: [(&str, &str); 6] = [
    ("broadcast", "bcast"),
    ("all-gather", "allgather"),
    ("all-reduce", "allreduce"),
    ("reduce-scatter", "reduce_scatter"),
    ("exclusive-scan", "exscan"),
    ("all-to-all", "alltoall"),
];

/// Reads the name of a subject.
fn parser() -> PossibleValuesParser {
    PossibleValuesParser::new(Subject::all().into_iter().map(|subject| {
        let name = subject.name();
        let aliases = ALIASES.iter().filter(move |(of, _)| *of == name).map(|(_, alias)| *alias);
        PossibleValue::new(name).aliases(aliases)
    }))
}

/// Everything that is predicted, for programs.
#[derive(Serialize)]
struct Document<'a, P> {
    what: &'static str,
    machine: &'a str,
    title: &'a str,
    /// Of all times.
    unit: &'static str,
    /// What a reader should know.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    remarks: &'a [String],
    predictions: &'a [P],
}

/// Predicts, and prints what was found.
pub fn predict(
    arguments: &PredictArguments,
    threads: Option<NonZeroUsize>,
    console: &Console,
) -> Exit {
    let subject = subject(&arguments.what);
    check(arguments, subject)?;
    let asked = asked(arguments)?;
    let nodes = nodes(arguments, subject, &asked.cluster)?;
    for remark in &asked.remarks {
        console.remark(format_args!("{}: {remark}", asked.name));
    }
    if subject == Subject::Exchange && nodes > 2 {
        return exchange::advise(arguments, asked, nodes, threads, console);
    }
    for (flag, is_given) in [
        ("--simulate", arguments.simulate),
        ("--box", arguments.boxed.is_some()),
        ("--algorithm", subject == Subject::Exchange && arguments.algorithm.is_some()),
    ] {
        if is_given {
            let name = subject.name();
            return Err(Failure::user(format!(
                "{flag}: found {name} with {nodes} nodes, expected an exchange among 3 or more\n  \
                 help: --ranks N says how many take part"
            )));
        }
    }
    let Asked { name: machine, title, cluster, remarks, .. } = asked;
    let flow = arguments.window.map(|window| FlowQuestion {
        window,
        timeout: arguments.timeout,
        losses: arguments.loss,
    });
    let Sizes(sizes) = arguments.sizes.clone().unwrap_or(Sizes(vec![1024]));
    if sizes.contains(&0) {
        return Err(Failure::user("--sizes: found 0 bytes, expected 1 B to 1 GiB"));
    }
    let predictions = sizes.iter().map(|&bytes| {
        let algorithm = arguments.algorithm.clone();
        let path = arguments.path;
        paper::predict(&cluster, &Question { subject, bytes, nodes, algorithm, flow, path })
    });
    let predictions: Vec<Prediction> =
        predictions.collect::<Result<_, _>>().map_err(|error| match error {
            PredictError::Operation { .. } => Failure::user(error),
            PredictError::Price { .. } => Failure::ours(error),
        })?;
    if console.json {
        let what = subject.name();
        let document = Document {
            what,
            machine: &machine,
            title: &title,
            unit: "us",
            remarks: &remarks,
            predictions: &predictions,
        };
        console.print_json(&document)?;
        return Ok(Answer::Yes);
    }
    let head = layout::head(subject, nodes, &machine, &title);
    let body = match &predictions[..] {
        [one] => layout::one(subject, one),
        several => table::by_size(subject, several),
    };
    console.tell(&(head + &body))?;
    Ok(Answer::Yes)
}

fn subject(what: &str) -> Subject {
    let known = ALIASES.iter().find(|(_, alias)| *alias == what).map_or(what, |(of, _)| *of);
    Subject::find(known).expect("the command line takes no other")
}

/// Refuses arguments that do not fit what is to be done.
fn check(arguments: &PredictArguments, subject: Subject) -> Result<(), Failure> {
    let name = subject.name();
    if arguments.sizes.is_some() && !subject.has_size() {
        return Err(Failure::user(format!("--sizes: {name} sends nothing of any size")));
    }
    if arguments.window.is_some() && subject != Subject::Collective("gather") {
        let problem = format!("--window: {name} is not many to one; expected gather");
        return Err(Failure::user(problem));
    }
    let Some(asked) = arguments.algorithm.as_deref() else { return Ok(()) };
    let known = match subject {
        Subject::Exchange => Choice::NAMES.to_vec(),
        subject => subject.algorithms(),
    };
    if known.is_empty() {
        let problem = format!("--algorithm: {name} has no algorithms to choose from");
        return Err(Failure::user(problem));
    }
    if known.contains(&asked) {
        return Ok(());
    }
    let near = nearest(asked, known.iter().copied());
    let help = near.map_or(String::new(), |near| format!("\n  help: did you mean `{near}`?"));
    Err(Failure::user(format!("--algorithm: found `{asked}`, expected {}{help}", known.join(", "))))
}

/// The machine that was asked for.
struct Asked {
    name: String,
    title: String,
    cluster: Cluster,
    /// What a reader of predictions should know.
    remarks: Vec<String>,
    /// What it was read from, if that says more than the parameters.
    machine: Option<Machine>,
}

fn asked(arguments: &PredictArguments) -> Result<Asked, Failure> {
    if let Some(file) = &arguments.model {
        let text = fs::read_to_string(file).map_err(|error| {
            Failure::user(format!(
                "--model: `{file}`: {error}; expected the parameters of a cluster"
            ))
        })?;
        let cluster = Cluster::read(&text).map_err(|error| {
            let error = error.trim_end();
            Failure::user(format!(
                "--model: `{file}`: {error}\n  help: expected the parameters of a cluster, such as send = \"12.5 us\""
            ))
        })?;
        let title = "parameters from a model file".to_owned();
        let (name, remarks) = (file.clone(), Vec::new());
        return Ok(Asked { name, title, cluster, remarks, machine: None });
    }
    let Some(name) = arguments.sim.as_ref().or(arguments.file.as_ref()) else {
        unreachable!("the command line asks for one of them")
    };
    let machine = Machine::load("--sim", name)?.with(&arguments.set)?;
    let study = machine.study()?;
    let point = &study.points()[0];
    let cluster = Cluster::of(&point.spec, &|path| machine.locate(path))?;
    let unpriced = World::Model.does_not_use(&study.unpriced(point));
    let remarks = cluster.remark().map(str::to_owned).into_iter();
    let remarks = remarks.chain(unpriced).chain(cluster.estimated()).collect();
    let (name, title) = (name.clone(), machine.title().to_owned());
    Ok(Asked { name, title, cluster, remarks, machine: Some(machine) })
}

/// How many nodes take part.
fn nodes(
    arguments: &PredictArguments,
    subject: Subject,
    cluster: &Cluster,
) -> Result<u32, Failure> {
    match (arguments.ranks, cluster.nodes()) {
        (Some(ranks), Some(nodes)) if ranks > nodes => Err(Failure::user(format!(
            "--ranks: found {ranks}, expected at most {nodes}: there is one per host of the machine"
        ))),
        (Some(ranks), _) if ranks < 2 && !subject.is_collective() => {
            Err(Failure::user(format!("--ranks: found {ranks}, expected at least 2")))
        }
        (Some(ranks), _) => Ok(ranks),
        (None, Some(nodes)) if subject == Subject::Exchange => Ok(nodes.max(2)),
        (None, _) if !subject.is_collective() => Ok(2),
        (None, Some(nodes)) => Ok(nodes),
        (None, None) => Err(Failure::user(
            "--ranks: a model file does not say how many nodes there are; expected --ranks N",
        )),
    }
}
