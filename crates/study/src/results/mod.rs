//! A folder of results: self-describing, resumable, and readable without Crosstie.
//!
//! | file | holds |
//! |---|---|
//! | `study.toml` | the study, every default spelled out: an experiment file in its own right |
//! | `inputs/` | copies of the files that the study refers to |
//! | `origin.txt` | the experiment file that it was run from, seen from the folder |
//! | `meta.json` | what the columns mean, which revision computed them, how to run the study again |
//! | `rows.jsonl`, `rows.csv` | one flat row per finished point, in order, the same in both |
//! | `channels.csv` | the counters of every channel, where the study keeps them |
//! | `buffers.csv` | what every memory of a switch did, of closed-loop work on frames |
//! | `hosts.csv` | the machines and devices that real ranks ran on |
//! | `ranks.csv` | when every rank was done, of closed-loop work |
//! | `timeline.csv` | who sent what when, of short schedules |
//! | `journal.jsonl` | finished points as they came in; what lets a rerun skip them |
//!
//! None of them holds a time of day or anything else that would differ between two runs of the same
//! study, and all but the journal are replaced as a whole or not at all. What was measured on real
//! hosts (`world = "live"`) does differ, and `meta.json` says so.

mod buffer;
mod channel;
mod host;
mod journal;
mod meta;
mod origin;
mod rank;
mod rows;
mod set;
mod side;
mod store;
mod timeline;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

pub use buffer::BufferRow;
pub use channel::ChannelRow;
pub use host::HostRow;
pub use meta::{ColumnMeaning, Meta};
pub use rank::RankRow;
pub use set::ResultSet;
pub use side::{SideTable, SideTables};
pub use store::{Revision, Store};
pub use timeline::TimelineRow;

use crate::diagnostic::Diagnostic;

const ORIGIN: &str = "origin.txt";
const STUDY: &str = "study.toml";
const META: &str = "meta.json";
const ROWS_JSON: &str = "rows.jsonl";
const ROWS_CSV: &str = "rows.csv";
const JOURNAL: &str = "journal.jsonl";

/// Why results cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// The operating system refused.
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// Someone else is writing here.
    #[error(
        "`{}` is being written by another run: wait for it, or choose another folder",
        path.display()
    )]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// The results of another experiment are here.
    #[error(
        "`{}` holds the results of another experiment, `{}`: choose another folder",
        path.display(),
        theirs.display()
    )]
    Taken {
        /// The folder.
        path: PathBuf,
        /// The other experiment file.
        theirs: PathBuf,
    },
    /// A file is not what this version writes.
    #[error(
        "`{}` is damaged{}: {reason}; run its study again to rewrite it",
        path.display(),
        line.map(|line| format!(" in line {line}")).unwrap_or_default()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1, if known.
        line: Option<usize>,
        /// What was found and expected.
        reason: String,
    },
    /// The study among the results is not sound.
    #[error(transparent)]
    Study(#[from] Diagnostic),
    /// A row for a point that the study does not have.
    #[error("there is no point {point}: the study has {points} points, counted from 0")]
    NoSuchPoint {
        /// The number given.
        point: u32,
        /// How many there are.
        points: usize,
    },
    /// A line beside a row with a number that is none.
    #[error("line {line} of point {point} in `{file}` has a number that is not finite")]
    NotFinite {
        /// The point.
        point: u32,
        /// The file of the table.
        file: &'static str,
        /// The line among those of the point, from 1.
        line: usize,
    },
    /// A measured column, or a status, that the kind of work does not have.
    #[error("`{found}` is not what results of `{kind}` can have")]
    Foreign {
        /// The column or the status.
        found: String,
        /// The kind of work.
        kind: &'static str,
    },
}

/// Turns an error of the operating system into one that says what was tried on which path.
fn doing(action: &'static str, path: &Path) -> impl Fn(io::Error) -> ResultsError {
    move |source| ResultsError::Io { action, path: path.to_owned(), source }
}

/// Writes a file as a whole or not at all: readers see the old content or the new.
fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), ResultsError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let draft = path.with_file_name(name);
    let written = File::create(&draft).and_then(|file| {
        let mut file = BufWriter::new(file);
        write(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&draft, path)
    });
    if written.is_err() {
        // The first error is the one to report; a draft that stays behind does no harm.
        let _ = std::fs::remove_file(&draft);
    }
    written.map_err(doing("write", path))
}
