//! How a rank waits that measures.

use std::time::Duration;

use crosstie_units::Time;
use crosstie_wire::raw::Endpoint;

/// For so long a rank spins, and for so long it gives way after that before it sleeps, where every
/// rank has a core and where not.
const SPIN: Time = Time::from_ns(10_000);
const ALONE: Time = Time::from_ns(20_000_000);
const CROWDED: Time = Time::from_ns(100_000);

/// So much before a time a sleeper is to be awake.
const EARLY: Time = Time::from_ns(100_000);

/// A moment: less than a ring takes to drain.
const MOMENT: Duration = Duration::from_micros(20);

/// The longest sleep.
const SLEEP: Time = Time::from_ns(20_000_000);

/// One rank's waiting.
#[derive(Debug)]
pub struct Patience {
    since: Option<Time>,
    /// How long it stays awake.
    awake: Time,
}

impl Patience {
    /// With so many ranks on this machine.
    pub fn new(ranks: usize) -> Patience {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Patience { since: None, awake: if ranks > cores { CROWDED } else { ALONE } }
    }

    /// Something has been done.
    pub fn renew(&mut self) {
        self.since = None;
    }

    /// The ring is full, and has room again after a frame or so. What takes frames out of it needs
    /// the core: who spins for long waits longer, and who gives way on a busy machine gets the
    /// core back when the ring is empty. Who sleeps for a moment gets it at once.
    pub fn hurry(&mut self, now: Time) {
        if now.ps().saturating_sub(self.since.get_or_insert(now).ps()) < SPIN.ps() {
            std::hint::spin_loop();
        } else {
            std::thread::sleep(MOMENT);
        }
    }

    /// Nothing can be done at present, and until a time nothing has to be. `listens` is true if a
    /// frame could change that.
    pub fn pass(&mut self, now: Time, until: Option<Time>, listens: bool, endpoint: &Endpoint) {
        let less = |time: Time, other: Time| Time::from_ps(time.ps().saturating_sub(other.ps()));
        let waited = less(now, *self.since.get_or_insert(now));
        let left = until.map_or(SLEEP, |until| less(less(until, now), EARLY)).min(SLEEP);
        if listens && (left == Time::ZERO || waited < SPIN) {
            std::hint::spin_loop();
        } else if left == Time::ZERO || waited < self.awake && listens {
            // What brings frames may need the core.
            std::thread::yield_now();
        } else {
            let left = left.into();
            if listens { endpoint.wait(left) } else { std::thread::sleep(left) }
        }
    }
}
