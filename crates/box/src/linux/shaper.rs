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

/// `TCA_TBF_PARMS`, `TCA_TBF_RATE64`, `TCA_TBF_PRATE64`, `TCA_TBF_BURST` and `TCA_TBF_PBURST` of the kernel.
const PARAMETERS: u16 = 1;
const RATE_64: u16 = 4;
const PEAK_64: u16 = 5;
const BURST: u16 = 6;
const PEAK_BURST: u16 = 7;

/// `TC_LINKLAYER_ETHERNET`: frames count as they are, and no table of times is needed.
const ETHERNET: u8 = 1;

impl Shaper {
    /// How much may be made up for: what passes in five milliseconds.
    ///
    /// Frames that wait are sent by a timer. The kernel puts off what the timer asks for when somebody else
    /// waits for the core, until the next tick of its clock at the latest, which is 4 ms where that has
    /// 250 Hz: on busy cores one tenth of a second in three loses 4.1 ms, and a bucket of a quarter of a
    /// millisecond loses 3.9 of these for good, one of two milliseconds still 2.1. A tick and a
    /// quarter loses nothing.
    pub fn burst(&self) -> u32 {
        self.at_least_two(self.rate.bytes_per_second() / 200)
    }

    /// How much passes at once, be the bucket ever so full: what passes in a quarter of a millisecond, by which
    /// timers are late on cores that are not busy.
    pub fn peak_burst(&self) -> u32 {
        self.at_least_two(self.rate.bytes_per_second() / 4000)
    }

    /// How fast is made up for. Without such a limit, whatever fits into the bucket would arrive at once
    /// on a rail that was idle.
    pub fn peak(&self) -> u64 {
        let rate = self.rate.bytes_per_second();
        rate + rate / 4
    }

    /// Two frames at least, or two of what comes at once: less than one would never pass.
    fn at_least_two(&self, bytes: u64) -> u32 {
        let unit = if self.offloads { SEGMENT } else { self.frame.get() };
        u32::try_from(bytes.max(2 * unit)).unwrap_or(u32::MAX)
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
        let (rate, peak) = (self.rate.bytes_per_second(), self.peak());
        let short = |rate: u64| u32::try_from(rate).unwrap_or(u32::MAX);
        // struct tc_tbf_qopt: two struct tc_ratespec, the limit, and two times that the bursts replace.
        let mut parameters = Vec::with_capacity(36);
        for rate in [rate, peak] {
            parameters.extend([0, ETHERNET]);
            parameters.extend([0; 6]);
            parameters.extend(short(rate).to_ne_bytes());
        }
        parameters.extend(self.limit().to_ne_bytes());
        parameters.extend([0; 8]);
        let mut attributes = vec![
            (PARAMETERS, parameters),
            (BURST, self.burst().to_ne_bytes().to_vec()),
            (PEAK_BURST, self.peak_burst().to_ne_bytes().to_vec()),
        ];
        for (kind, rate) in [(RATE_64, rate), (PEAK_64, peak)] {
            if u64::from(short(rate)) < rate {
                attributes.push((kind, rate.to_ne_bytes().to_vec()));
            }
        }
        attributes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaper(rate: u64, offloads: bool) -> Shaper {
        let queue = Capacity::Bytes(Bytes::new(1_514_000));
        let rate = Rate::from_bytes_per_second(rate);
        Shaper { rate, queue, frame: Bytes::new(1514), offloads }
    }

    #[test]
    fn a_bucket_makes_up_for_a_tick_and_lets_little_pass_at_once() {
        let gigabit = shaper(125_000_000, false);
        assert_eq!(gigabit.burst(), 625_000);
        assert_eq!(gigabit.peak_burst(), 31_250);
        assert_eq!(gigabit.peak(), 156_250_000);
    }

    #[test]
    fn what_comes_at_once_passes_at_any_rate() {
        assert_eq!(shaper(1_000, false).burst(), 2 * 1514);
        assert_eq!(shaper(1_000, true).peak_burst(), 2 * SEGMENT as u32);
        assert_eq!(shaper(u64::MAX / 2, true).burst(), u32::MAX);
    }
}
