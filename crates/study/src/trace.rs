//! A folder with what the rails of a box carried: written as a run goes on, and readable without
//! it.
//!
//! | file | holds |
//! |---|---|
//! | `box.toml` | the box file that was run |
//! | `rails.csv` | what each end of each rail carried, ten times a second |
//! | `events.csv` | what happened to the rails |
//! | `trace.json` | what the columns mean, which program ran, for how long |
//!
//! Of a stretch in which an end was idle (it carried nothing, dropped nothing, and nothing waited)
//! only the first and the last line are written, so that sums, means over time and straight lines
//! from one line to the next stay true. What a line holds was carried since the line before of the
//! same end. A last line without its end, as a full disk or a power cut leaves it, counts as not
//! written.

mod folder;
mod summary;
mod writer;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use folder::{EndTrace, Reading, TraceFolder};
pub use summary::{EndSummary, Summary};
pub use writer::TraceWriter;

use crate::diagnostic::Diagnostic;
use crate::results::ColumnMeaning;

const BOX: &str = "box.toml";
const RAILS: &str = "rails.csv";
const EVENTS: &str = "events.csv";
const META: &str = "trace.json";

/// The version of the folder's layout. It changes when a reader of the old layout would go wrong.
const FORMAT: u32 = 1;

/// Name, unit and meaning of each column of `rails.csv`, in order.
const RAIL_COLUMNS: [[&str; 3]; 8] = [
    ["time_s", "s", "when, since the programs began"],
    ["rail", "", "the rail"],
    ["host", "", "the host"],
    ["end", "", "nic: what the host sends; switch: what the switch sends to the host"],
    ["bytes", "B", "carried since the line before of this end, Ethernet headers included"],
    ["frames", "frames", "carried likewise; with offloads, what a NIC takes at once counts as one"],
    ["drops", "frames", "dropped likewise, because they found no room"],
    ["queue_bytes", "B", "waiting at this moment"],
];

/// Name, unit and meaning of each column of `events.csv`, in order.
const EVENT_COLUMNS: [[&str; 3]; 5] = [
    ["time_s", "s", "when it was to happen, since the programs began"],
    ["late_s", "s", "by how much it was late"],
    ["rail", "", "the rail"],
    ["host", "", "the host whose port it was; empty: all of the rail"],
    ["what", "", "what happened: a rate, down or up"],
];

/// The content of `trace.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceMeta {
    /// The version of the folder's layout.
    pub format: u32,
    /// The version of Crosstie that wrote the folder.
    pub crosstie: String,
    /// The program that was run, and its arguments.
    pub program: Vec<String>,
    /// How long the programs ran; `None` while they do, and if the recording was broken off.
    pub seconds: Option<f64>,
    /// The columns of the tables, in order, by file.
    pub columns: BTreeMap<String, Vec<ColumnMeaning>>,
}

/// Why a trace cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
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
    /// Something else is in the folder.
    #[error(
        "`{}` is not a trace that could be replaced: it has `{other}` in it; choose another folder, \
         or one that does not exist yet",
        path.display()
    )]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// What else is there.
        other: String,
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
    /// A file is not what this version writes.
    #[error(
        "`{}` is damaged{}: {reason}",
        path.display(),
        line.map(|line| format!(" in line {line}")).unwrap_or_default()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The line, from 1, if known.
        line: Option<u64>,
        /// What was found and expected, and which other lines are damaged.
        reason: String,
    },
    /// The box file in the folder is not sound.
    #[error(transparent)]
    Box(#[from] Diagnostic),
}

/// Turns an error of the operating system into one that says what was tried on which path.
fn doing(action: &'static str, path: &Path) -> impl Fn(io::Error) -> TraceError {
    move |source| TraceError::Io { action, path: path.to_owned(), source }
}

fn names(columns: &[[&'static str; 3]]) -> impl Iterator<Item = &'static str> {
    columns.iter().map(|[name, ..]| *name)
}
