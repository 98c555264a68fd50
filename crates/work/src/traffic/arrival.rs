//! When the messages of one host start.

use crosstie_units::Stream;
use serde::{Deserialize, Serialize};

/// The law of the time between two messages of one host; its mean follows from load and size.
///
/// All three give the same mean interval; they differ in burstiness (the squared coefficient of
/// variation of the interval is 1, 0 and `1 - p` in the order below).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Arrival {
    /// A Poisson process in continuous time; a message starts in the cycle its instant falls into,
    /// so a cycle may see several.
    Exponential {},
    /// Equal spacing. Each host starts at a random phase, or all hosts would send in step.
    Constant {},
    /// A coin per cycle: a message starts with probability `p = 1 / interval` (BookSim's
    /// `bernoulli`). At most one message per cycle.
    Bernoulli {},
}

impl Default for Arrival {
    fn default() -> Arrival {
        Arrival::Exponential {}
    }
}

/// The running clock of one host: the instant of its next message.
///
/// Whole cycles and the fraction of a cycle are kept apart, so that a fractional interval is
/// neither rounded nor loses precision late in a long run.
#[derive(Debug, Clone)]
pub(super) struct Clock {
    cycle: u64,
    fraction: f64,
}

/// An [`Arrival`] with the numbers its draws need worked out.
#[derive(Debug, Clone, Copy)]
pub(super) enum Spacing {
    Constant {
        interval: f64,
    },
    /// `scale` is `-1 / ln(1 - p)`: 0 for `p = 1`, when every draw must give the shortest gap.
    Bernoulli {
        scale: f64,
    },
    Exponential {
        interval: f64,
    },
}

impl Spacing {
    /// `interval` is the mean in cycles: positive, and at least 1 for Bernoulli arrivals.
    pub(super) fn new(arrival: Arrival, interval: f64) -> Spacing {
        match arrival {
            Arrival::Constant {} => Spacing::Constant { interval },
            Arrival::Bernoulli {} => {
                Spacing::Bernoulli { scale: -(-1.0 / interval).ln_1p().recip() }
            }
            Arrival::Exponential {} => Spacing::Exponential { interval },
        }
    }

    /// A host's clock at its first message.
    pub(super) fn start(self, stream: &mut Stream) -> Clock {
        let mut clock = Clock { cycle: 0, fraction: 0.0 };
        match self {
            Spacing::Constant { interval } => clock.advance(interval * stream.unit()),
            // The coin is already tossed in cycle 0.
            Spacing::Bernoulli { scale } => clock.advance(failures(scale, stream)),
            Spacing::Exponential { .. } => self.step(&mut clock, stream),
        }
        clock
    }

    /// Moves a host's clock on to its next message.
    #[inline]
    pub(super) fn step(self, clock: &mut Clock, stream: &mut Stream) {
        clock.advance(match self {
            Spacing::Constant { interval } => interval,
            Spacing::Bernoulli { scale } => 1.0 + failures(scale, stream),
            Spacing::Exponential { interval } => stream.exponential(interval),
        });
    }
}

/// How often a coin fails before it succeeds, drawn in one go: the whole part of an exponential
/// variable of mean `scale` is geometric.
#[inline]
fn failures(scale: f64, stream: &mut Stream) -> f64 {
    stream.exponential(scale).floor()
}

impl Clock {
    #[inline]
    fn advance(&mut self, by: f64) {
        let sum = self.fraction + by;
        let whole = sum.floor();
        // An interval beyond the range of time means "never", not an overflow.
        self.cycle = self.cycle.saturating_add(whole as u64);
        self.fraction = sum - whole;
    }

    /// The cycle in which the next message starts.
    #[inline]
    pub(super) fn cycle(&self) -> u64 {
        self.cycle
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_units::Seed;
    use proptest::prelude::*;

    fn times(arrival: Arrival, interval: f64, count: usize, seed: u64) -> Vec<u64> {
        let spacing = Spacing::new(arrival, interval);
        let mut stream = Seed(seed).stream("arrivals", 0);
        let mut clock = spacing.start(&mut stream);
        (0..count)
            .map(|_| {
                let now = clock.cycle();
                spacing.step(&mut clock, &mut stream);
                now
            })
            .collect()
    }

    fn gaps(times: &[u64]) -> Vec<u64> {
        times.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    #[test]
    fn a_constant_fractional_interval_is_kept_exactly() {
        let times = times(Arrival::Constant {}, 2.5, 1001, 1);
        assert!(times[0] <= 2);
        assert!(gaps(&times).iter().all(|&gap| gap == 2 || gap == 3));
        assert_eq!(times[1000] - times[0], 2500);
    }

    #[test]
    fn a_certain_coin_gives_one_message_every_cycle() {
        assert_eq!(times(Arrival::Bernoulli {}, 1.0, 5, 1), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn bernoulli_gaps_follow_the_geometric_law() {
        let n = 200_000;
        let gaps = gaps(&times(Arrival::Bernoulli {}, 4.0, n, 2));
        for (gap, expected) in [(1, 0.25), (2, 0.1875), (3, 0.140625), (8, 0.25 * 0.75f64.powi(7))]
        {
            let found = gaps.iter().filter(|&&g| g == gap).count() as f64 / n as f64;
            assert!((found - expected).abs() < 0.004, "gap {gap}: {found}, expected {expected}");
        }
        assert!(gaps.iter().all(|&gap| gap > 0));
    }

    #[test]
    fn a_poisson_process_has_as_much_variance_as_mean() {
        let times = times(Arrival::Exponential {}, 0.5, 200_000, 3);
        let cycles = *times.last().unwrap() as usize;
        let mut counts = vec![0.0; cycles];
        times.iter().filter(|&&t| (t as usize) < cycles).for_each(|&t| counts[t as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / cycles as f64;
        let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / cycles as f64;
        assert!((mean - 2.0).abs() < 0.03 && (variance - 2.0).abs() < 0.06, "{mean} {variance}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn every_law_keeps_the_mean_interval(
            seed: u64,
            interval in 1.0..200.0,
            arrival in prop::sample::select(
                vec![Arrival::Constant {}, Arrival::Bernoulli {}, Arrival::Exponential {}]),
        ) {
            let n = 20_000;
            let times = times(arrival, interval, n, seed);
            let mean = *times.last().unwrap() as f64 / n as f64;
            // Five standard deviations of the mean of n exponential intervals.
            prop_assert!((mean / interval - 1.0).abs() < 5.0 / (n as f64).sqrt(), "{mean}");
        }
    }
}
