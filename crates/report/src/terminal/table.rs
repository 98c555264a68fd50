//! The table: columns are dropped, then cut, until a line fits.

use std::fmt::Write;

use crosstie_study::{Row, Setting, Status};

use super::{Terminal, ansi};
use crate::caption;
use crate::escape::one_line;
use crate::figure::{spelling, status_words};
use crate::number;
use crate::tabular;

/// Space between columns.
const GAP: usize = 2;
/// A setting is not cut below this.
const LEAST: usize = 6;

struct Column {
    name: String,
    right: bool,
    setting: bool,
    head: String,
    cells: Vec<String>,
}

impl Column {
    fn width(&self) -> usize {
        let widths = self.cells.iter().chain([&self.head]).map(|cell| cell.chars().count());
        widths.max().unwrap_or(0)
    }
}

pub(super) fn table(terminal: &Terminal, rows: &[Row]) -> String {
    if rows.is_empty() {
        return "no points\n".to_owned();
    }
    let mut columns = columns(terminal, rows);
    fit(&mut columns, rows, terminal);

    let mut text = line(terminal, &columns, |column| &column.head, None);
    for (i, row) in rows.iter().enumerate() {
        text += &line(terminal, &columns, |column| &column.cells[i], Some(row.status));
    }
    text
}

fn columns(terminal: &Terminal, rows: &[Row]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    let keys = tabular::setting_keys(rows);
    for key in &keys {
        let leaf = caption::leaf(key);
        let unique = keys.iter().filter(|other| caption::leaf(other) == leaf).count() == 1;
        let cell = |row: &Row| row.setting(key).map_or(number::MISSING.to_owned(), spelling);
        columns.push(Column {
            name: (*key).to_owned(),
            right: rows.iter().any(|row| matches!(row.setting(key), Some(Setting::Number(_)))),
            setting: true,
            head: terminal.spell(&one_line(if unique { leaf } else { key })),
            cells: rows.iter().map(|row| terminal.spell(&cell(row))).collect(),
        });
    }
    let kinds = tabular::kinds(rows);
    for &(name, head) in kinds.iter().flat_map(|kind| kind.shown()) {
        let known = columns.iter().any(|column| !column.setting && column.name == name);
        if !known && rows.iter().any(|row| row.measured(name).is_some()) {
            columns.push(Column {
                name: name.to_owned(),
                right: true,
                setting: false,
                head: head.to_owned(),
                cells: rows.iter().map(|row| terminal.spell(&tabular::value(row, name))).collect(),
            });
        }
    }
    columns.push(Column {
        name: "status".to_owned(),
        right: false,
        setting: false,
        head: "status".to_owned(),
        cells: rows.iter().map(|row| status_words(row.status).to_owned()).collect(),
    });
    columns
}

/// Makes the columns fit: first without the least important ones, then without confidence
/// intervals, then with shorter settings.
fn fit(columns: &mut Vec<Column>, rows: &[Row], terminal: &Terminal) {
    let excess = |columns: &[Column]| total(columns).saturating_sub(terminal.width);
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
            columns[column].cells = rows.iter().map(|row| terminal.spell(&bare(row))).collect();
        }
    }
    while excess(columns) > 0 {
        let settings = columns.iter_mut().filter(|column| column.setting);
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

fn total(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.width() + GAP).sum::<usize>().saturating_sub(GAP)
}

fn line<'a>(
    terminal: &Terminal,
    columns: &'a [Column],
    cell: impl Fn(&'a Column) -> &'a String,
    status: Option<Status>,
) -> String {
    let mut line = String::new();
    for column in columns {
        let (cell, width) = (cell(column), column.width());
        if !line.is_empty() {
            line.push_str(&" ".repeat(GAP));
        }
        let _ = match column.right {
            true => write!(line, "{cell:>width$}"),
            false => write!(line, "{cell:<width$}"),
        };
    }
    let line = terminal.fitted(line.trim_end(), terminal.width);
    // The status is the last cell: colour is laid round it after every width is settled.
    let painted = status.filter(|_| terminal.colour).and_then(|status| {
        let plain = line.strip_suffix(status_words(status))?;
        Some(format!("{plain}\x1b[{}m{}\x1b[0m", ansi(status), status_words(status)))
    });
    painted.unwrap_or(line) + "\n"
}
