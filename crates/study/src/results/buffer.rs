//! What one memory of a switch did at one point.

use serde::{Deserialize, Serialize};

use super::side::{SideRow, SideTable, SideTables};

/// What one memory of a switch did at one point: a line of `buffers.csv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BufferRow {
    /// The point.
    pub point: u32,
    /// Whose it is, in words.
    pub place: String,
    /// What fits.
    pub capacity: u64,
    /// Whether that is in frames or in bytes.
    pub unit: String,
    /// The most that was in it.
    pub peak: u64,
    /// Frames that found room.
    pub taken: u64,
    /// Frames that did not.
    pub dropped: u64,
    /// Share of the time in which there was no room for a full frame.
    pub full: f64,
}

impl SideRow for BufferRow {
    const TABLE: SideTable = SideTable::Buffers;

    fn rows(tables: &SideTables) -> &[BufferRow] {
        &tables.buffers
    }

    fn at(&mut self, point: u32) {
        self.point = point;
    }

    fn is_finite(&self) -> bool {
        self.full.is_finite()
    }
}

/// Name, unit and meaning of each column of `buffers.csv`, in order.
pub(super) const BUFFER_COLUMNS: [[&str; 3]; 8] = [
    ["point", "", "the point, as in the rows"],
    ["place", "", "whose memory it is"],
    ["capacity", "", "what fits"],
    ["unit", "", "frames or bytes"],
    ["peak", "", "the most that was in it"],
    ["taken", "frames", "frames that found room"],
    ["dropped", "frames", "frames that did not"],
    ["full", "", "share of the time in which there was no room for a full frame"],
];
