//! From what the simulator found to a row of results.

mod buffers;
mod channels;
mod competition;
mod delivery;
mod iterations;
mod live;
mod priced;
mod traffic;

pub(crate) use priced::estimated;

use crate::live::Found;
use crate::world::Task;
use crate::{LabError, World};
use crosstie_model::price::Price;
use crosstie_study::{Point, Row, SideTables, Spec};
use iterations::Beside;
use priced::Priced;
use std::ops::ControlFlow;

/// A row and what stands beside it.
pub(crate) struct Outcome {
    pub row: Row,
    /// What the point keeps.
    pub side: SideTables,
}

type Columns = Vec<(String, f64)>;

/// Runs a point; `None` if `watch` breaks it off. `watch` is told how many cycles have been
/// simulated.
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
            let script = script.as_ref();
            if let Some(cluster) = world.cluster() {
                return priced::of(point, world, work, script, *confidence, cluster).map(Some);
            }
            let played = iterations::play(point, world, work, script, *limit, watch);
            let beside = Beside::default();
            Ok(played.map(|it| iterations::of(point, world, script, *confidence, it, beside)))
        }
    }
}

/// The prices of the iterations of a spec's work, until they repeat themselves; `None` in another
/// world than the model.
pub(crate) fn prices(spec: &Spec, world: &World) -> Option<Result<Vec<Price>, LabError>> {
    let Task::Application { work, script, .. } = world.task() else { return None };
    let priced = Priced::of(spec, work, script.as_ref(), world.cluster()?);
    Some(priced.map(|priced| priced.prices))
}

/// The outcome of a point that real ranks have done: what each of them found, or why there is
/// nothing; and how many frames the rails of a box have dropped.
pub(crate) fn of_live(
    point: &Point,
    world: &World,
    found: Result<Vec<Found>, String>,
    lost: Option<u64>,
) -> Outcome {
    live::of(point, world, found, lost)
}

fn extend<'a>(columns: &mut Columns, more: impl IntoIterator<Item = (&'a str, Option<f64>)>) {
    let known = more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    columns.extend(known);
}
