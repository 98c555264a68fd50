//! What a peer wrote that cannot be.

/// Why a ring is not used any more: the other end wrote what cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A record that the ring cannot hold.
    #[error(
        "found a record of {found} bytes at a place in a ring for {most} at most; the peer is broken, \
         or something else wrote into the shared memory: start the job again"
    )]
    Length {
        /// What its mark says.
        found: u32,
        /// What fits there.
        most: usize,
    },
    /// The rest of a ring is skipped, and nothing is at its beginning.
    #[error(
        "found no record at the beginning of a ring whose end was skipped, expected one; the peer is \
         broken, or something else wrote into the shared memory: start the job again"
    )]
    Skip,
    /// More was consumed than there was, or less than before.
    #[error(
        "found {found} lines of a ring consumed since the last look, expected {most} at most; the peer is \
         broken, or something else wrote into the shared memory: start the job again"
    )]
    Head {
        /// What the consumer says.
        found: u32,
        /// What there was.
        most: u32,
    },
}
