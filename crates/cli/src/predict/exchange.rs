//! Which algorithm a complete exchange should take.

use std::fmt::Write;
use std::num::NonZeroUsize;

use crosstie_lab::predict::{
    Advice, Choice, ExchangeQuestion, PredictError, USUAL_WINDOW, advise as ask,
};
use crosstie_study::{Row, Status};
use crosstie_units::Time;
use serde::Serialize;
use toml::Table as Toml;

use super::layout::{counted, formula, parameters, rate, us};
use super::table::aligned;
use super::{Asked, Document, PredictArguments};
use crate::bench::side::Side;
use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::machine::{Machine, one};
use crate::progress::Meter;
use crate::run;
use crate::sizes::Sizes;

/// Everything that is known of one size.
#[derive(Serialize)]
struct Sheet {
    #[serde(flatten)]
    advice: Advice,
    /// The names of what follows, in the order of the columns.
    #[serde(skip)]
    tried: Vec<&'static str>,
    /// What was found by trying, for each algorithm in the order of the ranking.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    trials: Vec<Trial>,
}

/// What an algorithm has taken.
#[derive(Serialize)]
struct Trial {
    algorithm: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    simulated: Option<Found>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measured: Option<Found>,
}

/// What a run has found.
#[derive(Clone, Copy, Serialize)]
struct Found {
    /// Microseconds; `None` if it failed.
    time: Option<f64>,
    /// Packets lost, where that is known.
    lost: Option<f64>,
}

/// Ranks the algorithms, and tries them if that is wanted.
pub fn advise(
    arguments: &PredictArguments,
    asked: Asked,
    nodes: u32,
    threads: Option<NonZeroUsize>,
    console: &Console,
) -> Exit {
    if arguments.path {
        return Err(Failure::user(format!(
            "--path: found an exchange among {nodes} nodes, whose packets are too many to list, expected 2\n  \
             help: `crosstie predict all-to-all --algorithm NAME --path` lists that of one algorithm"
        )));
    }
    let Asked { name, title, cluster, mut remarks, machine } = asked;
    let Sizes(sizes) = arguments.sizes.clone().unwrap_or(Sizes(vec![1024]));
    if sizes.contains(&0) {
        return Err(Failure::user("--sizes: found 0 bytes, expected 1 B to 1 GiB"));
    }
    let window = Some(cluster.window().unwrap_or(USUAL_WINDOW));
    let algorithm = arguments.algorithm.as_deref();
    let mut sheets = Vec::new();
    for &bytes in &sizes {
        let question = ExchangeQuestion { bytes, nodes, window, algorithm };
        let advice = ask(&cluster, &question).map_err(|error| match error {
            PredictError::Operation { .. } => Failure::user(error),
            PredictError::Price { .. } => Failure::ours(error),
        })?;
        sheets.push(Sheet { advice, tried: Vec::new(), trials: Vec::new() });
    }
    let mut told: Vec<String> =
        sheets.iter().flat_map(|sheet| sheet.advice.remarks.clone()).collect();
    told.dedup();
    told.iter().for_each(|remark| console.remark(format_args!("{name}: {remark}")));
    remarks.append(&mut told);
    let boxed = match &arguments.boxed {
        Some(file) => Some(Side::on_box(file, nodes, console)?),
        None => None,
    };
    if arguments.simulate {
        let machine = machine.expect("the command line asks for a machine to simulate");
        let (machine, text) = simulated(machine, nodes, &sheets);
        match run_all(&machine, &text, "exchange, simulated", threads, console)? {
            Some(found) => keep(&mut sheets, "simulated", found),
            None => return Ok(Answer::Interrupted),
        }
    }
    if let Some(side) = boxed {
        let text = measured(&side, nodes, &sheets);
        match run_all(side.machine(), &text, "exchange, measured", threads, console)? {
            Some(found) => keep(&mut sheets, "measured", found),
            None => return Ok(Answer::Interrupted),
        }
    }
    if console.json {
        let document = Document {
            what: "exchange",
            machine: &name,
            title: &title,
            unit: "us",
            remarks: &remarks,
            predictions: &sheets,
        };
        console.print_json(&document)?;
        return Ok(Answer::Yes);
    }
    let head = format!("# exchange, {nodes} nodes on {name}\n# {title}\n");
    let body = match &sheets[..] {
        [only] => single(only),
        several => by_size(several),
    };
    console.tell(&(head + &body))?;
    Ok(Answer::Yes)
}

/// Puts what was found beside the ranking.
fn keep(sheets: &mut [Sheet], how: &'static str, found: Vec<Found>) {
    let mut found = found.into_iter();
    for sheet in sheets {
        if sheet.trials.is_empty() {
            let trial =
                |choice: &Choice| Trial { algorithm: choice.name, simulated: None, measured: None };
            sheet.trials = sheet.advice.ranking.iter().map(trial).collect();
        }
        sheet.tried.push(how);
        for (trial, found) in sheet.trials.iter_mut().zip(&mut found) {
            if how == "simulated" {
                trial.simulated = Some(found);
            } else {
                trial.measured = Some(found);
            }
        }
    }
}

/// How often real ranks repeat an exchange.
const REPEATED: i64 = 20;

/// What each choice of each sheet is called in experiments.
fn work(sheets: &[Sheet], is_live: bool) -> Vec<Toml> {
    let each = |sheet: &Sheet| -> Vec<Toml> {
        let size = sheet.advice.size;
        sheet.advice.ranking.iter().map(|choice| choice.work(size, is_live)).collect()
    };
    sheets.iter().flat_map(each).collect()
}

/// A machine on which exchanges are simulated, frame by frame, and the experiment: what is lost
/// goes again, and acknowledgements ride on data, unless the machine has a channel of its own.
fn simulated(machine: Machine, nodes: u32, sheets: &[Sheet]) -> (Machine, String) {
    let mut keys = one("window", i64::from(USUAL_WINDOW));
    keys.insert("acknowledge".to_owned(), one("piggyback", Toml::new()).into());
    let machine = machine.with_channel(one("go-back-n", keys));
    let schedule = one("ranks", i64::from(nodes));
    let text = machine.experiment(schedule, &["frame".to_owned()], || work(sheets, false));
    (machine, text)
}

/// The experiment of real ranks on the hosts of a box.
fn measured(side: &Side, nodes: u32, sheets: &[Sheet]) -> String {
    let mut schedule = one("ranks", i64::from(nodes));
    schedule.insert("iterations".to_owned(), REPEATED.into());
    side.machine().experiment(schedule, side.worlds(), || work(sheets, true))
}

/// Runs the points of an experiment; what they found, in order.
fn run_all(
    machine: &Machine,
    text: &str,
    name: &str,
    threads: Option<NonZeroUsize>,
    console: &Console,
) -> Result<Option<Vec<Found>>, Failure> {
    let study = machine.understood(text)?;
    let runner = run::Runner::new(threads, None)?;
    let meter = Meter::new(name, study.points().len(), console);
    let rows = crosstie_lab::rows(&study, runner.options(), &meter);
    meter.close();
    let Some(rows) = rows? else { return Ok(None) };
    for row in rows.iter().filter(|row| row.status != Status::Completed) {
        console.remark(format!("{name}, point {}: {}", row.point, row.note));
    }
    Ok(Some(rows.iter().map(Found::of).collect()))
}

impl Found {
    fn of(row: &Row) -> Found {
        let completed = row.status == Status::Completed;
        let time = row.measured("time_p50").filter(|_| completed);
        Found { time, lost: row.measured("lost") }
    }
}

impl Sheet {
    /// Bytes that each node sends.
    fn sent(&self) -> u64 {
        self.advice.size * u64::from(self.advice.nodes - 1)
    }

    /// The fastest of all choices that were tried one way.
    fn fastest(&self, how: &str) -> Option<usize> {
        let time = |trial: &Trial| match how {
            "simulated" => trial.simulated?.time,
            _ => trial.measured?.time,
        };
        let times = self
            .trials
            .iter()
            .enumerate()
            .filter_map(|(number, trial)| Some((number, time(trial)?)));
        times.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(number, _)| number)
    }

    /// Columns of what was found for a choice.
    fn found(&self, number: usize) -> Vec<String> {
        let Some(trial) = self.trials.get(number) else { return Vec::new() };
        let mut cells = Vec::new();
        for found in [trial.simulated, trial.measured].into_iter().flatten() {
            let time = found.time.map(|time| Time::from_ps((time * 1e6) as u64));
            cells.push(time.map_or("-".to_owned(), us));
            cells.push(time.map_or("-".to_owned(), |time| rate(self.sent(), time)));
            cells.push(found.lost.map_or("-".to_owned(), |lost| format!("{lost}")));
        }
        cells
    }

    /// The heads of these columns.
    fn heads(&self) -> Vec<String> {
        self.tried
            .iter()
            .flat_map(|how| [(*how).to_owned(), "MB/s".to_owned(), "lost".to_owned()])
            .collect()
    }
}

/// The keys of an algorithm.
fn keys(choice: &Choice) -> [String; 2] {
    [choice.omega, choice.window].map(|key| key.map_or("-".to_owned(), |key| key.to_string()))
}

/// All that is known for one size.
fn single(sheet: &Sheet) -> String {
    let Advice { size, packets, packet, forms, ranking, .. } = &sheet.advice;
    let mut text =
        format!("# {size} B for each other node: {}, times in us\n", counted(*packets, "packet"));
    text += &parameters(packet);
    text.push('\n');
    let heads = ["algorithm", "omega", "W_g", "time", "MB/s"].map(str::to_owned);
    let last = "bottleneck".to_owned();
    let mut lines = vec![[heads.to_vec(), sheet.heads(), vec![last]].concat()];
    for (number, choice) in ranking.iter().enumerate() {
        let [omega, window] = keys(choice);
        let (time, rate) = (us(choice.time), rate(sheet.sent(), choice.time));
        let line = vec![choice.name.to_owned(), omega, window, time, rate];
        lines.push([line, sheet.found(number), vec![choice.bottleneck.name().to_owned()]].concat());
    }
    text += &aligned(&lines);
    for choice in ranking {
        if let Some(risk) = &choice.risk {
            writeln!(text, "{}: {risk}", choice.name).ok();
        }
    }
    text.push('\n');
    forms.iter().for_each(|form| text += &formula(form));
    text + &verdict(sheet)
}

/// The first choice, in words, and what was the fastest of those tried.
fn verdict(sheet: &Sheet) -> String {
    let Advice { ranking, unresolved, .. } = &sheet.advice;
    let mut text = match unresolved {
        None => format!("best           {}\n", described(&ranking[0])),
        Some(why) => format!("best           not resolved: {why}\n"),
    };
    if unresolved.is_some() && sheet.tried.is_empty() {
        text += "               `--simulate` tries all of them\n";
    }
    for how in &sheet.tried {
        if let Some(number) = sheet.fastest(how) {
            writeln!(text, "{how:<14} {}", described(&ranking[number])).ok();
        }
    }
    text
}

/// An algorithm with its keys, in words.
fn described(choice: &Choice) -> String {
    let mut text = choice.name.to_owned();
    if let Some(omega) = choice.omega {
        write!(text, ", omega = {omega}").ok();
    }
    if let Some(window) = choice.window {
        write!(text, ", W_g = {window}").ok();
    }
    if let Some(here) = choice.hosts_per_switch {
        write!(text, ", steps spread over switches of {here} hosts").ok();
    }
    text
}

/// A line for each size.
fn by_size(sheets: &[Sheet]) -> String {
    let heads = ["size [B]", "packets", "best", "omega", "W_g", "time", "MB/s"].map(str::to_owned);
    let tried = sheets[0].heads();
    let mut lines = vec![[heads.to_vec(), tried, vec!["bottleneck".to_owned()]].concat()];
    for sheet in sheets {
        let Advice { size, packets, ranking, .. } = &sheet.advice;
        let best = &ranking[0];
        let [omega, window] = keys(best);
        let line = vec![
            size.to_string(),
            packets.to_string(),
            best.name.to_owned() + sheet.advice.unresolved.as_ref().map_or("", |_| " ?"),
            omega,
            window,
            us(best.time),
            rate(sheet.sent(), best.time),
        ];
        lines.push([line, sheet.found(0), vec![best.bottleneck.name().to_owned()]].concat());
    }
    let mut text = String::from("# times in us\n") + &aligned(&lines);
    let mut reasons: Vec<&str> =
        sheets.iter().filter_map(|sheet| sheet.advice.unresolved.as_deref()).collect();
    reasons.dedup();
    for why in reasons {
        writeln!(text, "?: not resolved: {why}; `--simulate` with one size tries all algorithms")
            .ok();
    }
    text
}
