//! Why there is no shared memory.

use std::io;
use std::path::PathBuf;

/// Why memory cannot be shared with a peer, or with anybody.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// Nobody to share with, or too many.
    #[error("found {found} ranks on one machine, expected 2 to 1024")]
    Ranks {
        /// How many.
        found: usize,
    },
    /// A rank that is not on this machine.
    #[error("found rank {found} of a machine with {ranks} ranks, expected 0 to {}, and not this rank itself", ranks - 1)]
    Rank {
        /// Which.
        found: usize,
        /// How many there are.
        ranks: usize,
    },
    /// Rings that cannot be.
    #[error("found rings of {found} bytes, expected a power of two from 65536 to 4194304")]
    Ring {
        /// The size asked for.
        found: usize,
    },
    /// The kernel has no random numbers.
    #[error("cannot draw a random name for shared memory: {0}")]
    Random(io::Error),
    /// A file cannot be made.
    #[error("cannot make {path} to share memory: {source}; ranks can talk over rails instead")]
    Create {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is no room for even the smallest rings.
    #[error(
        "cannot take {bytes} bytes of shared memory for {path}: {source}; make the folder larger (in a container: `--shm-size`), or \
         run fewer ranks on this machine"
    )]
    NoRoom {
        /// For what.
        path: PathBuf,
        /// How many.
        bytes: usize,
        /// What the system says.
        source: io::Error,
    },
    /// A peer tells something that is no name.
    #[error(
        "found {found:?} as the name of a peer's shared memory, expected crosstie- and 32 hexadecimal digits"
    )]
    Name {
        /// Its beginning.
        found: String,
    },
    /// A file of a peer cannot be opened.
    #[error(
        "cannot open {path} of rank {peer}: {source}; the peer is on another machine, or has ended"
    )]
    Open {
        /// Which.
        path: PathBuf,
        /// Whose.
        peer: usize,
        /// What the system says.
        source: io::Error,
    },
    /// The file of a peer is not what it should be.
    #[error(
        "{path} of rank {peer}: found {found}, expected {expected}; all ranks have to be of the same job and run the same version"
    )]
    Foreign {
        /// Which.
        path: PathBuf,
        /// Whose.
        peer: usize,
        /// What is there.
        found: String,
        /// What should be.
        expected: String,
    },
    /// Somebody else writes into our ring.
    #[error(
        "the ring of rank {rank} at rank {peer} has a producer already; two ranks of the job believe that they are the same one"
    )]
    Claimed {
        /// Us.
        rank: usize,
        /// Whose memory it is.
        peer: usize,
    },
    /// This system is not supported.
    #[error(
        "there is no shared memory between ranks on this system; ranks talk over rails instead"
    )]
    Elsewhere,
}
