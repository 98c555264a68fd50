//! Measures of Figure 20: bandwidth over time, beside somebody else for a while.

use super::comparison::margin;
use super::design::{ADAPTIVE, Design, EVEN, named};
use super::{Answer, machine};
use crate::paper::Evidence;
use crosstie_study::TimelineRow;
use crosstie_study::paper::{Claim, Measured, Missing, Truth};
use crosstie_units::Time;

const PART: &str = "fig20";

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    Some(match words[..] {
        ["fig20", "shape", phase] => shape(claim, e, phase),
        ["fig20", "ideal", "during", design] => {
            phases(e, named(design)?).map(|found| Measured::exact(found.during))
        }
        ["ours", "fig20", "recovers"] => {
            phases(e, ADAPTIVE).map(|found| Measured::exact(found.after / found.before))
        }
        _ => return None,
    })
}

/// A message: when it was there, in us, and how fast it came behind the one before, in MB/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Arrival {
    pub at: f64,
    pub bandwidth: f64,
}

/// The messages of a design, in order.
pub(super) fn arrivals(e: &Evidence, design: Design) -> Result<Vec<Arrival>, Missing> {
    let mut messages: Vec<&TimelineRow> = e.timeline(PART, design)?;
    messages.sort_by(|a, b| a.end.total_cmp(&b.end));
    let pairs = messages.windows(2);
    let arrival = |pair: &[&TimelineRow]| Arrival {
        at: pair[1].end,
        // Bytes per microsecond are millions of bytes per second.
        bandwidth: f64::from(pair[1].bytes.unwrap_or(0)) / (pair[1].end - pair[0].end),
    };
    Ok(pairs.map(arrival).collect())
}

/// When the competitor begins and ends, in us.
fn times() -> (f64, f64) {
    let microseconds = |time: Time| time.ps() as f64 / 1e6;
    let competitor = &machine::spec(PART).competitors[0];
    (microseconds(competitor.begin), microseconds(competitor.end))
}

/// What a design carries, in MB/s: the highest before the competitor, the middle one beside it, the last after it.
struct Phases {
    before: f64,
    during: f64,
    after: f64,
}

fn phases(e: &Evidence, design: Design) -> Result<Phases, Missing> {
    let all = arrivals(e, design)?;
    let (begin, end) = times();
    let before = all.iter().filter(|arrival| arrival.at <= begin).map(|arrival| arrival.bandwidth);
    // Messages that begin and end beside it.
    let beside = all.windows(2).filter(|pair| pair[0].at >= begin && pair[1].at <= end);
    let mut during: Vec<f64> = beside.map(|pair| pair[1].bandwidth).collect();
    during.sort_by(f64::total_cmp);
    let after = all.last().filter(|arrival| arrival.at > end).map(|arrival| arrival.bandwidth);
    match (before.reduce(f64::max), during.get(during.len() / 2), after) {
        (Some(before), Some(&during), Some(after)) => Ok(Phases { before, during, after }),
        _ => {
            Err(Missing(format!("{PART} has no messages before, beside and after the competitor")))
        }
    }
}

fn shape(claim: &Claim, e: &Evidence, phase: &str) -> Answer {
    let (adaptive, even, margin) = (phases(e, ADAPTIVE)?, phases(e, EVEN)?, margin(claim));
    let alike = |one: f64, other: f64| (one / other - 1.0).abs() <= margin;
    let (holds, text) = match phase {
        "before" => (
            alike(adaptive.before, even.before),
            format!("adaptive {:.0}, even {:.0} MB/s", adaptive.before, even.before),
        ),
        "during" => (
            adaptive.during > (1.0 + margin) * even.during,
            format!("adaptive {:.0}, even {:.0} MB/s", adaptive.during, even.during),
        ),
        _ => (
            alike(adaptive.after, adaptive.before),
            format!("{:.0} MB/s, and {:.0} before", adaptive.after, adaptive.before),
        ),
    };
    Ok(Measured::shape(Truth::of(holds), text))
}
