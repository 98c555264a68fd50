//! Tables beside the rows: what a point found that does not fit in one line.
//!
//! A further one is an arm of [`SideTable`] with its file and its columns, the type of its lines,
//! and a field of [`SideTables`]; kinds of work say which of them they have.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::buffer::{BUFFER_COLUMNS, BufferRow};
use super::channel::{CHANNEL_COLUMNS, ChannelRow};
use super::host::{HOST_COLUMNS, HostRow};
use super::rank::{RANK_COLUMNS, RankRow};
use super::timeline::{TIMELINE_COLUMNS, TimelineRow};

/// A table beside the rows, one file of a folder of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SideTable {
    /// The counters of every channel.
    Channels,
    /// The counters of the memories of switches.
    Buffers,
    /// The machines and devices of real ranks.
    Hosts,
    /// When every rank was done.
    Ranks,
    /// Who sent what when.
    Timeline,
}

impl SideTable {
    /// All of them.
    pub const ALL: [SideTable; 5] = [
        SideTable::Channels,
        SideTable::Buffers,
        SideTable::Hosts,
        SideTable::Ranks,
        SideTable::Timeline,
    ];

    /// Its file.
    pub fn file(self) -> &'static str {
        match self {
            SideTable::Channels => "channels.csv",
            SideTable::Buffers => "buffers.csv",
            SideTable::Hosts => "hosts.csv",
            SideTable::Ranks => "ranks.csv",
            SideTable::Timeline => "timeline.csv",
        }
    }

    /// Name, unit and meaning of each column, in order.
    pub(super) fn columns(self) -> &'static [[&'static str; 3]] {
        match self {
            SideTable::Channels => &CHANNEL_COLUMNS,
            SideTable::Buffers => &BUFFER_COLUMNS,
            SideTable::Hosts => &HOST_COLUMNS,
            SideTable::Ranks => &RANK_COLUMNS,
            SideTable::Timeline => &TIMELINE_COLUMNS,
        }
    }
}

/// What there is beside the row of a point, or beside all rows of a study.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SideTables {
    /// The counters of channels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelRow>,
    /// The counters of the memories of switches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub buffers: Vec<BufferRow>,
    /// The machines and devices of real ranks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostRow>,
    /// When ranks were done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankRow>,
    /// Who sent what when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<TimelineRow>,
}

/// A line of a table beside the rows.
pub(super) trait SideRow: Clone + Serialize + DeserializeOwned {
    /// The table.
    const TABLE: SideTable;

    /// Its lines among all.
    fn rows(tables: &SideTables) -> &[Self];

    /// Sets the point, whose number may have changed since.
    fn at(&mut self, point: u32);

    /// Whether all of its numbers are numbers.
    fn is_finite(&self) -> bool;
}
