//! `crosstie run`: experiments from file to report.

mod glance;

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use clap::builder::FalseyValueParser;
use clap::{ArgAction, Args};
use crosstie_lab::live::Lead;
use crosstie_lab::{RunOptions, RunSummary, revision};
use crosstie_study::{ResultsError, Row, Sheet, Status, Store, Study, Table};
use serde::Serialize;

use crate::console::{self, Console};
use crate::exit::{Answer, Exit, Failure};
use crate::progress::Meter;
use crate::results::ResultsArguments;
use crate::{experiment, interrupt, report};
use glance::glance;

const EXAMPLES: &str = "\
Examples:
  crosstie run experiments/quickstart.toml         into results/quickstart/
  crosstie run a.toml b.toml --out trial           into trial/a/ and trial/b/
  crosstie run study.toml --json | jq '.rows[].accepted'
  crosstie run study.toml --json | jq '.tables[0].sheets[0].rows'
  mpiexec.hydra -hosts a,b crosstie run live.toml
      world = live: by the ranks of a launcher

Points that are finished already are skipped: after Ctrl-C, run the same command
again to go on. With --json and several files, one document per file is printed,
each on a line of its own.";

/// Arguments of `crosstie run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct RunArguments {
    /// Experiment files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    results: ResultsArguments,

    /// Write no figures and no report.html
    #[arg(long, env = "CROSSTIE_NO_REPORT", hide_env_values = true)]
    #[arg(value_parser = FalseyValueParser::new(), action = ArgAction::SetTrue)]
    no_report: bool,
}

/// An experiment, and where it comes from and goes to.
#[derive(Serialize)]
struct Experiment<'a> {
    title: &'a str,
    file: &'a Path,
    folder: &'a Path,
    points: usize,
}

#[derive(Serialize)]
struct Results<'a> {
    experiment: &'a Experiment<'a>,
    rows: &'a [Row],
    tables: Vec<LaidOut<'a>>,
}

/// A table of the experiment, with its cells.
#[derive(Serialize)]
struct LaidOut<'a> {
    #[serde(flatten)]
    table: &'a Table,
    sheets: Vec<Sheet<'a>>,
}

/// Runs all experiments, one after the other.
pub fn run(
    arguments: &RunArguments,
    threads: Option<NonZeroUsize>,
    lead: Option<&Lead>,
    console: &Console,
) -> Exit {
    let studies = experiment::load_all(&arguments.files, console)?;
    let folders = folders(&arguments.results.out, &arguments.files)?;
    // All folders are opened first: what is wrong with one shows before anything runs.
    let fresh = arguments.results.fresh;
    let stores = studies.iter().zip(&folders).map(|(study, folder)| open(study, folder, fresh));
    let stores = stores.collect::<Result<Vec<Store<'_>>, Failure>>()?;
    let runner = Runner::new(threads, lead)?;
    let mut answer = Answer::Yes;
    let experiments = arguments.files.iter().zip(&studies).zip(&folders);
    for (((file, study), folder), store) in experiments.zip(stores) {
        experiment::warn(file, study, console);
        let points = study.points().len();
        let experiment = Experiment { title: &study.title, file, folder, points };
        let summary = simulate(study, store, &experiment, runner.options(), console)?;
        let page = match arguments.no_report {
            true => None,
            false => {
                crosstie_report::write(&report::open(folder)?, folder)?;
                Some(folder.join("report.html"))
            }
        };
        if summary.cancelled {
            // Also when quiet: whoever interrupted wants to know what is left.
            console::complain(&format!(
                "interrupted: {} of {points} points are finished and kept in {}; run the same \
                 command again to go on",
                summary.rows.len(),
                folder.display()
            ));
            return Ok(Answer::Interrupted);
        }
        if console.json {
            let rows = &summary.rows;
            let tables = study.tables.iter();
            let tables =
                tables.map(|table| LaidOut { table, sheets: table.sheets(rows) }).collect();
            console.print_json(&Results { experiment: &experiment, rows, tables })?;
        } else {
            let place = match page {
                Some(page) => format!("report: {}\n", page.display()),
                None => format!("results: {}\n", folder.display()),
            };
            let glance = glance(study, &summary.rows, &console.terminal());
            console.print(&format!("{glance}\n{place}"))?;
        }
        if let Some(row) = summary.rows.first()
            && summary.rows.iter().all(|row| row.status == Status::Failed)
        {
            let all = experiment::points(points);
            let (file, note) = (file.display(), &row.note);
            console::complain(&format!("{file}: every point failed ({all}); the first: {note}"));
            answer = Answer::No;
        }
    }
    Ok(answer)
}

/// The folder of each file's results. Two files must not share one.
fn folders(out: &Path, files: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut folders: Vec<PathBuf> = Vec::new();
    for file in files {
        let folder = out.join(file.file_stem().unwrap_or(OsStr::new("experiment")));
        if let Some(i) = folders.iter().position(|other| *other == folder) {
            return Err(Failure::user(format!(
                "`{}` and `{}` would both write to `{}`: run them one at a time, with different \
                 --out",
                files[i].display(),
                file.display(),
                folder.display()
            )));
        }
        folders.push(folder);
    }
    Ok(folders)
}

/// Runs what is not finished yet.
fn simulate(
    study: &Study,
    store: Store<'_>,
    target: &Experiment<'_>,
    options: RunOptions<'_>,
    console: &Console,
) -> Result<RunSummary, Failure> {
    let name = target.folder.file_name().unwrap_or_default().to_string_lossy();
    let (points, left) = (target.points, store.pending().len());
    tell_stale(&name, store.stale(), console);
    match points - left {
        0 => console.remark(format_args!("{name}: {}", experiment::points(points))),
        done => console.remark(format_args!(
            "{name}: {done} of {} finished already and skipped; --fresh runs them again",
            experiment::points(points)
        )),
    }
    let meter = Meter::new(&name, left, console);
    let summary = crosstie_lab::run(study, store, options, &meter);
    meter.close();
    summary.map_err(|error| experiment::refused(study, error, console))
}

/// Says that rows of another revision are not mixed with those to come.
pub fn tell_stale(name: &str, stale: usize, console: &Console) {
    if stale > 0 {
        let (points, are) = (experiment::points(stale), if stale == 1 { "is" } else { "are" });
        console.remark(format_args!(
            "{name}: {points} computed by another revision of the simulator {are} run again"
        ));
    }
}

/// As many threads as wanted, else one per core.
pub fn threads(wanted: Option<NonZeroUsize>) -> NonZeroUsize {
    wanted.or_else(|| thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

/// This very program, which real ranks are too; `None` where the system does not tell.
pub fn executable() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

/// What all runs of a command share.
pub struct Runner<'a> {
    threads: NonZeroUsize,
    /// The flag that Ctrl-C sets.
    interrupted: Arc<AtomicBool>,
    executable: Option<PathBuf>,
    lead: Option<&'a Lead>,
}

impl<'a> Runner<'a> {
    /// Watches for Ctrl-C from now on.
    pub fn new(
        wanted: Option<NonZeroUsize>,
        lead: Option<&'a Lead>,
    ) -> Result<Runner<'a>, Failure> {
        let (threads, executable) = (threads(wanted), executable());
        Ok(Runner { threads, interrupted: interrupt::watch()?, executable, lead })
    }

    pub fn options(&self) -> RunOptions<'_> {
        RunOptions {
            threads: self.threads,
            cancel: &self.interrupted,
            executable: self.executable.as_deref(),
            lead: self.lead,
        }
    }
}

/// Opens the folder of a study's results; a fresh one knows no finished points.
pub fn open<'a>(study: &'a Study, folder: &Path, fresh: bool) -> Result<Store<'a>, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    match fresh {
        true => Ok(Store::fresh(folder, study, version, &revision)?),
        false => Store::open(folder, study, version, &revision).map_err(|error| match error {
            ResultsError::Taken { .. } => Failure::user(format!(
                "{error}\n  help: --out FOLDER keeps both, --fresh replaces what is there"
            )),
            error => error.into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_after_files() {
        let files = ["a/one.toml", "two"].map(PathBuf::from);
        let expected = ["out/one", "out/two"].map(PathBuf::from);
        assert_eq!(folders(Path::new("out"), &files), Ok(expected.to_vec()));
        let twice = ["a/one.toml", "b/one.toml"].map(PathBuf::from);
        let Err(Failure::User(text)) = folders(Path::new("out"), &twice) else { panic!() };
        assert!(text.contains("`a/one.toml` and `b/one.toml` would both write to"), "{text}");
    }
}
