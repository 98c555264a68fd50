//! Rows of real ranks.

use super::Outcome;
use super::iterations::{self, Beside};
use crate::World;
use crate::live::{Found, host_rows};
use crate::world::Task;
use crosstie_sim::run::Played;
use crosstie_study::{Point, SideTables};
use crosstie_units::Time;
use crosstie_work::Rank;

/// What ranks have found, or why they have not.
pub(super) fn of(point: &Point, world: &World, found: Result<Vec<Found>, String>) -> Outcome {
    let Task::Application { script, confidence, .. } = world.task() else {
        unreachable!("real ranks do closed-loop work only")
    };
    let (played, found) = match found {
        Ok(found) => (played(&found), found),
        Err(failure) => (Played { failure: Some(failure), ..Played::default() }, Vec::new()),
    };
    let resent: u64 = found.iter().map(|found| found.resent).sum();
    let resent = (!found.is_empty()).then(|| ("resent".to_owned(), resent as f64));
    let beside = Beside { columns: resent.into_iter().collect(), notes: Vec::new() };
    let outcome = iterations::of(point, world, script.as_ref(), *confidence, played, beside);
    let machines: Vec<_> = found.iter().map(|found| &found.machine).collect();
    let rates = world.plan().map_or(&[][..], |plan| &plan.rates);
    let hosts = host_rows(point.index, &machines, rates);
    Outcome { side: SideTables { hosts, ..outcome.side }, ..outcome }
}

/// What ranks have found, as if it had been simulated.
fn played(found: &[Found]) -> Played {
    let longest = found.iter().map(|found| found.iterations.len()).max().unwrap_or(0);
    // Each as long as for the rank for which it took longest.
    let took = |number: usize| {
        let took = found.iter().filter_map(|found| found.iterations.get(number));
        Time::from_ps(took.copied().max().unwrap_or(0))
    };
    let finish = found.iter().map(|found| Time::from_ps(found.finish));
    Played {
        iterations: (0..longest).map(took).collect(),
        time: finish.clone().max().unwrap_or(Time::ZERO),
        finished: (0..).map(Rank).zip(finish).collect(),
        bytes_per_iteration: found.first().map_or(0, |found| found.bytes_per_iteration),
        ..Played::default()
    }
}
