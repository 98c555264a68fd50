//! Experiment files from the command line, all checked before any of them is used.

use std::path::{Path, PathBuf};

use crosstie_lab::LabError;
use crosstie_study::{Diagnostic, Study};

use crate::console::Console;
use crate::exit::Failure;

/// Reads all files. The mistakes of all of them are reported together.
pub fn load_all(files: &[PathBuf], console: &Console) -> Result<Vec<Study>, Failure> {
    let (studies, mistakes): (Vec<_>, Vec<_>) =
        files.iter().map(Study::load).partition(Result::is_ok);
    let mistakes: Vec<Diagnostic> = mistakes.into_iter().filter_map(Result::err).collect();
    match mistakes.is_empty() {
        true => Ok(studies.into_iter().flatten().collect()),
        false => Err(refusal(&mistakes, console)),
    }
}

/// Reads one file.
pub fn load(file: &Path, console: &Console) -> Result<Study, Failure> {
    Study::load(file).map_err(|mistake| refusal(&[mistake], console))
}

/// Why a study cannot be run, at the place in its file if there is one.
pub fn refused(study: &Study, error: LabError, console: &Console) -> Failure {
    match error.diagnostic(study) {
        Some(mistake) => refusal(&[mistake], console),
        None => error.into(),
    }
}

/// Says which keys of an experiment have no effect, and what else a reader should know of it.
pub fn warn(file: &Path, study: &Study, console: &Console) {
    for warning in warnings(study) {
        console.remark(format_args!("warning: {}: {warning}", file.display()));
    }
}

/// What is to be said, each once, and of how many points.
fn warnings(study: &Study) -> Vec<String> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for warning in study.points().iter().flat_map(|point| study.remarks(point)) {
        match found.iter_mut().find(|(known, _)| *known == warning) {
            Some((_, points)) => *points += 1,
            None => found.push((warning, 1)),
        }
    }
    let all = study.points().len();
    let told = |(warning, points): (String, usize)| match points {
        points if points == all => warning,
        points => format!("{warning}, at {points} of {all} points"),
    };
    found.into_iter().map(told).collect()
}

/// So many points, in words.
pub fn points(count: usize) -> String {
    if count == 1 { "1 point".to_owned() } else { format!("{count} points") }
}

fn refusal(mistakes: &[Diagnostic], console: &Console) -> Failure {
    let colour = console.colours_messages();
    let texts: Vec<String> = mistakes.iter().map(|mistake| mistake.render(colour)).collect();
    Failure::rendered(texts.join("\n\n"))
}
