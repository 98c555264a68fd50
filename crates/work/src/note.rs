//! What ranks write down beside the time of iterations.

use crosstie_units::Time;
use serde::{Deserialize, Serialize};

/// Something that a rank has measured, with the symbols of \[tam, app. A\].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Note {
    /// Packets were sent one after the other.
    Written {
        /// How many: msg_no.
        packets: u32,
        /// From the beginning of the first send to the end of the last.
        took: Time,
    },
    /// A packet went to and fro: RTT.
    RoundTrip {
        /// How long that took.
        took: Time,
    },
    /// A packet that had been there for a while was received: U_r.
    PickedUp {
        /// How long that took.
        took: Time,
    },
    /// A packet came while the rank computed: O_r.
    Stolen {
        /// By how much the longest segment of the computation was longer than it would have been.
        took: Time,
        /// Whether that can be a reception: 2 U_r < T2 < RTT / 2.
        kept: bool,
    },
    /// Packets came one after the other.
    Arrived {
        /// How many, the first included.
        packets: u32,
        /// From the first to the last.
        took: Time,
    },
    /// This rank's share of a burst came through.
    Received {
        /// Packets of the burst, of all sources to all sinks: k.
        burst: u32,
        /// How many have come.
        packets: u32,
    },
}
