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

use std::cell::Cell;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use bytemuck::{NoUninit, Pod};
use crosstie_launch::Job;
use crosstie_protocol::message::{Cancelled, Class, Context, Tag};

use crate::lent::{Lent, LentMut};
pub use crate::rank::Loss;
use crate::rank::{Buffer, Failure, RailStatistics, Rank, RequestKey, Selection, Send, context};
use crate::worker::core::Begun;
pub use crate::worker::{Claim, Status};
use crate::worker::{Source, Worker};

/// The ranks of a job, as one of them sees it.
///
/// A rank makes progress while it is in one of these calls; a thread of its own sees to it that it
/// answers others also while it computes for long. It is for one thread; its
/// [worker](Comm::worker) is for any.
pub struct Comm {
    worker: Worker,
    rank: usize,
    size: usize,
    /// How long an operation may take.
    timeout: Cell<Option<Duration>>,
    /// True if an operation ended with an error.
    failed: Cell<bool>,
    collectives: collective::Collectives,
    /// Which algorithms they take.
    choice: choice::Choice,
    /// One thread at a time.
    _alone: PhantomData<Cell<()>>,
}

/// Tags of programs are below this.
pub const TAGS: u32 = 1 << 31;

/// Where programs send and receive.
const PROGRAM: Context = context(Class::Application);

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
        let connected = connect::connect(&mut job, &options)?;
        let choice = choice::Choice::agreed(&mut job, &options, &connected)?;
        let worker = Worker::connected(job, connected)?;
        Ok(Comm {
            rank: worker.rank(),
            size: worker.size(),
            worker,
            timeout: Cell::new(None),
            failed: Cell::new(false),
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

    /// What is below: the same rank, for any thread, with contexts of its own. Context 0 of each
    /// class is that of this `Comm`.
    pub fn worker(&self) -> &Worker {
        &self.worker
    }

    /// How long an operation may take before it is an error; `None`: as long as the other ranks
    /// live, which is the default.
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        self.timeout.set(timeout);
    }

    /// Sends a message, and waits until its memory can be used again: short messages may not have
    /// arrived by then.
    pub fn send<T: NoUninit>(&self, to: usize, tag: u32, message: &[T]) -> Result<(), CommError> {
        self.send_as(to, tag, bytemuck::cast_slice(message), false)
    }

    /// Sends a message, and waits until a receive has taken it.
    pub fn send_synchronous<T: NoUninit>(
        &self,
        to: usize,
        tag: u32,
        message: &[T],
    ) -> Result<(), CommError> {
        self.send_as(to, tag, bytemuck::cast_slice(message), true)
    }

    #[allow(unsafe_code)] // Lends memory for as long as the call lasts.
    fn send_as(
        &self,
        to: usize,
        tag: u32,
        bytes: &[u8],
        synchronous: bool,
    ) -> Result<(), CommError> {
        let tag = self.tag(tag)?;
        // SAFETY: `finish` returns when the rank is done with it, or has taken it back.
        let lent = unsafe { Lent::new(bytes) };
        let begun = self.begin_send_as(Class::Application, to, tag, lent, synchronous)?;
        self.finished_from(begun).map(drop)
    }

    /// Receives a message from a rank, or from any, with a tag, or with any. It may be shorter than
    /// there is room for.
    #[allow(unsafe_code)] // As above.
    pub fn recv<T: Pod>(
        &self,
        from: impl Into<Option<usize>>,
        tag: impl Into<Option<u32>>,
        message: &mut [T],
    ) -> Result<Status, CommError> {
        let tag = tag.into().map(|tag| self.tag(tag)).transpose()?;
        // SAFETY: as above.
        let lent = unsafe { LentMut::new(bytemuck::cast_slice_mut(message)) };
        let begun = self.begin_recv(Class::Application, from.into(), tag, lent)?;
        self.finished_from(begun)
    }

    /// Waits until there is a message that a receive would take, and tells of it.
    pub fn probe(
        &self,
        from: impl Into<Option<usize>>,
        tag: impl Into<Option<u32>>,
    ) -> Result<Status, CommError> {
        let what = self.selection(from.into(), tag.into())?;
        let core = self.worker.core();
        let found = core.probe(&what, self.timeout.get(), |rank| rank.probe(&what));
        self.checked(found).map(Status::from)
    }

    /// Waits until there is a message that a receive would take, and keeps it for
    /// [`Comm::recv_claimed`]: no other receive takes it, and no probe finds it. Dropping the claim
    /// gives it back.
    pub fn claim(
        &self,
        from: impl Into<Option<usize>>,
        tag: impl Into<Option<u32>>,
    ) -> Result<Claim, CommError> {
        let (rank, tag) = (from.into(), tag.into());
        self.selection(rank, tag)?;
        let from = Source { context: PROGRAM, rank, tag };
        self.checked(self.worker.claim_within(&from, self.timeout.get()))
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
        let begun = self.worker.begin_claimed(claim, Buffer::In(lent))?;
        self.finished_from(begun)
    }

    /// The message that a receive would take, if there is one.
    pub fn try_probe(
        &self,
        from: impl Into<Option<usize>>,
        tag: impl Into<Option<u32>>,
    ) -> Result<Option<Status>, CommError> {
        let (rank, tag) = (from.into(), tag.into());
        self.selection(rank, tag)?;
        self.worker.try_probe(&Source { context: PROGRAM, rank, tag })
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
        self.worker.statistics()
    }

    /// Waits until all that was sent has arrived, and leaves the job with all others, however long
    /// that takes. A message that did not arrive, or that came and was never received, is an error.
    pub fn finish(self) -> Result<(), CommError> {
        self.checked(self.worker.finish())
    }

    /// The same, but stays in the job, of which another may be made when all have come here.
    pub fn release(self) -> Result<Job, CommError> {
        self.checked(self.worker.leave_job())
    }

    /// Ends the job, of all ranks.
    pub fn abort(self, code: i32, message: &str) -> ! {
        self.worker.abort(code, message)
    }

    /// An operation ends with this error.
    fn fails(&self, error: CommError) -> CommError {
        self.failed.set(true);
        error
    }

    /// An operation ends like this.
    #[inline]
    fn checked<R>(&self, result: Result<R, CommError>) -> Result<R, CommError> {
        if result.is_err() {
            self.failed.set(true);
        }
        result
    }

    /// A rank that there is.
    fn peer(&self, rank: usize) -> Result<u16, CommError> {
        self.checked(self.worker.core().peer(rank))
    }

    fn tag(&self, tag: u32) -> Result<Tag, CommError> {
        match tag < TAGS {
            true => Ok(Tag(tag)),
            false => Err(self.fails(CommError::Tag { found: tag })),
        }
    }

    fn selection(&self, from: Option<usize>, tag: Option<u32>) -> Result<Selection, CommError> {
        let from = from.map(|from| self.peer(from)).transpose()?;
        let tag = tag.map(|tag| self.tag(tag)).transpose()?;
        Ok(Selection { context: PROGRAM, from, tag })
    }

    /// Looks after messages until something is found.
    fn until<R>(&self, find: impl FnMut(&mut Rank) -> Option<R>) -> Result<R, CommError> {
        self.until_within(self.timeout.get(), find)
    }

    /// The same within a time. Collective operations go on meanwhile; what combines is not called
    /// under the lock.
    fn until_within<R>(
        &self,
        timeout: Option<Duration>,
        mut find: impl FnMut(&mut Rank) -> Option<R>,
    ) -> Result<R, CommError> {
        let core = self.worker.core();
        if self.collectives.are_over() {
            return self.checked(core.until(timeout, find));
        }
        let end = timeout.map(|timeout| Instant::now() + timeout);
        let timed_out = |error| match error {
            CommError::TimedOut { fate, .. } => {
                CommError::TimedOut { after: timeout.unwrap_or_default(), fate }
            }
            error => error,
        };
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            let found = core.until(left, |rank| match find(rank) {
                Some(found) => Some(Ok(found)),
                None => self.collectives.next_done(rank).map(Err),
            });
            match self.checked(found.map_err(timed_out))? {
                Ok(found) => return Ok(found),
                Err(done) => self.collective_request_done(done),
            }
        }
    }

    /// Waits for a request. If it is not done in time, its memory is taken back.
    fn finished(&self, key: RequestKey) -> Result<Status, CommError> {
        let (core, timeout) = (self.worker.core(), self.timeout.get());
        if self.collectives.are_over() {
            return self.checked(core.finished(key, timeout));
        }
        match self.until_within(timeout, |rank| rank.is_done(key).then_some(())) {
            Ok(()) => self.checked(core.finished(key, None)),
            Err(CommError::TimedOut { after, .. }) => {
                // It may have been done since.
                let ended = core.finished(key, Some(Duration::ZERO));
                self.checked(ended.map_err(|error| match error {
                    CommError::TimedOut { fate, .. } => CommError::TimedOut { after, fate },
                    error => error,
                }))
            }
            Err(error) => {
                self.take_back(&[key]);
                Err(error)
            }
        }
    }

    /// Waits for a send or a receive that has just begun.
    #[inline]
    fn finished_from(&self, begun: Begun<'_>) -> Result<Status, CommError> {
        if self.collectives.are_over() {
            return self.checked(begun.finish(self.worker.core(), self.timeout.get()));
        }
        let guard = begun.guard(self.worker.core());
        let done = self.finished(guard.key);
        std::mem::forget(guard);
        done
    }

    /// Takes back the memory of requests; what becomes of those that were not done.
    fn take_back(&self, keys: &[RequestKey]) -> Vec<(RequestKey, Fate)> {
        self.worker.core().take_back(keys)
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
        let send = Send { context: context(class), to: self.peer(to)?, tag, synchronous };
        self.checked(self.worker.core().send(&send, Buffer::Out(bytes)))
    }

    fn begin_recv(
        &self,
        class: Class,
        from: Option<usize>,
        tag: Option<Tag>,
        bytes: LentMut,
    ) -> Result<Begun<'_>, CommError> {
        let from = from.map(|from| self.peer(from)).transpose()?;
        let what = Selection { context: context(class), from, tag };
        self.checked(self.worker.core().receive(&what, Buffer::In(bytes)))
    }
}

impl Drop for Comm {
    /// A rank that leaves without [finishing](Comm::finish) tells the others, so that nobody waits
    /// for it. After an error it waits for nobody.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.worker.desert(self.failed.get());
        }
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
            Failure::Cancelled => CommError::Cancelled,
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

    #[test]
    fn after_a_panic_within_the_engine_nobody_touches_it() {
        let comm = Comm::of(Job::joined_by(|_| None).unwrap(), Options::default()).unwrap();
        let caretaker = {
            let worker = comm.worker.clone();
            std::thread::spawn(move || worker.core().care())
        };
        let mut room = [1u8];
        let result = comm.scope(|scope| {
            let coming = scope.recv(0, 1, &mut room)?;
            comm.worker.core().panic_within();
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
