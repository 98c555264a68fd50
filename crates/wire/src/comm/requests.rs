//! Sends and receives that own their memory, waited for in the order in which they are done.
#![allow(unsafe_code)] // Lends memory that it keeps.

use std::time::Instant;

use super::{Comm, CommError, Status};
use crate::engine::RequestKey;
use crate::envelope::Context;
use crate::lent::{Lent, LentMut};

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
/// // Whoever comes first is served first.
/// while let Some(done) = requests.wait_any(None)? {
///     println!("rank {} has sent {} bytes", done.token, done.status.bytes);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Requests<'comm, T> {
    comm: &'comm Comm,
    /// Sends and receives that are not done.
    keys: Vec<RequestKey>,
    /// The token of each, and what is lent to the engine: it stays where it is however this is
    /// moved.
    owned: Vec<(T, Vec<u8>)>,
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
        Requests { comm: self, keys: Vec::new(), owned: Vec::new() }
    }

    /// Waits until one of these is done, and returns its place; `None` if a time has come before.
    fn any_done(
        &self,
        keys: &[RequestKey],
        until: Option<Instant>,
    ) -> Result<Option<usize>, CommError> {
        self.until(|engine| {
            let done = keys.iter().position(|&key| engine.is_done(key));
            let is_late = || until.is_some_and(|until| until <= Instant::now());
            done.map(Some).or_else(|| is_late().then_some(None))
        })
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
        // SAFETY: `owned` keeps the memory where it is until the send is done or taken back.
        let lent = unsafe { Lent::new(&memory[..bytes]) };
        let key = self.comm.begin_send(Context::Program, to, tag, lent)?.key;
        self.keys.push(key);
        self.owned.push((token, memory));
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
        let key = self.comm.begin_recv(Context::Program, from.into(), tag, lent)?.key;
        self.keys.push(key);
        self.owned.push((token, memory));
        Ok(())
    }

    /// Waits until one is done, takes it out of the set and returns it, or the error by which it
    /// ended. Returns `None` if a time has come before, or if nothing is under way and there is no
    /// time to wait for.
    pub fn wait_any(&mut self, until: Option<Instant>) -> Result<Option<Completion<T>>, CommError> {
        if self.keys.is_empty() && until.is_none() {
            return Ok(None);
        }
        let Some(at) = self.comm.any_done(&self.keys, until)? else { return Ok(None) };
        let (key, (token, memory)) = (self.keys.swap_remove(at), self.owned.swap_remove(at));
        let status = self.comm.finished(key)?;
        Ok(Some(Completion { token, status, memory }))
    }
}

impl<T> Drop for Requests<'_, T> {
    /// Nothing that was lent is used any more.
    fn drop(&mut self) {
        if !self.keys.is_empty() {
            self.comm.take_back(&self.keys);
        }
    }
}
