//! Two levels of switches: what the uplinks take for a packet [tam, 6].

use crate::{Buffer, Cost};
use crosstie_units::{Time, wholes};
use serde::{Deserialize, Serialize};

/// The uplinks of a two-level network: `hosts` hosts at each switch, all switches under one root.
///
/// Ranks 0 to d_1 - 1 are at the first switch, and so on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Uplink {
    /// Hosts at each switch: d_1.
    #[serde(deserialize_with = "hosts")]
    pub hosts: u32,
    /// What the uplink takes for a packet that leaves its switch.
    pub outward: Cost,
    /// What it takes for a packet that comes to its switch.
    pub inward: Cost,
    /// True if both directions share one circuit, which passes one packet at a time.
    #[serde(default)]
    pub shared: bool,
    /// How many packets the switch keeps at its uplink: B_L of that port. `None`: as many as come.
    #[serde(default, deserialize_with = "some_frames", skip_serializing_if = "Option::is_none")]
    pub frames: Option<u32>,
    /// The buffer of the root. `None`: it keeps what comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<Buffer>,
}

wholes! {
    hosts: u32 = 1..=65_535;
    frames: u32 = 1..=u32::MAX as i64;
}

fn some_frames<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    frames(from).map(Some)
}

impl Uplink {
    /// The switch of a rank.
    pub fn switch(&self, rank: u32) -> u32 {
        rank / self.hosts
    }

    /// What an uplink takes for a packet out and a packet in: one after the other if both
    /// directions share a circuit, else the longer of the two.
    pub fn both_ways(&self, bytes: u64, nodes: u32) -> Time {
        let (outward, inward) = (self.outward.at(bytes, nodes), self.inward.at(bytes, nodes));
        if self.shared { outward + inward } else { outward.max(inward) }
    }
}
