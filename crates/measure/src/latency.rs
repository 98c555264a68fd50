//! Latencies as a histogram.

use hdrhistogram::Histogram;

/// A histogram of latencies in cycles with three significant digits; count, mean and maximum are
/// exact.
#[derive(Debug, Clone)]
pub struct Latency {
    histogram: Histogram<u64>,
    sum: u128,
    max: u64,
}

impl Latency {
    /// Quantiles above this many cycles read as this many: about 10^12, far beyond any run.
    pub const CEILING: u64 = 1 << 40;

    /// An empty histogram. It grows with the largest latency seen, to a quarter of a megabyte.
    pub fn new() -> Latency {
        let histogram = Histogram::new(3).expect("three digits are within the library's range");
        Latency { histogram, sum: 0, max: 0 }
    }

    /// Adds one latency.
    #[inline]
    pub fn record(&mut self, cycles: u64) {
        self.histogram
            .record(cycles.min(Latency::CEILING))
            .expect("the histogram resizes up to the ceiling");
        self.sum += u128::from(cycles);
        self.max = self.max.max(cycles);
    }

    /// Adds everything another histogram holds.
    pub fn add(&mut self, other: &Latency) {
        self.histogram.add(&other.histogram).expect("the histogram resizes up to the ceiling");
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// How many latencies were recorded.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The exact mean; `None` of nothing.
    pub fn mean(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum as f64 / self.count() as f64)
    }

    /// The latency that a share of all stay at or below, to three digits: 0.5 for the median,
    /// 0.99, 0.999. `None` of nothing.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        (self.count() > 0).then(|| self.histogram.value_at_quantile(share).min(self.max))
    }

    /// The exact maximum; `None` of nothing.
    pub fn max(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max)
    }

    fn clear(&mut self) {
        self.histogram.clear();
        self.sum = 0;
        self.max = 0;
    }
}

impl Default for Latency {
    fn default() -> Latency {
        Latency::new()
    }
}

/// Latencies kept by the time of delivery, so that the warm-up can be taken out once it is known.
///
/// Time is divided into at most 32 equal segments with a histogram each; when they are used up,
/// neighbours are joined and segments become twice as long. Leaving out the warm-up thus costs at
/// most one segment more than asked for.
#[derive(Debug, Clone)]
pub struct LatencyLog {
    segments: Vec<Latency>,
    /// Segments in use.
    used: usize,
    /// Cycles per segment.
    length: u64,
}

impl LatencyLog {
    const SEGMENTS: usize = 32;

    /// An empty log whose segments start at the given length, for example one window.
    ///
    /// # Panics
    /// If the length is zero.
    pub fn new(length: u64) -> LatencyLog {
        assert!(length > 0, "a segment has a length");
        LatencyLog { segments: vec![Latency::new()], used: 1, length }
    }

    /// Adds the latency of a packet delivered in a cycle. Cycles need not come in order.
    #[inline]
    pub fn record(&mut self, cycle: u64, latency: u64) {
        while cycle / self.length >= LatencyLog::SEGMENTS as u64 {
            self.halve();
        }
        let segment = (cycle / self.length) as usize;
        while self.used <= segment {
            if self.used == self.segments.len() {
                self.segments.push(Latency::new());
            }
            self.used += 1;
        }
        self.segments[segment].record(latency);
    }

    /// All latencies of segments that start in this cycle or later.
    pub fn since(&self, cycle: u64) -> Latency {
        let first = (cycle.div_ceil(self.length) as usize).min(self.used);
        let mut sum = Latency::new();
        self.segments[first..self.used].iter().for_each(|segment| sum.add(segment));
        sum
    }

    /// Joins segments in pairs.
    fn halve(&mut self) {
        let half = self.used.div_ceil(2);
        for pair in 0..half {
            if pair > 0 {
                self.segments.swap(pair, 2 * pair);
            }
            if 2 * pair + 1 < self.used {
                let (head, tail) = self.segments.split_at_mut(2 * pair + 1);
                head[pair].add(&tail[0]);
            }
        }
        self.segments[half..self.used].iter_mut().for_each(Latency::clear);
        self.used = half;
        self.length *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn summarises_a_thousand_latencies() {
        let mut latency = Latency::new();
        (1..=1000).for_each(|cycles| latency.record(cycles));
        assert_eq!(latency.mean(), Some(500.5));
        let quantiles = [0.5, 0.99, 0.999, 1.0].map(|share| latency.quantile(share).unwrap());
        assert_eq!(quantiles, [500, 990, 999, 1000]);
        assert_eq!(latency.max(), Some(1000));
    }

    #[test]
    fn nothing_recorded_has_no_summary() {
        let latency = Latency::new();
        assert_eq!((latency.mean(), latency.quantile(0.5), latency.max()), (None, None, None));
    }

    #[test]
    fn quantiles_saturate_and_the_maximum_stays_exact() {
        let mut latency = Latency::new();
        latency.record(0);
        latency.record(u64::MAX);
        assert_eq!(latency.max(), Some(u64::MAX));
        let top = latency.quantile(1.0).unwrap() as f64;
        assert!((top / Latency::CEILING as f64 - 1.0).abs() < 1e-3);
    }

    proptest! {
        #[test]
        fn quantiles_keep_three_digits(mut all in prop::collection::vec(0..10_000_000u64, 1..200)) {
            let mut latency = Latency::new();
            all.iter().for_each(|&cycles| latency.record(cycles));
            all.sort_unstable();
            for share in [0.1, 0.5, 0.9, 0.99] {
                let rank = (share * all.len() as f64).ceil() as usize;
                let (found, exact) = (latency.quantile(share).unwrap(), all[rank - 1]);
                prop_assert!(found >= exact && found - exact <= exact / 1000 + 1);
            }
        }

        #[test]
        fn a_log_forgets_only_what_comes_before_the_cut(
            length in 1..20u64,
            messages in prop::collection::vec((0..5000u64, 0..1000u64), 1..200),
            cut in 0..5000u64,
        ) {
            let mut log = LatencyLog::new(length);
            messages.iter().for_each(|&(cycle, latency)| log.record(cycle, latency));
            let sum = |from: u64| {
                let kept = messages.iter().filter(|(cycle, _)| *cycle >= from);
                kept.fold((0, 0), |(n, sum), (_, latency)| (n + 1, sum + u128::from(*latency)))
            };
            let found = log.since(cut);
            let first_whole = cut.next_multiple_of(log.length);
            prop_assert_eq!((found.count(), found.sum), sum(first_whole));
            prop_assert_eq!(log.since(0).count(), messages.len() as u64);
        }
    }
}
