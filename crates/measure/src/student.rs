//! Quantiles of Student's t distribution.

use std::f64::consts::FRAC_PI_2;

/// The t with `P(-t < T < t) = confidence` for T Student-distributed with `df` degrees of freedom:
/// the factor that turns a standard error into the half-width of a confidence interval.
///
/// With `t = sqrt(df) tan(theta)` the probability is a finite sum over powers of cos(theta)
/// (Abramowitz and Stegun, 26.7.3 and 26.7.4), monotone in theta, and is inverted by bisection.
/// Work grows with `df`; intervals here have a few dozen degrees of freedom.
///
/// # Panics
/// If `df` is zero or `confidence` does not lie strictly between 0 and 1.
pub fn student_t(confidence: f64, df: u32) -> f64 {
    assert!(df > 0, "a t distribution has at least one degree of freedom");
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence lies between 0 and 1");
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    loop {
        let theta = f64::midpoint(low, high);
        if theta <= low || theta >= high {
            return f64::from(df).sqrt() * theta.tan();
        }
        if central_probability(theta, df) < confidence {
            low = theta;
        } else {
            high = theta;
        }
    }
}

/// `P(-t < T < t)` with `t = sqrt(df) tan(theta)`.
fn central_probability(theta: f64, df: u32) -> f64 {
    let (sin, cos) = theta.sin_cos();
    let odd = df % 2 == 1;
    // Each term follows from the one before: the factors are 2/3, 4/5, ... for odd and 1/2, 3/4,
    // ... for even degrees of freedom.
    let (mut term, first) = if odd { (cos, 3) } else { (1.0, 2) };
    let mut sum = if df == 1 { 0.0 } else { term };
    for below in (first..df.saturating_sub(1)).step_by(2) {
        term *= cos * cos * f64::from(below - 1) / f64::from(below);
        sum += term;
    }
    if odd { (theta + sin * sum) / FRAC_PI_2 } else { sin * sum }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, StudentsT};

    #[test]
    fn agrees_with_the_tables() {
        for (confidence, df, t) in [
            (0.95, 1, 12.7062),
            (0.95, 2, 4.3027),
            (0.95, 9, 2.2622),
            (0.95, 30, 2.0423),
            (0.99, 5, 4.0321),
            (0.999, 1, 636.6192),
            (0.8, 120, 1.2886),
        ] {
            assert!((student_t(confidence, df) - t).abs() < 1e-4, "{confidence} {df}");
        }
    }

    #[test]
    fn inverts_an_independent_distribution_function() {
        let dense = 1..60;
        for df in dense.chain((60..1000).step_by(47)).chain([1000]) {
            let oracle = StudentsT::new(0.0, 1.0, f64::from(df)).unwrap();
            for confidence in [0.8, 0.9, 0.95, 0.975, 0.99, 0.999] {
                let t = student_t(confidence, df);
                // In terms of t: the error of the probability over the density there.
                let probability = 1.0 - 2.0 * oracle.cdf(-t);
                let density = (oracle.cdf(t + 1e-3) - oracle.cdf(t - 1e-3)) / 1e-3;
                let error = (probability - confidence) / density;
                assert!(error.abs() < 1e-6 * t.max(1.0), "df {df}, {confidence}: off by {error}");
            }
        }
    }
}
