//! What a channel is made of.

use crosstie_units::Time;

/// A reliable channel; both ends have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChannelSpec {
    /// A loss makes the sender send everything outstanding again.
    GoBackN(GoBackNSpec),
    /// Only what is missing is sent again, and the window finds itself.
    Selective(SelectiveSpec),
}

/// Go-back-N with a fixed window and a fixed time-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoBackNSpec {
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

/// Selective recovery with a window that finds itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SelectiveSpec {
    /// The least time-out: as long as a host may well be busy with something else.
    pub least: Time,
    /// The queue that is kept ahead of the rail, as the time that the rail takes for it: so long
    /// the sender may be busy with something else without the rail's noticing.
    pub ahead: Time,
    /// How long a packet waits at most until it is acknowledged.
    pub after: Time,
    /// How long a packet may be late on a network that is known to lose nothing: nothing is sent
    /// again before. Zero on others.
    pub late: Time,
}

/// Why a channel cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// Nothing could be sent, or numbers would become ambiguous.
    #[error("found a window of {found} packets, expected 1 to {}", GoBackNSpec::WIDEST)]
    Window {
        /// The window asked for.
        found: u32,
    },
    /// Packets would be sent again without end.
    #[error("found a time-out of no time, expected one longer than a packet and its answer take")]
    Timeout,
}

impl From<GoBackNSpec> for ChannelSpec {
    fn from(spec: GoBackNSpec) -> ChannelSpec {
        ChannelSpec::GoBackN(spec)
    }
}

impl From<SelectiveSpec> for ChannelSpec {
    fn from(spec: SelectiveSpec) -> ChannelSpec {
        ChannelSpec::Selective(spec)
    }
}

impl ChannelSpec {
    /// How long the receiver may hold an acknowledgement back.
    pub fn held(&self) -> Time {
        match self {
            ChannelSpec::GoBackN(GoBackNSpec { every: 0 | 1, .. }) => Time::ZERO,
            ChannelSpec::GoBackN(spec) => spec.after,
            ChannelSpec::Selective(spec) => spec.after,
        }
    }

    /// The most packets that one end ever has outstanding.
    pub fn widest(&self) -> u32 {
        match self {
            ChannelSpec::GoBackN(spec) => spec.window,
            ChannelSpec::Selective(_) => SelectiveSpec::WIDEST,
        }
    }

    /// The most packets that one end has outstanding, unless the path is long.
    pub fn usual(&self) -> u32 {
        match self {
            ChannelSpec::GoBackN(spec) => spec.window,
            ChannelSpec::Selective(_) => SelectiveSpec::USUAL,
        }
    }

    /// Whether there can be such a channel.
    pub fn check(&self) -> Result<(), ChannelError> {
        let (window, timeout) = match self {
            ChannelSpec::GoBackN(spec) => (spec.window, spec.timeout),
            ChannelSpec::Selective(spec) => (SelectiveSpec::WIDEST, spec.least),
        };
        match (window, timeout) {
            (1..=GoBackNSpec::WIDEST, timeout) if timeout > Time::ZERO => Ok(()),
            (1..=GoBackNSpec::WIDEST, _) => Err(ChannelError::Timeout),
            (found, _) => Err(ChannelError::Window { found }),
        }
    }
}

impl GoBackNSpec {
    /// The widest window.
    pub const WIDEST: u32 = 1 << 20;
}

impl SelectiveSpec {
    /// The widest window on paths that are not long, in packets.
    pub const USUAL: u32 = 256;

    /// How many packets after the oldest outstanding one may be sent.
    pub const REACH: u32 = 8192;

    /// The widest window, in packets: half of the reach, so that packets after a lost one can go on
    /// until that is made good.
    pub const WIDEST: u32 = SelectiveSpec::REACH / 2;

    /// How many of the least time-outs a time-out is as long as no round trip has been measured.
    pub const UNMEASURED: u64 = 4;

    /// Between real hosts. They are busy with something else for milliseconds at times, and come
    /// back to find everything that has come meanwhile; acknowledgements that are a tenth of a
    /// millisecond late are of no account beside that, and then cover a whole batch.
    pub const LIVE: SelectiveSpec = SelectiveSpec {
        least: Time::from_ns(5_000_000),
        ahead: Time::from_ns(1_000_000),
        after: Time::from_ns(100_000),
        late: Time::ZERO,
    };

    /// Between simulated hosts, whose processors are never busy with anything else than what is
    /// simulated.
    pub const SIMULATED: SelectiveSpec = SelectiveSpec {
        least: Time::from_ns(500_000),
        ahead: Time::ZERO,
        after: Time::from_ns(10_000),
        late: Time::ZERO,
    };

    /// Between simulated hosts on a network where the first packets may take so long to be
    /// acknowledged, and packets that are not lost may be so late, if nothing is lost there.
    pub fn simulated(first: Time, late: Time) -> SelectiveSpec {
        let fits = Time::from_ps(first.ps() / SelectiveSpec::UNMEASURED);
        let usual = SelectiveSpec::SIMULATED;
        SelectiveSpec { least: fits.max(usual.least), late, ..usual }
    }
}
