//! What a channel is made of.

use crosstie_units::Time;

/// A reliable channel; both ends have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelSpec {
    /// Most packets outstanding in one direction, W_FC [tam, 4].
    pub window: u32,
    /// How long a packet is outstanding before it is sent again, TO [tam, 4].
    pub timeout: Time,
    /// Packets in order for which there is a Pack at once; 1 or less: each has its own.
    pub every: u32,
    /// How long fewer of them wait for it, or for data that carries their acknowledgement.
    pub after: Time,
    /// Whether it is simple go-back-N: without Nack and Stall, and a time-out sends everything
    /// outstanding again [tam, 4].
    pub simple: bool,
}

/// Why a channel cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// Nothing could be sent, or numbers would become ambiguous.
    #[error("found a window of {found} packets, expected 1 to {}", ChannelSpec::WIDEST)]
    Window {
        /// The window asked for.
        found: u32,
    },
    /// Packets would be sent again without end.
    #[error("found a time-out of no time, expected one longer than a packet and its answer take")]
    Timeout,
}

impl ChannelSpec {
    /// The widest window.
    pub const WIDEST: u32 = 1 << 20;

    /// Whether there can be such a channel.
    pub fn check(&self) -> Result<(), ChannelError> {
        match (self.window, self.timeout) {
            (1..=ChannelSpec::WIDEST, timeout) if timeout > Time::ZERO => Ok(()),
            (1..=ChannelSpec::WIDEST, _) => Err(ChannelError::Timeout),
            (found, _) => Err(ChannelError::Window { found }),
        }
    }
}
