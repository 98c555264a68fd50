//! The time since a rank began.

use std::time::{Duration, Instant};

use crosstie_units::Time;

/// Tells the time to machines, which have no clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(Instant);

impl Clock {
    /// It is zero now.
    pub fn start() -> Clock {
        Clock(Instant::now())
    }

    /// The time it is.
    #[inline]
    pub fn now(&self) -> Time {
        time(self.0.elapsed())
    }
}

/// A duration as a time.
pub(crate) fn time(duration: Duration) -> Time {
    duration.into()
}
