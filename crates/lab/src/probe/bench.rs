//! Programs on a world, on several threads.

use super::ProbeOptions;
use crate::{LabError, World};
use crosstie_sim::node::Overflows;
use crosstie_units::Time;
use crosstie_work::{Note, Program, Rank};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Why there is no result.
pub(super) enum Stop {
    Cancelled,
    Failed(Box<LabError>),
}

/// Where programs are run.
pub(super) struct Bench<'a> {
    pub world: &'a World,
    pub options: ProbeOptions<'a>,
    pub progress: &'a (dyn Fn(&str) + Sync),
}

/// What the ranks of a program have noted.
pub(super) struct Notes {
    pub notes: Vec<(Rank, Note)>,
    /// Whether nodes have lost anything for want of room.
    pub overflowed: bool,
}

/// The end of the clock: half of what picoseconds can count, so that no sum overflows.
const LAST: Time = Time::from_ps(u64::MAX / 2);

impl Bench<'_> {
    /// Lets a program run to its end.
    pub fn run(&self, mut program: Program) -> Result<Notes, Stop> {
        let blueprint = self.world.blueprint();
        let mut watch = |_| match self.options.cancel.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        if watch(Time::ZERO).is_break() {
            return Err(Stop::Cancelled);
        }
        let play = self.world.play(&*blueprint, LAST, false);
        let played = play.run(&mut program, &mut watch).ok_or(Stop::Cancelled)?;
        match played.failure {
            None => {
                let Overflows { ring, pool } = played.delivery.overflows;
                Ok(Notes { notes: played.notes, overflowed: ring + pool > 0 })
            }
            Some(failure) => {
                let problem = format!(
                    "found nodes and switches that a probe does not get through: {failure}"
                );
                let help =
                    "give `pool`, `receive-ring` and the memory of switches room for a few packets";
                Err(Stop::Failed(Box::new(LabError::setting("node.commodity", problem, help))))
            }
        }
    }

    /// Tells what has been measured.
    pub fn tell(&self, what: String) {
        (self.progress)(&what);
    }

    /// Does something for all items, on all threads; the results are in the order of the items.
    pub fn map<T: Sync, R: Send>(
        &self,
        items: &[T],
        what: impl Fn(&T) -> Result<R, Stop> + Sync,
    ) -> Result<Vec<R>, Stop> {
        let next = AtomicUsize::new(0);
        let results = Mutex::new(Vec::new());
        let work = || {
            while let Some((place, item)) = {
                let place = next.fetch_add(1, Ordering::Relaxed);
                items.get(place).map(|item| (place, item))
            } {
                let result = what(item);
                results.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.options.threads.get().min(items.len()) {
                scope.spawn(work);
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|&(place, _)| place);
        results.into_iter().map(|(_, result)| result).collect()
    }
}
