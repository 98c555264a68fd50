//! What a price cannot hold for.

use crate::Architecture;
use crosstie_collective::Rank;
use crosstie_units::Time;
use serde::Serialize;
use std::fmt;

/// More packets would wait in the router than it can keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Congestion {
    /// Where packets wait.
    pub architecture: Architecture,
    /// Who is at the port with the most: a sender if it keeps them at the input, a receiver if at
    /// the output. `None` if all ports share a memory.
    #[serde(serialize_with = "perhaps_number")]
    pub port: Option<Rank>,
    /// When.
    pub at: Time,
    /// How many would wait.
    pub peak: u64,
    /// How many can.
    pub frames: u32,
}

fn perhaps_number<S: serde::Serializer>(rank: &Option<Rank>, to: S) -> Result<S::Ok, S::Error> {
    match rank {
        Some(rank) => to.serialize_some(&rank.0),
        None => to.serialize_none(),
    }
}

impl fmt::Display for Congestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Congestion { at, peak, frames, .. } = self;
        write!(f, "{peak} packets would wait ")?;
        match (self.architecture, self.port) {
            (Architecture::Input, Some(Rank(rank))) => {
                write!(f, "at the input port of rank {rank}")?
            }
            (_, Some(Rank(rank))) => write!(f, "at the output port of rank {rank}")?,
            (_, None) => f.write_str("in the shared buffer")?,
        }
        write!(f, " at {at}, which keeps {frames}; the price assumes that none is lost")
    }
}
