//! `crosstie report`: figures and page again, from stored rows or a trace alone.

use std::path::{Path, PathBuf};

use clap::Args;
use crosstie_study::ResultSet;
use crosstie_study::trace::TraceFolder;
use serde::Serialize;

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  crosstie report results/quickstart
  crosstie report --json results/half-duplex results/patterns
  crosstie report results/dying
      what the rails of a box carried, after `crosstie box --trace`

To change what is drawn of an experiment, edit the figures in study.toml inside
the folder.";

/// Arguments of `crosstie report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArguments {
    /// Folders of results, as `crosstie run` and `crosstie box --trace` write them
    #[arg(value_name = "FOLDER", required = true)]
    folders: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Listing<'a> {
    reports: Vec<Report<'a>>,
}

#[derive(Serialize)]
struct Report<'a> {
    folder: &'a Path,
    #[serde(flatten)]
    about: About,
    files: Vec<PathBuf>,
}

/// What a report is about.
#[derive(Serialize)]
#[serde(untagged)]
enum About {
    Experiment { points: usize, finished: usize },
    Trace { seconds: f64, events: usize },
}

/// What is in a folder.
enum Found {
    Results(ResultSet),
    Trace(TraceFolder),
}

/// Draws everything again.
pub fn report(arguments: &ReportArguments, console: &Console) -> Exit {
    // All folders are read before anything is written, so that a typing error changes nothing.
    let found = arguments.folders.iter().map(|folder| match TraceFolder::is_one(folder) {
        true => Ok(Found::Trace(TraceFolder::open(folder)?)),
        false => open(folder).map(Found::Results),
    });
    let found = found.collect::<Result<Vec<Found>, Failure>>()?;
    let mut reports = Vec::new();
    for (folder, found) in arguments.folders.iter().zip(&found) {
        let (about, files) = match found {
            Found::Results(results) => of_results(results, folder, console)?,
            Found::Trace(trace) => of_trace(trace, folder, console)?,
        };
        reports.push(Report { folder, about, files });
    }
    if console.json {
        console.print_json(&Listing { reports })?;
    } else {
        let lines = reports.iter().flat_map(|report| &report.files);
        let lines: String = lines.map(|file| format!("{}\n", file.display())).collect();
        console.tell(&lines)?;
    }
    Ok(Answer::Yes)
}

fn of_results(
    results: &ResultSet,
    folder: &Path,
    console: &Console,
) -> Result<(About, Vec<PathBuf>), Failure> {
    let files = crosstie_report::write(results, folder)?;
    let (finished, points) = (results.meta.finished, results.meta.points);
    if finished < points {
        let (folder, missing) = (folder.display(), points - finished);
        let are = if missing == 1 { "is" } else { "are" };
        console.remark(format_args!(
            "{folder}: {finished} of {points} points are finished, {missing} {are} missing"
        ));
    }
    Ok((About::Experiment { points, finished }, files))
}

fn of_trace(
    trace: &TraceFolder,
    folder: &Path,
    console: &Console,
) -> Result<(About, Vec<PathBuf>), Failure> {
    let files = crosstie_report::write_trace(trace, folder)?;
    let (seconds, events) = (trace.summary.seconds, trace.happenings.len());
    if trace.meta.seconds.is_none() {
        console.remark(format_args!(
            "{}: the recording has no end; what is there reaches to {seconds:.1} s",
            folder.display()
        ));
    }
    Ok((About::Trace { seconds, events }, files))
}

/// Reads a folder of results.
pub fn open(folder: &Path) -> Result<ResultSet, Failure> {
    ResultSet::open(folder).map_err(|error| {
        Failure::user(format!(
            "{error}\nhelp: expected a folder of results, as `crosstie run` writes them, or a trace, as \
             `crosstie box --trace` does"
        ))
    })
}
