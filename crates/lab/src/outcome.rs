//! From what the simulator found to a row of results.

mod channels;
mod iterations;
mod traffic;

use crate::world::Task;
use crate::{LabError, World};
use crosstie_study::{Point, Row, SideTables};
use std::ops::ControlFlow;

/// A row and what stands beside it.
pub(crate) struct Outcome {
    pub row: Row,
    /// What the point keeps.
    pub side: SideTables,
}

type Columns = Vec<(String, f64)>;

/// Runs a point; `None` if `watch` breaks it off. `watch` is told how many cycles have been simulated.
pub(crate) fn of(
    point: &Point,
    world: &World,
    watch: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<Option<Outcome>, LabError> {
    match world.task() {
        Task::Traffic { workload, seed, effort, goal } => {
            let blueprint = world.blueprint();
            let trial = world.trial(&*blueprint, workload, *seed, *effort);
            traffic::of(point, world, &trial, *goal, watch)
        }
        Task::Application { work, script, confidence, limit } => {
            let played = iterations::play(point, world, work, script.as_ref(), *limit, watch);
            Ok(played
                .map(|played| iterations::of(point, world, script.as_ref(), *confidence, played)))
        }
    }
}

fn extend<'a>(columns: &mut Columns, more: impl IntoIterator<Item = (&'a str, Option<f64>)>) {
    let known = more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    columns.extend(known);
}
