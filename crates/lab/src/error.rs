//! What can go wrong, by who is to blame.

use crosstie_routing::RouteFault;
use crosstie_study::{Diagnostic, Point, ResultsError, Study};
use std::path::PathBuf;

/// Why a study cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A key of the experiment does not fit the others, or the network in a file.
    #[error("`{key}`: {problem}{}\n  help: {help}", found_at(point))]
    Setting {
        /// The key.
        key: String,
        /// What was found and what was expected.
        problem: String,
        /// What to do.
        help: String,
        /// The point where it was found, if it was for one.
        point: Option<Box<Point>>,
    },
    /// A file that the experiment refers to is not what it should be.
    #[error(
        "cannot use `{}`, named by `{key}`: {problem}{}\n  help: {help}",
        path.display(),
        found_at(point)
    )]
    Input {
        /// The key that names the file.
        key: String,
        /// The file.
        path: PathBuf,
        /// What was found and what was expected, with the line if there is one.
        problem: String,
        /// What to do.
        help: String,
        /// The point where it was found, if it was for one.
        point: Option<Box<Point>>,
    },
    /// The results cannot be kept.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A routing leads astray: a defect of ours.
    #[error("{0}: the routing is wrong")]
    Route(#[from] RouteFault),
    /// The simulator refuses what the checks let pass: a defect of ours.
    #[error("point {point} was checked, and yet the simulator says: {reason}")]
    Unforeseen {
        /// The point.
        point: u32,
        /// What the simulator says.
        reason: String,
    },
}

fn found_at(point: &Option<Box<Point>>) -> String {
    match point.as_ref().map(|point| point.name()) {
        Some(name) if !name.is_empty() => format!(" (found at {name})"),
        _ => String::new(),
    }
}

impl LabError {
    /// Whether the user can mend it; if not, it is a defect of ours.
    pub fn is_the_users(&self) -> bool {
        match self {
            LabError::Setting { .. } | LabError::Input { .. } => true,
            LabError::Results(error) => !matches!(
                error,
                ResultsError::NoSuchPoint { .. }
                    | ResultsError::NotFinite { .. }
                    | ResultsError::Foreign { .. }
            ),
            LabError::Route(_) | LabError::Unforeseen { .. } => false,
        }
    }

    pub(crate) fn setting(key: &str, problem: impl ToString, help: impl ToString) -> LabError {
        LabError::Setting {
            key: key.to_owned(),
            problem: problem.to_string(),
            help: help.to_string(),
            point: None,
        }
    }

    pub(crate) fn input(
        key: &str,
        path: PathBuf,
        problem: impl ToString,
        help: impl ToString,
    ) -> LabError {
        LabError::Input {
            key: key.to_owned(),
            path,
            problem: problem.to_string(),
            help: help.to_string(),
            point: None,
        }
    }

    /// Says at which point it was found.
    pub(crate) fn found_at(mut self, place: &Point) -> LabError {
        if let LabError::Setting { point, .. } | LabError::Input { point, .. } = &mut self {
            *point = Some(Box::new(place.clone()));
        }
        self
    }

    /// The mistake shown at its place in the experiment file, if it has one there.
    pub fn diagnostic(&self, study: &Study) -> Option<Diagnostic> {
        let (title, key, problem, help, point) = match self {
            LabError::Setting { key, problem, help, point, .. } => {
                (format!("`{key}` does not fit"), key, problem, help, point)
            }
            LabError::Input { key, path, problem, help, point, .. } => {
                (format!("cannot use `{}`", path.display()), key, problem, help, point)
            }
            _ => return None,
        };
        Some(study.mistake(point.as_deref()?, key, &title, problem, help))
    }
}
