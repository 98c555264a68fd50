//! Why there is no rail.

use std::io;

use super::provider::MOST;
use crate::memory::MemoryError;

/// Why there is no rail.
#[derive(Debug, thiserror::Error)]
pub enum RailError {
    /// No device has this name.
    #[error(
        "CROSSTIE_RAILS names `{name}`, which is no device with an address, or address, of this host; there are: {known}"
    )]
    Unknown {
        /// What was named.
        name: String,
        /// What there is.
        known: String,
    },
    /// Too many names.
    #[error("found {found} rails, expected at most {MOST}: name fewer in CROSSTIE_RAILS")]
    TooMany {
        /// How many.
        found: usize,
    },
    /// The system does not list its devices.
    #[error("the addresses of this host cannot be listed ({cause}): name them in CROSSTIE_RAILS")]
    Unlisted {
        /// Why.
        cause: String,
    },
    /// A device cannot be used.
    #[error("rail {name} ({station}) cannot be opened: {cause}")]
    Open {
        /// The device.
        name: String,
        /// Where it is, for users.
        station: String,
        /// Why.
        cause: io::Error,
    },
    /// A device that is open has no address.
    #[error("rail {name} does not tell its own address: {cause}")]
    Unaddressed {
        /// The device.
        name: String,
        /// Why.
        cause: io::Error,
    },
    /// What another rank says of itself and its devices is not understood.
    #[error("rank {rank} says of itself what is not understood: it may be of another version")]
    Odd {
        /// Which.
        rank: usize,
    },
    /// The address of another rank is none.
    #[error(
        "rank {rank} tells no address for rail {rail} that can be used: it may be of another version, or have other providers of rails"
    )]
    Address {
        /// The rail.
        rail: String,
        /// The rank.
        rank: usize,
    },
    /// Nothing joins two ranks.
    #[error(
        "no network joins rank {one} and rank {rank}: rank {one} has {first}, rank {rank} has {other}; name the right ones in CROSSTIE_RAILS"
    )]
    Apart {
        /// A rank.
        one: usize,
        /// What it has.
        first: String,
        /// A rank that has something else.
        rank: usize,
        /// What that has.
        other: String,
    },
    /// Ranks of this machine cannot share memory.
    #[error("{0}; set CROSSTIE_MEMORY=off to do without shared memory")]
    Memory(#[from] MemoryError),
}
