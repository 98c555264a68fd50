//! Lines of figures held against each other.

use super::Answer;
use super::design::Design;
use crate::paper::Evidence;
use crate::paper::statistic::{largest, smallest};
use crosstie_study::paper::{Claim, Estimate, Measured, Missing, Tolerance, Truth};

/// A line of a figure: heights by size.
pub(super) type Line = Vec<(f64, Estimate)>;

/// A column by the size of messages, with one design.
pub(super) fn line(
    e: &Evidence,
    part: &str,
    design: Design,
    (size, column): (&str, &str),
) -> Result<Line, Missing> {
    let line = e.curve(part, design, size, column)?;
    Ok(if e.is_live() { together(&line) } else { line })
}

/// A line on which each size stands once: the middle one of several runs, and from the least to the
/// largest of them.
fn together(line: &[(f64, Estimate)]) -> Line {
    let middle = |runs: &[(f64, Estimate)]| match runs {
        [run] => *run,
        runs => {
            let mut values: Vec<f64> = runs.iter().map(|(_, run)| run.value).collect();
            values.sort_by(f64::total_cmp);
            let (low, high) = (values[0], values[values.len() - 1]);
            (runs[0].0, Estimate { value: values[values.len() / 2], low, high })
        }
    };
    line.chunk_by(|(one, _), (other, _)| one == other).map(middle).collect()
}

/// The highest point of a line.
pub(super) fn peak(line: &[(f64, Estimate)]) -> Estimate {
    largest(&heights(line))
}

/// The lowest point of a line.
pub(super) fn least(line: &[(f64, Estimate)]) -> Estimate {
    smallest(&heights(line))
}

fn heights(line: &[(f64, Estimate)]) -> Vec<Estimate> {
    line.iter().map(|(_, height)| *height).collect()
}

/// One line over another, at sizes that both have.
pub(super) fn ratio(line: &[(f64, Estimate)], other: &[(f64, Estimate)]) -> Line {
    let there = |size: f64| other.iter().find(|(known, _)| *known == size);
    let over = |&(size, height): &(f64, Estimate)| Some((size, height.over(there(size)?.1)));
    line.iter().filter_map(over).collect()
}

/// A line from a size on.
pub(super) fn from(line: &[(f64, Estimate)], size: f64) -> Line {
    line.iter().copied().filter(|(at, _)| *at >= size).collect()
}

/// A line up to a size.
pub(super) fn up_to(line: &[(f64, Estimate)], size: f64) -> Line {
    line.iter().copied().filter(|(at, _)| *at <= size).collect()
}

/// How far things that differ are apart at least, and things that are alike at most, as a claim has
/// it.
pub(super) fn margin(claim: &Claim) -> f64 {
    match claim.tolerance {
        Some(Tolerance::Rel(share)) => share,
        _ => 0.0,
    }
}

/// Whether ratios are 1 everywhere, but for a margin.
pub(super) fn alike(ratios: &[(f64, Estimate)], margin: f64) -> Truth {
    Truth::all(ratios.iter().map(|(_, ratio)| ratio.within(1.0 - margin, 1.0 + margin)))
}

/// Whether ratios are above 1 by a margin everywhere.
pub(super) fn above(ratios: &[(f64, Estimate)], margin: f64) -> Truth {
    Truth::all(ratios.iter().map(|(_, ratio)| ratio.above(Estimate::exact(1.0 + margin))))
}

/// Whether ratios are below 1 by a margin everywhere.
pub(super) fn under(ratios: &[(f64, Estimate)], margin: f64) -> Truth {
    Truth::all(ratios.iter().map(|(_, ratio)| Estimate::exact(1.0 - margin).above(*ratio)))
}

/// Ratios in words: from the least to the largest.
pub(super) fn range(ratios: &[(f64, Estimate)]) -> String {
    let values = || ratios.iter().map(|(_, ratio)| ratio.value);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    format!("{low:.2} to {high:.2}")
}

/// What a claim asks of ratios, and the words for them.
pub(super) fn shape(holds: Truth, what: &str, ratios: &[(f64, Estimate)]) -> Answer {
    Ok(Measured::shape(holds, format!("{what} {}", range(ratios))))
}

/// The height of a line at its last size.
pub(super) fn last(line: &[(f64, Estimate)], part: &str) -> Result<Estimate, Missing> {
    let last = line.last().map(|(_, height)| *height);
    last.ok_or_else(|| Missing(format!("{part} has no sizes in common")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(heights: &[(f64, f64)]) -> Line {
        heights.iter().map(|&(size, height)| (size, Estimate::exact(height))).collect()
    }

    #[test]
    fn runs_of_one_size_are_as_sure_as_they_are_alike() {
        let run = |size, value| (size, Estimate::about(value, 1.0));
        let line = together(&[run(1.0, 30.0), run(1.0, 10.0), run(1.0, 12.0), run(2.0, 5.0)]);
        let first = Estimate { value: 12.0, low: 10.0, high: 30.0 };
        assert_eq!(line, [(1.0, first), run(2.0, 5.0)]);
    }

    #[test]
    fn lines_are_compared_size_by_size() {
        let (one, two) =
            (of(&[(1.0, 10.0), (2.0, 20.0), (4.0, 40.0)]), of(&[(2.0, 30.0), (4.0, 80.0)]));
        let ratios = ratio(&two, &one);
        assert_eq!(ratios, of(&[(2.0, 1.5), (4.0, 2.0)]));
        assert_eq!((above(&ratios, 0.4), above(&ratios, 0.5)), (Truth::Holds, Truth::Fails));
        assert_eq!(under(&ratio(&one, &two), 0.3), Truth::Holds);
        assert_eq!((alike(&ratios, 1.0), alike(&ratios, 0.5)), (Truth::Holds, Truth::Fails));
        assert_eq!(range(&ratios), "1.50 to 2.00");
        assert_eq!((from(&one, 2.0).len(), up_to(&one, 2.0).len()), (2, 2));
        assert_eq!((peak(&one).value, least(&one).value), (40.0, 10.0));
        assert_eq!(last(&ratios, "x").unwrap().value, 2.0);
        assert_eq!(last(&[], "x").unwrap_err().to_string(), "x has no sizes in common");
    }
}
