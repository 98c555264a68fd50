//! When one rank was done at one point.

use serde::{Deserialize, Serialize};

use super::side::{SideRow, SideTable, SideTables};

/// When one rank was done at one point: a line of `ranks.csv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RankRow {
    /// The point.
    pub point: u32,
    /// The rank.
    pub rank: u32,
    /// When it was done, in microseconds from the start.
    pub finish: f64,
}

impl SideRow for RankRow {
    const TABLE: SideTable = SideTable::Ranks;

    fn rows(tables: &SideTables) -> &[RankRow] {
        &tables.ranks
    }

    fn at(&mut self, point: u32) {
        self.point = point;
    }

    fn is_finite(&self) -> bool {
        self.finish.is_finite()
    }
}

/// Name, unit and meaning of each column of `ranks.csv`, in order.
pub(super) const RANK_COLUMNS: [[&str; 3]; 3] = [
    ["point", "", "the point, as in the rows"],
    ["rank", "", "number of the rank"],
    ["finish", "us", "when the rank was done"],
];
