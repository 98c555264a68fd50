//! A cost as it was measured, and the line that fits it.

use crosstie_model::Cost;
use crosstie_model::fit::{self, Term, plane, trimmed_mean};
use crosstie_units::Time;

/// A parameter that is a cost: its measurements, and the function that fits them.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Its symbol, such as O_s.
    pub symbol: &'static str,
    /// Its key in a model file, such as `send`.
    pub key: &'static str,
    /// What was measured.
    pub samples: Vec<Sample>,
    /// The function, or why there is none.
    pub fit: Result<Fit, String>,
}

/// What was measured for packets of one length among so many nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Bytes of a packet: m.
    pub bytes: u32,
    /// How many nodes took part: p.
    pub nodes: u32,
    /// The mean of the middle 80 % of timings, in microseconds.
    pub value: f64,
    /// How many timings there were, and how many others were taken for noise.
    pub count: usize,
    /// See `count`.
    pub discarded: usize,
    /// Why it is not among those that are fitted, if it is not.
    pub left_out: Option<&'static str>,
    /// What it is in truth, in microseconds, where that is known.
    pub truth: Option<f64>,
    /// Between which times eight tenths of the timings lie, where they are of a real clock.
    pub spread: Option<[f64; 2]>,
}

/// A function of packets and nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The function, to the picosecond.
    pub cost: Cost,
    /// The share of the variance that it explains.
    pub r_squared: f64,
    /// The largest distance from a measurement, in microseconds.
    pub residual: f64,
    /// The largest distance from the truth as a share of it, over the measurements that were
    /// fitted.
    pub error: Option<f64>,
}

impl Sample {
    pub(super) fn new(bytes: u32, nodes: u32, timings: &[f64], truth: Option<f64>) -> Sample {
        Sample {
            bytes,
            nodes,
            value: trimmed_mean(timings).unwrap_or(0.0),
            count: timings.len(),
            discarded: 0,
            left_out: None,
            truth,
            spread: None,
        }
    }
}

/// Below which a tenth of timings lies, and above which another; `None` if there are none.
pub(super) fn deciles(timings: &[f64]) -> Option<[f64; 2]> {
    let mut sorted = timings.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some([sorted[last / 10], sorted[last - last / 10]])
}

impl Measured {
    pub(super) fn new(
        symbol: &'static str,
        key: &'static str,
        samples: Vec<Sample>,
        terms: &[Term],
    ) -> Measured {
        let fit = fit(&samples, terms);
        Measured { symbol, key, samples, fit }
    }
}

/// Fits those of the terms that measurements can tell apart, and that are not negative.
fn fit(samples: &[Sample], terms: &[Term]) -> Result<Fit, String> {
    let used: Vec<&Sample> = samples.iter().filter(|sample| sample.left_out.is_none()).collect();
    if used.is_empty() {
        // What keeps the longest from being seen matters most.
        let reason = samples.iter().rev().find_map(|sample| sample.left_out);
        return Err(reason.unwrap_or("nothing was measured").to_owned());
    }
    let varies = |of: fn(&Sample) -> u32| used.iter().any(|sample| of(sample) != of(used[0]));
    // One length tells nothing about the others.
    if !varies(|sample| sample.bytes)
        && let Some(other) = samples.iter().rev().find(|sample| sample.bytes != used[0].bytes)
    {
        let reason = other.left_out.unwrap_or("it was not fitted");
        return Err(format!("only {} B tell; of {} B, {reason}", used[0].bytes, other.bytes));
    }
    let (bytes, nodes) = (varies(|sample| sample.bytes), varies(|sample| sample.nodes));
    let mut terms: Vec<Term> = terms.to_vec();
    terms.retain(|term| match term {
        Term::Fixed => true,
        Term::Byte => bytes,
        Term::Node => nodes,
        Term::ByteNode => bytes && nodes,
    });
    let points: Vec<fit::Sample> = used
        .iter()
        .map(|s| fit::Sample { bytes: s.bytes.into(), nodes: s.nodes.into(), value: s.value })
        .collect();
    loop {
        let found = plane(&points, &terms).map_err(|error| error.to_string())?;
        let ps = |term| (found.coefficient(term) * 1e6).round();
        // A time has no sign: what would be negative is noise around nothing.
        let negative = terms.iter().copied().filter(|&term| ps(term) < 0.0);
        if let Some(least) = negative.min_by(|&a, &b| ps(a).total_cmp(&ps(b)))
            && terms.len() > 1
        {
            terms.retain(|&term| term != least);
            continue;
        }
        let time = |term| Time::from_ps(ps(term).max(0.0) as u64);
        let cost = Cost {
            fixed: time(Term::Fixed),
            byte: time(Term::Byte),
            node: time(Term::Node),
            byte_node: time(Term::ByteNode),
        };
        let error = |sample: &&Sample| {
            let truth = sample.truth?;
            let fitted = cost.at(sample.bytes.into(), sample.nodes).seconds() * 1e6;
            let off = (fitted - truth).abs();
            Some(if off > 0.0 { off / truth } else { 0.0 })
        };
        let residual = found.residuals.iter().fold(0.0f64, |most, off| most.max(off.abs()));
        let exact = residual * 1e6 < 1.0;
        return Ok(Fit {
            cost,
            // Below a picosecond there is nothing to explain.
            r_squared: if exact { 1.0 } else { found.r_squared },
            residual,
            error: used.iter().filter_map(error).reduce(f64::max),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(bytes: u32, nodes: u32, value: f64) -> Sample {
        Sample::new(bytes, nodes, &[value], Some(value))
    }

    #[test]
    fn deciles_leave_a_tenth_on_each_side() {
        let timings: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(deciles(&timings), Some([10.0, 90.0]));
        assert_eq!((deciles(&[3.0]), deciles(&[])), (Some([3.0; 2]), None));
    }

    #[test]
    fn terms_that_cannot_be_told_or_are_negative_are_none() {
        let falls = [sample(1, 2, 5.0), sample(101, 2, 4.9), sample(201, 2, 5.0)];
        let found = fit(&falls, &Term::ALL).unwrap();
        assert_eq!(found.cost, Cost::fixed(Time::from_ps(4_966_667)));
        assert!((found.error.unwrap() - 0.0666667 / 4.9).abs() < 1e-6, "{found:?}");
        let mut rises = [sample(10, 2, 1.0), sample(20, 4, 2.0), sample(10, 4, 1.0)];
        let cost = fit(&rises, &Term::ALL[..3]).unwrap().cost;
        assert_eq!(cost, Cost { byte: Time::from_ns(100), ..Cost::default() });
        rises[1].left_out = Some("it is hidden");
        let one = fit(&rises, &Term::ALL);
        assert_eq!(one, Err("only 10 B tell; of 20 B, it is hidden".to_owned()));
        rises.iter_mut().for_each(|sample| sample.left_out = Some("it is hidden"));
        assert_eq!(fit(&rises, &Term::ALL), Err("it is hidden".to_owned()));
    }
}
