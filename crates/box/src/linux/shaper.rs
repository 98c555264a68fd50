//! Token buckets and queues, in the form that the kernel reads them.

use crosstie_units::{Bytes, Capacity, Rate};

/// A bucket that lets frames pass at a rate, and the queue in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shaper {
    /// Bytes per second, Ethernet headers included.
    pub rate: Rate,
    /// What waits at most.
    pub queue: Capacity,
    /// The longest frame.
    pub frame: Bytes,
    /// Whether many frames come at once.
    pub offloads: bool,
}

/// The longest that devices with offloads take at once.
const SEGMENT: u64 = 65_536 + 14;

/// `TCA_TBF_PARMS`, `TCA_TBF_RATE64` and `TCA_TBF_BURST` of the kernel.
const PARAMETERS: u16 = 1;
const RATE_64: u16 = 4;
const BURST: u16 = 6;

/// `TC_LINKLAYER_ETHERNET`: frames count as they are, and no table of times is needed.
const ETHERNET: u8 = 1;

impl Shaper {
    /// How much may pass at once: as little as lets timers be late by a quarter of a millisecond, but
    /// two frames, or two of what comes at once.
    pub fn burst(&self) -> u32 {
        let unit = if self.offloads { SEGMENT } else { self.frame.get() };
        let burst = (2 * unit).max(self.rate.bytes_per_second() / 4000);
        u32::try_from(burst).unwrap_or(u32::MAX)
    }

    /// What waits at most, in the unit of the queue.
    pub fn limit(&self) -> u32 {
        match self.queue {
            Capacity::Frames(frames) => frames,
            Capacity::Bytes(bytes) => u32::try_from(bytes.get()).unwrap_or(u32::MAX),
        }
    }

    /// The kernel's name for a queue of this unit.
    pub fn queue_kind(&self) -> &'static str {
        match self.queue {
            Capacity::Frames(_) => "pfifo",
            Capacity::Bytes(_) => "bfifo",
        }
    }

    /// The attributes of the bucket: numbers and contents.
    pub fn attributes(&self) -> Vec<(u16, Vec<u8>)> {
        let rate = self.rate.bytes_per_second();
        let short = u32::try_from(rate).unwrap_or(u32::MAX);
        // struct tc_tbf_qopt: two struct tc_ratespec, the limit, and two times that TCA_TBF_BURST replaces.
        let mut parameters = Vec::with_capacity(36);
        parameters.extend([0, ETHERNET]);
        parameters.extend([0; 6]);
        parameters.extend(short.to_ne_bytes());
        parameters.extend([0; 12]);
        parameters.extend(self.limit().to_ne_bytes());
        parameters.extend([0; 8]);
        let mut attributes =
            vec![(PARAMETERS, parameters), (BURST, self.burst().to_ne_bytes().to_vec())];
        if u64::from(short) < rate {
            attributes.push((RATE_64, rate.to_ne_bytes().to_vec()));
        }
        attributes
    }
}
