//! Events, each at its time.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{BoxError, Cluster};
use crate::{Happening, Occurrence};

/// What was done, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// What.
    pub occurrence: Occurrence,
    /// By how much it was late.
    pub late: Duration,
}

/// A clock that threads look at together, and that can be stopped.
#[derive(Debug)]
pub struct Timetable {
    begin: Instant,
    stopped: Mutex<bool>,
    changed: Condvar,
}

impl Default for Timetable {
    fn default() -> Timetable {
        Timetable { begin: Instant::now(), stopped: Mutex::new(false), changed: Condvar::new() }
    }
}

impl Timetable {
    /// A clock that begins now.
    pub fn new() -> Timetable {
        Timetable::default()
    }

    /// How long it has run.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }

    /// Wakes everybody who waits.
    pub fn stop(&self) {
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for a time; false if the clock was stopped before.
    pub fn wait_until(&self, time: Duration) -> bool {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let now = self.elapsed();
            if *stopped || now >= time {
                return !*stopped;
            }
            let waited = self.changed.wait_timeout(stopped, time - now);
            stopped = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Makes everything happen that the spec of a cluster says, each at its time, until the clock
    /// is stopped; tells each.
    pub fn play(&self, cluster: &Cluster, mut tell: impl FnMut(&Applied)) -> Result<(), BoxError> {
        for occurrence in cluster.spec().occurrences() {
            let due = Duration::from_nanos(occurrence.at.ps() / 1000);
            if !self.wait_until(due) {
                return Ok(());
            }
            cluster.apply(&occurrence)?;
            let late = self.elapsed().saturating_sub(due);
            tell(&Applied { occurrence, late });
        }
        Ok(())
    }
}

impl Applied {
    /// The same in words.
    pub fn told(&self, cluster: &Cluster) -> Happening {
        let Applied { occurrence, late } = self;
        let host = occurrence.host.map(|host| cluster.spec().hosts.names()[host].clone());
        Happening {
            time: occurrence.at.ps() as f64 / 1e12,
            late: late.as_secs_f64(),
            rail: cluster.spec().rail_name(occurrence.rail),
            host: host.unwrap_or_default(),
            what: occurrence.change.to_string(),
        }
    }
}
