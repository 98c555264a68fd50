//! What one message or computation went through at one point.

use serde::{Deserialize, Serialize};

use super::side::{SideRow, SideTable, SideTables};

/// A message, or a computation, of a schedule: a line of `timeline.csv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimelineRow {
    /// The point.
    pub point: u32,
    /// The rank that sent the message, or computed.
    pub rank: u32,
    /// The rank that received it; `None` of a computation.
    pub to: Option<u32>,
    /// The length of the message; `None` of a computation.
    pub bytes: Option<u32>,
    /// When the rank began with it, in microseconds from the start.
    pub begin: f64,
    /// When the rank was done with it.
    pub left: f64,
    /// When the receiver was.
    pub end: f64,
}

impl SideRow for TimelineRow {
    const TABLE: SideTable = SideTable::Timeline;

    fn rows(tables: &SideTables) -> &[TimelineRow] {
        &tables.timeline
    }

    fn at(&mut self, point: u32) {
        self.point = point;
    }

    fn is_finite(&self) -> bool {
        [self.begin, self.left, self.end].iter().all(|time| time.is_finite())
    }
}

/// Name, unit and meaning of each column of `timeline.csv`, in order.
pub(super) const TIMELINE_COLUMNS: [[&str; 3]; 7] = [
    ["point", "", "the point, as in the rows"],
    ["rank", "", "the rank that sent the message, or computed"],
    ["to", "", "the rank that received it; empty for a computation"],
    ["bytes", "B", "length of the message; empty for a computation"],
    ["begin", "us", "when the rank began with it"],
    ["left", "us", "when the rank was done with it"],
    ["end", "us", "when the receiver was"],
];
