//! What a host's processor takes for a message, by LogGOPS.

use crosstie_units::Time;

/// What hosts take for sending and receiving.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overhead {
    /// For a message: o.
    pub message: Time,
    /// For every byte behind the first: O.
    pub byte: Time,
    /// The longest message that a send does not wait for the receive of: S. `None`: there is no
    /// such limit.
    pub eager: Option<u32>,
}

impl Overhead {
    /// What the bytes of a message take: (m-1) O.
    pub fn bytes(&self, bytes: u32) -> Time {
        self.byte * u64::from(bytes.max(1) - 1)
    }

    /// Returns true if the send of a message does not wait for its receive.
    pub fn is_eager(&self, bytes: u32) -> bool {
        self.eager.is_none_or(|most| bytes <= most)
    }
}
