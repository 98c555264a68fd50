//! What can go wrong with raw endpoints.

use std::io;

use crosstie_launch::StartError;

use crate::rail::RailError;

/// Why something cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum RawError {
    /// The job cannot be joined or left.
    #[error(transparent)]
    Start(#[from] StartError),
    /// There is no rail.
    #[error(transparent)]
    Rails(#[from] RailError),
    /// No rail joins all ranks.
    #[error(
        "found no rail that joins all ranks, expected one: name it on every host in CROSSTIE_RAILS"
    )]
    NoRail,
    /// Too many ranks.
    #[error("found {found} ranks, expected at most {}", u16::MAX)]
    TooMany {
        /// How many.
        found: usize,
    },
    /// A ring or a pool that cannot be.
    #[error("found a {what} of {found} frames, expected {least} to {most}")]
    Frames {
        /// Which: `ring` or `pool`.
        what: &'static str,
        /// Its frames.
        found: u32,
        /// The fewest.
        least: u32,
        /// The most.
        most: u32,
    },
    /// No such partner.
    #[error("found {found} as the partner of rank {rank}, expected another rank from 0 to {}", size.saturating_sub(1))]
    Partner {
        /// What was found.
        found: usize,
        /// Whose partner.
        rank: usize,
        /// How many ranks there are.
        size: usize,
    },
    /// More than a frame carries.
    #[error(
        "found {found} bytes, expected at most {longest}: a frame carries no more, and raw endpoints make no two of one"
    )]
    Long {
        /// Its bytes.
        found: usize,
        /// What a frame carries.
        longest: usize,
    },
    /// A frame cannot be written, now or at all.
    #[error("a frame for rank {to} cannot be written: {cause}")]
    Write {
        /// For whom.
        to: usize,
        /// Why.
        cause: io::Error,
    },
    /// The socket fails.
    #[error("the socket of a raw endpoint failed: {cause}")]
    Socket {
        /// Why.
        cause: io::Error,
    },
}
