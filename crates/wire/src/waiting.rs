//! How a rank waits: it spins, then gives way to others, then sleeps.
//!
//! No thread gives way or sleeps while it holds the lock of the rank: that is the business of
//! `worker/core.rs`. Here is for how long, and what wakes a sleeper.
//!
//! Spinning answers soonest, but where there are fewer cores than ranks a rank that spins takes the
//! time that others need to send what it waits for: there it does not spin at all. And so does the
//! kernel's part of a rail, so that it spins for a few microseconds only, less than it takes to
//! wake up. Giving way costs little where nobody else wants the core. Who has given way for long
//! enough sleeps until something comes.
//!
//! A rank for which there is a core may yet find itself on the same one as another: then they
//! answer each other only when one of them gives way. Whoever notices that, by giving way again and
//! again to somebody who took his time, moves on to another core.

use crosstie_units::Time;

use crate::cores;
use crate::rank::Rank;

/// How long a rank spins, and how long it spins and gives way before it sleeps; longer if others
/// share its core, so that each of them has its turn.
const SPIN: Time = Time::from_ns(10_000);
const YIELD: Time = Time::from_ns(100_000);

/// Who gives way for so long has given way to somebody.
const ELSEWHERE: Time = Time::from_ns(5_000);

/// How often within a while before it moves on, and how long it stays then. Ranks that meet differ
/// in both: else they might meet again where they move to.
const OFTEN: u32 = 8;
const WHILE: Time = Time::from_ns(2_000_000);
const STAY: Time = Time::from_ns(16_000_000);

/// The longest sleep: what wakes nobody is looked after then.
pub(crate) const SLEEP: Time = Time::from_ns(20_000_000);

/// Somebody else on the core that a rank should have for itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Intruder {
    /// How often the rank has given way to somebody, and since when.
    met: u32,
    since: Time,
    /// Until when it stays where it is.
    stays: Time,
}

impl Intruder {
    /// The rank gave way from a time to a time. Whether it is to move on.
    fn met(&mut self, rank: usize, from: Time, to: Time) -> bool {
        if to <= from + ELSEWHERE {
            // Nobody was there.
            return false;
        }
        if self.since + WHILE < from {
            (self.met, self.since) = (0, from);
        }
        self.met += 1;
        let moves = self.met >= OFTEN + rank as u32 % OFTEN && self.stays <= to;
        if moves {
            let stay = Time::from_ps(STAY.ps() >> (2 * (rank % 4)));
            *self = Intruder { met: 0, since: to, stays: to + stay };
        }
        moves
    }
}

/// One thread's waiting for one thing.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// How long it spins, and how long it spins and gives way.
    spin: Time,
    give_way: Time,
    /// Since when nothing has come.
    since: Option<Time>,
}

/// How a thread is to pass the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// It looks again.
    Spin,
    /// It lets others have the core.
    GiveWay,
    /// It sleeps until something comes.
    Sleep,
}

impl Waiting {
    /// Nothing has been waited for yet. Ranks that share a core do not spin.
    pub fn new(ranks_each: u32) -> Waiting {
        let spin = if ranks_each == 1 { SPIN } else { Time::ZERO };
        Waiting { spin, give_way: YIELD * u64::from(ranks_each), since: None }
    }

    /// Nothing more is to be done at present. `came`: whether there was something before.
    pub fn pass(&mut self, now: Time, came: bool) -> Pass {
        let passed = |since: Time| Time::from_ps(now.ps().saturating_sub(since.ps()));
        if came {
            self.since = None;
            // More is on its way, and somebody may have to bring it.
            return Pass::GiveWay;
        }
        let waited = passed(*self.since.get_or_insert(now));
        if waited < self.spin {
            // No pause: looking what has come is one already.
            return Pass::Spin;
        }
        if waited >= self.give_way { Pass::Sleep } else { Pass::GiveWay }
    }

    /// It gave way at this time; `clock` says how late it is. Who should have a core moves on if
    /// somebody else is always on it.
    pub fn gave_way(
        &self,
        rank: usize,
        at: Time,
        clock: impl FnOnce() -> Time,
        intruder: &mut Intruder,
    ) {
        if self.spin > Time::ZERO && intruder.met(rank, at, clock()) {
            cores::move_on();
        }
    }
}

/// What a thread that sleeps waits on: the rails of a rank, the bell of its memory, and a bell that
/// other threads of the rank ring.
#[derive(Debug)]
pub(crate) struct Waking {
    /// Rails, and behind them the bell of memory, if there is one.
    #[cfg(unix)]
    files: std::sync::Mutex<Files>,
    #[cfg(unix)]
    bell: (std::os::unix::net::UnixStream, std::os::unix::net::UnixStream),
}

/// What a rank waits on, after a number of devices has appeared.
#[cfg(unix)]
#[derive(Debug, Clone)]
struct Files {
    appeared: u64,
    all: std::sync::Arc<Vec<std::os::fd::OwnedFd>>,
}

#[cfg(unix)]
impl Files {
    fn of(rank: &Rank) -> std::io::Result<Files> {
        let rails = rank.waits_on().map(|(file, _)| file);
        let files = rails.chain(rank.bell().map(|bell| bell.fd()));
        let files = files.map(|file| file.try_clone_to_owned());
        let all = files.collect::<std::io::Result<Vec<_>>>()?.into();
        Ok(Files { appeared: rank.appeared(), all })
    }
}

#[cfg(unix)]
impl Waking {
    /// That of a rank.
    pub fn new(rank: &Rank) -> std::io::Result<Waking> {
        let files = std::sync::Mutex::new(Files::of(rank)?);
        let (ringer, bell) = std::os::unix::net::UnixStream::pair()?;
        ringer.set_nonblocking(true)?;
        bell.set_nonblocking(true)?;
        Ok(Waking { files, bell: (ringer, bell) })
    }

    /// Waits on devices that have appeared meanwhile, too.
    pub fn renew(&self, rank: &Rank) {
        let mut files = self.files.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Without more files a rank that sleeps looks again after a while.
        if files.appeared != rank.appeared()
            && let Ok(renewed) = Files::of(rank)
        {
            *files = renewed;
        }
    }

    /// Waits until something has come, there is room on one of these rails, a bell rings or a time
    /// has passed.
    pub fn wait(&self, full: &[bool], time: Time) {
        use std::os::fd::AsFd;

        use nix::poll::{PollFd, PollFlags};
        let full = full.iter().copied().chain(std::iter::repeat(false));
        let files = self.files.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let files = std::sync::Arc::clone(&files.all);
        let mut all = Vec::with_capacity(files.len() + 1);
        for (file, full) in files.iter().zip(full) {
            let room = if full { PollFlags::POLLOUT } else { PollFlags::empty() };
            all.push(PollFd::new(file.as_fd(), PollFlags::POLLIN | room));
        }
        all.push(PollFd::new(self.bell.1.as_fd(), PollFlags::POLLIN));
        poll(&mut all, time.min(SLEEP));
    }

    /// Wakes the thread that waits.
    pub fn ring(&self) {
        // A bell that is full of rings need not ring once more.
        let _ = std::io::Write::write(&mut &self.bell.0, &[1]);
    }

    /// Forgets all rings so far.
    pub fn drain(&self) {
        let mut bytes = [0; 64];
        while let Ok(64) = std::io::Read::read(&mut &self.bell.1, &mut bytes) {}
    }
}

#[cfg(target_os = "linux")]
fn poll(all: &mut [nix::poll::PollFd<'_>], time: Time) {
    let time = std::time::Duration::from_nanos(time.ps() / 1000);
    // Whatever ends it, somebody looks what there is.
    let _ = nix::poll::ppoll(all, Some(time.into()), None);
}

#[cfg(all(unix, not(target_os = "linux")))]
fn poll(all: &mut [nix::poll::PollFd<'_>], time: Time) {
    let milliseconds = time.ps().div_ceil(1_000_000_000) as u16;
    let _ = nix::poll::poll(all, milliseconds);
}

/// Other systems are not asked to wake us: a thread sleeps for a little while only.
#[cfg(not(unix))]
impl Waking {
    /// That of a rank.
    pub fn new(_rank: &Rank) -> std::io::Result<Waking> {
        Ok(Waking {})
    }

    /// Nothing: it waits on nothing.
    pub fn renew(&self, _rank: &Rank) {}

    /// Waits for a little while.
    pub fn wait(&self, _full: &[bool], _time: Time) {
        std::thread::sleep(std::time::Duration::from_micros(100));
    }

    /// Nothing: it wakes soon.
    pub fn ring(&self) {}

    /// Nothing.
    pub fn drain(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(number: u64) -> Time {
        Time::from_ns(1000 * number)
    }

    #[test]
    fn who_always_gives_way_to_somebody_moves_on() {
        let mut intruder = Intruder::default();
        // So often, every 20 us, each taking 12; whether it moves on.
        let mut meets = |from: u64, times: u64| {
            let ways = (0..times).map(|way| us(from + 20 * way));
            ways.filter(|&at| intruder.met(0, at, at + us(12))).count()
        };
        assert_eq!(meets(10_000, 7), 0, "it may have been chance");
        assert_eq!(meets(10_200, 1), 1);
        assert_eq!(meets(10_300, 700), 0, "it has just come");
        assert_eq!(meets(40_000, 8), 1);
        assert_eq!(meets(70_000, 7), 0);
        // Where nobody was.
        assert!((0..100).all(|way| !intruder.met(0, us(70_500 + way), us(70_501 + way))));
        // Now and then somebody is there.
        assert!((80..200).all(|way| !intruder.met(0, us(1000 * way), us(1000 * way + 12))));
        // Of two that are on the same core one moves on first.
        let mut other = Intruder::default();
        assert_eq!((0..8).filter(|_| other.met(1, us(0), us(12))).count(), 0);
        assert!(other.met(1, us(0), us(12)));
    }
}
