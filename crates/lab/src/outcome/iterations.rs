//! Rows of closed-loop work.

use super::{Columns, Outcome, buffers, channels, competition, delivery, extend};
use crate::World;
use crate::schedule::Script;
use crate::world::application;
use crosstie_measure::{Estimate, Iterations};
use crosstie_sim::host::Episode;
use crosstie_sim::run::Played;
use crosstie_study::{Point, RankRow, Row, SideTables, Status, TimelineRow, Work};
use crosstie_units::Time;
use crosstie_work::Rank;
use std::ops::ControlFlow;

/// Runs a point; `None` if `watch` breaks it off.
pub(super) fn play(
    point: &Point,
    world: &World,
    work: &Work,
    script: Option<&Script>,
    limit: Time,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Option<Played> {
    let blueprint = world.blueprint();
    let cycles = |time: Time| time.ps() / world.cycle().ps();
    let iterations = point.spec.schedule.iterations;
    let mut application = application(work, script, iterations);
    let records = script.is_some_and(|script| script.is_short(u64::from(iterations)));
    let play = world.play(&*blueprint, limit, records);
    play.run(&mut *application, &mut |now| watch(cycles(now)))
}

/// What a world knows beside the times of iterations.
#[derive(Default)]
pub(super) struct Beside {
    pub columns: Columns,
    pub notes: Vec<String>,
}

/// The row of what was played, and what stands beside it.
pub(super) fn of(
    point: &Point,
    world: &World,
    script: Option<&Script>,
    confidence: f64,
    played: Played,
    beside: Beside,
) -> Outcome {
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
    // What is played once repeats itself exactly.
    let once = script.is_some() && point.spec.schedule.iterations == 1;
    notes.extend(found.iter().filter(|_| !once).flat_map(doubts));
    notes.extend(beside.notes);
    notes.extend(competition::notes(point, &played.delivery.carried, played.time));
    notes.extend(world.remarks().iter().cloned());
    let mut columns = columns(world, &point.spec.work, script, &played, found);
    columns.extend(beside.columns);
    columns.extend(delivery::columns(&played.delivery));
    let row = Row::of(point, status, notes.join("; "), columns);
    let wanted = point.spec.measure.channels && world.uses_fabric();
    let channels = if wanted { channels::rows(point, world, &played.channels) } else { Vec::new() };
    let at = |time: Time| microseconds(time.ps() as f64);
    let rank = |(rank, finish): (&Rank, &Time)| RankRow {
        point: point.index,
        rank: rank.0,
        finish: at(*finish),
    };
    let ranks = played.finished.iter().map(rank).collect();
    let line = |episode: &Episode| TimelineRow {
        point: point.index,
        rank: episode.rank.0,
        to: episode.message.map(|(to, _)| to.0),
        bytes: episode.message.map(|(_, bytes)| bytes),
        begin: at(episode.begin),
        left: at(episode.left),
        end: at(episode.end),
    };
    let timeline = played.episodes.iter().map(line).collect();
    let blueprint = world.blueprint();
    let buffers = buffers::rows(point, &*blueprint, &played.buffers, played.time);
    let hosts = Vec::new();
    Outcome { row, side: SideTables { channels, buffers, hosts, ranks, timeline } }
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

fn columns(
    world: &World,
    work: &Work,
    script: Option<&Script>,
    played: &Played,
    found: Option<Iterations>,
) -> Columns {
    let mut columns = Columns::new();
    if let Some(found) = found {
        let mean = microseconds(found.mean);
        let whole = |picoseconds: u64| Some(microseconds(picoseconds as f64));
        let (latency, cycles) = match work {
            Work::Ping(_) => {
                let cycles = found.mean / 2.0 / world.cycle().ps() as f64;
                (Some(mean / 2.0), Some(cycles))
            }
            _ => (None, None),
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
                ("operations", script.map(|script| script.operations() as f64)),
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
