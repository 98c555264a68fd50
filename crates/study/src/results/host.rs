//! What real ranks ran on at one point.

use serde::{Deserialize, Serialize};

use super::side::{SideRow, SideTable, SideTables};

/// A device of real hosts, as the ranks that are alike in it found it: a line of `hosts.csv`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRow {
    /// The point.
    pub point: u32,
    /// The ranks, such as `0-3`.
    pub ranks: String,
    /// The kernel.
    pub kernel: String,
    /// The processor.
    pub cpu: String,
    /// How many cores the ranks of a host may use.
    pub cores: u32,
    /// What the clock counts.
    pub clock: String,
    /// The device of a rail; `memory` of ranks that need none.
    pub device: String,
    /// Its rate, as far as somebody knows it.
    pub rate: String,
    /// The most bytes of a packet; 0 where there are none.
    pub mtu: u32,
    /// What the kernel does for it.
    pub offloads: String,
}

impl SideRow for HostRow {
    const TABLE: SideTable = SideTable::Hosts;

    fn rows(tables: &SideTables) -> &[HostRow] {
        &tables.hosts
    }

    fn at(&mut self, point: u32) {
        self.point = point;
    }

    fn is_finite(&self) -> bool {
        true
    }
}

/// Name, unit and meaning of each column of `hosts.csv`, in order.
pub(super) const HOST_COLUMNS: [[&str; 3]; 10] = [
    ["point", "", "the point, as in the rows"],
    ["ranks", "", "the ranks that ran there"],
    ["kernel", "", "name and version of the kernel"],
    ["cpu", "", "model of the processor"],
    ["cores", "cores", "cores that the ranks of a host may use"],
    ["clock", "", "what the clock counts"],
    ["device", "", "device of a rail; memory if ranks need none"],
    ["rate", "", "rate of the device, as far as it is known"],
    ["mtu", "bytes", "most bytes of a packet"],
    [
        "offloads",
        "",
        "what the kernel does for the device: cutting up and putting together packets",
    ],
];
