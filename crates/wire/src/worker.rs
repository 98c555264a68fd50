//! What one rank does, for any number of threads: sends and receives under handles, in contexts.
//!
//! A [`Worker`] is below [`Comm`](crate::Comm), which is for programs; other interfaces to messages
//! are built on it. Requests are numbers that can be copied, given to other threads, tested, waited
//! for, cancelled, and released before they are done.
//!
//! ```no_run
//! use crosstie_wire::worker::{Class, Context, Destination, Source, Worker};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let worker = Worker::init()?;
//! let context = Context { class: Class::Application, id: 3 };
//! let next = (worker.rank() + 1) % worker.size();
//! let coming = worker.receive(&Source { context, rank: None, tag: Some(7) }, vec![0; 1 << 20])?;
//! let sent = worker.send(&Destination { context, rank: next, tag: 7 }, vec![1; 1 << 20])?;
//! // Any thread may wait for either.
//! let other = worker.clone();
//! let thread = std::thread::spawn(move || other.wait(sent).map(drop));
//! let done = worker.wait(coming)?;
//! println!("rank {} has sent {} bytes", done.status.source, done.memory.len());
//! thread.join().expect("it does not panic")?;
//! worker.finish()?;
//! # Ok(())
//! # }
//! ```

pub(crate) mod core;
mod roster;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub use crosstie_launch::Aborter;
use crosstie_launch::Job;
use crosstie_protocol::message::ClaimId;
pub use crosstie_protocol::message::{Class, Context, Tag};
use slotmap::{Key as _, KeyData};

use crate::comm::{CommError, Fate, Loss, Options, connect};
use crate::lent::{Lent, LentMut};
use crate::rank::{
    Buffer, RailStatistics, Rank, RequestKey, Selection, Send as Sends, SetKey, Status as Known,
};
use core::{Begun, Core};

/// A message that has been received, or is there to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Its sender.
    pub source: usize,
    /// Its tag.
    pub tag: u32,
    /// Its length in bytes.
    pub bytes: usize,
}

/// Where a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Destination {
    /// Only receives of this context take it.
    pub context: Context,
    /// The receiver.
    pub rank: usize,
    /// What tells it apart.
    pub tag: u32,
}

/// What a receive or a probe asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Only messages of this context.
    pub context: Context,
    /// The sender; `None`: any.
    pub rank: Option<usize>,
    /// The tag; `None`: any.
    pub tag: Option<u32>,
}

/// A send or a receive, as its worker numbers it. A number is not given again for as long as a
/// program runs, as far as 2^31 requests in one place reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request(u64);

impl Request {
    /// A send of lent memory that was done at once: it may be waited for, and need not be.
    pub const DONE: Request = Request(u32::MAX as u64 | 1 << 32);

    /// The request of a number.
    pub fn from_number(number: u64) -> Request {
        Request(number)
    }

    /// Its number.
    pub fn number(self) -> u64 {
        self.0
    }

    fn of(key: RequestKey) -> Request {
        Request(key.data().as_ffi())
    }

    fn key(self) -> RequestKey {
        RequestKey::from(KeyData::from_ffi(self.0))
    }
}

/// A set of requests that tells which of them are done, in the order in which they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestSet(u64);

impl RequestSet {
    fn key(self) -> SetKey {
        SetKey::from(KeyData::from_ffi(self.0))
    }
}

/// A request that is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    /// What was received; of a send it says nothing.
    pub status: Status,
    /// Its memory, if the worker owned it.
    pub memory: Vec<u8>,
}

/// A message that was taken out of matching, for one receive: no other takes it, and no probe finds
/// it. Dropping it gives the message back: it stands where it stood.
pub struct Claim {
    worker: Worker,
    claim: Option<ClaimId>,
    status: Status,
}

impl Claim {
    /// Its sender, its tag and its length.
    pub fn status(&self) -> Status {
        self.status
    }
}

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claim").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(claim) = self.claim
            && let Ok((mut held, now)) = self.worker.core().look()
        {
            held.unclaim(now, claim);
        }
    }
}

/// One rank, for any number of threads. All clones are the same rank.
///
/// A rank makes progress while a thread is in one of these calls; a progress thread answers others
/// while none is.
#[derive(Clone)]
pub struct Worker {
    inner: Arc<Inner>,
}

/// What all clones of a worker share. When the last of them goes, the rank leaves.
struct Inner {
    core: Arc<Core>,
    progress: Mutex<Option<JoinHandle<()>>>,
    job: Mutex<Option<Job>>,
}

/// How long a rank that leaves without finishing waits until the others know.
const FAREWELL: Duration = Duration::from_millis(200);

/// How long a rank that has finished waits for the launcher to say that all have: as long as it
/// takes.
const PEACE: Duration = Duration::from_secs(10 * 365 * 86_400);

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Core { rank, size, .. } = &*self.inner.core;
        f.debug_struct("Worker").field("rank", rank).field("size", size).finish_non_exhaustive()
    }
}

impl Worker {
    /// Joins the job of which this process is a rank, as the environment tells; alone if it tells
    /// of none.
    pub fn init() -> Result<Worker, CommError> {
        Worker::of(Job::join()?, &Options::from_environment()?)
    }

    /// The rank of a job that was joined, once all ranks of it come here.
    pub fn of(mut job: Job, options: &Options) -> Result<Worker, CommError> {
        let connected = connect::connect(&mut job, options)?;
        Worker::connected(job, connected)
    }

    /// The rank of a job whose ranks have found each other.
    pub(crate) fn connected(job: Job, connected: connect::Connected) -> Result<Worker, CommError> {
        let place = (job.rank(), job.size());
        let worker = Worker::new(connected.engine, job, place, connected.ranks_each)?;
        if place.1 > 1 {
            worker.begin_to_care()?;
        }
        Ok(worker)
    }

    /// The rank that has this engine, without a progress thread.
    fn new(
        engine: Rank,
        job: Job,
        place: (usize, usize),
        ranks_each: u32,
    ) -> Result<Worker, CommError> {
        let core = Core::new(engine, place, ranks_each, job.aborter()?);
        let core = Arc::new(core.map_err(CommError::Thread)?);
        let (progress, job) = (Mutex::new(None), Mutex::new(Some(job)));
        Ok(Worker { inner: Arc::new(Inner { core, progress, job }) })
    }

    /// Begins the progress thread.
    fn begin_to_care(&self) -> Result<(), CommError> {
        let core = Arc::clone(&self.inner.core);
        let name = std::thread::Builder::new().name("crosstie".to_owned());
        let thread = name.spawn(move || core.care()).map_err(CommError::Thread)?;
        *self.inner.progress.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Ok(())
    }

    #[inline]
    pub(crate) fn core(&self) -> &Core {
        &self.inner.core
    }

    /// Which rank this is, counted from 0.
    pub fn rank(&self) -> usize {
        self.core().rank
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.core().size
    }

    /// Begins to send a message. It is done when its memory can be used again: short messages may
    /// not have arrived by then.
    pub fn send(&self, to: &Destination, message: Vec<u8>) -> Result<Request, CommError> {
        self.begin_send(to, Buffer::OwnOut(message), false)
    }

    /// The same, which is done when a receive has taken the message.
    pub fn send_synchronous(
        &self,
        to: &Destination,
        message: Vec<u8>,
    ) -> Result<Request, CommError> {
        self.begin_send(to, Buffer::OwnOut(message), true)
    }

    /// Begins to send a message of lent memory, as [`Worker::send`] or, if it is `synchronous`, as
    /// [`Worker::send_synchronous`]. What is done at once is [`Request::DONE`].
    ///
    /// # Safety
    /// The memory must be readable, and no code may write it, until [`Worker::test`],
    /// [`Worker::wait`] or [`Worker::wait_for`] says that the request is done, or has failed; until
    /// [`Worker::take_back`] returns; until [`Worker::finish`] returns, if the request is released;
    /// or until any call fails with [`CommError::Panicked`].
    #[allow(unsafe_code)] // Lends memory as the caller promises.
    pub unsafe fn send_lent(
        &self,
        to: &Destination,
        message: *const [u8],
        synchronous: bool,
    ) -> Result<Request, CommError> {
        // SAFETY: promised by the caller.
        let lent = unsafe { Lent::new(&*message) };
        self.begin_send(to, Buffer::Out(lent), synchronous)
    }

    fn begin_send(
        &self,
        to: &Destination,
        buffer: Buffer,
        synchronous: bool,
    ) -> Result<Request, CommError> {
        let &Destination { context, rank, tag } = to;
        let send = Sends { context, to: self.core().peer(rank)?, tag: Tag(tag), synchronous };
        Ok(Request::of(self.core().send(&send, buffer)?.key))
    }

    /// Begins to receive a message. It may be shorter than its room.
    pub fn receive(&self, from: &Source, room: Vec<u8>) -> Result<Request, CommError> {
        let what = self.selection(from)?;
        Ok(Request::of(self.core().receive(&what, Buffer::OwnIn(room))?.key))
    }

    /// Begins to receive a message into lent memory.
    ///
    /// # Safety
    /// Only the worker may use the memory for as long as [`Worker::send_lent`] says.
    #[allow(unsafe_code)] // Lends memory as the caller promises.
    pub unsafe fn receive_lent(
        &self,
        from: &Source,
        room: *mut [u8],
    ) -> Result<Request, CommError> {
        let what = self.selection(from)?;
        // SAFETY: promised by the caller.
        let lent = unsafe { LentMut::new(&mut *room) };
        Ok(Request::of(self.core().receive(&what, Buffer::In(lent))?.key))
    }

    /// Begins to receive a message that was [claimed](Worker::claim).
    pub fn receive_claimed(&self, claim: Claim, room: Vec<u8>) -> Result<Request, CommError> {
        Ok(Request::of(self.begin_claimed(claim, Buffer::OwnIn(room))?.key))
    }

    /// Begins to receive a message that was [claimed](Worker::claim) into lent memory.
    ///
    /// # Safety
    /// Only the worker may use the memory for as long as [`Worker::send_lent`] says.
    #[allow(unsafe_code)] // Lends memory as the caller promises.
    pub unsafe fn receive_claimed_lent(
        &self,
        claim: Claim,
        room: *mut [u8],
    ) -> Result<Request, CommError> {
        // SAFETY: promised by the caller.
        let lent = unsafe { LentMut::new(&mut *room) };
        Ok(Request::of(self.begin_claimed(claim, Buffer::In(lent))?.key))
    }

    pub(crate) fn begin_claimed(
        &self,
        mut claim: Claim,
        buffer: Buffer,
    ) -> Result<Begun<'_>, CommError> {
        assert!(Arc::ptr_eq(&self.inner, &claim.worker.inner), "a claim is received by its worker");
        let (mut held, now) = self.core().look()?;
        let number = claim.claim.take().expect("it is received once");
        let key = held.receive_claimed(now, number, buffer);
        Ok(Begun { key, held, now })
    }

    /// Waits until there is a message that a receive would take, and tells of it. Another thread
    /// may receive it before this one does; [`Worker::claim`] keeps it.
    pub fn probe(&self, from: &Source) -> Result<Status, CommError> {
        let what = self.selection(from)?;
        self.core().probe(&what, None, |rank| rank.probe(&what)).map(Status::from)
    }

    /// The message that a receive would take, if there is one.
    pub fn try_probe(&self, from: &Source) -> Result<Option<Status>, CommError> {
        let what = self.selection(from)?;
        let (mut held, now) = self.core().look()?;
        held.progress(now);
        Ok(held.probe(&what).map(Status::from))
    }

    /// Waits until there is a message that a receive would take, and keeps it for
    /// [`Worker::receive_claimed`].
    pub fn claim(&self, from: &Source) -> Result<Claim, CommError> {
        self.claim_within(from, None)
    }

    pub(crate) fn claim_within(
        &self,
        from: &Source,
        timeout: Option<Duration>,
    ) -> Result<Claim, CommError> {
        let what = self.selection(from)?;
        self.core().probe(&what, timeout, |rank| rank.claim(&what)).map(|found| self.claimed(found))
    }

    /// The same if there is one already.
    pub fn try_claim(&self, from: &Source) -> Result<Option<Claim>, CommError> {
        let what = self.selection(from)?;
        let (mut held, now) = self.core().look()?;
        held.progress(now);
        let found = held.claim(&what);
        drop(held);
        Ok(found.map(|found| self.claimed(found)))
    }

    fn claimed(&self, (claim, status): (ClaimId, Known)) -> Claim {
        Claim { worker: self.clone(), claim: Some(claim), status: status.into() }
    }

    fn selection(&self, from: &Source) -> Result<Selection, CommError> {
        let &Source { context, rank, tag } = from;
        let from = rank.map(|rank| self.core().peer(rank)).transpose()?;
        Ok(Selection { context, from, tag: tag.map(Tag) })
    }

    /// What has become of a request, if it is done; then its number is forgotten.
    pub fn test(&self, request: Request) -> Result<Option<Done>, CommError> {
        let (mut held, now) = self.core().look()?;
        if !held.is_done(request.key()) {
            held.progress(now);
        }
        outcome(&mut held, request).transpose()
    }

    /// Waits until a request is done; then its number is forgotten. A request has one outcome: of
    /// several threads that wait for it one gets that, and the others an error.
    pub fn wait(&self, request: Request) -> Result<Done, CommError> {
        self.core().until(None, |rank| outcome(rank, request))?
    }

    /// The same, but for no longer than a time; `None` if it is not done by then, and goes on.
    pub fn wait_for(&self, request: Request, timeout: Duration) -> Result<Option<Done>, CommError> {
        match self.core().until(Some(timeout), |rank| outcome(rank, request)) {
            Ok(done) => done.map(Some),
            Err(CommError::TimedOut { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Cancels a request, if it has had no effect yet. Returns true if so: then it ends with
    /// [`CommError::Cancelled`], which is still to be waited for. Otherwise it goes on: a message
    /// is coming, the receiver knows of it, or it is done.
    pub fn cancel(&self, request: Request) -> Result<bool, CommError> {
        let (mut held, now) = self.core().look()?;
        match held.knows(request.key()) {
            true => Ok(held.cancel(now, request.key())),
            false => Err(CommError::NoSuchRequest),
        }
    }

    /// Forgets the number of a request, which goes on. [`Worker::finish`] waits for it.
    pub fn release(&self, request: Request) -> Result<(), CommError> {
        let mut held = self.core().lock()?;
        if !held.knows(request.key()) {
            return Err(CommError::NoSuchRequest);
        }
        held.release(request.key());
        Ok(())
    }

    /// Gives the memory of requests back now, and forgets their numbers. Returns what becomes of
    /// those that were not done: what another rank knows of is copied and still sent, and what
    /// still comes is dropped.
    pub fn take_back(&self, requests: &[Request]) -> Vec<(Request, Fate)> {
        let keys: Vec<RequestKey> = requests.iter().map(|request| request.key()).collect();
        let fates = self.core().take_back(&keys).into_iter();
        fates.map(|(key, fate)| (Request::of(key), fate)).collect()
    }

    /// Begins a set of requests.
    pub fn begin_set(&self) -> Result<RequestSet, CommError> {
        Ok(RequestSet(self.core().lock()?.begin_set().data().as_ffi()))
    }

    /// Puts a request into a set, and takes it out of another one. One that is done is told at
    /// once. [`Request::DONE`] never is: it need not be waited for.
    pub fn watch(&self, set: RequestSet, request: Request) -> Result<(), CommError> {
        let mut held = self.core().lock()?;
        if !held.knows(request.key()) || !held.has_set(set.key()) {
            return Err(CommError::NoSuchRequest);
        }
        held.watch(set.key(), request.key());
        Ok(())
    }

    /// Waits until a request of a set is done, and takes it out of the set: [`Worker::test`] says
    /// what has become of it. Takes no longer than a time, if there is one; `None` if none is done
    /// by then. What this costs does not grow with the set.
    pub fn wait_any(
        &self,
        set: RequestSet,
        timeout: Option<Duration>,
    ) -> Result<Option<Request>, CommError> {
        let next = |rank: &mut Rank| loop {
            match rank.next_done(set.key()) {
                Some(key) if rank.knows(key) => return Some(Ok(Request::of(key))),
                // A thread has waited for it, or released it.
                Some(_) => {}
                None if rank.has_set(set.key()) => return None,
                None => return Some(Err(CommError::NoSuchRequest)),
            }
        };
        match self.core().until(timeout, next) {
            Ok(found) => found.map(Some),
            Err(CommError::TimedOut { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Ends a set. Its requests go on.
    pub fn end_set(&self, set: RequestSet) -> Result<(), CommError> {
        self.core().lock()?.end_set(set.key());
        Ok(())
    }

    /// Looks after messages. Returns true if anything has come.
    pub fn progress(&self) -> Result<bool, CommError> {
        let (mut held, now) = self.core().look()?;
        Ok(held.progress(now))
    }

    /// What rails have carried, and what is known of them.
    pub fn statistics(&self) -> Vec<RailStatistics> {
        self.core().lock().map_or(Vec::new(), |held| held.statistics())
    }

    /// What ends all ranks of the job from any thread.
    pub fn aborter(&self) -> Aborter {
        self.core().aborter.clone()
    }

    /// Ends the job, of all ranks.
    pub fn abort(&self, code: i32, message: &str) -> ! {
        self.core().aborter.abort(code, message)
    }

    /// Waits until all requests are done, also those that were released, and leaves the job with
    /// all others, however long that takes. A message that did not arrive, or that came and was
    /// never received, is an error. Nothing begins any more, in any thread.
    pub fn finish(&self) -> Result<(), CommError> {
        let (job, arrived) = self.leave()?;
        job.finish()?;
        arrived
    }

    /// The same, but stays in the job, of which another worker may be made when all have come here.
    pub fn leave_job(&self) -> Result<Job, CommError> {
        let (job, arrived) = self.leave()?;
        arrived.map(|()| job)
    }

    /// Leaves the ranks, when all has arrived; whether it has.
    fn leave(&self) -> Result<(Job, Result<(), CommError>), CommError> {
        let (core, mut job) = (self.core(), self.inner.job());
        if job.is_none() {
            return Err(CommError::Finished);
        }
        core.close()?;
        let sent = core.until(None, |rank| rank.has_finished().then_some(()));
        let mut held = core.lock()?;
        // A rank that has left does not come to the fence.
        if let Some(rank) = held.deserter() {
            return Err(CommError::Unreachable { rank: rank.into(), cause: Loss::Left });
        }
        // A rank that ends from here on has left in peace.
        held.stop_watching();
        drop(held);
        // Others may still want answers, which the progress thread gives until all are here.
        let mut job = job.take().ok_or(CommError::Finished)?;
        let patience = job.patience();
        job.set_patience(PEACE);
        let left = job.fence();
        job.set_patience(patience);
        self.inner.dismiss();
        left?;
        Ok((job, sent.and_then(|()| self.is_settled())))
    }

    /// Returns an error if a message was sent or has come that no rank has received. All ranks have
    /// sent all by now.
    fn is_settled(&self) -> Result<(), CommError> {
        let (mut held, now) = self.core().look()?;
        while held.progress(now) {}
        if let Some((rank, messages)) = held.undelivered() {
            return Err(CommError::Undelivered { rank: rank.into(), messages });
        }
        if let Some((Known { from, tag, bytes }, messages)) = held.unreceived() {
            let (from, tag, bytes) = (from.into(), tag.0, bytes as usize);
            return Err(CommError::Unreceived { from, tag, bytes, messages });
        }
        Ok(())
    }

    /// Leaves without finishing: the other ranks are told, so that none waits for this one. After
    /// an error it waits for none.
    pub(crate) fn desert(&self, failed: bool) {
        self.inner.desert(failed);
    }
}

impl Inner {
    fn job(&self) -> std::sync::MutexGuard<'_, Option<Job>> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Worker::desert`].
    fn desert(&self, failed: bool) {
        if let Some(mut job) = self.job().take() {
            let sent = |rank: &mut Rank| rank.has_sent_all().then_some(());
            if !failed {
                let _ = self.core.until(None, sent);
            }
            if let Ok((mut held, now)) = self.core.look() {
                held.leave(now, failed);
            }
            let _ = self.core.until(Some(FAREWELL), sent);
            if !failed && job.fence().is_ok() {
                let _ = job.finish();
            }
        }
        self.dismiss();
    }

    /// Ends the progress thread.
    fn dismiss(&self) {
        self.core.dismiss();
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(progress) = progress {
            progress.thread().unpark();
            let _ = progress.join();
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The others learn of it by what the process leaves behind.
            self.core.dismiss();
        } else {
            self.desert(false);
        }
    }
}

/// What has become of a request that is done; then it is forgotten.
fn outcome(rank: &mut Rank, request: Request) -> Option<Result<Done, CommError>> {
    let key = request.key();
    if !rank.knows(key) {
        return Some(Err(CommError::NoSuchRequest));
    }
    if !rank.is_done(key) {
        return None;
    }
    let memory = if key.is_null() { Vec::new() } else { rank.take_memory(key) };
    let outcome = rank.outcome(key)?;
    Some(outcome.map(|status| Done { status: status.into(), memory }).map_err(CommError::from))
}

impl From<Known> for Status {
    fn from(Known { from, tag, bytes }: Known) -> Status {
        Status { source: from.into(), tag: tag.0, bytes: bytes as usize }
    }
}
