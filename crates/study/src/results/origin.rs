//! Which experiment file a folder of results belongs to.
//!
//! Whoever edits an experiment and runs it again means the same folder. Another file that happens
//! to have the same name does not, unless it says the same.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{ORIGIN, ResultsError, STUDY, doing, replace};
use crate::study::Study;

/// Refuses a folder that holds the results of another experiment.
pub(super) fn check(folder: &Path, study: &Study) -> Result<(), ResultsError> {
    let Ok(recorded) = fs::read_to_string(folder.join(ORIGIN)) else { return Ok(()) };
    let recorded = recorded.trim_end_matches('\n');
    let same_file = || seen_from(folder, study.file()).is_none_or(|ours| ours == recorded);
    let same_study =
        || fs::read_to_string(folder.join(STUDY)).is_ok_and(|text| text == study.to_toml());
    if same_file() || same_study() {
        return Ok(());
    }
    let theirs = folder.join(recorded);
    // The way that the user would write, if the file is still there.
    let theirs = theirs.canonicalize().unwrap_or(theirs);
    Err(ResultsError::Taken { path: folder.to_owned(), theirs })
}

/// Writes down which experiment file the folder belongs to. A study without a file leaves no trace.
pub(super) fn write(folder: &Path, study: &Study) -> Result<(), ResultsError> {
    let path = folder.join(ORIGIN);
    match seen_from(folder, study.file()) {
        Some(origin) => replace(&path, |to| writeln!(to, "{origin}")),
        None => match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(doing("remove", &path)(error))
            }
            _ => Ok(()),
        },
    }
}

/// The way from a folder to a file, which stays the same when both are moved together; `None` if
/// there is no file, or it is gone.
fn seen_from(folder: &Path, file: Option<&Path>) -> Option<String> {
    let (folder, file) = (folder.canonicalize().ok()?, file?.canonicalize().ok()?);
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    let way: PathBuf = match shared {
        // On another drive.
        0 => file,
        _ => up.chain(file.components().skip(shared)).collect(),
    };
    Some(way.to_string_lossy().into_owned())
}
