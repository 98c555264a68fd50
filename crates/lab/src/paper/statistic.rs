//! Several estimates made one.

use crosstie_measure::student_t;
use crosstie_study::paper::Estimate;

/// The confidence with which experiments measure unless they say otherwise.
const CONFIDENCE: f64 = 0.95;

/// The largest of several, and where that may lie.
///
/// The largest of several noisy values is likely one that noise has raised. So intervals are
/// widened until all of them hold at once with the confidence that one alone had (Bonferroni); then
/// the largest is at least every low end, and at most the highest of the high ends.
pub(super) fn largest(estimates: &[Estimate]) -> Estimate {
    let most = |part: fn(&Estimate) -> f64, of: &[Estimate]| {
        of.iter().map(part).fold(f64::NEG_INFINITY, f64::max)
    };
    let wide = simultaneous(estimates);
    Estimate {
        value: most(|e| e.value, estimates),
        low: most(|e| e.low, &wide),
        high: most(|e| e.high, &wide),
    }
}

/// The least of several, and where that may lie.
pub(super) fn smallest(estimates: &[Estimate]) -> Estimate {
    let turned: Vec<Estimate> = estimates.iter().map(|e| e.scaled(-1.0)).collect();
    largest(&turned).scaled(-1.0)
}

fn simultaneous(estimates: &[Estimate]) -> Vec<Estimate> {
    // So many degrees of freedom are near enough to a normal distribution.
    let t = |confidence| student_t(confidence, 100);
    let wider = t(1.0 - (1.0 - CONFIDENCE) / estimates.len().max(1) as f64) / t(CONFIDENCE);
    let widened = |e: &Estimate| {
        let (below, above) = ((e.value - e.low) * wider, (e.high - e.value) * wider);
        Estimate { value: e.value, low: e.value - below, high: e.value + above }
    };
    estimates.iter().map(widened).collect()
}

/// The mean over a sample, such as several random networks: how far it may be from the mean over
/// all of them (Student), and how far each value may be off.
pub(super) fn mean(sample: &[Estimate]) -> Estimate {
    let count = sample.len() as f64;
    let mean = |part: fn(&Estimate) -> f64| sample.iter().map(part).sum::<f64>() / count;
    let value = mean(|e| e.value);
    let chance = match sample.len() {
        0 | 1 => f64::INFINITY,
        len => {
            let squares: f64 = sample.iter().map(|e| (e.value - value).powi(2)).sum();
            let error = (squares / (count - 1.0) / count).sqrt();
            // No spread at all is a property of the networks, not of the sample.
            if error == 0.0 { 0.0 } else { student_t(CONFIDENCE, len as u32 - 1) * error }
        }
    };
    Estimate { value, low: mean(|e| e.low) - chance, high: mean(|e| e.high) + chance }
}

/// A parameter of a fit with this standard error, and how far it may be off (Student).
pub(super) fn fitted(value: f64, error: f64, freedom: u32) -> Estimate {
    let chance = match freedom {
        0 => f64::INFINITY,
        freedom => student_t(CONFIDENCE, freedom) * error,
    };
    Estimate { value, low: value - chance, high: value + chance }
}

/// The middle one of a sample, and between which of its values the middle of all that there might
/// be lies: whatever they are spread by, as many of them are above as below. Nothing if there are
/// none.
pub(super) fn middle(sample: &[f64]) -> Option<Estimate> {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let value = *sorted.get(sorted.len() / 2)?;
    // Half of them, but for about two standard deviations of how many are above by chance.
    let count = sorted.len() as f64;
    let below = (count / 2.0 - count.sqrt()).floor().max(0.0) as usize;
    Some(Estimate { value, low: sorted[below], high: sorted[sorted.len() - 1 - below] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_noisy_values_is_no_surer_than_the_noise() {
        let noisy = [Estimate::about(5.0, 1.0), Estimate::about(15.0, 52.0)];
        let most = largest(&noisy);
        assert_eq!(most.value, 15.0);
        assert!((3.8..4.0).contains(&most.low), "as large as the surer one: {most:?}");
        assert!((73.0..76.0).contains(&most.high), "{most:?}");
        let least = smallest(&noisy);
        assert!(least.value == 5.0 && least.low < -40.0 && (6.0..6.2).contains(&least.high));
        assert_eq!(largest(&[Estimate::about(2.0, 1.0)]), Estimate::about(2.0, 1.0));
    }

    #[test]
    fn a_mean_over_networks_depends_on_which_were_drawn() {
        let sample = [1.0, 2.0, 3.0].map(|value| Estimate::about(value, 0.5));
        let mean = mean(&sample);
        // 4.303 / sqrt(3), and half a unit for what each was off.
        assert!(mean.value == 2.0 && (mean.high - 2.0 - 2.484 - 0.5).abs() < 1e-3, "{mean:?}");
        assert_eq!(super::mean(&[Estimate::exact(1.0); 2]), Estimate::exact(1.0));
        assert_eq!(super::mean(&[Estimate::exact(1.0)]).high, f64::INFINITY);
    }

    #[test]
    fn a_fit_is_as_sure_as_it_has_points_to_spare() {
        let slope = fitted(-2.0, 0.1, 3);
        assert!(slope.value == -2.0 && (slope.high + 2.0 - 0.3182).abs() < 1e-3, "{slope:?}");
        assert_eq!(fitted(1.0, 0.1, 0).low, f64::NEG_INFINITY);
    }

    #[test]
    fn the_middle_lies_between_some_of_the_values() {
        let few = middle(&[3.0, 1.0, 9.0]).unwrap();
        assert_eq!(few, Estimate { value: 3.0, low: 1.0, high: 9.0 });
        let many: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(middle(&many), Some(Estimate { value: 50.0, low: 40.0, high: 59.0 }));
        assert_eq!(middle(&[]), None);
    }
}
