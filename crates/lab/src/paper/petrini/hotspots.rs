//! Measures of sections 5.5 and 5.6: one host read and written by others.

use super::{Answer, Line, furthest, spread};
use crate::paper::Evidence;
use crosstie_study::TimelineRow;
use crosstie_study::paper::{Estimate, Measured, Missing, Truth};

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    Some(match id {
        "f10.aggregate" => {
            aggregates(e, "read").and_then(|all| worst(200.0, &all)).map(Measured::exact)
        }
        "f10.flat" => aggregates(e, "read").map(|all| Measured::exact(spread(&rates(&all)))),
        "f10.per_process" => unfair(e).map(Measured::exact),
        "f11.aggregate" => {
            aggregates(e, "write").and_then(|all| worst(275.0, &several(&all))).map(Measured::exact)
        }
        "f11.two" => rate(e, "write", "2").map(Measured::exact),
        "f11.jump" => jump(e),
        _ => return None,
    })
}

/// Bandwidth of all by number of processes, host 0 included.
fn aggregates(e: &Evidence, part: &str) -> Result<Line, Missing> {
    let curve = e.curve(part, &[], "schedule.ranks", "bandwidth")?;
    Ok(curve.into_iter().map(|(ranks, rate)| (ranks, rate.value)).collect())
}

fn rate(e: &Evidence, part: &str, ranks: &str) -> Result<f64, Missing> {
    Ok(e.estimate(part, &[("schedule.ranks", ranks)], "bandwidth")?.value)
}

fn rates(line: &[(f64, f64)]) -> Vec<f64> {
    line.iter().map(|(_, rate)| *rate).collect()
}

/// Those of more than two processes.
fn several(line: &[(f64, f64)]) -> Line {
    line.iter().copied().filter(|(ranks, _)| *ranks > 2.0).collect()
}

fn worst(published: f64, line: &[(f64, f64)]) -> Result<f64, Missing> {
    let all = rates(line).into_iter().map(|rate| Ok(Estimate::exact(rate)));
    Ok(furthest(published, all)?.value)
}

/// How far the rate of a reader is from the mean of all at most.
fn unfair(e: &Evidence) -> Result<f64, Missing> {
    let mut most = 0.0f64;
    for ranks in e.values("read", "schedule.ranks")? {
        let reads = e.timeline("read", &[("schedule.ranks", &ranks)])?;
        let rate =
            |read: &&TimelineRow| f64::from(read.bytes.unwrap_or(0)) / (read.end - read.begin);
        most = most.max(spread(&reads.iter().map(rate).collect::<Vec<_>>()));
    }
    Ok(most)
}

fn jump(e: &Evidence) -> Answer {
    let one = rate(e, "write", "2")?;
    let several = rates(&several(&aggregates(e, "write")?));
    let ratios: Vec<f64> = several.iter().map(|rate| rate / one).collect();
    let spread = spread(&several);
    let holds = ratios.iter().all(|ratio| (1.3..=1.45).contains(ratio)) && spread <= 0.03;
    let (low, high) = (
        ratios.iter().fold(f64::INFINITY, |a, b| a.min(*b)),
        ratios.iter().fold(0.0f64, |a, b| a.max(*b)),
    );
    let text =
        format!("{low:.3} to {high:.3} times one writer; {:.1} % from their mean", 100.0 * spread);
    Ok(Measured::shape(Truth::of(holds), text))
}
