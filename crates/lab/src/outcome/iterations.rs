//! Rows of closed-loop work.

use super::{Columns, Outcome, channels, extend};
use crate::World;
use crate::world::application;
use crosstie_measure::{Estimate, Iterations};
use crosstie_sim::run::Played;
use crosstie_study::{Point, RankRow, Row, SideTables, Status, Work};
use crosstie_units::Time;
use std::ops::ControlFlow;

/// Runs a point; `None` if `watch` breaks it off.
pub(super) fn of(
    point: &Point,
    world: &World,
    work: &Work,
    confidence: f64,
    limit: Time,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Option<Outcome> {
    let blueprint = world.blueprint();
    let cycles = |time: Time| time.ps() / world.cycle().ps();
    let mut application = application(work);
    let played =
        world.play(&*blueprint, limit).run(&mut *application, &mut |now| watch(cycles(now)))?;
    let times: Vec<u64> = played.iterations.iter().map(|took| took.ps()).collect();
    let found = Iterations::of(&times, confidence);
    let mut notes = Vec::new();
    let status = match &played.failure {
        None => Status::Completed,
        Some(failure) => {
            notes.push(failure.clone());
            Status::Failed
        }
    };
    notes.extend(found.iter().flat_map(doubts));
    notes.extend(world.remarks().iter().cloned());
    let row = Row::of(point, status, notes.join("; "), columns(world, work, &played, found));
    let wanted = point.spec.measure.channels && world.uses_fabric();
    let channels = if wanted { channels::rows(point, world, &played.channels) } else { Vec::new() };
    let rank = |(rank, at): (&crosstie_work::Rank, &Time)| RankRow {
        point: point.index,
        rank: rank.0,
        finish: microseconds(at.ps() as f64),
    };
    let ranks = played.finished.iter().map(rank).collect();
    Some(Outcome { row, side: SideTables { channels, ranks } })
}

fn microseconds(picoseconds: f64) -> f64 {
    picoseconds / 1e6
}

/// What the times do not tell.
fn doubts(found: &Iterations) -> Vec<String> {
    let mut doubts = Vec::new();
    if found.half_width.is_none() {
        doubts.push(format!(
            "no interval: {} iterations, and it takes {}",
            found.count,
            Estimate::LEAST_VALUES
        ));
    }
    if !found.settled {
        doubts.push("the times of iterations had not settled".to_owned());
    }
    doubts
}

fn columns(world: &World, work: &Work, played: &Played, found: Option<Iterations>) -> Columns {
    let mut columns = Columns::new();
    if let Some(found) = found {
        let mean = microseconds(found.mean);
        let whole = |picoseconds: u64| Some(microseconds(picoseconds as f64));
        let (latency, cycles) = match work {
            Work::Ping(_) => {
                let cycles = found.mean / 2.0 / world.cycle().ps() as f64;
                (Some(mean / 2.0), Some(cycles))
            }
            Work::Stream(_) | Work::Traffic(_) => (None, None),
        };
        extend(
            &mut columns,
            [
                ("time_mean", Some(mean)),
                ("time_ci", found.half_width.map(microseconds)),
                ("time_min", whole(found.min)),
                ("time_p50", whole(found.p50)),
                ("time_p99", whole(found.p99)),
                ("latency", latency),
                ("latency_cycles", cycles),
                // Bytes per microsecond are millions of bytes per second.
                ("bandwidth", Some(played.bytes_per_iteration as f64 / mean)),
                ("iterations", Some(found.count as f64)),
                ("warmup_iterations", Some(found.warm_up as f64)),
            ],
        );
    }
    let finish = |time: Option<&Time>| time.map(|time| microseconds(time.ps() as f64));
    // When the last rank is done is known if all of them are.
    let last = played.finished.values().max().filter(|_| played.failure.is_none());
    extend(
        &mut columns,
        [("finish_first", finish(played.finished.values().min())), ("finish_last", finish(last))],
    );
    columns
}
