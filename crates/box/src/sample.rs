//! What a trace of a box consists of.

use serde::{Deserialize, Serialize};

/// Which end of a rail was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// What the host sends: its NIC and the queue in front of it.
    Nic,
    /// What the switch sends to the host: the output port and its buffer.
    Switch,
}

/// What one end of a rail carried since the sample before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Seconds since the programs began.
    #[serde(rename = "time_s")]
    pub time: f64,
    /// The rail.
    pub rail: String,
    /// The host.
    pub host: String,
    /// Which end of it.
    pub end: End,
    /// Bytes carried, Ethernet headers included.
    pub bytes: u64,
    /// Frames carried.
    pub frames: u64,
    /// Frames that found no room.
    pub drops: u64,
    /// Bytes that wait.
    #[serde(rename = "queue_bytes")]
    pub queue: u64,
}

/// Something that happened to a rail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Happening {
    /// Seconds since the programs began at which it was to happen.
    #[serde(rename = "time_s")]
    pub time: f64,
    /// By how many seconds it was late.
    #[serde(rename = "late_s")]
    pub late: f64,
    /// The rail.
    pub rail: String,
    /// The host whose port it was; empty: all of the rail.
    pub host: String,
    /// What happened: a rate, `down` or `up`.
    pub what: String,
}
