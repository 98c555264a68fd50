//! Ranks and the messages between them: what programs use.
//!
//! ```no_run
//! use crosstie_wire::Comm;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let comm = Comm::init()?;
//! let (rank, size) = (comm.rank(), comm.size());
//! if rank == 0 {
//!     for to in 1..size {
//!         comm.send(to, 7, &[1.5, 2.5])?;
//!     }
//! } else {
//!     let mut pair = [0.0; 2];
//!     comm.recv(0, 7, &mut pair)?;
//! }
//! let mut sum = [rank as u64];
//! comm.all_reduce(&mut sum, |a, b| *a += b)?;
//! comm.finish()?;
//! # Ok(())
//! # }
//! ```
//!
//! Messages between two ranks with equal tags arrive in the order in which they were sent. Short
//! ones are sent at once; of long ones the data go when there is a receive for them, over all rails
//! at once.

mod choice;
mod collective;
pub(crate) mod connect;
mod error;
mod options;
mod requests;
mod scope;

pub use choice::Algorithms;
pub use collective::{Collective, Contradiction, Playing};
pub use error::{CommError, Fate};
pub use options::Options;
pub use requests::{Completion, Requests};
pub use scope::{Receiving, Scope, Sending};

use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Duration;

use bytemuck::{NoUninit, Pod};
use crosstie_launch::Job;
use crosstie_protocol::message::{Cancelled, ClaimId, Class, Tag};
use crosstie_units::Time;

use crate::clock::{Clock, time};
use crate::datagram::LONGEST;
use crate::lent::{Lent, LentMut};
pub use crate::rank::Loss;
use crate::rank::{
    Buffer, Failure, RailStatistics, Rank, RequestKey, Selection, Send, SetKey, Status as Done,
    context,
};
use crate::waiting::{Intruder, Pass, Waiting, Waking};

/// The ranks of a job, as one of them sees it.
///
/// A rank makes progress while it is in one of these calls; a thread of its own sees to it that it
/// answers others also while it computes for long.
pub struct Comm {
    shared: Arc<Shared>,
    rank: usize,
    size: usize,
    /// How many ranks share a core with it, itself included.
    ranks_each: u32,
    /// Who else is on that.
    intruder: Cell<Intruder>,
    /// How long an operation may take.
    timeout: Cell<Option<Duration>>,
    job: RefCell<Option<Job>>,
    /// True if an operation ended with an error.
    failed: Cell<bool>,
    caretaker: Option<JoinHandle<()>>,
    collectives: collective::Collectives,
    /// Which algorithms they take.
    choice: choice::Choice,
    /// One thread at a time.
    _alone: PhantomData<Cell<()>>,
}

/// What a rank's own thread shares with its caretaker.
struct Shared {
    engine: Mutex<Rank>,
    clock: Clock,
    /// How often the engine was looked after by the rank itself, and whether it is at it.
    looks: AtomicU64,
    attended: AtomicBool,
    ends: AtomicBool,
    /// What the caretaker waits for.
    waking: Waking,
}

/// How often a rank looks whether something has come before it looks at the clock.
const LOOKS: u32 = 16;
const LOOKS_AT_MEMORY: u32 = 64;

/// After this number of non-blocking calls in a row, a rank receives what its rails and rings hold.
const BEGUN: u64 = 128;

/// How often the caretaker looks whether the rank looks after its messages.
const CARE: Duration = Duration::from_millis(5);

/// A message that has been received, or is there to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Who sent it.
    pub source: usize,
    /// Its tag.
    pub tag: u32,
    /// Its length in bytes.
    pub bytes: usize,
}

/// A message that is kept for one receive.
#[derive(Debug)]
pub struct Claim {
    claim: ClaimId,
    status: Status,
}

impl Claim {
    /// Who sent it, its tag and its length.
    pub fn status(&self) -> Status {
        self.status
    }
}

/// Tags of programs are below this.
pub const TAGS: u32 = 1 << 31;

impl Shared {
    /// The engine, unless a holder of it panicked. Then it may be in any state, and memory that was
    /// lent to it may be gone: nobody touches it any more.
    fn engine(&self) -> Result<MutexGuard<'_, Rank>, CommError> {
        self.engine.lock().map_err(|_| CommError::Panicked)
    }

    /// Looks after messages while the rank itself does not.
    fn care(&self) {
        let mut seen = self.looks.load(Ordering::Relaxed);
        while !self.ends.load(Ordering::Acquire) {
            std::thread::park_timeout(CARE);
            while self.is_away(seen) && !self.ends.load(Ordering::Acquire) {
                let Ok(mut engine) = self.engine() else { return };
                while self.is_away(seen) && engine.progress(self.clock.now()) {}
                let (now, due) = (self.clock.now(), engine.deadline());
                drop(engine);
                // Until something comes by a rail or is due, as a rank would: who answers late is
                // taken for slow.
                let due = due.map_or(u64::MAX, |due| due.ps().saturating_sub(now.ps()) / 1000);
                self.waking.wait(CARE.min(Duration::from_nanos(due)));
            }
            seen = self.looks.load(Ordering::Relaxed);
        }
    }

    /// Whether the rank has not looked after its messages since then.
    fn is_away(&self, seen: u64) -> bool {
        self.looks.load(Ordering::Relaxed) == seen && !self.attended.load(Ordering::Relaxed)
    }
}

impl Comm {
    /// Joins the job of which this process is a rank, as the environment tells; alone if it tells
    /// of none.
    pub fn init() -> Result<Comm, CommError> {
        Comm::with(Options::from_environment()?)
    }

    /// The same with options.
    pub fn with(options: Options) -> Result<Comm, CommError> {
        Comm::of(Job::join()?, options)
    }

    /// The same for a job that this rank has joined, once all ranks of it come here.
    pub fn of(mut job: Job, options: Options) -> Result<Comm, CommError> {
        let connect::Connected { engine, ranks_each, ranks_per_core, machines } =
            connect::connect(&mut job, &options)?;
        let crowded = ranks_per_core >= choice::CROWDED;
        let choice = choice::Choice::agreed(&mut job, &options, &engine, &machines, crowded)?;
        let (rank, size) = (job.rank(), job.size());
        let waking = Waking::new(&engine).map_err(CommError::Thread)?;
        let shared = Arc::new(Shared {
            waking,
            engine: Mutex::new(engine),
            clock: Clock::start(),
            looks: AtomicU64::new(0),
            attended: AtomicBool::new(false),
            ends: AtomicBool::new(false),
        });
        let caretaker = (size > 1).then(|| {
            let shared = Arc::clone(&shared);
            let name = std::thread::Builder::new().name("crosstie".to_owned());
            name.spawn(move || shared.care())
        });
        let caretaker = caretaker.transpose().map_err(CommError::Thread)?;
        Ok(Comm {
            shared,
            rank,
            size,
            ranks_each,
            intruder: Cell::default(),
            timeout: Cell::new(None),
            job: RefCell::new(Some(job)),
            failed: Cell::new(false),
            caretaker,
            collectives: collective::Collectives::default(),
            choice,
            _alone: PhantomData,
        })
    }

    /// Which rank this is, counted from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How long an operation may take before it is an error; `None`: as long as the other ranks
    /// live, which is the default.
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        self.timeout.set(timeout);
    }

    /// Sends a message, and waits until its memory can be used again: short messages may not have
    /// arrived by then.
    pub fn send<T: NoUninit>(&self, to: usize, tag: u32, message: &[T]) -> Result<(), CommError> {
        self.send_in(Class::Application, to, self.tag(tag)?, bytemuck::cast_slice(message))
    }

    /// Sends a message, and waits until a receive has taken it.
    #[allow(unsafe_code)] // Lends memory for as long as the call lasts.
    pub fn send_synchronous<T: NoUninit>(
        &self,
        to: usize,
        tag: u32,
        message: &[T],
    ) -> Result<(), CommError> {
        let tag = self.tag(tag)?;
        // SAFETY: `finish` returns when the rank is done with it, or has taken it back.
        let lent = unsafe { Lent::new(bytemuck::cast_slice(message)) };
        self.begin_send_as(Class::Application, to, tag, lent, true)?.finish(self).map(drop)
    }

    /// Receives a message from a rank, or from any, with a tag, or with any. It may be shorter than
    /// there is room for.
    pub fn recv<T: Pod>(
        &self,
        from: impl Into<Option<usize>>,
        tag: impl Into<Option<u32>>,
        message: &mut [T],
    ) -> Result<Status, CommError> {
        let tag = tag.into().map(|tag| self.tag(tag)).transpose()?;
        self.recv_in(Class::Application, from.into(), tag, bytemuck::cast_slice_mut(message))
    }

    /// Waits until there is a message that a receive would take, and tells of it.
    pub fn probe(
        &self,
        from: impl Into<Option<usize>>,
        tag: impl Into<Option<u32>>,
    ) -> Result<Status, CommError> {
        let (from, tag) = (from.into(), tag.into());
        let from = from.map(|from| self.peer(from)).transpose()?;
        let tag = tag.map(|tag| self.tag(tag)).transpose()?;
        let what = Selection { context: context(Class::Application), from, tag };
        let found = self.until(|engine| {
            let found = engine.probe(&what).map(Ok);
            found.or_else(|| {
                let gone = from.filter(|&from| engine.is_gone(from))?;
                Some(Err(Failure::Unreachable { rank: gone, cause: engine.loss(gone) }))
            })
        })?;
        found.map(Status::from).map_err(|failure| self.fails(failure.into()))
    }

    /// Waits until there is a message that a receive would take, and keeps it for
    /// [`Comm::recv_claimed`]: no other receive takes it, and no probe finds it.
    pub fn claim(
        &self,
        from: impl Into<Option<usize>>,
        tag: impl Into<Option<u32>>,
    ) -> Result<Claim, CommError> {
        let (from, tag) = (from.into(), tag.into());
        self.probe(from, tag)?;
        let from = from.map(|from| self.peer(from)).transpose()?;
        let tag = tag.map(|tag| self.tag(tag)).transpose()?;
        let what = Selection { context: context(Class::Application), from, tag };
        let (claim, status) = self.until(|engine| engine.claim(&what))?;
        Ok(Claim { claim, status: status.into() })
    }

    /// Receives a message that has been [claimed](Comm::claim).
    #[allow(unsafe_code)] // Lends memory for as long as the call lasts.
    pub fn recv_claimed<T: Pod>(
        &self,
        claim: Claim,
        message: &mut [T],
    ) -> Result<Status, CommError> {
        // SAFETY: `finish` returns when the rank is done with it, or has taken it back.
        let lent = unsafe { LentMut::new(bytemuck::cast_slice_mut(message)) };
        let (mut engine, now) = self.begin()?;
        let key = engine.receive_claimed(now, claim.claim, Buffer::In(lent));
        Begun { key, engine, now }.finish(self)
    }

    /// The message that a receive would take, if there is one.
    pub fn try_probe(
        &self,
        from: impl Into<Option<usize>>,
        tag: impl Into<Option<u32>>,
    ) -> Result<Option<Status>, CommError> {
        let from = from.into().map(|from| self.peer(from)).transpose()?;
        let tag = tag.into().map(|tag| self.tag(tag)).transpose()?;
        let (mut engine, now) = self.look()?;
        engine.progress(now);
        let what = Selection { context: context(Class::Application), from, tag };
        Ok(engine.probe(&what).map(Status::from))
    }

    /// Begins sends and receives that go on together. All of them are done, or given up after an
    /// error, when this returns.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let comm = crosstie_wire::Comm::init()?;
    /// # let neighbour = 1;
    /// let (mine, mut other) = (vec![1u8; 1 << 20], vec![0u8; 1 << 20]);
    /// comm.scope(|scope| {
    ///     let coming = scope.recv(neighbour, 0, &mut other)?;
    ///     scope.send(neighbour, 0, &mine)?;
    ///     // Something useful.
    ///     let (status, message) = coming.wait()?;
    ///     assert_eq!((status.bytes, message[0]), (1 << 20, 1));
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn scope<'scope, R>(
        &self,
        body: impl FnOnce(&Scope<'scope, '_>) -> Result<R, CommError>,
    ) -> Result<R, CommError> {
        scope::run(self, body)
    }

    /// What rails have carried, and what is known of them.
    pub fn statistics(&self) -> Vec<RailStatistics> {
        self.shared.engine().map_or(Vec::new(), |engine| engine.statistics())
    }

    /// Waits until all that was sent has arrived, and leaves the job with all others. A message
    /// that did not arrive, or that came and was never received, is an error.
    pub fn finish(mut self) -> Result<(), CommError> {
        let (job, arrived) = self.leave()?;
        job.finish()?;
        arrived
    }

    /// The same, but stays in the job, of which another may be made when all have come here.
    pub fn release(mut self) -> Result<Job, CommError> {
        let (job, arrived) = self.leave()?;
        arrived.map(|()| job)
    }

    /// Ends the job, of all ranks.
    pub fn abort(self, code: i32, message: &str) -> ! {
        if let Some(job) = self.job.borrow_mut().take() {
            let _ = job.abort(code, message);
        }
        std::process::exit(code)
    }

    /// Leaves the ranks; whether all has arrived.
    fn leave(&mut self) -> Result<(Job, Result<(), CommError>), CommError> {
        let mut job = self.job.get_mut().take().expect("it is left once");
        let sent = self.wait_until_sent(PARTING);
        // A rank that has left does not come to the fence.
        if let Some(rank) = self.shared.engine()?.deserter() {
            return Err(self.fails(CommError::Unreachable { rank: rank.into(), cause: Loss::Left }));
        }
        // A rank that ends from here on has left in peace.
        self.shared.engine()?.stop_watching();
        // Others may still want answers, which the caretaker gives until all are here.
        let left = job.fence();
        self.dismiss();
        left?;
        Ok((job, sent.and_then(|()| self.is_settled())))
    }

    /// Waits until all that was sent has arrived.
    fn wait_until_sent(&self, most: Duration) -> Result<(), CommError> {
        let timeout = self.timeout.replace(Some(most));
        let sent = self.until(|engine| engine.has_sent_all().then_some(()));
        self.timeout.set(timeout);
        sent
    }

    /// Ends the caretaker.
    fn dismiss(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        if let Some(caretaker) = self.caretaker.take() {
            caretaker.thread().unpark();
            let _ = caretaker.join();
        }
    }

    /// Returns an error if a message was sent or has come that nobody has received. All ranks have
    /// sent all by now.
    fn is_settled(&self) -> Result<(), CommError> {
        let (mut engine, now) = self.look()?;
        while engine.progress(now) {}
        if let Some((rank, messages)) = engine.undelivered() {
            return Err(CommError::Undelivered { rank: rank.into(), messages });
        }
        if let Some((Done { from, tag, bytes }, messages)) = engine.unreceived() {
            let (from, tag, bytes) = (from.into(), tag.0, bytes as usize);
            return Err(CommError::Unreceived { from, tag, bytes, messages });
        }
        Ok(())
    }

    /// Tells all others that this rank leaves, so that nobody waits for it.
    fn say_farewell(&self, failed: bool) {
        if let Ok((mut engine, now)) = self.look() {
            engine.leave(now, failed);
        }
        let _ = self.wait_until_sent(FAREWELL);
    }

    /// An operation ends with this error.
    fn fails(&self, error: CommError) -> CommError {
        self.failed.set(true);
        error
    }

    /// A rank that there is.
    fn peer(&self, rank: usize) -> Result<u16, CommError> {
        let known = u16::try_from(rank).ok().filter(|_| rank < self.size);
        known.ok_or_else(|| self.fails(CommError::NoSuchRank { found: rank, size: self.size }))
    }

    fn tag(&self, tag: u32) -> Result<Tag, CommError> {
        match tag < TAGS {
            true => Ok(Tag(tag)),
            false => Err(self.fails(CommError::Tag { found: tag })),
        }
    }

    /// The engine.
    fn engine(&self) -> Result<MutexGuard<'_, Rank>, CommError> {
        // Nobody else counts.
        let looks = &self.shared.looks;
        looks.store(looks.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.shared.engine()
    }

    /// The engine, and the time it is: in this order, since the caretaker may have been at it until
    /// now.
    fn look(&self) -> Result<(MutexGuard<'_, Rank>, Time), CommError> {
        let engine = self.engine()?;
        Ok((engine, self.shared.clock.now()))
    }

    /// The engine, and about what time it is, for where nobody has to know it better.
    fn glance(&self) -> Result<(MutexGuard<'_, Rank>, Time), CommError> {
        let engine = self.engine()?;
        let looks = self.shared.looks.load(Ordering::Relaxed);
        // Also who always finds something at once is to notice that time passes.
        let about = match looks % u64::from(LOOKS) {
            0 => self.shared.clock.now(),
            _ => engine.now(),
        };
        Ok((engine, about))
    }

    /// The same for the begin of an operation. A rank that begins one after another has to answer
    /// others too: the caretaker takes it for attended.
    fn begin(&self) -> Result<(MutexGuard<'_, Rank>, Time), CommError> {
        let (mut engine, about) = self.glance()?;
        if self.shared.looks.load(Ordering::Relaxed).is_multiple_of(BEGUN) {
            engine.progress(self.shared.clock.now());
        }
        let about = about.max(engine.now());
        Ok((engine, about))
    }

    /// Looks after messages until something is found.
    fn until<R>(&self, find: impl FnMut(&mut Rank) -> Option<R>) -> Result<R, CommError> {
        self.until_from(self.glance()?, find)
    }

    /// The same for who has the engine already, and knows about what time it is.
    fn until_from<R>(
        &self,
        (mut engine, begin): (MutexGuard<'_, Rank>, Time),
        mut find: impl FnMut(&mut Rank) -> Option<R>,
    ) -> Result<R, CommError> {
        // Most of what is sent is done with at once.
        if let Some(found) = find(&mut engine) {
            return Ok(found);
        }
        let Shared { clock, attended, .. } = &*self.shared;
        let end = self.timeout.get().map(|timeout| clock.now() + time(timeout));
        let mut waiting = Waiting::new(self.ranks_each);
        let looks = match (self.ranks_each == 1, engine.has_rails()) {
            (false, _) => 1,
            (true, true) => LOOKS,
            (true, false) => LOOKS_AT_MEMORY,
        };
        attended.store(true, Ordering::Relaxed);
        let mut now = begin;
        let result = loop {
            let mut came = false;
            for _ in 0..looks {
                came = engine.progress_about(now, &|| clock.now());
                if came {
                    break;
                }
            }
            if let Some(found) = find(&mut engine) {
                break Ok(found);
            }
            // Collective operations go on meanwhile. What combines is not called under the lock.
            if let Some(done) = self.collectives.next_done(&mut engine) {
                drop(engine);
                self.collective_request_done(done);
                engine = match self.shared.engine() {
                    Ok(engine) => engine,
                    Err(error) => break Err(error),
                };
                continue;
            }
            now = clock.now();
            if end.is_some_and(|end| end <= now) {
                let after = self.timeout.get().unwrap_or_default();
                break Err(self.fails(CommError::TimedOut { after, fate: None }));
            }
            match waiting.pass(now, came, &mut engine) {
                Pass::Spun => {}
                Pass::GaveWay => {
                    waiting.gave_way(self.rank, now, || clock.now(), &self.intruder);
                }
                // Whoever slept may have been woken by what was taken in meanwhile.
                Pass::Slept => {
                    if let Some(found) = find(&mut engine) {
                        break Ok(found);
                    }
                }
            }
        };
        attended.store(false, Ordering::Relaxed);
        result
    }

    /// Waits for a request. If it is not done in time, its memory is taken back.
    fn finished(&self, key: RequestKey) -> Result<Status, CommError> {
        self.finished_from(self.glance()?, key)
    }

    /// The same for who has the engine already, and knows about what time it is.
    fn finished_from(
        &self,
        look: (MutexGuard<'_, Rank>, Time),
        key: RequestKey,
    ) -> Result<Status, CommError> {
        match self.until_from(look, |engine| engine.outcome(key)) {
            Ok(outcome) => outcome.map(Status::from).map_err(|failure| self.fails(failure.into())),
            Err(CommError::TimedOut { after, .. }) => {
                let (mut engine, now) = self.look()?;
                // It may have been done since, by the caretaker.
                engine.progress(now);
                if let Some(outcome) = engine.outcome(key) {
                    return outcome.map(Status::from).map_err(CommError::from);
                }
                let fate = engine.abandon(now, &[key]).first().map(|&(_, what)| what.into());
                Err(CommError::TimedOut { after, fate })
            }
            Err(error) => {
                self.take_back(&[key]);
                Err(error)
            }
        }
    }

    /// Whether a request is done, after a look.
    fn is_done(&self, key: RequestKey) -> bool {
        // To wait is an error at once if there is no engine any more.
        let Ok((mut engine, now)) = self.look() else { return true };
        engine.progress(now);
        engine.is_done(key)
    }

    /// Takes back the memory of requests; what becomes of those that were not done. An engine that
    /// panicked touches none of it anyhow.
    fn take_back(&self, keys: &[RequestKey]) -> Vec<(RequestKey, Fate)> {
        let Ok(mut engine) = self.shared.engine() else { return Vec::new() };
        let given_up = engine.abandon(self.shared.clock.now(), keys);
        given_up.into_iter().map(|(key, what)| (key, what.into())).collect()
    }

    fn begin_send(
        &self,
        class: Class,
        to: usize,
        tag: Tag,
        bytes: Lent,
    ) -> Result<Begun<'_>, CommError> {
        self.begin_send_as(class, to, tag, bytes, false)
    }

    /// The same, of which a synchronous one is done when a receive has taken the message.
    fn begin_send_as(
        &self,
        class: Class,
        to: usize,
        tag: Tag,
        bytes: Lent,
        synchronous: bool,
    ) -> Result<Begun<'_>, CommError> {
        let to = self.peer(to)?;
        let length = bytes.get().len() as u64;
        if length > LONGEST {
            return Err(self.fails(CommError::TooLong { bytes: length }));
        }
        let (mut engine, mut now) = self.begin()?;
        if !engine.is_local(to) {
            // Rails are to know when.
            now = self.shared.clock.now();
        }
        let send = Send { context: context(class), to, tag, synchronous };
        let key = engine.send(now, &send, Buffer::Out(bytes));
        Ok(Begun { key, engine, now })
    }

    fn begin_recv(
        &self,
        class: Class,
        from: Option<usize>,
        tag: Option<Tag>,
        bytes: LentMut,
    ) -> Result<Begun<'_>, CommError> {
        let from = from.map(|from| self.peer(from)).transpose()?;
        let (mut engine, now) = self.begin()?;
        let what = Selection { context: context(class), from, tag };
        let key = engine.receive(now, &what, Buffer::In(bytes));
        Ok(Begun { key, engine, now })
    }

    #[allow(unsafe_code)] // Lends memory for as long as the call lasts.
    fn send_in(&self, class: Class, to: usize, tag: Tag, bytes: &[u8]) -> Result<(), CommError> {
        // SAFETY: `finish` returns when the engine is done with it, or has taken it back.
        let lent = unsafe { Lent::new(bytes) };
        self.begin_send(class, to, tag, lent)?.finish(self).map(|_| ())
    }

    #[allow(unsafe_code)] // As above.
    fn recv_in(
        &self,
        class: Class,
        from: Option<usize>,
        tag: Option<Tag>,
        bytes: &mut [u8],
    ) -> Result<Status, CommError> {
        // SAFETY: as above.
        let lent = unsafe { LentMut::new(bytes) };
        self.begin_recv(class, from, tag, lent)?.finish(self)
    }
}

/// A send or a receive that has just begun.
struct Begun<'a> {
    key: RequestKey,
    engine: MutexGuard<'a, Rank>,
    now: Time,
}

impl Begun<'_> {
    /// Tells a set when it is done. Returns which it is.
    fn watched_by(mut self, set: Option<SetKey>) -> RequestKey {
        if let Some(set) = set {
            self.engine.watch(set, self.key);
        }
        self.key
    }

    /// Waits until it is done, or has been given up.
    fn finish(self, comm: &Comm) -> Result<Status, CommError> {
        let Begun { key, engine, now } = self;
        let guard = Guard { comm, key };
        let done = comm.finished_from((engine, now), key);
        std::mem::forget(guard);
        done
    }
}

/// Takes back the memory of a request if whoever waits for it panics.
struct Guard<'a> {
    comm: &'a Comm,
    key: RequestKey,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.comm.take_back(&[self.key]);
    }
}

/// How long a rank that leaves waits until what it has sent has arrived.
const PARTING: Duration = Duration::from_secs(30);

/// How long a rank that leaves without finishing waits until the others know.
const FAREWELL: Duration = Duration::from_millis(200);

impl Drop for Comm {
    /// A rank that leaves without [finishing](Comm::finish) tells the others, so that nobody waits
    /// for it. After an error it waits for nobody.
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The others learn of it by what the process leaves behind.
            self.shared.ends.store(true, Ordering::Release);
            return;
        }
        if let Some(mut job) = self.job.get_mut().take() {
            let failed = self.failed.get();
            if !failed {
                let _ = self.wait_until_sent(PARTING);
            }
            self.say_farewell(failed);
            if !failed && job.fence().is_ok() {
                let _ = job.finish();
            }
        }
        self.dismiss();
    }
}

impl From<Done> for Status {
    fn from(Done { from, tag, bytes }: Done) -> Status {
        Status { source: from.into(), tag: tag.0, bytes: bytes as usize }
    }
}

impl From<Failure> for CommError {
    fn from(failure: Failure) -> CommError {
        match failure {
            Failure::Unreachable { rank, cause } => {
                CommError::Unreachable { rank: rank.into(), cause }
            }
            Failure::Truncated { from, tag, bytes, room } => {
                let (from, tag, bytes) = (from.into(), tag.0, bytes as usize);
                CommError::Truncated { from, tag, bytes, room }
            }
        }
    }
}

impl From<Cancelled> for Fate {
    fn from(what: Cancelled) -> Fate {
        match what {
            Cancelled::Withdrawn => Fate::Withdrawn,
            Cancelled::GoesOn => Fate::StillSent,
            Cancelled::Taken { from, tag, bytes } => {
                Fate::Dropped { from: from.0 as usize, tag: tag.0, bytes: bytes as usize }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Panics while it holds the engine.
    fn panic_within(shared: &Shared) {
        let within = std::panic::AssertUnwindSafe(|| {
            let _engine = shared.engine.lock().unwrap();
            panic!("a bug of ours, as far as this test goes");
        });
        std::panic::catch_unwind(within).unwrap_err();
    }

    #[test]
    fn after_a_panic_within_the_engine_nobody_touches_it() {
        let comm = Comm::of(Job::joined_by(|_| None).unwrap(), Options::default()).unwrap();
        let caretaker = {
            let shared = Arc::clone(&comm.shared);
            std::thread::spawn(move || shared.care())
        };
        let mut room = [1u8];
        let result = comm.scope(|scope| {
            let coming = scope.recv(0, 1, &mut room)?;
            panic_within(&comm.shared);
            assert!(coming.is_done(), "nobody waits for it");
            assert!(matches!(scope.send(0, 1, &[2u8]), Err(CommError::Panicked)));
            coming.wait().map(drop)
        });
        assert!(matches!(result, Err(CommError::Panicked)), "{result:?}");
        assert_eq!(room, [1], "it is ours again, and stays what it is");
        assert!(matches!(comm.send(0, 1, &[2u8]), Err(CommError::Panicked)));
        assert!(matches!(comm.recv(0, 1, &mut room), Err(CommError::Panicked)));
        assert!(matches!(comm.probe(0, 1), Err(CommError::Panicked)));
        assert!(matches!(comm.try_probe(0, 1), Err(CommError::Panicked)));
        assert!(comm.statistics().is_empty());
        caretaker.join().unwrap();
        assert!(matches!(comm.finish(), Err(CommError::Panicked)));
    }
}
