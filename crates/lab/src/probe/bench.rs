//! Microbenchmarks on whatever plays them, on several threads.

use super::ProbeOptions;
use crate::LabError;
use crosstie_work::probe::Microbenchmark;
use crosstie_work::{Note, Rank};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Why there is no result.
pub(super) enum Stop {
    Cancelled,
    Failed(Box<LabError>),
}

/// What plays microbenchmarks: simulated nodes or real ranks.
pub(super) trait Driver: Sync {
    /// Lets ranks play one to its end.
    fn run(&self, probe: Microbenchmark, cancel: &AtomicBool) -> Result<Notes, Stop>;
}

/// Where microbenchmarks are run.
pub(super) struct Bench<'a> {
    pub driver: &'a dyn Driver,
    pub options: ProbeOptions<'a>,
    pub progress: &'a (dyn Fn(&str) + Sync),
}

/// What the ranks of a microbenchmark have noted.
pub(super) struct Notes {
    pub notes: Vec<(Rank, Note)>,
    /// Whether nodes have lost anything for want of room.
    pub overflowed: bool,
    /// Whether a transmit ring may have been full.
    pub filled: bool,
}

impl Bench<'_> {
    /// Lets ranks play a microbenchmark.
    pub fn run(&self, probe: impl Into<Microbenchmark>) -> Result<Notes, Stop> {
        let cancel = self.options.cancel;
        if cancel.load(Ordering::Relaxed) {
            return Err(Stop::Cancelled);
        }
        self.driver.run(probe.into(), cancel)
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
