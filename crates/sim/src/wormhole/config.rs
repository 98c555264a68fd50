//! The parameters of switches, links and buses.

use crosstie_protocol::{Flow, FlowError, InTransit, InTransitError};
use crosstie_units::Seed;

/// Bytes that a shared bus moves in one turn: the payload of a QsNet packet (Petrini, 2.2), so that
/// one packet follows the other.
pub const BURST: u32 = 320;

/// The bus between a NIC and the memory of its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bus {
    /// Sends and receives at the same time, each at link speed.
    Full,
    /// Moves one flit at a time, in or out.
    Shared {
        /// Ticks to read a flit from memory (sending).
        read: u32,
        /// Ticks to write a flit to memory (receiving).
        write: u32,
    },
}

/// How a packet holds its way until its destination has acknowledged it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Circuits {
    /// Cycles that an acknowledge takes for each channel of the way, at least 1.
    pub acknowledge: u32,
    /// True if the NIC of the destination decides when it acknowledges a packet
    /// ([`Engine::acknowledge`](super::Engine::acknowledge)); false if it does so at once.
    pub withheld: bool,
    /// Packets that come with a wrong CRC, or none.
    pub errors: Option<Errors>,
}

/// Packets that are garbled on their way, as their CRC shows at the destination.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Errors {
    /// The probability that a packet is garbled on a channel, from 0 to 1.
    pub probability: f64,
    /// From which it follows which packets these are.
    pub seed: Seed,
}

impl Errors {
    /// What decides about the packet that a host starts after `number` others: hosts as in
    /// [`Packet::from`](super::Packet::from).
    pub(super) fn of_packet(self, host: u32, number: u64) -> Seed {
        self.seed.child("host", u64::from(host)).child("packet", number)
    }

    /// Returns true if that packet is garbled on a channel.
    pub(super) fn garbles(self, packet: Seed, channel: u32) -> bool {
        packet.stream("channel", u64::from(channel)).chance(self.probability)
    }
}

/// Arbitration by priority, with aging.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Priorities {
    /// Cycles after which a header or packet that waits counts as of high priority, at least 1.
    pub age: u32,
}

/// Everything about the hardware that the topology does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Virtual channels per channel, 1 to 8.
    pub virtual_channels: u8,
    /// Flits of buffer per virtual channel.
    pub buffer: u32,
    /// What keeps those buffers from overflowing.
    pub flow: Flow,
    /// Cycles from a header's arrival at the front of its buffer to its request for an output.
    pub routing_delay: u32,
    /// Whether every switch takes off the flit that tells it the way. A packet then starts with
    /// one flit more for every switch of its route.
    pub consumes_headers: bool,
    /// Cycles a flit spends on the wire, beyond the one cycle it takes to leave.
    pub wire: u32,
    /// In-transit buffers in all NICs, or none; with them the bus must be [`Bus::Full`].
    pub in_transit: Option<InTransit>,
    /// Packets end with a token that waits for an acknowledge, if any; the bus must be
    /// [`Bus::Full`] then, without in-transit buffers.
    pub circuits: Option<Circuits>,
    /// How packets go before others by their priority; `None`: they do not.
    pub priorities: Option<Priorities>,
    /// The bus of every host.
    pub bus: Bus,
    /// Flits that a shared bus moves in one go before another packet has its turn, at least 1.
    pub burst: u32,
    /// Ticks per cycle: 1 unless a bus speed is not a whole fraction of the link speed.
    pub ticks: u32,
}

impl Default for Config {
    /// QsNet as simulated by Coll: 2 VCs of 128 flits of 2 bytes, 6 cycles of routing, half-duplex
    /// bus.
    fn default() -> Self {
        Self {
            virtual_channels: 2,
            buffer: 128,
            flow: Flow::Credits,
            routing_delay: 6,
            consumes_headers: false,
            wire: 0,
            in_transit: None,
            circuits: None,
            priorities: None,
            bus: Bus::Shared { read: 1, write: 1 },
            burst: BURST / 2,
            ticks: 1,
        }
    }
}

/// Why parameters were refused. Every case is the describer's to mend.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ConfigError {
    /// Too many virtual channels, or none.
    #[error("found {found} virtual channels per channel, expected 1 to 8")]
    VirtualChannels {
        /// How many.
        found: u8,
    },
    /// Something of which there must be at least one is not there.
    #[error("found 0 {of}, expected at least 1")]
    Nothing {
        /// What is missing.
        of: &'static str,
    },
    /// A turn of a bus that is too long to be counted.
    #[error("found bursts of {found} flits on the bus, expected 1 to 32768")]
    Burst {
        /// Flits in a turn.
        found: u32,
    },
    /// A bus that is faster than a link.
    #[error(
        "found a bus that moves a flit in {found} ticks, but a link takes {ticks}: a bus is no \
         faster than a link"
    )]
    FastBus {
        /// Ticks per flit of the bus.
        found: u32,
        /// Ticks per flit of a link.
        ticks: u32,
    },
    /// A buffer that may overflow.
    #[error(transparent)]
    Flow(#[from] FlowError),
    /// No probability.
    #[error("found {found} as the probability of an error per channel, expected 0 to 1")]
    Probability {
        /// The number.
        found: f64,
    },
    /// Circuits and something that packets wait in on their way.
    #[error(
        "found circuits and {found}: a circuit leads from NIC to NIC without a stop; take a \
         full-duplex bus without in-transit buffers"
    )]
    Circuits {
        /// What packets would wait in.
        found: &'static str,
    },
    /// NICs that cannot pass packets on.
    #[error(transparent)]
    InTransit(#[from] InTransitError),
}

impl Config {
    /// Whether a machine like this can be built.
    pub fn check(&self) -> Result<(), ConfigError> {
        if !(1..=8).contains(&self.virtual_channels) {
            return Err(ConfigError::VirtualChannels { found: self.virtual_channels });
        }
        for (number, of) in [(self.buffer, "flits of buffer"), (self.ticks, "ticks per cycle")] {
            if number == 0 {
                return Err(ConfigError::Nothing { of });
            }
        }
        if !(1..=1 << 15).contains(&self.burst) {
            return Err(ConfigError::Burst { found: self.burst });
        }
        if let Bus::Shared { read, write } = self.bus {
            let found = read.min(write);
            if found < self.ticks {
                return Err(ConfigError::FastBus { found, ticks: self.ticks });
            }
        }
        self.flow.check(self.buffer, self.wire)?;
        if let Some(Priorities { age: 0 }) = self.priorities {
            return Err(ConfigError::Nothing { of: "cycles of age" });
        }
        if let Some(Circuits { acknowledge, errors, .. }) = self.circuits {
            let found = errors.map_or(0.0, |errors| errors.probability);
            if !(0.0..=1.0).contains(&found) {
                return Err(ConfigError::Probability { found });
            }
            if acknowledge == 0 {
                return Err(ConfigError::Nothing { of: "cycles of acknowledge per channel" });
            }
            if self.bus != Bus::Full {
                return Err(ConfigError::Circuits { found: "a shared bus" });
            }
            if self.in_transit.is_some() {
                return Err(ConfigError::Circuits { found: "in-transit buffers" });
            }
        }
        if let Some(in_transit) = self.in_transit {
            in_transit.check(self.bus == Bus::Full, self.virtual_channels, self.wire)?;
        }
        Ok(())
    }

    /// Sets a bus on which a flit takes `read` and `write` cycles (at least 1), choosing the number
    /// of ticks per cycle (at most 32) that comes closest.
    pub fn with_shared_bus(mut self, read: f64, write: f64) -> Self {
        let error = |ticks: u32| {
            [read, write]
                .map(|cycles| {
                    let exact = cycles.max(1.0) * f64::from(ticks);
                    (exact.round() - exact).abs() / exact
                })
                .into_iter()
                .fold(0.0, f64::max)
        };
        let best = (1..=32).min_by(|&a, &b| error(a).total_cmp(&error(b))).expect("not empty");
        let whole = |cycles: f64| (cycles.max(1.0) * f64::from(best)).round() as u32;
        self.ticks = best;
        self.bus = Bus::Shared { read: whole(read), write: whole(write) };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bus_speed_becomes_whole_ticks() {
        // 400 MB/s link; PCI reads 200 MB/s, writes 275 MB/s (Petrini, 5.3): 16/11 cycles exactly.
        let config = Config::default().with_shared_bus(2.0, 400.0 / 275.0);
        assert_eq!((config.ticks, config.bus), (11, Bus::Shared { read: 22, write: 16 }));
        let half = Config::default().with_shared_bus(1.0, 1.0);
        assert_eq!(half, Config::default());
    }

    /// 80 flits of slack, stop at 56, go at 40, 8 flits on the wire.
    fn myrinet() -> Config {
        Config {
            virtual_channels: 1,
            buffer: 80,
            flow: Flow::StopAndGo { stop: 56, go: 40 },
            consumes_headers: true,
            wire: 8,
            in_transit: Some(InTransit { recognition: 44, setup: 32, pool: 512 * 1024 }),
            bus: Bus::Full,
            ..Config::default()
        }
    }

    const CIRCUITS: Option<Circuits> =
        Some(Circuits { acknowledge: 10, errors: None, withheld: false });

    fn with_errors(probability: f64) -> Config {
        let errors = Some(Errors { probability, seed: Seed(1) });
        let circuits = Some(Circuits { acknowledge: 1, errors, withheld: false });
        Config { circuits, bus: Bus::Full, ..Config::default() }
    }

    #[test]
    fn what_cannot_be_built_is_named() {
        let default = Config::default;
        assert_eq!(myrinet().check(), Ok(()));
        assert_eq!(with_errors(1.0).check(), Ok(()));
        let with_pool = |recognition, pool| {
            let in_transit = Some(InTransit { recognition, setup: 0, pool });
            Config { virtual_channels: 2, in_transit, ..myrinet() }
        };
        let cases = [
            (Config { virtual_channels: 9, ..default() }, "found 9 virtual channels"),
            (Config { buffer: 0, ..default() }, "found 0 flits of buffer"),
            (
                Config { priorities: Some(Priorities { age: 0 }), ..default() },
                "found 0 cycles of age",
            ),
            (Config { ticks: 0, ..default() }, "found 0 ticks per cycle"),
            (Config { burst: 0, ..default() }, "found bursts of 0 flits"),
            (Config { ticks: 2, ..default() }, "moves a flit in 1 ticks, but a link takes 2"),
            (Config { buffer: 71, ..myrinet() }, "need a buffer of 72 flits, found 71"),
            (Config { bus: default().bus, ..myrinet() }, "in-transit buffers and a shared bus"),
            (with_pool(44, 32), "found 16 flits of in-transit pool"),
            (with_pool(0, 33), "in-transit packets that take no time"),
            (Config { circuits: CIRCUITS, ..default() }, "found circuits and a shared bus"),
            (Config { circuits: CIRCUITS, ..myrinet() }, "found circuits and in-transit buffers"),
            (
                Config {
                    circuits: Some(Circuits { acknowledge: 0, errors: None, withheld: true }),
                    ..default()
                },
                "found 0 cycles of acknowledge",
            ),
            (with_errors(1.5), "found 1.5 as the probability"),
            (with_errors(f64::NAN), "found NaN as the probability"),
        ];
        for (config, expected) in cases {
            let message = config.check().unwrap_err().to_string();
            assert!(message.contains(expected), "{message}");
        }
    }
}
