//! The counters of one channel at one point.

use serde::{Deserialize, Serialize};

use super::side::{SideRow, SideTable, SideTables};

/// The counters of one channel at one point: a line of `channels.csv`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChannelRow {
    /// The point.
    pub point: u32,
    /// The channel's number within its rail.
    pub channel: u32,
    /// The rail, from 0.
    pub rail: u32,
    /// The label of the node where flits enter it.
    pub from: String,
    /// The label of the node where they leave it.
    pub to: String,
    /// What it joins, for example `injection`, `up`, `down`, `ejection`.
    pub kind: String,
    /// Flits carried while measuring.
    pub flits: u64,
    /// Share of time it carries flits.
    pub utilisation: f64,
    /// Share of time it has flits but no credit to send them.
    pub blocked: f64,
    /// Packets whose head waits at its end for a way on, mean over time.
    pub waiting: f64,
}

impl SideRow for ChannelRow {
    const TABLE: SideTable = SideTable::Channels;

    fn rows(tables: &SideTables) -> &[ChannelRow] {
        &tables.channels
    }

    fn at(&mut self, point: u32) {
        self.point = point;
    }

    fn is_finite(&self) -> bool {
        [self.utilisation, self.blocked, self.waiting].iter().all(|x| x.is_finite())
    }
}

/// Name, unit and meaning of each column of `channels.csv`, in order.
pub(super) const CHANNEL_COLUMNS: [[&str; 3]; 10] = [
    ["point", "", "the point, as in the rows"],
    ["channel", "", "number of the channel within its rail"],
    ["rail", "", "number of the rail"],
    ["from", "", "node where flits enter the channel"],
    ["to", "", "node where flits leave the channel"],
    ["kind", "", "what the channel joins"],
    ["flits", "flits", "flits carried while measuring"],
    ["utilisation", "", "share of time the channel carries flits"],
    ["blocked", "", "share of time the channel has flits but no credit to send them"],
    ["waiting", "packets", "packets whose head waits at its end for a way on, mean over time"],
];
