//! What is to be done: open-loop traffic, or work whose next step waits for the one before.

use crosstie_units::Bytes;
use serde::{Deserialize, Serialize};

use super::{TrafficSpec, limits};

/// What is to be done. In a file, open-loop traffic is the table `traffic`, and everything else a
/// choice of `work`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Work {
    /// Every host sends on its own, whether or not the network keeps up.
    #[serde(skip)]
    Traffic(TrafficSpec),
    /// A message there and one back.
    Ping(Ping),
    /// Many messages back to back, then an answer.
    Stream(Stream),
}

/// Two ranks that send a message to and fro. An iteration is a message there and one back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ping {
    /// The size of a message.
    #[serde(deserialize_with = "limits::message")]
    pub size: Bytes,
    /// The rank that begins.
    #[serde(default, deserialize_with = "limits::host")]
    pub from: u32,
    /// The rank that answers.
    #[serde(default = "second", deserialize_with = "limits::host")]
    pub to: u32,
    /// How often.
    #[serde(default = "Ping::iterations", deserialize_with = "limits::iterations")]
    pub iterations: u32,
}

/// A rank that sends as fast as it can. An iteration is a window of messages back to back, and an
/// answer of 4 bytes when all of them have arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stream {
    /// The size of a message.
    #[serde(deserialize_with = "limits::message")]
    pub size: Bytes,
    /// The rank that sends.
    #[serde(default, deserialize_with = "limits::host")]
    pub from: u32,
    /// The rank that receives, and answers.
    #[serde(default = "second", deserialize_with = "limits::host")]
    pub to: u32,
    /// Messages of an iteration.
    #[serde(default = "Stream::window", deserialize_with = "limits::window")]
    pub window: u32,
    /// Whether both ranks send at once, each as above.
    #[serde(default)]
    pub both_ways: bool,
    /// How often.
    #[serde(default = "Stream::iterations", deserialize_with = "limits::iterations")]
    pub iterations: u32,
}

/// The rank at the other end.
fn second() -> u32 {
    1
}

impl Ping {
    fn iterations() -> u32 {
        100
    }
}

impl Stream {
    /// The size of an answer.
    pub const ANSWER: Bytes = Bytes::new(4);

    fn window() -> u32 {
        64
    }

    fn iterations() -> u32 {
        50
    }
}
