//! The table: columns are dropped, then cut, until a line fits.

use crosstie_study::{Row, Setting, Status};

use super::{Terminal, ansi, columns};
use crate::caption;
use crate::escape::one_line;
use crate::figure::{spelling, status_words};
use crate::number;
use crate::tabular;

/// A setting is not cut below this.
const LEAST: usize = 6;

struct Column {
    name: String,
    setting: bool,
    text: columns::Column,
}

pub(super) fn table(terminal: &Terminal, rows: &[Row]) -> String {
    if rows.is_empty() {
        return "no points\n".to_owned();
    }
    let mut columns = chosen(terminal, rows);
    fit(&mut columns, rows, terminal);

    let texts = || columns.iter().map(|column| &column.text);
    let mut text = columns::line(terminal, texts(), None) + "\n";
    for (i, row) in rows.iter().enumerate() {
        text += &painted(terminal, columns::line(terminal, texts(), Some(i)), row.status);
    }
    text + &units(terminal, &columns)
}

/// The units that no head has: "offered, accepted: flits/cycle/host; latency, p99: cycles". On
/// several lines if one is too short.
fn units(terminal: &Terminal, columns: &[Column]) -> String {
    let mut units: Vec<(&str, Vec<&str>)> = Vec::new();
    for column in columns.iter().filter(|column| !column.setting) {
        let unit = caption::unit(&column.name);
        // A count is its own unit.
        if unit.is_empty() || unit == column.name || column.text.head.contains(unit) {
            continue;
        }
        match units.iter_mut().find(|(known, _)| *known == unit) {
            Some((_, heads)) => heads.push(&column.text.head),
            None => units.push((unit, vec![&column.text.head])),
        }
    }
    let parts: Vec<String> =
        units.iter().map(|(unit, heads)| format!("{}: {unit}", heads.join(", "))).collect();
    let whole = parts.join("; ");
    let lines = if whole.chars().count() <= terminal.width { vec![whole] } else { parts };
    let lines = lines.iter().filter(|line| !line.is_empty());
    lines.map(|line| terminal.fitted(line, terminal.width) + "\n").collect()
}

fn chosen(terminal: &Terminal, rows: &[Row]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    let keys = tabular::setting_keys(rows);
    for key in &keys {
        let leaf = caption::leaf(key);
        let unique = keys.iter().filter(|other| caption::leaf(other) == leaf).count() == 1;
        let cell = |row: &Row| row.setting(key).map_or(number::MISSING.to_owned(), spelling);
        let text = columns::Column {
            right: rows.iter().any(|row| matches!(row.setting(key), Some(Setting::Number(_)))),
            head: terminal.spell(&one_line(if unique { leaf } else { key })),
            cells: rows.iter().map(|row| terminal.spell(&cell(row))).collect(),
        };
        columns.push(Column { name: (*key).to_owned(), setting: true, text });
    }
    let kinds = tabular::kinds(rows);
    for &(name, head) in kinds.iter().flat_map(|kind| kind.shown()) {
        let known = columns.iter().any(|column| !column.setting && column.name == name);
        if !known && rows.iter().any(|row| row.measured(name).is_some()) {
            let text = columns::Column {
                right: true,
                head: head.to_owned(),
                cells: rows.iter().map(|row| terminal.spell(&tabular::value(row, name))).collect(),
            };
            columns.push(Column { name: name.to_owned(), setting: false, text });
        }
    }
    let text = columns::Column {
        right: false,
        head: "status".to_owned(),
        cells: rows.iter().map(|row| status_words(row.status).to_owned()).collect(),
    };
    columns.push(Column { name: "status".to_owned(), setting: false, text });
    columns
}

/// Makes the columns fit: first without the least important ones, then without confidence
/// intervals, then with shorter settings.
fn fit(columns: &mut Vec<Column>, rows: &[Row], terminal: &Terminal) {
    let excess = |columns: &[Column]| {
        let total = columns::total(columns.iter().map(|column| &column.text));
        total.saturating_sub(terminal.width)
    };
    let kinds = tabular::kinds(rows);
    for name in kinds.iter().flat_map(|kind| kind.given_up()) {
        if excess(columns) > 0 {
            columns.retain(|column| column.setting || column.name != *name);
        }
    }
    for column in 0..columns.len() {
        let measured = rows.iter().any(|row| row.measured(&columns[column].name).is_some());
        if excess(columns) > 0 && measured && !columns[column].setting {
            let name = columns[column].name.clone();
            let bare = |row: &Row| {
                row.measured(&name).map_or(number::MISSING.to_owned(), number::measured)
            };
            columns[column].text.cells =
                rows.iter().map(|row| terminal.spell(&bare(row))).collect();
        }
    }
    while excess(columns) > 0 {
        let settings = columns.iter_mut().filter(|column| column.setting).map(|c| &mut c.text);
        let Some(widest) = settings.max_by_key(|column| column.width()) else { return };
        let width = widest.width();
        if width <= LEAST {
            return;
        }
        for cell in widest.cells.iter_mut().chain([&mut widest.head]) {
            *cell = terminal.fitted(cell, width - 1);
        }
    }
}

/// A line with its status in colour, which is laid round it after every width is settled: the
/// status is the last cell.
fn painted(terminal: &Terminal, line: String, status: Status) -> String {
    let words = status_words(status);
    match line.strip_suffix(words).filter(|_| terminal.colour) {
        Some(plain) => format!("{plain}\x1b[{}m{words}\x1b[0m\n", ansi(status)),
        None => line + "\n",
    }
}
