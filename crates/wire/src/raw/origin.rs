//! The clock that ranks of one machine have in common.

use std::time::{Duration, Instant};

use crosstie_units::Time;

use crate::clock::time;

/// When time began: for ranks of one machine at the same moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    begin: Instant,
    /// How long ago it was at `begin`.
    age: Duration,
}

impl Origin {
    /// It is now.
    pub fn now() -> Origin {
        Origin { begin: Instant::now(), age: Duration::ZERO }
    }

    /// A clock of this machine, in nanoseconds, and the moment at which it was read.
    pub fn reading() -> (u64, Instant) {
        (nanoseconds(), Instant::now())
    }

    /// It was when that clock showed a number, if the clock is of this machine and it has been.
    pub fn at(number: u64, (reading, begin): (u64, Instant)) -> Origin {
        Origin { begin, age: Duration::from_nanos(reading.saturating_sub(number)) }
    }

    /// The time since then.
    #[inline]
    pub fn elapsed(&self) -> Time {
        time(self.age + self.begin.elapsed())
    }
}

#[cfg(unix)]
fn nanoseconds() -> u64 {
    use nix::time::{ClockId, clock_gettime};
    let found = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from);
    found.map_or(0, |time| time.as_nanos() as u64)
}

/// Nothing that others would understand.
#[cfg(not(unix))]
fn nanoseconds() -> u64 {
    0
}
