//! Measures of what two nodes do: latency and bandwidth, over rails that are alike and over rails
//! of 4x and 1x.

use super::comparison::{
    Line, above, alike, from, last, least, line, margin, peak, ratio, shape, under, up_to,
};
use super::design::{ADAPTIVE, Design, EVEN, LARGE, ONE, SHORT, WEIGHTED, named};
use super::{Answer, comparison};
use crate::paper::Evidence;
use crosstie_study::paper::{Claim, Estimate, Measured, Missing, Truth};

/// Measures a claim; nothing if it is not about two nodes.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    let number = |found: Result<Estimate, Missing>| found.map(Measured::Number);
    Some(match words[..] {
        ["fig5", "lat", "min", design] => {
            number(latency(e, "fig05", named(design)?).map(|line| least(&line)))
        }
        ["fig5", "lat", "large", "ratio"] | ["claim", "lat"] => number(latency_ratio(e)),
        ["fig5", "shape", "small"] => two_over_one(e).and_then(|ratios| {
            let small = up_to(&ratios, SHORT);
            shape(alike(&small, margin(claim)), "two rails over one:", &small)
        }),
        ["fig5", "shape", "growth"] => two_over_one(e).and_then(|ratios| falls(claim, &ratios)),
        ["fig6", "shape"] => short_messages(e),
        ["fig7", "peak", design] => number(top(e, "fig06-07", named(design)?)),
        ["fig8", "peak", design] => number(top(e, "fig08", named(design)?)),
        ["bus", "pcix"] => number(top(e, "fig08", ONE)),
        ["claim", "ooo"] => out_of_order(e),
        ["fig7", "ratio"] | ["claim", "bw"] => number(gain(e, "fig06-07")),
        ["fig8", "ratio"] => number(gain(e, "fig08")),
        ["fig17", "shape", "even"] => unequal_latency(e, EVEN).and_then(|ratios| {
            let large = from(&ratios, LARGE);
            shape(under(&large, margin(claim)), "adaptive over even, large messages:", &large)
        }),
        ["fig17", "shape", "weighted"] => unequal_latency(e, WEIGHTED).and_then(|ratios| {
            shape(alike(&ratios, margin(claim)), "adaptive over weighted, all sizes:", &ratios)
        }),
        ["fig18", "shape", "even"] => unequal(e, "fig18", EVEN).and_then(|ratios| {
            let large = from(&ratios, LARGE);
            shape(above(&large, margin(claim)), "adaptive over even, large messages:", &large)
        }),
        ["fig18", "shape", "weighted"] => unequal(e, "fig18", WEIGHTED).and_then(|ratios| {
            shape(alike(&ratios, margin(claim)), "adaptive over weighted, all sizes:", &ratios)
        }),
        ["fig19", "shape"] => both_ways(claim, e),
        ["fig18", "ideal", design] => number(top(e, "fig18", named(design)?)),
        ["fig19", "ideal", "ratio"] => {
            number(unequal(e, "fig19", WEIGHTED).and_then(|ratios| last(&ratios, "fig19")))
        }
        ["fig19", "ideal", design] => number(top(e, "fig19", named(design)?)),
        _ => return None,
    })
}

fn latency(e: &Evidence, part: &str, design: Design) -> Result<Line, Missing> {
    line(e, part, design, ("work.ping.size", "latency"))
}

fn bandwidth(e: &Evidence, part: &str, design: Design) -> Result<Line, Missing> {
    line(e, part, design, ("work.stream.size", "bandwidth"))
}

/// The peak of a design.
fn top(e: &Evidence, part: &str, design: Design) -> Result<Estimate, Missing> {
    bandwidth(e, part, design).map(|line| peak(&line))
}

fn two_over_one(e: &Evidence) -> Result<Line, Missing> {
    Ok(ratio(&latency(e, "fig05", EVEN)?, &latency(e, "fig05", ONE)?))
}

fn latency_ratio(e: &Evidence) -> Result<Estimate, Missing> {
    last(&two_over_one(e)?, "fig05")
}

/// From about 1 towards a half, and never up.
fn falls(claim: &Claim, ratios: &[(f64, Estimate)]) -> Answer {
    let (margin, one, half) = (margin(claim), Estimate::exact(1.0), Estimate::exact(0.5));
    let Some((first, last)) = ratios.first().zip(ratios.last()) else {
        return Err(Missing("fig05 has no sizes in common".to_owned()));
    };
    let steps = ratios.windows(2).map(|pair| {
        let (before, after) = (pair[0].1, pair[1].1);
        !after.above(before.scaled(1.0 + margin))
    });
    let ends = [
        first.1.over(one).within(1.0 - margin, 1.0 + margin),
        last.1.over(half).within(1.0 - margin, 1.0 + margin),
    ];
    let (first, last) = (first.1.value, last.1.value);
    let text =
        format!("two rails over one: {first:.2} for the shortest, {last:.2} for the longest");
    Ok(Measured::shape(Truth::all(steps.chain(ends)), text))
}

/// What is still slightly more.
const SLIGHTLY: f64 = 1.5;

fn short_messages(e: &Evidence) -> Answer {
    let (two, one) = (bandwidth(e, "fig06-07", EVEN)?, bandwidth(e, "fig06-07", ONE)?);
    let ratios = up_to(&ratio(&two, &one), SHORT);
    let holds = Truth::all(ratios.iter().map(|(_, ratio)| ratio.within(1.0, SLIGHTLY)));
    shape(holds, "two rails over one, short messages:", &ratios)
}

/// What are still very few.
const FEW: f64 = 0.05;

/// Envelopes that had to wait for others, of all, in the streams of short and of long messages over
/// two rails.
fn out_of_order(e: &Evidence) -> Answer {
    let count = |name| line(e, "fig06-07", EVEN, ("work.stream.size", name));
    let shares = ratio(&count("deferred")?, &count("envelopes")?);
    let holds = Truth::all(shares.iter().map(|(_, share)| share.within(0.0, FEW)));
    let most = shares.iter().map(|(_, share)| share.value).fold(0.0, f64::max);
    let text = format!("at most {:.1} % of all envelopes, over all sizes", 100.0 * most);
    Ok(Measured::shape(holds, text))
}

/// The peak of two rails over that of one.
fn gain(e: &Evidence, part: &str) -> Result<Estimate, Missing> {
    Ok(top(e, part, EVEN)?.over(top(e, part, ONE)?))
}

/// Adaptive striping over another design, on rails of 4x and 1x.
fn unequal_latency(e: &Evidence, design: Design) -> Result<Line, Missing> {
    Ok(ratio(&latency(e, "fig17", ADAPTIVE)?, &latency(e, "fig17", design)?))
}

fn unequal(e: &Evidence, part: &str, design: Design) -> Result<Line, Missing> {
    Ok(ratio(&bandwidth(e, part, ADAPTIVE)?, &bandwidth(e, part, design)?))
}

fn both_ways(claim: &Claim, e: &Evidence) -> Answer {
    let large = |design| unequal(e, "fig19", design).map(|ratios| from(&ratios, LARGE));
    let (weighted, even) = (large(WEIGHTED)?, large(EVEN)?);
    let holds = Truth::all([above(&weighted, margin(claim)), above(&even, 0.0)]);
    let (over_weighted, over_even) = (comparison::range(&weighted), comparison::range(&even));
    if e.is_live() {
        return Ok(Measured::beyond(format!(
            "both ways share a bus in the paper, which makes 2 to 1 better than 4 to 1, and nothing here; adaptive over \
             weighted {over_weighted}, over even {over_even}"
        )));
    }
    let text =
        format!("large messages: adaptive over weighted {over_weighted}, over even {over_even}");
    Ok(Measured::shape(holds, text))
}
