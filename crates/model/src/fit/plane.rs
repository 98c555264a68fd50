//! Costs that depend on packets and nodes, by least squares [tam, A.5].

use super::FitError;

/// What a cost may consist of, for packets of m bytes among p nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// 1: for every packet.
    Fixed,
    /// m: for every byte.
    Byte,
    /// p: for every node.
    Node,
    /// m p: for every byte and node.
    ByteNode,
}

impl Term {
    /// All there are.
    pub const ALL: [Term; 4] = [Term::Fixed, Term::Byte, Term::Node, Term::ByteNode];

    fn at(self, sample: &Sample) -> f64 {
        match self {
            Term::Fixed => 1.0,
            Term::Byte => sample.bytes,
            Term::Node => sample.nodes,
            Term::ByteNode => sample.bytes * sample.nodes,
        }
    }
}

/// A measurement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The length of the packets: m.
    pub bytes: f64,
    /// The number of nodes: p.
    pub nodes: f64,
    /// What was measured, in any unit.
    pub value: f64,
}

/// A sum of terms that fits measurements best, in their unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    /// The terms with their coefficients and the standard errors of these; infinite if there are
    /// no more measurements than terms.
    pub terms: Vec<(Term, f64, f64)>,
    /// The share of the variance that it explains.
    pub r_squared: f64,
    /// Measured less fitted, in the order of the measurements.
    pub residuals: Vec<f64>,
}

impl Plane {
    /// The coefficient of a term; 0 if it was not fitted.
    pub fn coefficient(&self, term: Term) -> f64 {
        self.terms.iter().find(|fitted| fitted.0 == term).map_or(0.0, |fitted| fitted.1)
    }
}

/// Fits the terms to measurements, by normal equations of scaled columns.
pub fn plane(samples: &[Sample], terms: &[Term]) -> Result<Plane, FitError> {
    let mut distinct = terms.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() != terms.len() || terms.is_empty() {
        return Err(FitError::Terms { found: distinct.len(), expected: terms.len().max(1) });
    }
    let finite = |s: &Sample| [s.bytes, s.nodes, s.value].iter().all(|x| x.is_finite());
    if let Some(place) = samples.iter().position(|sample| !finite(sample)) {
        return Err(FitError::NotFinite { place });
    }
    let (n, k) = (samples.len(), terms.len());
    if n < k {
        return Err(FitError::TooFew { found: n, expected: k });
    }
    // Columns of length 1, so that bytes and nodes weigh the same.
    let norm = |term: &Term| samples.iter().map(|s| term.at(s).powi(2)).sum::<f64>().sqrt();
    let norms: Vec<f64> = terms.iter().map(norm).collect();
    if norms.contains(&0.0) {
        return Err(FitError::Degenerate);
    }
    let row = |s: &Sample| -> Vec<f64> {
        terms.iter().zip(&norms).map(|(term, norm)| term.at(s) / norm).collect()
    };
    let mut gram = vec![vec![0.0; k]; k];
    let mut right = vec![0.0; k];
    for sample in samples {
        let row = row(sample);
        for i in 0..k {
            right[i] += row[i] * sample.value;
            (0..k).for_each(|j| gram[i][j] += row[i] * row[j]);
        }
    }
    let inverse = inverse(gram).ok_or(FitError::Degenerate)?;
    let solution: Vec<f64> =
        inverse.iter().map(|row| row.iter().zip(&right).map(|(a, b)| a * b).sum()).collect();
    let fitted = |s: &Sample| row(s).iter().zip(&solution).map(|(a, b)| a * b).sum::<f64>();
    let residuals: Vec<f64> = samples.iter().map(|s| s.value - fitted(s)).collect();
    let squares = residuals.iter().map(|r| r * r).sum::<f64>();
    let variance = if n > k { squares / (n - k) as f64 } else { f64::INFINITY };
    let coefficients = terms.iter().enumerate().map(|(i, &term)| {
        (term, solution[i] / norms[i], (variance * inverse[i][i]).sqrt() / norms[i])
    });
    let terms = coefficients.collect();
    let mean = samples.iter().map(|s| s.value).sum::<f64>() / n as f64;
    let total = samples.iter().map(|s| (s.value - mean).powi(2)).sum::<f64>();
    // Where nothing varies there is nothing to explain.
    let r_squared = if total > 0.0 { 1.0 - squares / total } else { 1.0 };
    Ok(Plane { terms, r_squared, residuals })
}

/// The inverse of a small matrix with ones on its diagonal, by elimination; `None` if it has none
/// worth the name.
fn inverse(mut of: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let k = of.len();
    let unit = |i: usize| (0..k).map(|j| f64::from(u8::from(i == j))).collect::<Vec<f64>>();
    let mut inverse: Vec<Vec<f64>> = (0..k).map(unit).collect();
    for column in 0..k {
        let larger = |&i: &usize, &j: &usize| of[i][column].abs().total_cmp(&of[j][column].abs());
        let pivot = (column..k).max_by(larger)?;
        if of[pivot][column].abs() < 1e-12 {
            return None;
        }
        of.swap(column, pivot);
        inverse.swap(column, pivot);
        let scale = 1.0 / of[column][column];
        of[column].iter_mut().chain(&mut inverse[column]).for_each(|x| *x *= scale);
        for i in (0..k).filter(|&i| i != column) {
            let factor = of[i][column];
            for j in 0..k {
                of[i][j] -= factor * of[column][j];
                inverse[i][j] -= factor * inverse[column][j];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_units::Seed;

    fn samples(value: impl Fn(f64, f64) -> f64) -> Vec<Sample> {
        let grid = [64.0, 256.0, 700.0, 1492.0].map(|m| [2.0, 4.0, 8.0, 16.0].map(|p| (m, p)));
        let sample = |(bytes, nodes)| Sample { bytes, nodes, value: value(bytes, nodes) };
        grid.into_iter().flatten().map(sample).collect()
    }

    /// The latency of the cut-through switch grows with the nodes [tam, A.5].
    #[test]
    fn what_was_put_in_comes_out() {
        let bilinear = |m: f64, p: f64| 9.9 + 0.0932 * m + 0.25 * p + 6e-5 * m * p;
        let found = plane(&samples(bilinear), &Term::ALL).unwrap();
        for (term, expected) in Term::ALL.into_iter().zip([9.9, 0.0932, 0.25, 6e-5]) {
            let coefficient = found.coefficient(term);
            assert!((coefficient - expected).abs() < 1e-9 * expected.max(1.0), "{term:?}");
        }
        assert!(found.r_squared > 1.0 - 1e-12);
        assert!(found.residuals.iter().all(|residual| residual.abs() < 1e-9));
        let full: Vec<Sample> =
            samples(|_, p| 149.0 + 0.3387 * p).into_iter().filter(|s| s.bytes > 1000.0).collect();
        let found = plane(&full, &[Term::Node, Term::Fixed]).unwrap();
        assert!((found.coefficient(Term::Node) - 0.3387).abs() < 1e-9);
        assert_eq!(found.coefficient(Term::Byte), 0.0);
        assert_eq!(plane(&full, &Term::ALL), Err(FitError::Degenerate), "one length only");
    }

    /// Of 400 fits to noise, the truth lies within two standard errors in about 95 %.
    #[test]
    fn standard_errors_are_what_they_say() {
        let mut stream = Seed(5).stream("noise", 0);
        let mut within = 0;
        for _ in 0..400 {
            let mut noisy = samples(|m, p| 10.0 + 0.08 * m + 0.3 * p);
            for sample in &mut noisy {
                sample.value += (0..12).map(|_| stream.unit()).sum::<f64>() - 6.0;
            }
            let found = plane(&noisy, &Term::ALL[..3]).unwrap();
            let (_, byte, error) = found.terms[1];
            within += u32::from((byte - 0.08).abs() < 2.0 * error);
        }
        assert!((365..=395).contains(&within), "{within}");
    }

    #[test]
    fn what_cannot_be_fitted_is_told() {
        let mut few = samples(|m, _| m);
        let said =
            |samples: &[Sample], terms: &[Term]| plane(samples, terms).unwrap_err().to_string();
        assert_eq!(said(&few[..1], &Term::ALL), "found 1 measurements, expected at least 4");
        assert_eq!(
            said(&few, &[Term::Byte, Term::Byte]),
            "found 1 different terms among those to be fitted, expected 2, each once"
        );
        few[3].value = f64::NAN;
        assert_eq!(said(&few, &[Term::Byte]), "measurement 3 is no finite number");
        assert!(plane(&few, &[]).is_err());
    }
}
