//! Where the start-up of a run ends: MSER-5.

/// What [`WarmUp::detect`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmUp {
    /// How many leading values to drop.
    pub cut: usize,
    /// Whether the series is steady after the cut. If not, the best cut lies in the second half:
    /// the series is still on its way and needs more data.
    pub settled: bool,
}

impl WarmUp {
    /// Values per group: the 5 of MSER-5.
    pub const GROUP: usize = 5;

    /// The cut that minimises the marginal standard error (MSER) of what is left.
    ///
    /// The series is averaged in groups of five, `Z_1 .. Z_k`, and the cut is the d that minimises
    ///
    /// ```text
    /// MSER(d) = sum_{j > d} (Z_j - mean of Z_{d+1} .. Z_k)^2 / (k - d)^2
    /// ```
    ///
    /// (White, *Simulation* 69(6), 1997; White, Cobb and Spratt, *WSC* 2000): dropping a group
    /// pays as long as it removes more bias than it costs in precision. Cuts up to three quarters
    /// of the series are looked at, since what the last ones leave is too little to be judged; a
    /// minimum in the second half means that the series has not settled. Values left over from
    /// grouping are the oldest.
    ///
    /// `None` if there are fewer than ten groups.
    pub fn detect(series: &[f64]) -> Option<WarmUp> {
        let left_over = series.len() % WarmUp::GROUP;
        let groups = series[left_over..].chunks_exact(WarmUp::GROUP);
        let groups: Vec<f64> =
            groups.map(|group| group.iter().sum::<f64>() / WarmUp::GROUP as f64).collect();
        if groups.len() < 10 {
            return None;
        }
        // Backwards, so that one pass sees every suffix (Welford's update of the sum of squares).
        let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
        let (mut best, mut least) = (0, f64::INFINITY);
        for (d, &z) in groups.iter().enumerate().rev() {
            count += 1.0;
            let step = z - mean;
            mean += step / count;
            squares += step * (z - mean);
            let mser = squares / (count * count);
            // "<=" prefers the shorter warm-up among equals, as in a constant series.
            if 4 * d <= 3 * groups.len() && mser <= least {
                (best, least) = (d, mser);
            }
        }
        let cut = if best == 0 { 0 } else { left_over + best * WarmUp::GROUP };
        Some(WarmUp { cut, settled: 2 * cut <= series.len() })
    }

    /// The warm-up of two series of one run: both must be over.
    pub fn later(self, other: WarmUp) -> WarmUp {
        WarmUp { cut: self.cut.max(other.cut), settled: self.settled && other.settled }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_units::Seed;

    fn noise(seed: u64, len: usize) -> Vec<f64> {
        let mut stream = Seed(seed).stream("noise", 0);
        (0..len).map(|_| stream.unit() - 0.5).collect()
    }

    #[test]
    fn finds_an_injected_transient() {
        for seed in 0..50 {
            let mut series = noise(seed, 1000);
            for (i, value) in series.iter_mut().take(200).enumerate() {
                *value += 5.0 * (1.0 - i as f64 / 200.0);
            }
            let found = WarmUp::detect(&series).unwrap();
            assert!(found.settled && (150..300).contains(&found.cut), "seed {seed}: {found:?}");
        }
    }

    #[test]
    fn leaves_a_steady_series_nearly_whole() {
        let cuts: usize = (0..50).map(|seed| WarmUp::detect(&noise(seed, 1000)).unwrap().cut).sum();
        assert!(cuts < 50 * 100, "{} values cut on average", cuts / 50);
        assert_eq!(WarmUp::detect(&[3.0; 50]), Some(WarmUp { cut: 0, settled: true }));
    }

    #[test]
    fn a_series_that_keeps_rising_has_not_settled() {
        for seed in 0..50 {
            let rising: Vec<f64> =
                noise(seed, 500).iter().zip(0..).map(|(n, i)| n + 0.02 * f64::from(i)).collect();
            assert!(!WarmUp::detect(&rising).unwrap().settled, "seed {seed}");
        }
    }

    #[test]
    fn needs_ten_groups() {
        assert_eq!(WarmUp::detect(&[1.0; 49]), None);
    }
}
