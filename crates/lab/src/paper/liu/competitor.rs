//! Measures of Figure 20: bandwidth over time, beside somebody else for a while.

use super::comparison::margin;
use super::design::{ADAPTIVE, Design, EVEN, named};
use super::{Answer, machine};
use crate::paper::statistic::middle;
use crate::paper::{Evidence, LIVE};
use crosstie_study::TimelineRow;
use crosstie_study::paper::{Claim, Estimate, Measured, Missing};
use crosstie_units::Time;

const PART: &str = "fig20";

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    Some(match words[..] {
        ["fig20", "shape", phase] => shape(claim, e, phase),
        ["fig20", "ideal", "during", design] => {
            phases(e, named(design)?).map(|found| Measured::Number(found.during))
        }
        ["ours", "fig20", "recovers"] => {
            phases(e, ADAPTIVE).map(|found| Measured::Number(found.after.over(found.before)))
        }
        _ => return None,
    })
}

/// Messages in a row: when the last was there, in us, and how fast they came behind those before,
/// in MB/s.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Arrival {
    pub at: f64,
    pub bandwidth: f64,
}

/// Into so many the messages of real ranks are put together, which vary one by one.
const TOGETHER: usize = 30;

/// The messages of a design, in order.
pub(super) fn arrivals(e: &Evidence, design: Design) -> Result<Vec<Arrival>, Missing> {
    let mut messages: Vec<&TimelineRow> = e.timeline(PART, design)?;
    messages.sort_by(|a, b| a.end.total_cmp(&b.end));
    let step = if e.is_live() { (messages.len() / TOGETHER).max(1) } else { 1 };
    let arrival = |first: usize| {
        let row = messages.get(first..=first + step)?;
        let bytes: f64 = row[1..].iter().map(|message| f64::from(message.bytes.unwrap_or(0))).sum();
        let (before, at) = (row[0].end, row[step].end);
        // Bytes per microsecond are millions of bytes per second.
        Some(Arrival { at, bandwidth: bytes / (at - before) })
    };
    Ok((0..messages.len()).step_by(step).filter_map(arrival).collect())
}

/// When the competitor begins and ends, in us.
pub(super) fn times(is_live: bool) -> (f64, f64) {
    let microseconds = |time: Time| time.ps() as f64 / 1e6;
    let part = if is_live { format!("{PART}{LIVE}") } else { PART.to_owned() };
    let competitor = &machine::spec(&part).competitors[0];
    (microseconds(competitor.begin), microseconds(competitor.end))
}

/// What a design carries, in MB/s: the highest before the competitor, the middle one beside it, the
/// last after it. Of real ranks it is the middle one always, after the competitor that of the later
/// half.
struct Phases {
    before: Estimate,
    during: Estimate,
    after: Estimate,
}

fn phases(e: &Evidence, design: Design) -> Result<Phases, Missing> {
    let all = arrivals(e, design)?;
    let (begin, end) = times(e.is_live());
    let early = all.iter().filter(|arrival| arrival.at <= begin).map(|arrival| arrival.bandwidth);
    let early: Vec<f64> = early.collect();
    // Messages that begin and end beside it, and those that begin after it.
    let from = |time: f64| all.windows(2).filter(move |pair| pair[0].at >= time);
    let beside = from(begin).filter(|pair| pair[1].at <= end).map(|pair| pair[1].bandwidth);
    let beside: Vec<f64> = beside.collect();
    let late: Vec<f64> = from(end).map(|pair| pair[1].bandwidth).collect();
    let (before, during, after) = if e.is_live() {
        (middle(&early), middle(&beside), middle(&late[late.len() / 2..]))
    } else {
        let exact = |value: Option<f64>| value.map(Estimate::exact);
        let last = all.last().filter(|arrival| arrival.at > end).map(|arrival| arrival.bandwidth);
        let highest = early.into_iter().reduce(f64::max);
        (exact(highest), exact(middle(&beside).map(|it| it.value)), exact(last))
    };
    match (before, during, after) {
        (Some(before), Some(during), Some(after)) => Ok(Phases { before, during, after }),
        _ => {
            Err(Missing(format!("{PART} has no messages before, beside and after the competitor")))
        }
    }
}

fn shape(claim: &Claim, e: &Evidence, phase: &str) -> Answer {
    let (adaptive, even, margin) = (phases(e, ADAPTIVE)?, phases(e, EVEN)?, margin(claim));
    let alike = |one: Estimate, other: Estimate| one.over(other).within(1.0 - margin, 1.0 + margin);
    let both = |adaptive: Estimate, even: Estimate| {
        format!("adaptive {}, even {} MB/s", told(adaptive), told(even))
    };
    let (holds, text) = match phase {
        "before" => (alike(adaptive.before, even.before), both(adaptive.before, even.before)),
        "during" => (
            adaptive.during.above(even.during.scaled(1.0 + margin)),
            both(adaptive.during, even.during),
        ),
        _ => (
            alike(adaptive.after, adaptive.before),
            format!("{} MB/s, and {} before", told(adaptive.after), told(adaptive.before)),
        ),
    };
    Ok(Measured::shape(holds, text))
}

/// A number of MB/s, and how sure it is.
fn told(Estimate { value, low, high }: Estimate) -> String {
    match low < high {
        true => format!("{value:.1} ({low:.1} to {high:.1})"),
        false => format!("{value:.0}"),
    }
}
