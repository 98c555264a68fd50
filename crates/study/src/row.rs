//! One line of results: the settings of a point and what was measured there.

use std::fmt;

/// How the run of a point ended, told apart in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Every mean reached the precision asked for.
    Converged,
    /// The run reached its limit before the precision asked for.
    NotConverged,
    /// More was offered than the network accepts; latency grows without bound and is not reported.
    Saturated,
    /// The network stopped: packets wait for each other in a circle.
    Deadlocked,
}

impl Status {
    /// All of them, in the order above.
    pub const ALL: [Status; 4] =
        [Status::Converged, Status::NotConverged, Status::Saturated, Status::Deadlocked];

    /// The word used in result files and tables.
    pub fn word(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::NotConverged => "not-converged",
            Status::Saturated => "saturated",
            Status::Deadlocked => "deadlocked",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// The value of one swept key at one point.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// A number, such as a load.
    Number(f64),
    /// Anything else, as the experiment file spells it, such as "64 KiB" or "tree-adaptive".
    Text(String),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Number(x) => write!(f, "{x}"),
            Setting::Text(text) => f.write_str(text),
        }
    }
}

/// The results of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The point's number within its study, from 0.
    pub point: u32,
    /// The swept keys and their values here, in the order of the experiment file.
    pub settings: Vec<(String, Setting)>,
    /// How the run ended.
    pub status: Status,
    /// A sentence on anything unusual (what limited the run, the channels of a deadlock); else empty.
    pub note: String,
    /// Measured columns by name (see [`crate::COLUMNS`]); a column may be missing where it has no
    /// meaning, for example latency at a saturated point.
    pub measured: Vec<(String, f64)>,
}

impl Row {
    /// A measured column.
    pub fn measured(&self, column: &str) -> Option<f64> {
        self.measured.iter().find(|(name, _)| name == column).map(|&(_, value)| value)
    }

    /// The value of a swept key here.
    pub fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}
