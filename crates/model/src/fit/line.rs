//! Straight lines, by least squares.

use super::FitError;

/// The line that fits points best.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Where it crosses x = 0.
    pub intercept: f64,
    /// How fast it rises.
    pub slope: f64,
    /// The standard error of the intercept; infinite for two points, as of the slope.
    pub intercept_error: f64,
    /// The standard error of the slope.
    pub slope_error: f64,
    /// The share of the variance that it explains.
    pub r_squared: f64,
    /// y less the line, in the order of the points.
    pub residuals: Vec<f64>,
}

/// Fits a line to points (x, y).
pub fn line(points: &[(f64, f64)]) -> Result<Line, FitError> {
    if points.len() < 2 {
        return Err(FitError::TooFew { found: points.len(), expected: 2 });
    }
    let finite = |&(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
    if let Some(place) = points.iter().position(|point| !finite(point)) {
        return Err(FitError::NotFinite { place });
    }
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let sum =
        |of: &dyn Fn(f64, f64) -> f64| points.iter().map(|p| of(p.0 - x, p.1 - y)).sum::<f64>();
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    if xx <= f64::EPSILON * x * x * n {
        return Err(FitError::Degenerate);
    }
    let slope = xy / xx;
    let intercept = y - slope * x;
    let residuals: Vec<f64> = points.iter().map(|p| p.1 - intercept - slope * p.0).collect();
    let squares = residuals.iter().map(|r| r * r).sum::<f64>();
    let variance = if points.len() > 2 { squares / (n - 2.0) } else { f64::INFINITY };
    Ok(Line {
        intercept,
        slope,
        intercept_error: (variance * (1.0 / n + x * x / xx)).sqrt(),
        slope_error: (variance / xx).sqrt(),
        // Where nothing varies there is nothing to explain.
        r_squared: if yy > 0.0 { 1.0 - squares / yy } else { 1.0 },
        residuals,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Burst;

    /// Four points by hand: x 1..4, y 2, 3, 5, 6.
    #[test]
    fn a_line_by_hand() {
        let found = line(&[(1.0, 2.0), (2.0, 3.0), (3.0, 5.0), (4.0, 6.0)]).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-12;
        assert!(near(found.slope, 1.4) && near(found.intercept, 0.5));
        assert!(near(found.r_squared, 0.98));
        assert!(near(found.slope_error, (0.1f64 / 5.0).sqrt()));
        assert!(near(found.intercept_error, (0.1f64 * (0.25 + 6.25 / 5.0)).sqrt()));
        for (found, expected) in found.residuals.iter().zip([0.1, -0.3, 0.3, -0.1]) {
            assert!(near(*found, expected));
        }
    }

    /// What comes through of bursts, against 1/k, has the buffer for its slope [tam, A.2].
    #[test]
    fn a_sweep_of_bursts_tells_the_buffer() {
        let burst = Burst { arrival: 4.0, departure: 1.0, frames: 95.0 };
        let point = |k: f64| (1.0 / k, burst.success(k));
        let found = line(&[200.0, 400.0, 800.0, 1600.0].map(point)).unwrap();
        assert!((found.slope - 95.0).abs() < 1e-9 && (found.intercept - 0.25).abs() < 1e-12);
    }

    #[test]
    fn what_is_no_line_is_told() {
        assert_eq!(line(&[(1.0, 1.0)]), Err(FitError::TooFew { found: 1, expected: 2 }));
        assert_eq!(line(&[(0.1, 1.0), (0.1, 2.0)]), Err(FitError::Degenerate));
        assert_eq!(
            line(&[(1.0, 1.0), (2.0, f64::INFINITY)]),
            Err(FitError::NotFinite { place: 1 })
        );
        assert!(line(&[(1.0, 1.0), (2.0, 2.0)]).unwrap().slope_error.is_infinite());
    }
}
