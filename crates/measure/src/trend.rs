//! Straight lines through series.

use crate::student_t;

/// The least-squares line through a series: its rise per value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Trend {
    pub(super) slope: f64,
    /// Standard error of the slope if deviations from the line are independent.
    error: f64,
    df: u32,
}

impl Trend {
    /// The series has at least three values.
    pub(super) fn of(series: &[f64]) -> Trend {
        let n = series.len() as f64;
        let middle = (n - 1.0) / 2.0;
        let mean = series.iter().sum::<f64>() / n;
        let offsets = || series.iter().enumerate().map(|(i, y)| (i as f64 - middle, y - mean));
        let spread: f64 = offsets().map(|(x, _)| x * x).sum();
        let slope = offsets().map(|(x, y)| x * y).sum::<f64>() / spread;
        let squares: f64 = offsets().map(|(x, y)| (y - slope * x).powi(2)).sum();
        let df = series.len() as u32 - 2;
        Trend { slope, error: (squares / f64::from(df) / spread).sqrt(), df }
    }

    /// Whether the series rises beyond chance, at one per cent.
    pub(super) fn rises(&self) -> bool {
        self.slope > student_t(0.98, self.df) * self.error
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_units::Seed;

    #[test]
    fn a_line_is_recovered_exactly() {
        let trend = Trend::of(&[1.0, 3.0, 5.0, 7.0]);
        assert!((trend.slope - 2.0).abs() < 1e-12 && trend.error < 1e-12 && trend.rises());
        assert!(!Trend::of(&[7.0, 5.0, 3.0, 1.0]).rises());
    }

    #[test]
    fn noise_rises_about_once_in_a_hundred_times() {
        let rising = (0..2000u64).filter(|&seed| {
            let mut stream = Seed(seed).stream("noise", 0);
            let noise: Vec<f64> = (0..16).map(|_| stream.unit()).collect();
            Trend::of(&noise).rises()
        });
        let count = rising.count();
        assert!((5..40).contains(&count), "{count} of 2000");
    }
}
