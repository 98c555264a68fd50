//! Measures of section 5.7: total exchange.

use super::puts::{MAIN_MAIN, both_ways};
use super::{Answer, Line, barriers, furthest, spread};
use crate::paper::Evidence;
use crosstie_study::paper::{Estimate, Measured, Missing, Truth};

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    Some(match id {
        "f12.peak" => fastest(e).map(|line| Measured::exact(highest(&line))),
        "f12.latency" => latency(e),
        "f12.degrade" => degrades(e),
        "f12.falls" => lost(e).map(Measured::exact),
        "f12.flat" => short(e).map(|times| Measured::exact(spread(&times))),
        "f12.above_bound" => above_bound(e).map(Measured::exact),
        _ => return None,
    })
}

const PART: &str = "exchange";
const ALGORITHM: &str = "work.all-to-all.algorithm";
const SIZE: &str = "work.all-to-all.size";
/// Hosts that take part.
pub(super) const HOSTS: f64 = 8.0;

/// Each algorithm, and its bandwidth of a host by size: S (N - 1) / T.
pub(super) fn lines(e: &Evidence) -> Result<Vec<(String, Line)>, Missing> {
    let line = |algorithm: String| {
        let times = e.curve(PART, &[(ALGORITHM, &algorithm)], SIZE, "time_mean")?;
        let rate = |size: f64, time: f64| (size, size * (HOSTS - 1.0) / time);
        let line = times.into_iter().map(|(size, time)| rate(size, time.value)).collect();
        Ok((algorithm, line))
    };
    e.values(PART, ALGORITHM)?.into_iter().map(line).collect()
}

/// The fastest of all algorithms at each size, since the paper does not say which it used.
fn fastest(e: &Evidence) -> Result<Line, Missing> {
    let mut best = Line::new();
    for (_, line) in lines(e)? {
        for (size, rate) in line {
            match best.iter_mut().find(|(known, _)| *known == size) {
                Some((_, most)) => *most = most.max(rate),
                None => best.push((size, rate)),
            }
        }
    }
    Ok(best)
}

fn highest(line: &[(f64, f64)]) -> f64 {
    line.iter().map(|(_, rate)| *rate).fold(0.0, f64::max)
}

/// The first size from which on a line stays a hundredth below its highest.
fn fall(line: &[(f64, f64)]) -> Option<f64> {
    let peak = highest(line);
    let lower = line.iter().rev().take_while(|(_, rate)| *rate < 0.99 * peak);
    lower.last().map(|(size, _)| *size)
}

/// The last size before the bandwidth falls, in KB.
fn degrades(e: &Evidence) -> Answer {
    let line = fastest(e)?;
    let before = fall(&line).and_then(|fall| {
        let smaller = line.iter().map(|(size, _)| *size).filter(|size| *size < fall);
        smaller.reduce(f64::max)
    });
    let last = line.last().map_or(0.0, |(_, rate)| *rate);
    Ok(match before {
        Some(size) => Measured::exact(size / 1024.0),
        None => Measured::shape(
            Truth::Fails,
            format!(
                "it does not: {last:.1} of at most {:.1} MB/s with the longest",
                highest(&line)
            ),
        ),
    })
}

/// The share of the highest bandwidth that is lost with the longest messages.
fn lost(e: &Evidence) -> Result<f64, Missing> {
    let line = fastest(e)?;
    Ok(line.last().map_or(0.0, |(_, rate)| 1.0 - rate / highest(&line)))
}

/// Times up to 256 bytes.
fn short(e: &Evidence) -> Result<Vec<f64>, Missing> {
    let line = fastest(e)?.into_iter().filter(|(size, _)| *size <= 256.0);
    Ok(line.map(|(size, rate)| size * (HOSTS - 1.0) / rate).collect())
}

/// Exchange and barrier, one after the other, farthest from the published time.
fn latency(e: &Evidence) -> Answer {
    let barrier = barriers::time(e, HOSTS as u32)?;
    let both = short(e)?.into_iter().map(|time| Ok(Estimate::exact(time + barrier)));
    Ok(Measured::exact(furthest(20.0, both)?.value))
}

/// The least time of any exchange over S (N - 1) / B, with B measured both ways.
fn above_bound(e: &Evidence) -> Result<f64, Missing> {
    Ok(both_ways(e, &MAIN_MAIN)? / highest(&fastest(e)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_falls_where_it_stays_below_its_highest() {
        let line =
            [(1.0, 50.0), (2.0, 100.0), (4.0, 95.0), (8.0, 100.0), (16.0, 98.0), (32.0, 90.0)];
        assert_eq!(fall(&line), Some(16.0));
        assert_eq!(fall(&line[..4]), None);
    }
}
