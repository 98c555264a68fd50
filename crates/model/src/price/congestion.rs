//! What a price cannot hold for.

use crate::Architecture;
use crosstie_collective::Rank;
use crosstie_units::Time;
use serde::Serialize;
use std::fmt;

/// More packets would wait in a switch than it can keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Congestion {
    /// Where packets wait.
    pub architecture: Architecture,
    /// The port with the most that it cannot keep.
    pub place: Place,
    /// When.
    pub at: Time,
    /// How many would wait.
    pub peak: u64,
    /// How many can.
    pub frames: u32,
}

/// Where packets wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// At the port of a rank: its input if it sends, its output if it receives.
    #[serde(serialize_with = "number")]
    Rank(Rank),
    /// In the memory that all ports of a switch share, by the number of the switch.
    Shared(u32),
    /// At the uplink of a switch, on the way out.
    Outward(u32),
    /// At the uplink of a switch, on the way in.
    Inward(u32),
    /// In the memory that all ports of the root of two levels share.
    Core,
    /// At the port of the root that leads to a switch.
    CorePort(u32),
}

fn number<S: serde::Serializer>(rank: &Rank, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u32(rank.0)
}

impl fmt::Display for Congestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Congestion { at, peak, frames, .. } = self;
        write!(f, "{peak} packets would wait ")?;
        match (self.architecture, self.place) {
            (Architecture::Input, Place::Rank(Rank(rank))) => {
                write!(f, "at the input port of rank {rank}")?
            }
            (_, Place::Rank(Rank(rank))) => write!(f, "at the output port of rank {rank}")?,
            (_, Place::Shared(_)) => f.write_str("in the shared buffer")?,
            (_, Place::Outward(switch)) => write!(f, "for the uplink of switch {switch}")?,
            (_, Place::Inward(switch)) => write!(f, "at the uplink of switch {switch}")?,
            (_, Place::Core) => f.write_str("in the root")?,
            (_, Place::CorePort(switch)) => {
                write!(f, "in the root, at its port to switch {switch}")?
            }
        }
        write!(f, " at {at}, which keeps {frames}; the price assumes that none is lost")
    }
}
