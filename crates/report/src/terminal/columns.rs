//! Columns of text side by side.

use std::fmt::Write;

use super::Terminal;

/// Space between columns.
const GAP: usize = 2;

/// A column: its head, and what stands below it.
pub(super) struct Column {
    pub right: bool,
    pub head: String,
    pub cells: Vec<String>,
}

impl Column {
    pub fn width(&self) -> usize {
        let widths = self.cells.iter().chain([&self.head]).map(|cell| cell.chars().count());
        widths.max().unwrap_or(0)
    }
}

/// How wide columns are side by side.
pub(super) fn total<'a>(columns: impl Iterator<Item = &'a Column>) -> usize {
    columns.map(|column| column.width() + GAP).sum::<usize>().saturating_sub(GAP)
}

/// The heads of columns, or their cells of one number, as a line that fits the terminal.
pub(super) fn line<'a>(
    terminal: &Terminal,
    columns: impl Iterator<Item = &'a Column>,
    number: Option<usize>,
) -> String {
    let mut line = String::new();
    for (i, column) in columns.enumerate() {
        let cell = number.map_or(&column.head, |number| &column.cells[number]);
        let (gap, width) = (if i == 0 { 0 } else { GAP }, column.width());
        // Writing to a string cannot fail.
        let _ = match column.right {
            true => write!(line, "{:gap$}{cell:>width$}", ""),
            false => write!(line, "{:gap$}{cell:<width$}", ""),
        };
    }
    terminal.fitted(line.trim_end(), terminal.width)
}
