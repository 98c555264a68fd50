//! What the iterations of closed-loop work took.

use crate::{Estimate, WarmUp};

/// The times of iterations after their warm-up, in the unit they were given in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Iterations {
    /// Iterations at the start that were left out.
    pub warm_up: usize,
    /// Whether the times were steady after that; with few iterations nobody can tell.
    pub settled: bool,
    /// Iterations that count.
    pub count: usize,
    /// Their mean.
    pub mean: f64,
    /// The half-width of its confidence interval; `None` of too few iterations
    /// ([`Estimate::LEAST_VALUES`]).
    pub half_width: Option<f64>,
    /// The shortest.
    pub min: u64,
    /// The time that half of them did not exceed.
    pub p50: u64,
    /// The time that 99 of 100 did not exceed.
    pub p99: u64,
}

impl Iterations {
    /// Judges times in the order in which iterations ended; `None` of none.
    ///
    /// The warm-up is detected as in open-loop runs ([`WarmUp`]), which takes 50 iterations; of
    /// fewer none is left out.
    pub fn of(times: &[u64], confidence: f64) -> Option<Iterations> {
        let series: Vec<f64> = times.iter().map(|&time| time as f64).collect();
        let detected = WarmUp::detect(&series);
        let warm_up = detected.map_or(0, |warm_up| warm_up.cut);
        let series = &series[warm_up..];
        let mut sorted = times[warm_up..].to_vec();
        sorted.sort_unstable();
        // The least value that no less than this share of all does not exceed.
        let quantile =
            |share: f64| sorted[((share * sorted.len() as f64).ceil() as usize).max(1) - 1];
        Some(Iterations {
            warm_up,
            settled: detected.is_none_or(|warm_up| warm_up.settled),
            count: sorted.len(),
            mean: sorted.iter().map(|&time| u128::from(time)).sum::<u128>() as f64
                / sorted.len() as f64,
            half_width: Estimate::of_mean(series, confidence).map(|mean| mean.half_width),
            min: *sorted.first()?,
            p50: quantile(0.5),
            p99: quantile(0.99),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_are_known_exactly() {
        let found = Iterations::of(&[700; 100], 0.95).unwrap();
        assert_eq!((found.mean, found.half_width), (700.0, Some(0.0)));
        assert_eq!((found.warm_up, found.count, found.settled), (0, 100, true));
        assert_eq!((found.min, found.p50, found.p99), (700, 700, 700));
    }

    #[test]
    fn quantiles_are_times_that_occurred() {
        let times: Vec<u64> = (1..=200).rev().collect();
        let found = Iterations::of(&times[..40], 0.95).unwrap();
        assert_eq!((found.min, found.p50, found.p99), (161, 180, 200));
        let one = Iterations::of(&[9], 0.95).unwrap();
        assert_eq!((one.mean, one.half_width, one.p50, one.p99), (9.0, None, 9, 9));
        assert_eq!(Iterations::of(&[], 0.95), None);
    }

    #[test]
    fn slow_iterations_at_the_start_are_left_out() {
        let times: Vec<u64> = (0..100).map(|i| if i < 10 { 5000 } else { 100 + i % 3 }).collect();
        let found = Iterations::of(&times, 0.95).unwrap();
        assert_eq!((found.warm_up, found.count), (10, 90));
        assert!((found.mean - 101.0).abs() < 0.1 && found.settled, "{found:?}");
        let rising: Vec<u64> = (0..100).map(|i| i * i).collect();
        assert!(!Iterations::of(&rising, 0.95).unwrap().settled);
    }
}
