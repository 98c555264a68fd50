//! Rows laid out by two keys, in words: what the page and the terminal share.

use crosstie_study::{Cell, Head, Setting, Sheet, Status, Table, WorkKind};

use crate::caption;
use crate::escape::one_line;
use crate::figure::{spelling, status_words};
use crate::number;
use crate::tabular;

/// The title of a table, or what stands in it by which keys; with the unit where no head of a
/// column has it.
pub(crate) fn title(table: &Table) -> String {
    if let Some(title) = &table.title {
        let unit = table.columns.as_ref().and(table.value.first()).map(|name| caption::unit(name));
        return match unit {
            Some(unit) if !unit.is_empty() && !says(title, unit) => {
                format!("{} [{unit}]", one_line(title))
            }
            _ => one_line(title),
        };
    }
    let keys: Vec<String> = [Some(&table.rows), table.columns.as_ref()]
        .into_iter()
        .flatten()
        .map(|k| caption::name(k))
        .collect();
    format!("{} by {}", caption::axis(&table.value, 80), keys.join(" and "))
}

/// Returns true if a title has a unit among its words.
fn says(title: &str, unit: &str) -> bool {
    let mut words = title.split(|c: char| !c.is_alphanumeric() && c != '/');
    words.any(|word| word == unit || (unit, word) == ("us", "microseconds"))
}

/// The settings that a sheet holds for: "routing shortest, load 0.3"; empty if it is the only one.
pub(crate) fn heading(sheet: &Sheet<'_>) -> String {
    let settings = sheet.settings.iter();
    let words = settings.map(|(key, value)| format!("{} {}", caption::leaf(key), spelling(value)));
    one_line(&words.collect::<Vec<_>>().join(", "))
}

/// The head of a column: a setting, or what a terminal calls a measured column.
pub(crate) fn head(head: &Head<'_>) -> String {
    let name = match head {
        Head::Setting(setting) => return spelling(setting),
        Head::Column(name) => *name,
    };
    let mut shown = WorkKind::ALL.into_iter().flat_map(WorkKind::shown);
    match shown.find(|(column, head)| *column == name && head.contains(caption::unit(name))) {
        Some((_, head)) => (*head).to_owned(),
        None => caption::axis(&[name.to_owned()], 40),
    }
}

/// Whether the names of all lines are numbers.
pub(crate) fn is_numbered(sheet: &Sheet<'_>) -> bool {
    sheet.lines.iter().all(|line| matches!(line.setting, Setting::Number(_)))
}

/// What a cell says: a value, a word on how the run ended if that is unusual, or both.
pub(crate) struct Said {
    /// With the half-width of its interval, if it has one.
    pub value: Option<String>,
    /// Without it.
    pub bare: Option<String>,
    /// How the run ended, unless it ended well.
    pub ended: Option<Status>,
}

impl Said {
    pub fn of(cell: Option<&Cell<'_>>) -> Said {
        let Some(Cell { row, column }) = cell else {
            return Said { value: None, bare: None, ended: None };
        };
        let measured = row.measured(column);
        Said {
            value: measured.map(|_| tabular::value(row, column)),
            bare: measured.map(number::measured),
            ended: match row.status {
                Status::Converged | Status::Completed => None,
                Status::NotConverged | Status::Saturated | Status::Deadlocked | Status::Failed => {
                    Some(row.status)
                }
            },
        }
    }

    /// A value, the one with its interval or the bare one, and the word.
    pub fn text(&self, value: Option<&String>) -> String {
        let word = self.ended.map(status_words);
        match (value, word) {
            (Some(value), Some(word)) => format!("{value} {word}"),
            (Some(value), None) => value.clone(),
            (None, Some(word)) => word.to_owned(),
            (None, None) => number::MISSING.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_heads_have_units() {
        let table = |title: Option<&str>, columns: Option<&str>, value: &[&str]| Table {
            name: None,
            title: title.map(str::to_owned),
            rows: "traffic.load".to_owned(),
            columns: columns.map(str::to_owned),
            value: value.iter().map(|&name| name.to_owned()).collect(),
        };
        let by_policy = |text| title(&table(Some(text), Some("policy"), &["latency_p99"]));
        assert_eq!(by_policy("The slowest"), "The slowest [cycles]");
        assert_eq!(by_policy("The slowest, in cycles"), "The slowest, in cycles");
        let ping = |text| title(&table(Some(text), Some("policy"), &["latency"]));
        assert_eq!(ping("Ping, in microseconds"), "Ping, in microseconds");
        assert_eq!(ping("Ping over a bus"), "Ping over a bus [us]");
        // Here the heads say it.
        let values = ["latency_p99", "accepted"];
        assert_eq!(title(&table(Some("The slowest"), None, &values)), "The slowest");
        let heads = values.map(|name| head(&Head::Column(name)));
        assert_eq!(
            heads,
            ["99th percentile of latency [cycles]", "accepted load [flits/cycle/host]"]
        );
        assert_eq!(
            title(&table(None, Some("policy"), &["bandwidth"])),
            "bandwidth [MB/s] by offered load and policy"
        );
    }
}
