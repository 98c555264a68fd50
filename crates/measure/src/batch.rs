//! Confidence intervals for the means of correlated series: batch means.
//!
//! Values that follow each other in a simulation are correlated, so their plain standard error is
//! far too small. The series is cut into long batches of equal duration; sums over different
//! batches are nearly independent if batches are long against the memory of the network, and then
//! Student's interval holds for them.
//!
//! **Ratios.** Mean latency is a ratio of two random sums, latency over messages. With batch sums
//! `L_i` and `N_i` the estimate is `R = sum L / sum N`, the mean over messages, and not the mean of
//! the batch means, which would give messages in quiet batches more weight. Its variance follows
//! from the residuals `e_i = L_i - R N_i` (Cochran, *Sampling Techniques*, chapter 6):
//!
//! ```text
//! half-width = t(b - 1) sqrt( sum e_i^2 / (b (b - 1)) ) / (sum N / b)
//! ```
//!
//! A plain mean is the case `N_i` = number of values.
//!
//! **How long a batch.** The series is cut into 64 to 127 fine batches (32 to 63 if there are fewer
//! than 64 values). If von Neumann's test finds neighbours uncorrelated, the interval rests on
//! batches of two fine ones each, otherwise of four; what correlation `phi` is left between these
//! widens it by `sqrt((1 + phi) / (1 - phi))`, as if batches were a first-order autoregression
//! (Tafazzoli and Wilson, *IIE Transactions* 43(2), 2011). If the fine batches have a correlation
//! above one half, the series is too short for its memory, and all batches together are taken to
//! say no more than one of them: the half-width is `t` times the standard deviation of a batch.
//! For counts per time ([`Estimate::of_rate`]) the limit is 0.7, and between one half and 0.7 a
//! batch joins eight fine ones. On 1500 autoregressions each of 512 and 1000 values, with memories
//! of 2 to 100 values, nominal 95 % intervals then hold the mean in 93 to 99 %. Latencies keep the
//! limit of one half: near saturation they look calm before they rise, and runs would stop too
//! soon.
//!
//! The test compares the lag-1 correlation `c = sum e_i e_{i+1} / sum e_i^2` with its upper 10 %
//! point under independence, `1.2816 sqrt((b - 2) / (b^2 - 1))` (Fishman, *Management Science*
//! 24(5), 1978).

use crate::student_t;

/// A mean with its confidence interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimated mean.
    pub mean: f64,
    /// The interval is `mean - half_width .. mean + half_width`.
    pub half_width: f64,
    /// How many batches it rests on.
    pub batches: u32,
}

impl Estimate {
    /// The fewest values an estimate is made from.
    pub const LEAST_VALUES: usize = 32;

    /// The mean of a series of values over equal times; `None` of fewer than
    /// [`LEAST_VALUES`](Estimate::LEAST_VALUES).
    pub fn of_mean(series: &[f64], confidence: f64) -> Option<Estimate> {
        let pairs: Vec<_> = series.iter().map(|&value| (value, 1.0)).collect();
        Estimate::of_ratio(&pairs, confidence)
    }

    /// The ratio of two sums, given as pairs (numerator, denominator) over equal times; `None` of
    /// fewer than [`LEAST_VALUES`](Estimate::LEAST_VALUES) pairs or if all denominators are zero.
    ///
    /// Values that do not fill a batch are left out, oldest first.
    pub fn of_ratio(series: &[(f64, f64)], confidence: f64) -> Option<Estimate> {
        Estimate::of_batches(series, confidence, 0.5)
    }

    /// Returns a rate from counts over equal times; `None` if there are fewer than
    /// [`LEAST_VALUES`](Estimate::LEAST_VALUES).
    pub fn of_rate(counts: &[f64], time: f64, confidence: f64) -> Option<Estimate> {
        let series: Vec<_> = counts.iter().map(|&count| (count, time)).collect();
        Estimate::of_batches(&series, confidence, 0.7)
    }

    /// Estimates a ratio; fine batches whose correlation exceeds `limit` are too short.
    fn of_batches(series: &[(f64, f64)], confidence: f64, limit: f64) -> Option<Estimate> {
        if series.len() < Estimate::LEAST_VALUES {
            return None;
        }
        let size = (series.len() / 64).max(1);
        let fine = correlation(&Batches::new(series, size)?.residuals);
        let joined = match fine {
            _ if fine.value > 0.5 && limit > 0.5 => 8,
            _ if fine.significant => 4,
            _ => 2,
        };
        let batches = Batches::new(series, joined * size)?;
        Some(batches.estimate(confidence, fine.value > limit))
    }

    /// The rise per value of a series over equal times: the slope of the least-squares line, which
    /// is the ratio of two sums as well, `sum x y / sum x^2` with both taken from their means.
    /// `None` of fewer than [`LEAST_VALUES`](Estimate::LEAST_VALUES).
    ///
    /// The interval rests on the fine batches, whose correlation `phi` leaves
    /// `b (1 - phi) / (1 + phi)` of them independent. Above 0.8 the series may be one that wanders
    /// off and never comes back; its line says next to nothing, and the interval is as wide as if
    /// there were a single batch.
    pub fn of_slope(series: &[f64], confidence: f64) -> Option<Estimate> {
        if series.len() < Estimate::LEAST_VALUES {
            return None;
        }
        let size = (series.len() / 64).max(1);
        let means: Vec<_> = series[series.len() % size..]
            .chunks_exact(size)
            .map(|batch| batch.iter().sum::<f64>() / size as f64)
            .collect();
        let b = means.len() as f64;
        let (middle, mean) = ((b - 1.0) / 2.0, means.iter().sum::<f64>() / b);
        let points = || means.iter().enumerate().map(|(i, y)| (i as f64 - middle, y - mean));
        let spread: f64 = points().map(|(x, _)| x * x).sum();
        let slope = points().map(|(x, y)| x * y).sum::<f64>() / spread;
        let residuals: Vec<_> = points().map(|(x, y)| y - slope * x).collect();
        let Correlation { value, .. } = correlation(&residuals);
        let phi = value.max(0.0);
        let independent = if phi > 0.8 { 1.0 } else { b * (1.0 - phi) / (1.0 + phi) };
        let squares: f64 = residuals.iter().map(|e| e * e).sum();
        let error = (squares / (b - 2.0) / spread * b / independent).sqrt();
        let freedom = (independent as u32).saturating_sub(2).max(1);
        Some(Estimate {
            mean: slope / size as f64,
            half_width: student_t(confidence, freedom) * error / size as f64,
            batches: means.len() as u32,
        })
    }

    /// The upper end of the interval.
    pub fn upper(&self) -> f64 {
        self.mean + self.half_width
    }

    /// The lower end of the interval.
    pub fn lower(&self) -> f64 {
        self.mean - self.half_width
    }

    /// The half-width relative to the mean.
    pub fn relative(&self) -> f64 {
        self.half_width / self.mean.abs()
    }
}

/// What is left of each batch once the common ratio is taken out.
struct Batches {
    ratio: f64,
    mean_denominator: f64,
    residuals: Vec<f64>,
    /// The sum of their squares.
    squares: f64,
}

impl Batches {
    fn new(series: &[(f64, f64)], size: usize) -> Option<Batches> {
        let sums: Vec<_> = series[series.len() % size..]
            .chunks_exact(size)
            .map(|batch| {
                batch.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1))
            })
            .collect();
        let total = sums.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
        let ratio = total.0 / total.1;
        if !ratio.is_finite() {
            return None;
        }
        let residuals: Vec<_> = sums.iter().map(|(top, bottom)| top - ratio * bottom).collect();
        let squares = residuals.iter().map(|e| e * e).sum();
        Some(Batches { ratio, mean_denominator: total.1 / sums.len() as f64, residuals, squares })
    }

    fn estimate(&self, confidence: f64, too_short: bool) -> Estimate {
        let count = self.residuals.len();
        let b = count as f64;
        let phi = correlation(&self.residuals).value.clamp(0.0, 0.9);
        let independent = if too_short { 1.0 } else { b * (1.0 - phi) / (1.0 + phi) };
        let error = (self.squares / ((b - 1.0) * independent)).sqrt() / self.mean_denominator;
        Estimate {
            mean: self.ratio,
            half_width: student_t(confidence, count as u32 - 1) * error,
            batches: count as u32,
        }
    }
}

/// The lag-1 correlation between residuals.
fn correlation(residuals: &[f64]) -> Correlation {
    let b = residuals.len() as f64;
    let squares: f64 = residuals.iter().map(|e| e * e).sum();
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let value = if squares > 0.0 { products / squares } else { 0.0 };
    Correlation { value, significant: value > 1.2816 * ((b - 2.0) / (b * b - 1.0)).sqrt() }
}

struct Correlation {
    value: f64,
    significant: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Queues;
    use crosstie_units::Seed;
    use proptest::prelude::*;

    /// A first-order autoregression with mean 100, started in its steady state.
    fn autoregression(seed: u64, phi: f64, len: usize) -> Vec<f64> {
        let mut stream = Seed(seed).stream("autoregression", 0);
        // The sum of twelve uniform draws is normal enough.
        let mut normal = move || (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0;
        let mut x = normal() / (1.0 - phi * phi).sqrt();
        let mut next = || {
            x = phi * x + normal();
            100.0 + x
        };
        (0..len).map(|_| next()).collect()
    }

    /// How many of 400 intervals hold the true mean.
    fn covered(truth: f64, estimate: impl Fn(u64) -> Estimate) -> usize {
        let holds = |e: Estimate| (e.mean - truth).abs() <= e.half_width;
        (0..400).filter(|&seed| holds(estimate(seed))).count()
    }

    #[test]
    fn intervals_hold_the_mean_about_as_often_as_they_say() {
        for (phi, len) in [(0.0, 64), (0.0, 1000), (0.5, 300), (0.9, 1000), (0.97, 4000)] {
            let estimate = |seed| Estimate::of_mean(&autoregression(seed, phi, len), 0.95).unwrap();
            let count = covered(100.0, estimate);
            assert!((360..=392).contains(&count), "phi {phi}, {len} values: {count} of 400");
        }
    }

    #[test]
    fn rates_with_a_long_memory_are_known_about_as_well_as_they_say() {
        for (phi, len) in [(0.6f64, 512), (0.9, 512), (0.94, 512), (0.94, 1000), (0.97, 1000)] {
            let estimate = |seed| {
                let counts = autoregression(seed, phi, len);
                Estimate::of_rate(&counts, 1.0, 0.95).unwrap()
            };
            let count = covered(100.0, estimate);
            assert!((360..=400).contains(&count), "phi {phi}, {len} values: {count} of 400");
            // Half as long again as what is known of the memory would give, but not many times.
            let error = ((1.0 + phi) / (1.0 - phi) / (1.0 - phi * phi) / len as f64).sqrt();
            let mean = (0..400).map(|seed| estimate(seed).half_width).sum::<f64>() / 400.0;
            assert!(phi > 0.95 || mean < 4.0 * error, "phi {phi}, {len} values: {mean} of {error}");
        }
    }

    #[test]
    fn slopes_are_known_about_as_well_as_they_say() {
        let line = |i: usize, noise: f64| 0.05 * i as f64 + noise;
        for (phi, len) in [(0.0, 64), (0.5, 300), (0.9, 1000)] {
            let estimate = |seed| {
                let noise = autoregression(seed, phi, len);
                let series: Vec<_> = (0..).zip(noise).map(|(i, n)| line(i, n)).collect();
                Estimate::of_slope(&series, 0.95).unwrap()
            };
            let count = covered(0.05, estimate);
            assert!((350..=396).contains(&count), "phi {phi}, {len} values: {count} of 400");
        }
        let exact: Vec<_> = (0..64).map(|i| line(i, 7.0)).collect();
        let slope = Estimate::of_slope(&exact, 0.95).unwrap();
        assert!((slope.mean - 0.05).abs() < 1e-12 && slope.half_width < 1e-9);
    }

    #[test]
    fn a_series_too_short_for_its_memory_gives_a_wide_interval() {
        // Two hundred values that remember a hundred: hardly more than two independent ones.
        let estimate = |seed| Estimate::of_mean(&autoregression(seed, 0.99, 200), 0.95).unwrap();
        let count = covered(100.0, estimate);
        assert!((320..=392).contains(&count), "{count} of 400");
    }

    #[test]
    fn latency_is_the_mean_over_packets() {
        // Every other window is busy and slow: 30 messages of 40 cycles, then 10 of 20.
        let series: Vec<_> =
            (0..640).map(|i| if i % 2 == 0 { (1200.0, 30.0) } else { (200.0, 10.0) }).collect();
        let latency = Estimate::of_ratio(&series, 0.95).unwrap();
        assert!((latency.mean - 35.0).abs() < 1e-12, "not (40 + 20) / 2");
        assert!(latency.half_width < 1e-9, "all batches are alike");
    }

    #[test]
    fn latency_intervals_of_queues_hold_the_known_mean() {
        let load = 0.6;
        let estimate = |seed| {
            let mut queues = Queues::new(seed, 4, load, 400);
            let series: Vec<_> = (0..400)
                .map(|_| queues.window())
                .skip(20)
                .map(|w| (w.latency as f64, w.messages as f64))
                .collect();
            Estimate::of_ratio(&series, 0.95).unwrap()
        };
        let count = covered(Queues::mean_latency(load), estimate);
        assert!((360..=392).contains(&count), "{count} of 400");
    }

    #[test]
    fn nothing_is_claimed_from_nothing() {
        assert_eq!(Estimate::of_mean(&[1.0; 31], 0.95), None);
        assert_eq!(Estimate::of_ratio(&[(0.0, 0.0); 100], 0.95), None);
        let constant = Estimate::of_ratio(&[(0.3, 0.7); 100], 0.95).unwrap();
        assert!((constant.mean - 3.0 / 7.0).abs() < 1e-12 && constant.half_width < 1e-12);
    }

    proptest! {
        #[test]
        fn an_interval_scales_with_its_series(
            series in prop::collection::vec(1.0..2.0f64, 32..300), scale in 0.1..100.0f64,
        ) {
            let scaled: Vec<f64> = series.iter().map(|x| x * scale).collect();
            let plain = Estimate::of_mean(&series, 0.9).unwrap();
            let scaled = Estimate::of_mean(&scaled, 0.9).unwrap();
            prop_assert!((scaled.mean / plain.mean / scale - 1.0).abs() < 1e-9);
            prop_assert!((scaled.half_width / plain.half_width / scale - 1.0).abs() < 1e-6);
            prop_assert!((1.0..2.0).contains(&plain.mean));
            let wider = Estimate::of_mean(&series, 0.99).unwrap();
            prop_assert!(wider.half_width > plain.half_width);
        }
    }
}
