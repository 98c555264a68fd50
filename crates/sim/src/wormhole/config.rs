//! The parameters of switches, links and buses.

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

/// Everything about the hardware that the topology does not say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Virtual channels per channel, 1 to 8.
    pub virtual_channels: u8,
    /// Flits of buffer per virtual channel.
    pub buffer: u32,
    /// Cycles from a header's arrival at the front of its buffer to its request for an output.
    pub routing_delay: u32,
    /// Cycles a flit spends on the wire, beyond the one cycle it takes to leave.
    pub wire: u32,
    /// The bus of every host.
    pub bus: Bus,
    /// Flits that a shared bus moves in one go before another packet has its turn, at least 1.
    pub burst: u32,
    /// Ticks per cycle: 1 unless a bus speed is not a whole fraction of the link speed.
    pub ticks: u32,
}

impl Default for Config {
    /// QsNet as simulated by Coll: 2 VCs of 128 flits, 6 cycles of routing, half-duplex bus; the bus
    /// moves blocks of 64 bytes, 32 flits.
    fn default() -> Self {
        Self {
            virtual_channels: 2,
            buffer: 128,
            routing_delay: 6,
            wire: 0,
            bus: Bus::Shared { read: 1, write: 1 },
            burst: 32,
            ticks: 1,
        }
    }
}

impl Config {
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
}
