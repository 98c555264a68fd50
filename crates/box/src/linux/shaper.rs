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
    /// Whether what a device takes at once passes at once.
    pub whole: bool,
}

/// `TCA_TBF_PARMS`, `TCA_TBF_RATE64`, `TCA_TBF_PRATE64`, `TCA_TBF_BURST` and `TCA_TBF_PBURST` of
/// the kernel.
const PARAMETERS: u16 = 1;
const RATE_64: u16 = 4;
const PEAK_64: u16 = 5;
const BURST: u16 = 6;
const PEAK_BURST: u16 = 7;

/// More than the longest segment that a device takes at once, with the headers of all its frames.
const SEGMENT: u64 = 72 << 10;

/// `TC_LINKLAYER_ETHERNET`: frames count as they are, and no table of times is needed.
const ETHERNET: u8 = 1;

impl Shaper {
    /// How much may be made up for: what passes in five milliseconds.
    ///
    /// Frames that wait are sent by a timer. The kernel puts off what the timer asks for when
    /// somebody else waits for the core, until the next tick of its clock at the latest, which
    /// is 4 ms where that has 250 Hz. What is left in the bucket then is made up for, a
    /// fiftieth faster than the rate ([`Shaper::peak`]): more would be too fast for messages
    /// after a pause, which find the bucket full.
    pub fn burst(&self) -> u32 {
        self.at_least_what_passes(self.rate.bytes_per_second() / 200)
    }

    /// How much passes at once, be the bucket ever so full: what passes in 55 microseconds, by
    /// which timers are late on cores that are not busy. What devices with offloads take at
    /// once is cut into frames where it is longer, which is below 10 Gbit/s, unless it is to
    /// pass whole.
    pub fn peak_burst(&self) -> u32 {
        self.at_least_what_passes(self.rate.bytes_per_second() / 18_000)
    }

    /// How fast is made up for: a fiftieth faster. Without such a limit, whatever fits into the
    /// bucket would arrive at once on a rail that was idle.
    pub fn peak(&self) -> u64 {
        let rate = self.rate.bytes_per_second();
        rate + rate / 50
    }

    /// Less than what passes at once would never pass.
    fn at_least_what_passes(&self, bytes: u64) -> u32 {
        let least = if self.whole { SEGMENT } else { 2 * self.frame.get() };
        u32::try_from(bytes.max(least)).unwrap_or(u32::MAX)
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
        // struct tc_tbf_qopt: two struct tc_ratespec, the limit, and two times that the bursts
        // replace.
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

    fn shaper(rate: u64) -> Shaper {
        let queue = Capacity::Bytes(Bytes::new(1_514_000));
        Shaper {
            rate: Rate::from_bytes_per_second(rate),
            queue,
            frame: Bytes::new(1514),
            whole: false,
        }
    }

    #[test]
    fn a_bucket_makes_up_for_a_tick_and_lets_little_pass_at_once() {
        let gigabit = shaper(125_000_000);
        assert_eq!(gigabit.burst(), 625_000);
        assert_eq!(gigabit.peak_burst(), 6944);
        assert_eq!(gigabit.peak(), 127_500_000);
    }

    #[test]
    fn a_frame_passes_at_any_rate() {
        assert_eq!((shaper(1_000).burst(), shaper(1_000).peak_burst()), (2 * 1514, 2 * 1514));
        assert_eq!(shaper(100_000_000_000).burst(), 500_000_000);
        // From 10 Gbit/s on, what devices with offloads take at once passes whole.
        assert!(shaper(1_250_000_000).peak_burst() > 65_536);
        // Or where that is asked for.
        let whole = Shaper { whole: true, ..shaper(1_000_000) };
        assert!(whole.peak_burst() > 65_536 && whole.burst() >= whole.peak_burst());
    }
}
