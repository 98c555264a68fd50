//! The time that this thread has run on a processor, whatever else the machine does meanwhile.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// A clock that stands still while the thread waits for a processor.
pub struct Clock(Duration);

impl Clock {
    /// Starts the clock.
    pub fn start() -> Clock {
        Clock(processor_time())
    }

    /// Seconds of processor time since then.
    pub fn seconds(&self) -> f64 {
        (processor_time() - self.0).as_secs_f64()
    }
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.try_into().expect("processor time is not negative")
}
