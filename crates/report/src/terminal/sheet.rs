//! Rows laid out by two keys. A sheet that is too wide goes without intervals; if that does not do,
//! its columns go on below.

use crosstie_study::{Head, Row, Sheet, Status, Table};

use super::{Terminal, ansi};
use crate::caption;
use crate::escape::one_line;
use crate::figure::{spelling, status_words};
use crate::sheet::{self, Said};

/// Space between columns.
const GAP: usize = 2;

struct Column {
    right: bool,
    head: String,
    cells: Vec<(String, Option<Status>)>,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|(cell, _)| cell);
        cells.chain([&self.head]).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

pub(super) fn sheets(terminal: &Terminal, table: &Table, rows: &[Row]) -> String {
    let sheets = table.sheets(rows);
    if sheets.is_empty() {
        return String::new();
    }
    let mut text = terminal.fitted(&sheet::title(table), terminal.width) + "\n";
    for (i, sheet) in sheets.iter().enumerate() {
        let heading = sheet::heading(sheet);
        if !heading.is_empty() {
            text += if i == 0 { "" } else { "\n" };
            text += &(terminal.fitted(&heading, terminal.width) + "\n");
        }
        text += &laid_out(terminal, table, sheet);
    }
    text
}

fn laid_out(terminal: &Terminal, table: &Table, sheet: &Sheet<'_>) -> String {
    let spelled = |text: &str| terminal.spell(&one_line(text));
    let names = Column {
        right: sheet::is_numbered(sheet),
        head: spelled(caption::leaf(&table.rows)),
        cells: sheet.lines.iter().map(|line| (spelled(&spelling(line.setting)), None)).collect(),
    };
    let columns = |intervals: bool| -> Vec<Column> {
        let cell = |said: &Said| {
            let value = if intervals { &said.value } else { &said.bare };
            (terminal.spell(&said.text(value.as_ref())), said.ended)
        };
        let column = |(i, head): (usize, &Head<'_>)| Column {
            right: true,
            head: spelled(&sheet::head(head)),
            cells: sheet.lines.iter().map(|l| cell(&Said::of(l.cells[i].as_ref()))).collect(),
        };
        sheet.heads.iter().enumerate().map(column).collect()
    };
    let room = terminal.width.saturating_sub(names.width());
    let fits = |columns: &[Column]| total(columns) <= room;
    let mut rest = columns(true);
    if !fits(&rest) {
        rest = columns(false);
    }
    let mut text = String::new();
    while !rest.is_empty() {
        let count = (1..=rest.len()).rev().find(|&n| fits(&rest[..n])).unwrap_or(1);
        let beyond = rest.split_off(count);
        text += &block(terminal, &names, &rest);
        rest = beyond;
    }
    text
}

fn total(columns: &[Column]) -> usize {
    columns.iter().map(|column| column.width() + GAP).sum()
}

/// Columns side by side, after the names of the lines.
fn block(terminal: &Terminal, names: &Column, columns: &[Column]) -> String {
    let all = || [names].into_iter().chain(columns);
    let line = |cells: Vec<(&str, Option<Status>)>| {
        let mut line = String::new();
        let mut painted = String::new();
        for ((cell, ended), column) in cells.into_iter().zip(all()) {
            let gap = if line.is_empty() { 0 } else { GAP };
            let padding = " ".repeat(column.width() - cell.chars().count());
            let (before, after) = if column.right { (&*padding, "") } else { ("", &*padding) };
            let colour = |status: Status| {
                let plain = cell.strip_suffix(&terminal.spell(status_words(status)))?;
                let words = &cell[plain.len()..];
                Some(format!("{plain}\x1b[{}m{words}\x1b[0m", ansi(status)))
            };
            line += &format!("{:gap$}{before}{cell}{after}", "");
            let cell = ended.and_then(colour).unwrap_or_else(|| cell.to_owned());
            painted += &format!("{:gap$}{before}{cell}{after}", "");
        }
        let fits = line.trim_end().chars().count() <= terminal.width;
        match terminal.colour && fits {
            true => painted.trim_end().to_owned() + "\n",
            false => terminal.fitted(line.trim_end(), terminal.width) + "\n",
        }
    };
    let mut text = line(all().map(|column| (column.head.as_str(), None)).collect());
    for i in 0..names.cells.len() {
        text +=
            &line(all().map(|column| (column.cells[i].0.as_str(), column.cells[i].1)).collect());
    }
    text
}
