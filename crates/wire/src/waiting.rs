//! How a rank waits: it spins, then gives way to others, then sleeps.
//!
//! Spinning answers soonest, but where there are fewer cores than ranks a rank that spins takes the time that others need to
//! send what it waits for: there it does not spin at all. And so does the kernel's part of a rail, so that it spins for a few microseconds only, less
//! than it takes to wake up.
//! Giving way costs little where nobody else wants the core. Who has given way for long enough sleeps until
//! something comes.

use crosstie_units::Time;

use crate::engine::Engine;

/// How long a rank spins, and how long it spins and gives way before it sleeps.
const SPIN: Time = Time::from_ns(10_000);
const YIELD: Time = Time::from_ns(100_000);

/// The longest sleep: what wakes nobody is looked after then.
#[cfg(unix)]
const SLEEP: Time = Time::from_ns(20_000_000);

/// One rank's waiting for one thing.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// How long it spins.
    spin: Time,
    /// Since when nothing has come.
    since: Option<Time>,
}

impl Waiting {
    /// Nothing has been waited for yet. Who has no core of its own does not spin.
    pub fn new(spins: bool) -> Waiting {
        Waiting { spin: if spins { SPIN } else { Time::ZERO }, since: None }
    }

    /// Nothing more is to be done at present. `came`: whether there was something before. Whether it slept.
    pub fn pass(&mut self, now: Time, came: bool, engine: &mut Engine) -> bool {
        let passed = |since: Time| Time::from_ps(now.ps().saturating_sub(since.ps()));
        if came {
            self.since = None;
            // More is on its way, and somebody may have to bring it.
            std::thread::yield_now();
            return false;
        }
        let waited = passed(*self.since.get_or_insert(now));
        if waited < self.spin {
            // No pause: looking what has come is one already.
            return false;
        }
        let sleeps = waited >= YIELD;
        if sleeps {
            sleep(now, engine);
        } else {
            std::thread::yield_now();
        }
        sleeps
    }
}

/// Sleeps until something comes or is due.
#[cfg(unix)]
fn sleep(now: Time, engine: &mut Engine) {
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
fn sleep(_now: Time, _engine: &mut Engine) {
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
    pub fn new(engine: &Engine) -> std::io::Result<Waking> {
        let files = engine.waits_on().map(|(file, _)| file.try_clone_to_owned());
        Ok(Waking { files: files.collect::<Result<_, _>>()? })
    }

    /// Nothing: other systems are not asked.
    #[cfg(not(unix))]
    pub fn new(_engine: &Engine) -> std::io::Result<Waking> {
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
