//! Results in a terminal: an aligned table, a small curve per series, a paper's claims, and what
//! the rails of a box carried.

mod carried;
mod claims;
mod columns;
mod sheet;
mod sparkline;
mod table;

use crosstie_study::paper::Finding;
use crosstie_study::trace::Summary;
use crosstie_study::{Figure, Row, Status, Table};

use crate::escape::shortened;
use crate::number;

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Columns of text; no line is longer.
    pub width: usize,
    /// Whether it shows more than ASCII.
    pub unicode: bool,
    /// Whether it shows colours.
    pub colour: bool,
}

impl Terminal {
    /// One line per row: its settings, the load, the latency, how it ended. Where the width does
    /// not suffice, what matters least is left out first.
    pub fn table(&self, rows: &[Row]) -> String {
        table::table(self, rows)
    }

    /// The rows laid out by two keys, as a table of the experiment asks for it; nothing if there
    /// are no such rows.
    pub fn sheets(&self, table: &Table, rows: &[Row]) -> String {
        sheet::sheets(self, table, rows)
    }

    /// One line per curve of a figure: its first column as blocks along x, all to one scale.
    pub fn sparklines(&self, figure: &Figure, rows: &[Row]) -> String {
        sparkline::sparklines(self, figure, rows)
    }

    /// One line per claim of a paper, published beside measured; then those that differ in full,
    /// and a count.
    pub fn claims(&self, findings: &[Finding]) -> String {
        claims::claims(self, findings)
    }

    /// One line per end of a rail: what it carried in a run. Of many ends, those that carried most.
    pub fn carried(&self, summary: &Summary) -> String {
        carried::table(self, summary)
    }

    fn spell(&self, text: &str) -> String {
        if self.unicode { text.to_owned() } else { number::ascii(text) }
    }

    /// A text cut to a width. It is spelled before, since ASCII may take more room, and after,
    /// since the cut leaves its own mark.
    fn fitted(&self, text: &str, width: usize) -> String {
        self.spell(&shortened(&self.spell(text), width))
    }
}

/// The colour of a status.
fn ansi(status: Status) -> &'static str {
    match status {
        Status::Converged | Status::Completed => "32",
        Status::NotConverged => "33",
        Status::Saturated => "35",
        Status::Deadlocked | Status::Failed => "1;31",
    }
}
