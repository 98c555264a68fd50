//! How a rank waits: it spins, then gives way to others, then sleeps.
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

use std::cell::Cell;

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
#[cfg(unix)]
const SLEEP: Time = Time::from_ns(20_000_000);

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

/// One rank's waiting for one thing.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// How long it spins, and how long it spins and gives way.
    spin: Time,
    give_way: Time,
    /// Since when nothing has come.
    since: Option<Time>,
}

impl Waiting {
    /// Nothing has been waited for yet. Ranks that share a core do not spin.
    pub fn new(ranks_each: u32) -> Waiting {
        let spin = if ranks_each == 1 { SPIN } else { Time::ZERO };
        Waiting { spin, give_way: YIELD * u64::from(ranks_each), since: None }
    }

    /// Nothing more is to be done at present. `came`: whether there was something before. What it
    /// has done.
    pub fn pass(&mut self, now: Time, came: bool, engine: &mut Rank) -> Pass {
        let passed = |since: Time| Time::from_ps(now.ps().saturating_sub(since.ps()));
        if came {
            self.since = None;
            // More is on its way, and somebody may have to bring it.
            std::thread::yield_now();
            return Pass::GaveWay;
        }
        let waited = passed(*self.since.get_or_insert(now));
        if waited < self.spin {
            // No pause: looking what has come is one already.
            return Pass::Spun;
        }
        if waited >= self.give_way {
            sleep(now, engine);
            return Pass::Slept;
        }
        std::thread::yield_now();
        Pass::GaveWay
    }

    /// It gave way at this time; `clock` says how late it is. Who should have a core moves on if
    /// somebody else is always on it.
    pub fn gave_way(
        &self,
        rank: usize,
        at: Time,
        clock: impl FnOnce() -> Time,
        intruder: &Cell<Intruder>,
    ) {
        if self.spin == Time::ZERO {
            return;
        }
        let mut known = intruder.get();
        if known.met(rank, at, clock()) {
            cores::move_on();
        }
        intruder.set(known);
    }
}

/// How a rank has passed the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    Spun,
    GaveWay,
    Slept,
}

/// Sleeps until something comes or is due.
#[cfg(unix)]
fn sleep(now: Time, engine: &mut Rank) {
    use nix::poll::{PollFd, PollFlags};

    if let Some(memory) = engine.memory() {
        memory.about_to_sleep();
    }
    // What came before this was said rings no bell.
    if !engine.progress(now) {
        let left = |at: Time| Time::from_ps(at.ps().saturating_sub(now.ps()));
        let due = engine.deadline().map_or(SLEEP, left).min(SLEEP);
        let flags = |full: bool| match full {
            true => PollFlags::POLLIN | PollFlags::POLLOUT,
            false => PollFlags::POLLIN,
        };
        let mut all: Vec<PollFd<'_>> =
            engine.waits_on().map(|(fd, full)| PollFd::new(fd, flags(full))).collect();
        let bell = engine.bell();
        all.extend(bell.map(|bell| PollFd::new(bell.fd(), PollFlags::POLLIN)));
        wait(&mut all, due);
        if let Some(bell) = bell {
            bell.drain();
        }
    }
    if let Some(memory) = engine.memory() {
        memory.awake();
    }
}

#[cfg(target_os = "linux")]
fn wait(all: &mut [nix::poll::PollFd<'_>], time: Time) {
    let time = std::time::Duration::from_nanos(time.ps() / 1000);
    // Whatever ends it, somebody looks what there is.
    let _ = nix::poll::ppoll(all, Some(time.into()), None);
}

#[cfg(all(unix, not(target_os = "linux")))]
fn wait(all: &mut [nix::poll::PollFd<'_>], time: Time) {
    let milliseconds = time.ps().div_ceil(1_000_000_000) as u16;
    let _ = nix::poll::poll(all, milliseconds);
}

/// Sleeps for a little while: other systems are not asked to wake us.
#[cfg(not(unix))]
fn sleep(_now: Time, _engine: &mut Rank) {
    std::thread::sleep(std::time::Duration::from_micros(100));
}

/// What wakes somebody who does not hold the engine: its rails.
#[derive(Debug)]
pub(crate) struct Waking {
    #[cfg(unix)]
    files: Vec<std::os::fd::OwnedFd>,
}

impl Waking {
    /// The rails of an engine.
    #[cfg(unix)]
    pub fn new(engine: &Rank) -> std::io::Result<Waking> {
        let files = engine.waits_on().map(|(file, _)| file.try_clone_to_owned());
        Ok(Waking { files: files.collect::<Result<_, _>>()? })
    }

    /// Nothing: other systems are not asked.
    #[cfg(not(unix))]
    pub fn new(_engine: &Rank) -> std::io::Result<Waking> {
        Ok(Waking {})
    }

    /// Waits until something has come, but no longer than for a time.
    #[cfg(unix)]
    pub fn wait(&self, time: std::time::Duration) {
        use std::os::fd::AsFd;

        use nix::poll::{PollFd, PollFlags};
        let files = self.files.iter().map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN));
        wait(&mut files.collect::<Vec<_>>(), crate::clock::time(time));
    }

    /// Waits for a time.
    #[cfg(not(unix))]
    pub fn wait(&self, time: std::time::Duration) {
        std::thread::sleep(time);
    }
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
