//! What the threads of a rank share: its engine under a lock, and how they wait.
//!
//! A thread looks under the lock, lets go of it, waits, and takes it again. No thread sleeps or
//! gives way while it holds the lock; a thread that spins holds it as long as no other thread wants
//! it. Which thread wakes which is in [`roster`](super::roster).

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use crosstie_launch::Aborter;
use crosstie_units::Time;
use slotmap::Key as _;

use super::Status;
use super::roster::{Kind, Roster, Seen, Waiter, Wakes};
use crate::clock::{Clock, time};
use crate::comm::{CommError, Fate};
use crate::datagram::LONGEST;
use crate::rank::{Buffer, Failure, Rank, RequestKey, Selection, Send, SetKey};
use crate::waiting::{Intruder, Pass, SLEEP, Waiting, Waking};

/// How often a rank looks whether something has come before it looks at the clock.
const LOOKS: u32 = 16;
const LOOKS_AT_MEMORY: u32 = 64;

/// After this number of non-blocking calls in a row, a rank receives what its rails and rings hold.
const BEGUN: u64 = 128;

/// How often the progress thread looks whether others look after messages.
const CARE: Duration = Duration::from_millis(5);

/// A follower looks after this time even if no thread wakes it.
const FOLLOW: Duration = Duration::from_secs(1);

/// What the threads of a rank share.
pub(crate) struct Core {
    engine: Mutex<Engine>,
    /// Threads that want the lock and have not got it at once, and in which order they get it.
    wanting: AtomicUsize,
    turn: Mutex<()>,
    clock: Clock,
    waking: Waking,
    ends: AtomicBool,
    pub rank: usize,
    pub size: usize,
    /// How many ranks share a core with it, itself included.
    ranks_each: u32,
    pub aborter: Aborter,
}

/// What is under the lock.
pub(crate) struct Engine {
    rank: Rank,
    roster: Roster<Arc<Bell>>,
    /// How often the lock was taken by other threads than the progress thread.
    looks: u64,
    /// Another process on the core of the thread that waits.
    intruder: Intruder,
    /// True if nothing may begin any more.
    closed: bool,
}

/// Wakes a follower.
#[derive(Debug, Default)]
struct Bell {
    rung: AtomicBool,
    lock: Mutex<()>,
    rings: Condvar,
}

impl Wakes for Arc<Bell> {
    fn wake(&self) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.rung.store(true, Ordering::Release);
        self.rings.notify_one();
        drop(lock);
    }
}

impl Bell {
    /// Waits until a thread rings, but no longer than `most`.
    fn wait(&self, most: Duration) {
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let is_silent = |(): &mut ()| !self.rung.load(Ordering::Acquire);
        drop(self.rings.wait_timeout_while(lock, most, is_silent));
    }
}

impl Wakes for Waking {
    fn wake(&self) {
        self.ring();
    }
}

/// The engine, for as long as a thread has the lock.
pub(crate) struct Held<'a> {
    engine: MutexGuard<'a, Engine>,
    core: &'a Core,
    /// True if the thread panicked before it had it.
    panicked: bool,
    /// True if the program calls, and not the progress thread.
    calls: bool,
}

impl Deref for Held<'_> {
    type Target = Rank;

    fn deref(&self) -> &Rank {
        &self.engine.rank
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Rank {
        &mut self.engine.rank
    }
}

impl Drop for Held<'_> {
    /// Wakes threads that wait for what has happened meanwhile. After a panic the engine may be in
    /// any state: no thread gets it any more, and no peer may read what was lent to it.
    fn drop(&mut self) {
        if !self.panicked && std::thread::panicking() {
            self.engine.rank.revoke_all();
            self.engine.roster.wake_all(&self.core.waking);
        } else if self.engine.roster.has_sleepers() {
            self.tell();
        }
    }
}

impl Held<'_> {
    #[cold]
    fn tell(&mut self) {
        if self.calls {
            self.engine.roster.depose();
        }
        let seen = self.seen();
        self.engine.roster.tell(seen, &self.core.waking);
    }

    fn seen(&self) -> Seen {
        Seen { news: self.news(), due: self.deadline(), waits: self.has_waiting() }
    }
}

/// A send or a receive that has just begun.
pub(crate) struct Begun<'a> {
    pub key: RequestKey,
    pub held: Held<'a>,
    pub now: Time,
}

impl Core {
    /// What the threads of this rank share.
    pub fn new(
        rank: Rank,
        (number, size): (usize, usize),
        ranks_each: u32,
        aborter: Aborter,
    ) -> std::io::Result<Core> {
        let waking = Waking::new(&rank)?;
        let (roster, intruder) = (Roster::default(), Intruder::default());
        Ok(Core {
            engine: Mutex::new(Engine { rank, roster, looks: 0, intruder, closed: false }),
            wanting: AtomicUsize::new(0),
            turn: Mutex::new(()),
            clock: Clock::start(),
            waking,
            ends: AtomicBool::new(false),
            rank: number,
            size,
            ranks_each,
            aborter,
        })
    }

    /// Takes the lock.
    #[inline]
    fn take(&self) -> Result<Held<'_>, CommError> {
        let at_once = match self.wanting.load(Ordering::Relaxed) {
            0 => self.engine.try_lock().map(Some),
            _ => Ok(None),
        };
        let engine = match at_once {
            Ok(Some(engine)) => engine,
            Ok(None) | Err(TryLockError::WouldBlock) => self.take_in_turn()?,
            Err(TryLockError::Poisoned(_)) => return Err(CommError::Panicked),
        };
        Ok(Held { engine, core: self, panicked: std::thread::panicking(), calls: false })
    }

    /// Takes the lock behind threads that want it already: a thread that takes it again and again
    /// would keep it from them otherwise.
    #[cold]
    fn take_in_turn(&self) -> Result<MutexGuard<'_, Engine>, CommError> {
        self.wanting.fetch_add(1, Ordering::Relaxed);
        let turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let engine = loop {
            // It waits in the standard library, which is not instrumented, and then takes the lock
            // where ThreadSanitizer sees it. Others wait for their turn meanwhile.
            drop(self.engine.lock());
            match self.engine.try_lock() {
                Ok(engine) => break Ok(engine),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Poisoned(_)) => break Err(CommError::Panicked),
            }
        };
        self.wanting.fetch_sub(1, Ordering::Relaxed);
        drop(turn);
        engine
    }

    /// Takes the lock for a call of the program.
    #[inline]
    pub fn lock(&self) -> Result<Held<'_>, CommError> {
        let mut held = self.take()?;
        held.calls = true;
        held.engine.looks = held.engine.looks.wrapping_add(1);
        Ok(held)
    }

    /// The engine, and the time it is: in this order, since another thread may have been at it
    /// until now.
    pub fn look(&self) -> Result<(Held<'_>, Time), CommError> {
        let held = self.lock()?;
        Ok((held, self.clock.now()))
    }

    /// The engine, and about what time it is, for callers that need not know it better.
    #[inline]
    pub fn glance(&self) -> Result<(Held<'_>, Time), CommError> {
        let held = self.lock()?;
        // A thread that always finds something at once has to notice that time passes.
        let about = match held.engine.looks % u64::from(LOOKS) {
            0 => self.clock.now(),
            _ => held.now(),
        };
        Ok((held, about))
    }

    /// The same for the begin of an operation. A rank that begins one after another has to answer
    /// others too: the progress thread takes it for attended.
    #[inline]
    fn begin(&self) -> Result<(Held<'_>, Time), CommError> {
        let (mut held, about) = self.glance()?;
        if held.engine.closed {
            return Err(CommError::Finished);
        }
        if held.engine.looks.is_multiple_of(BEGUN) {
            held.progress(self.clock.now());
        }
        let about = about.max(held.now());
        Ok((held, about))
    }

    /// A rank that there is.
    pub fn peer(&self, rank: usize) -> Result<u16, CommError> {
        let known = u16::try_from(rank).ok().filter(|_| rank < self.size);
        known.ok_or(CommError::NoSuchRank { found: rank, size: self.size })
    }

    /// Begins a send.
    #[inline]
    pub fn send(&self, send: &Send, buffer: Buffer) -> Result<Begun<'_>, CommError> {
        let length = buffer.bytes().len() as u64;
        if length > LONGEST {
            return Err(CommError::TooLong { bytes: length });
        }
        let (mut held, mut now) = self.begin()?;
        if !held.is_local(send.to) {
            // Rails are to know when.
            now = self.clock.now();
        }
        let key = held.send(now, send, buffer);
        Ok(Begun { key, held, now })
    }

    /// Begins a receive.
    #[inline]
    pub fn receive(&self, what: &Selection, buffer: Buffer) -> Result<Begun<'_>, CommError> {
        let (mut held, now) = self.begin()?;
        let key = held.receive(now, what, buffer);
        Ok(Begun { key, held, now })
    }

    /// Looks after messages until something is found.
    pub fn until<R>(
        &self,
        timeout: Option<Duration>,
        find: impl FnMut(&mut Rank) -> Option<R>,
    ) -> Result<R, CommError> {
        self.until_from(self.glance()?, timeout, find)
    }

    /// The same for a thread that has the lock, and knows about what time it is.
    pub fn until_from<R>(
        &self,
        (mut held, about): (Held<'_>, Time),
        timeout: Option<Duration>,
        mut find: impl FnMut(&mut Rank) -> Option<R>,
    ) -> Result<R, CommError> {
        // Most of what is sent is done with at once.
        if let Some(found) = find(&mut held) {
            return Ok(found);
        }
        let end = timeout.map(|timeout| self.clock.now() + time(timeout));
        let late = |now: Time| end.is_some_and(|end| end <= now);
        let (mut now, mut found) = (about, None);
        while found.is_none() && !late(now) {
            let leads = self.lead(&mut held);
            if let Some(waiter) = leads {
                (held, now, found) = self.look_until((held, now), waiter, end, &mut find)?;
                held.engine.roster.resign(waiter);
            } else {
                let bell = Arc::new(Bell::default());
                let news = held.news();
                let waiter = held.engine.roster.follow(news, Arc::clone(&bell));
                drop(held);
                let most = end.map_or(u64::MAX, |end| end.ps().saturating_sub(now.ps()) / 1000 + 1);
                bell.wait(FOLLOW.min(Duration::from_nanos(most)));
                (held, now) = self.look()?;
                held.engine.roster.unfollow(waiter);
                found = find(&mut held);
                if found.is_some() || late(now) {
                    held.engine.roster.leave();
                }
            }
        }
        let after = timeout.unwrap_or_default();
        found.ok_or(CommError::TimedOut { after, fate: None })
    }

    /// Lets this thread lead, if no other does that waits for something.
    fn lead(&self, held: &mut Held<'_>) -> Option<Waiter> {
        let waiter = held.engine.roster.lead(Kind::Caller)?;
        #[cfg(unix)]
        if let Some(memory) = held.memory() {
            // The progress thread may have been asleep.
            memory.awake();
        }
        Some(waiter)
    }

    /// Looks after messages, as the leader, until something is found or it is too late. Returns
    /// what was found and when it looked last.
    fn look_until<'a, R>(
        &'a self,
        (mut held, begin): (Held<'a>, Time),
        waiter: Waiter,
        end: Option<Time>,
        find: &mut impl FnMut(&mut Rank) -> Option<R>,
    ) -> Result<(Held<'a>, Time, Option<R>), CommError> {
        let clock = &self.clock;
        let mut waiting = Waiting::new(self.ranks_each);
        let looks = match (self.ranks_each == 1, held.has_rails()) {
            (false, _) => 1,
            (true, true) => LOOKS,
            (true, false) => LOOKS_AT_MEMORY,
        };
        let mut now = begin;
        loop {
            let mut came = false;
            for _ in 0..looks {
                came = held.progress_about(now, &|| clock.now());
                if came {
                    break;
                }
            }
            if let Some(found) = find(&mut held) {
                return Ok((held, now, Some(found)));
            }
            now = clock.now();
            if end.is_some_and(|end| end <= now) {
                return Ok((held, now, None));
            }
            match waiting.pass(now, came) {
                Pass::Spin if self.wanting.load(Ordering::Relaxed) == 0 => {}
                Pass::Spin => {
                    drop(held);
                    held = self.lock()?;
                }
                Pass::GiveWay => {
                    drop(held);
                    std::thread::yield_now();
                    held = self.lock()?;
                    let intruder = &mut held.engine.intruder;
                    waiting.gave_way(self.rank, now, || clock.now(), intruder);
                }
                // A thread that slept may have been woken by what was taken in meanwhile.
                Pass::Sleep => {
                    held = self.sleep(held, waiter, now, end)?;
                    if let Some(found) = find(&mut held) {
                        return Ok((held, now, Some(found)));
                    }
                }
            }
        }
    }

    /// Sleeps, as the leader, until something comes or is due. It does not lead any more if another
    /// thread has taken over meanwhile.
    fn sleep<'a>(
        &'a self,
        mut held: Held<'a>,
        waiter: Waiter,
        now: Time,
        end: Option<Time>,
    ) -> Result<Held<'a>, CommError> {
        #[cfg(unix)]
        if let Some(memory) = held.memory() {
            memory.about_to_sleep();
        }
        // What came before this was said rings no bell.
        if !held.progress(now) {
            self.waking.renew(&held);
            let seen = held.seen();
            let until = [seen.due, end].into_iter().flatten().fold(now + SLEEP, Time::min);
            #[cfg(unix)]
            let full: Vec<bool> = held.waits_on().map(|(_, full)| full).collect();
            #[cfg(not(unix))]
            let full = Vec::new();
            held.engine.roster.sleeps(waiter, seen, until);
            drop(held);
            self.waking.wait(&full, Time::from_ps(until.ps().saturating_sub(now.ps())));
            held = self.take()?;
            if !held.engine.roster.leads(waiter) {
                return Ok(held);
            }
            held.engine.roster.wakes(waiter);
            self.waking.drain();
            #[cfg(unix)]
            if let Some(bell) = held.bell() {
                bell.drain();
            }
        }
        #[cfg(unix)]
        if let Some(memory) = held.memory() {
            memory.awake();
        }
        Ok(held)
    }

    /// Waits for a request. If it is not done in time, its memory is taken back.
    pub fn finished(
        &self,
        key: RequestKey,
        timeout: Option<Duration>,
    ) -> Result<Status, CommError> {
        self.finished_from(self.glance()?, key, timeout)
    }

    /// The same for a thread that has the lock, and knows about what time it is.
    pub fn finished_from(
        &self,
        look: (Held<'_>, Time),
        key: RequestKey,
        timeout: Option<Duration>,
    ) -> Result<Status, CommError> {
        let outcome = |outcome: Result<crate::rank::Status, Failure>| {
            outcome.map(Status::from).map_err(CommError::from)
        };
        match self.until_from(look, timeout, |rank| rank.outcome(key)) {
            Ok(done) => outcome(done),
            Err(CommError::TimedOut { after, .. }) => {
                let (mut held, now) = self.look()?;
                // It may have been done since, by another thread.
                held.progress(now);
                if let Some(done) = held.outcome(key) {
                    return outcome(done);
                }
                let fate = held.abandon(now, &[key]).first().map(|&(_, what)| what.into());
                Err(CommError::TimedOut { after, fate })
            }
            Err(error) => {
                self.take_back(&[key]);
                Err(error)
            }
        }
    }

    /// Returns true if a request is done, after a look.
    pub fn is_done(&self, key: RequestKey) -> bool {
        // To wait is an error at once if there is no engine any more.
        let Ok((mut held, now)) = self.look() else { return true };
        held.progress(now);
        held.is_done(key)
    }

    /// Takes back the memory of requests; what becomes of those that were not done. An engine that
    /// panicked touches none of it anyhow.
    pub fn take_back(&self, keys: &[RequestKey]) -> Vec<(RequestKey, Fate)> {
        let Ok((mut held, now)) = self.look() else { return Vec::new() };
        let given_up = held.abandon(now, keys);
        given_up.into_iter().map(|(key, what)| (key, what.into())).collect()
    }

    /// Waits until there is a message that a receive would take.
    pub fn probe<R>(
        &self,
        what: &Selection,
        timeout: Option<Duration>,
        mut find: impl FnMut(&mut Rank) -> Option<R>,
    ) -> Result<R, CommError> {
        let found = self.until(timeout, |rank| {
            let found = find(rank).map(Ok);
            found.or_else(|| {
                let gone = what.from.filter(|&from| rank.is_gone(from))?;
                Some(Err(Failure::Unreachable { rank: gone, cause: rank.loss(gone) }))
            })
        })?;
        found.map_err(CommError::from)
    }

    /// Nothing begins any more: messages that no receive has asked for are refused.
    pub fn close(&self) -> Result<(), CommError> {
        let (mut held, now) = self.look()?;
        held.engine.closed = true;
        held.close(now);
        Ok(())
    }

    /// Looks after messages while no other thread of the rank does. This is the progress thread.
    pub fn care(&self) {
        let mut seen = 0;
        while !self.ends.load(Ordering::Acquire) {
            std::thread::park_timeout(CARE);
            match self.engine.try_lock() {
                Ok(engine) if engine.looks == seen && !engine.roster.is_led() => {}
                Ok(engine) => {
                    seen = engine.looks;
                    continue;
                }
                // Another thread has the lock.
                Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Poisoned(_)) => return,
            }
            if self.stand_in(seen).is_err() {
                return;
            }
        }
    }

    /// Leads until a thread of the program calls.
    fn stand_in(&self, seen: u64) -> Result<(), CommError> {
        let mut held = self.take()?;
        let Some(waiter) = held.engine.roster.lead(Kind::Progress) else { return Ok(()) };
        let is_away = |engine: &Engine| {
            engine.looks == seen
                && engine.roster.leads(waiter)
                && !self.ends.load(Ordering::Relaxed)
                && self.wanting.load(Ordering::Relaxed) == 0
        };
        loop {
            while is_away(&held.engine) && held.progress(self.clock.now()) {}
            if !is_away(&held.engine) {
                break;
            }
            let now = self.clock.now();
            // A thread that calls takes over without waking this one, which is not to miss its end.
            held = self.sleep(held, waiter, now, Some(now + time(CARE)))?;
        }
        held.engine.roster.resign(waiter);
        Ok(())
    }

    /// Ends the progress thread.
    pub fn dismiss(&self) {
        self.ends.store(true, Ordering::Release);
        self.waking.ring();
    }

    /// Panics while it holds the engine.
    #[cfg(test)]
    pub fn panic_within(&self) {
        let within = std::panic::AssertUnwindSafe(|| {
            let _held = self.take().unwrap();
            panic!("a bug of ours, as far as this test goes");
        });
        std::panic::catch_unwind(within).unwrap_err();
    }
}

impl Begun<'_> {
    /// Tells a set when it is done. Returns which request it is.
    pub fn watched_by(mut self, set: Option<SetKey>) -> RequestKey {
        if let Some(set) = set {
            self.held.watch(set, self.key);
        }
        self.key
    }

    /// Takes back its memory if the thread that waits for it panics.
    pub fn guard(self, core: &Core) -> Guard<'_> {
        Guard { core, key: self.key }
    }

    /// Waits until it is done, or has been given up.
    pub fn finish(self, core: &Core, timeout: Option<Duration>) -> Result<Status, CommError> {
        let Begun { key, held, now } = self;
        if key.is_null() {
            return Ok(Status { source: core.rank, tag: 0, bytes: 0 });
        }
        let guard = Guard { core, key };
        let done = core.finished_from((held, now), key, timeout);
        std::mem::forget(guard);
        done
    }
}

/// Takes back the memory of a request if the thread that waits for it panics.
pub(crate) struct Guard<'a> {
    core: &'a Core,
    pub key: RequestKey,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.core.take_back(&[self.key]);
    }
}
