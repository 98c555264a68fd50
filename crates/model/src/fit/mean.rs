//! A mean that outliers do not move.

/// The mean of the middle 80 %: sorted by value, a tenth is dropped at each end, rounded down [tam,
/// 3.2]. The thesis does not say whether its first and last 10 % are so by value or by time. `None`
/// if there is nothing, or something that is no finite number.
pub fn trimmed_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || !values.iter().all(|value| value.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let drop = sorted.len() / 10;
    let kept = &sorted[drop..sorted.len() - drop];
    Some(kept.iter().sum::<f64>() / kept.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outliers_do_not_count() {
        let mut values: Vec<f64> = (0..10).map(f64::from).collect();
        (values[3], values[7]) = (1e9, -1e9);
        assert_eq!(trimmed_mean(&values), Some(35.0 / 8.0));
        assert_eq!(trimmed_mean(&[1.0, 2.0, 6.0]), Some(3.0), "too few to drop any");
        assert_eq!((trimmed_mean(&[]), trimmed_mean(&[f64::NAN, 1.0])), (None, None));
    }
}
