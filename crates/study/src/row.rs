//! One line of results: the settings of a point and what was measured there.

use std::fmt;
use std::str::FromStr;

use crosstie_protocol::ProfileKind;
use crosstie_units::{Bytes, Rate, Time};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::kind::WorkKind;
use crate::point::Point;

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
    /// All of the work is done.
    Completed,
    /// The work came to no end; the note says why.
    Failed,
}

impl Status {
    /// All of them, in the order above.
    pub const ALL: [Status; 6] = [
        Status::Converged,
        Status::NotConverged,
        Status::Saturated,
        Status::Deadlocked,
        Status::Completed,
        Status::Failed,
    ];

    /// The word used in result files and tables.
    pub fn word(self) -> &'static str {
        match self {
            Status::Converged => "converged",
            Status::NotConverged => "not-converged",
            Status::Saturated => "saturated",
            Status::Deadlocked => "deadlocked",
            Status::Completed => "completed",
            Status::Failed => "failed",
        }
    }
}

impl FromStr for Status {
    type Err = UnknownStatus;

    fn from_str(word: &str) -> Result<Status, UnknownStatus> {
        let mut all = Status::ALL.into_iter();
        all.find(|status| status.word() == word).ok_or_else(|| UnknownStatus(word.to_owned()))
    }
}

/// A word that is no status.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a status ({words})", words = Status::ALL.map(Status::word).join(", "))]
pub struct UnknownStatus(String);

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

impl Setting {
    /// A number as a number, anything else as it is spelled.
    pub(crate) fn of(value: &toml::Value) -> Setting {
        match value {
            // Beyond 2^53 a float no longer tells whole numbers apart.
            toml::Value::Integer(whole) if whole.unsigned_abs() <= 1 << 53 => {
                Setting::Number(*whole as f64)
            }
            toml::Value::Float(real) => Setting::Number(*real),
            toml::Value::String(text) => Setting::Text(text.clone()),
            other => Setting::Text(other.to_string()),
        }
    }

    /// Where it stands on an axis of numbers: a number itself, a size in bytes, a rate in bytes per
    /// second, a time in seconds. `None` for a name.
    pub fn number(&self) -> Option<f64> {
        match self {
            Setting::Number(x) => Some(*x),
            Setting::Text(_) => self.quantity().map(|(_, x)| x),
        }
    }

    /// The number that text with a unit stands for, and the unit of that number: "64 KiB" is 65536
    /// bytes. `None` for a plain number and for a name.
    pub fn quantity(&self) -> Option<(&'static str, f64)> {
        let Setting::Text(text) = self else { return None };
        let size = text.parse::<Bytes>().map(|size| ("bytes", size.get() as f64));
        let rate = || {
            let rate = text.parse::<Rate>()?;
            Ok(("bytes_per_second", rate.bytes_per_second() as f64))
        };
        // Divided, and not multiplied by 1e-12, so that 5 us are 5e-6.
        let time = || text.parse::<Time>().map(|time| ("seconds", time.ps() as f64 / 1e12));
        size.or_else(|_| rate()).or_else(|_: crosstie_units::QuantityError| time()).ok()
    }
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Number(x) => write!(f, "{x}"),
            Setting::Text(text) => f.write_str(text),
        }
    }
}

impl Serialize for Setting {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Setting::Number(x) => number(*x).serialize(to),
            Setting::Text(text) => to.serialize_str(text),
        }
    }
}

/// A number as result files have it: whole where it is whole, `None` where it is not finite.
pub(crate) fn number(x: f64) -> Option<serde_json::Number> {
    // Below 2^53 every whole float is exactly that whole number.
    if x.fract() == 0.0 && x.abs() < 9e15 {
        Some((x as i64).into())
    } else {
        serde_json::Number::from_f64(x)
    }
}

/// The results of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The point's number within its study, from 0.
    pub point: u32,
    /// The kind of work that was done, which says which columns there are.
    pub kind: WorkKind,
    /// The swept keys and their values here, in the order of the experiment file.
    pub settings: Vec<(String, Setting)>,
    /// The profile by which ranks exchanged messages, if they did and it is none of a paper: rows
    /// of papers are what they were before there were profiles, which `meta.json` tells of all.
    pub profile: Option<ProfileKind>,
    /// How the run ended.
    pub status: Status,
    /// A sentence on anything unusual (what limited the run, the channels of a deadlock); else
    /// empty.
    pub note: String,
    /// Measured columns by name (see [`WorkKind::columns`]); a column may be missing where it has
    /// no meaning, for example latency at a saturated point.
    pub measured: Vec<(String, f64)>,
}

impl Row {
    /// The row of a point.
    pub fn of(point: &Point, status: Status, note: String, measured: Vec<(String, f64)>) -> Row {
        let (kind, settings) = (point.spec.work.kind(), point.settings.clone());
        let profile = point.spec.profile.filter(|profile| !profile.is_of_paper());
        Row { point: point.index, kind, settings, profile, status, note, measured }
    }

    /// A measured column.
    pub fn measured(&self, column: &str) -> Option<f64> {
        self.measured.iter().find(|(name, _)| name == column).map(|&(_, value)| value)
    }

    /// The settings that are quantities as plain numbers: `work.ping.size_bytes` beside a
    /// `work.ping.size` of "64 KiB".
    pub fn quantities(&self) -> impl Iterator<Item = (String, f64)> {
        quantities(&self.settings).map(|(name, _, number)| (name, number))
    }

    /// The value of a swept key here.
    pub fn setting(&self, key: &str) -> Option<&Setting> {
        self.settings.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

/// Settings that are quantities: the name of the column with the number, its unit, and the number.
pub(crate) fn quantities(
    settings: &[(String, Setting)],
) -> impl Iterator<Item = (String, &'static str, f64)> {
    settings.iter().filter_map(|(key, value)| {
        let (unit, number) = value.quantity()?;
        Some((format!("{key}_{unit}"), unit, number))
    })
}

/// One flat object: `point`, each setting, `status`, `note`, `profile` where ranks exchanged
/// messages by none of a paper, every column of its kind of work, null where nothing was measured,
/// and at the end the numbers of settings that are quantities.
impl Serialize for Row {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut object = to.serialize_map(None)?;
        object.serialize_entry("point", &self.point)?;
        for (key, value) in &self.settings {
            object.serialize_entry(key, value)?;
        }
        object.serialize_entry("status", self.status.word())?;
        object.serialize_entry("note", &self.note)?;
        // A swept profile is a setting.
        if let Some(profile) = self.profile.filter(|_| self.setting("profile").is_none()) {
            object.serialize_entry("profile", profile.name())?;
        }
        for column in self.kind.columns() {
            let value = self.measured(column.name).and_then(number);
            if value.is_some() || !column.optional {
                object.serialize_entry(column.name, &value)?;
            }
        }
        for (name, value) in self.quantities() {
            object.serialize_entry(&name, &number(value))?;
        }
        object.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_stand_on_axes_and_names_do_not() {
        let text = |text: &str| Setting::Text(text.into()).number();
        assert_eq!(Setting::Number(0.5).number(), Some(0.5));
        assert_eq!(text("64 KiB"), Some(65_536.0));
        assert_eq!(text("400 MB/s"), Some(4e8));
        assert_eq!(text("5 ns"), Some(5e-9));
        assert_eq!(text("tree-adaptive"), None);
    }

    #[test]
    fn quantities_have_a_column_of_plain_numbers_at_the_end_of_a_row() {
        let setting = |key: &str, text: &str| (key.to_owned(), Setting::Text(text.into()));
        let row = Row {
            point: 0,
            kind: WorkKind::Ping,
            settings: vec![
                setting("work.ping.size", "64 KiB"),
                setting("link.rate", "1 Gbit/s"),
                setting("link.wire", "5 us"),
                setting("policy", "pull"),
                ("seed".to_owned(), Setting::Number(3.0)),
            ],
            profile: None,
            status: Status::Completed,
            note: String::new(),
            measured: Vec::new(),
        };
        let json = serde_json::to_string(&row).unwrap();
        let end = r#","finish_last":null,"work.ping.size_bytes":65536,"link.rate_bytes_per_second":125000000,"link.wire_seconds":5e-6}"#;
        assert!(json.contains(r#""work.ping.size":"64 KiB""#) && json.ends_with(end), "{json}");
    }

    #[test]
    fn statuses_are_read_by_the_words_they_print() {
        for status in Status::ALL {
            assert_eq!(status.word().parse(), Ok(status));
        }
        assert_eq!(
            "done".parse::<Status>().unwrap_err().to_string(),
            "`done` is not a status (converged, not-converged, saturated, deadlocked, completed, failed)"
        );
    }
}
