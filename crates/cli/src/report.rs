//! `crosstie report`: figures and page again, from stored rows alone.

use std::path::{Path, PathBuf};

use clap::Args;
use crosstie_study::ResultSet;
use serde::Serialize;

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  crosstie report results/quickstart
  crosstie report --json results/half-duplex results/patterns

To change what is drawn, edit the figures in study.toml inside the folder.";

/// Arguments of `crosstie report`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArguments {
    /// Folders of results, as `crosstie run` writes them
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
    points: usize,
    finished: usize,
    files: Vec<PathBuf>,
}

/// Draws everything again.
pub fn report(arguments: &ReportArguments, console: &Console) -> Exit {
    // All folders are read before anything is written, so that a typing error changes nothing.
    let sets = arguments.folders.iter().map(|folder| open(folder));
    let sets = sets.collect::<Result<Vec<ResultSet>, Failure>>()?;
    let mut reports = Vec::new();
    for (folder, results) in arguments.folders.iter().zip(&sets) {
        let files = crosstie_report::write(results, folder)?;
        let (finished, points) = (results.meta.finished, results.meta.points);
        if finished < points {
            let (folder, missing) = (folder.display(), points - finished);
            let are = if missing == 1 { "is" } else { "are" };
            console.remark(format_args!(
                "{folder}: {finished} of {points} points are finished, {missing} {are} missing"
            ));
        }
        reports.push(Report { folder, points, finished, files });
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

/// Reads a folder of results.
pub fn open(folder: &Path) -> Result<ResultSet, Failure> {
    ResultSet::open(folder).map_err(|error| {
        Failure::user(format!(
            "{error}\nhelp: expected a folder of results, as `crosstie run` writes them"
        ))
    })
}
