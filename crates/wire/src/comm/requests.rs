//! Sends and receives that own their memory, waited for in the order in which they are done.
#![allow(unsafe_code)] // Lends memory that it keeps.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use crosstie_protocol::message::Class;
use slotmap::Key as _;

use super::{Comm, CommError, Status};
use crate::lent::{Lent, LentMut};
use crate::rank::{RequestKey, SetKey};

/// A set of sends and receives under way. Each owns its memory and has a token by which the caller
/// knows it again. Dropping the set gives up those that are not done.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let comm = crosstie_wire::Comm::init()?;
/// let mut requests = comm.requests();
/// for from in (0..comm.size()).filter(|&from| from != comm.rank()) {
///     requests.recv(from, from, 7, vec![0; 1000], 1000)?;
/// }
/// // The first message that arrives is served first.
/// while let Some(done) = requests.wait_any(None)? {
///     println!("rank {} has sent {} bytes", done.token, done.status.bytes);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Requests<'comm, T> {
    comm: &'comm Comm,
    set: Option<SetKey>,
    /// Sends and receives that are not done: the token of each, and what is lent to the rank. That
    /// stays where it is however this is moved.
    under_way: BTreeMap<RequestKey, (T, Vec<u8>)>,
    /// Sends that were done at once.
    done: VecDeque<(T, Vec<u8>)>,
}

/// A send or a receive that is done.
#[derive(Debug)]
pub struct Completion<T> {
    /// Its token.
    pub token: T,
    /// What was received; of a send it says nothing.
    pub status: Status,
    /// Its memory.
    pub memory: Vec<u8>,
}

impl Comm {
    /// An empty set of sends and receives.
    pub fn requests<T>(&self) -> Requests<'_, T> {
        let set = self.worker.core().lock().ok().map(|mut rank| rank.begin_set());
        Requests { comm: self, set, under_way: BTreeMap::new(), done: VecDeque::new() }
    }
}

impl<T> Requests<'_, T> {
    /// Begins to send the first `bytes` of some memory.
    ///
    /// # Panics
    /// If the memory has fewer bytes.
    pub fn send(
        &mut self,
        token: T,
        to: usize,
        tag: u32,
        memory: Vec<u8>,
        bytes: usize,
    ) -> Result<(), CommError> {
        let tag = self.comm.tag(tag)?;
        // SAFETY: the memory stays where it is until the send is done or taken back.
        let lent = unsafe { Lent::new(&memory[..bytes]) };
        let begun = self.comm.begin_send(Class::Application, to, tag, lent)?;
        let key = begun.watched_by(self.set);
        self.keep(key, token, memory);
        Ok(())
    }

    /// Begins to receive a message from a rank, or from any, with a tag, or with any. It goes into
    /// the first `bytes` of some memory.
    ///
    /// # Panics
    /// If the memory has fewer bytes.
    pub fn recv(
        &mut self,
        token: T,
        from: impl Into<Option<usize>>,
        tag: impl Into<Option<u32>>,
        mut memory: Vec<u8>,
        bytes: usize,
    ) -> Result<(), CommError> {
        let tag = tag.into().map(|tag| self.comm.tag(tag)).transpose()?;
        // SAFETY: as above.
        let lent = unsafe { LentMut::new(&mut memory[..bytes]) };
        let begun = self.comm.begin_recv(Class::Application, from.into(), tag, lent)?;
        let key = begun.watched_by(self.set);
        self.keep(key, token, memory);
        Ok(())
    }

    /// Something has begun.
    fn keep(&mut self, key: RequestKey, token: T, memory: Vec<u8>) {
        if key.is_null() {
            self.done.push_back((token, memory));
        } else {
            self.under_way.insert(key, (token, memory));
        }
    }

    /// Waits until one is done, takes it out of the set and returns it, or the error by which it
    /// ended. Returns `None` if a time has come before, or if nothing is under way and there is no
    /// time to wait for.
    pub fn wait_any(&mut self, until: Option<Instant>) -> Result<Option<Completion<T>>, CommError> {
        if let Some((token, memory)) = self.done.pop_front() {
            let status = self.comm.finished(RequestKey::null())?;
            return Ok(Some(Completion { token, status, memory }));
        }
        if self.under_way.is_empty() && until.is_none() {
            return Ok(None);
        }
        let set = self.set.ok_or(CommError::Panicked)?;
        let comm = self.comm;
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = left.into_iter().chain(comm.timeout.get()).min();
        let key = match comm.worker.core().until(timeout, |rank| rank.next_done(set)) {
            Ok(key) => key,
            Err(CommError::TimedOut { .. })
                if until.is_some_and(|until| until <= Instant::now()) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(comm.fails(error)),
        };
        let (token, memory) = self.under_way.remove(&key).expect("it was begun here");
        let status = self.comm.finished(key)?;
        Ok(Some(Completion { token, status, memory }))
    }
}

impl<T> Drop for Requests<'_, T> {
    /// Nothing that was lent is used any more.
    fn drop(&mut self) {
        let keys: Vec<RequestKey> = self.under_way.keys().copied().collect();
        if !keys.is_empty() {
            self.comm.take_back(&keys);
        }
        if let (Some(set), Ok(mut rank)) = (self.set, self.comm.worker.core().lock()) {
            rank.end_set(set);
        }
    }
}
