//! The clock that ranks of one machine have in common, and how a rank waits that measures.

use std::time::{Duration, Instant};

use crosstie_units::Time;

use super::socket::RawSocket;
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
pub(super) struct Patience {
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

    /// Nothing can be done at present, and until a time nothing has to be. `listens`: whether a
    /// frame could change that.
    pub fn pass(&mut self, now: Time, until: Option<Time>, listens: bool, socket: &RawSocket) {
        let less = |time: Time, other: Time| Time::from_ps(time.ps().saturating_sub(other.ps()));
        let waited = less(now, *self.since.get_or_insert(now));
        let left = until.map_or(SLEEP, |until| less(less(until, now), EARLY)).min(SLEEP);
        if listens && (left == Time::ZERO || waited < SPIN) {
            std::hint::spin_loop();
        } else if left == Time::ZERO || waited < self.awake && listens {
            // What brings frames may need the core.
            std::thread::yield_now();
        } else {
            let left = Duration::from_nanos(left.ps() / 1000);
            if listens { socket.wait(left) } else { std::thread::sleep(left) }
        }
    }
}
