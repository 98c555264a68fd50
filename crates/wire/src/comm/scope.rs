//! Sends and receives that go on together.
#![allow(unsafe_code)] // Lends memory for as long as a scope lasts.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::marker::PhantomData;

use bytemuck::{NoUninit, Pod};
use slotmap::{Key as _, SlotMap};

use super::collective::PlayKey;
use super::{Comm, CommError, Status};
use crate::lent::{Lent, LentMut};
use crate::rank::RequestKey;
use crosstie_protocol::message::Class;

/// Where sends and receives are begun that go on together. What they use is lent for as long as the
/// scope lasts.
pub struct Scope<'scope, 'comm> {
    pub(super) comm: &'comm Comm,
    begun: RefCell<SlotMap<BegunKey, RequestKey>>,
    /// Collective operations that the caller has not waited for.
    pub(super) plays: RefCell<BTreeSet<PlayKey>>,
    /// What is lent lives as long as this says, neither more nor less.
    _lends: PhantomData<&'scope mut &'scope ()>,
}

slotmap::new_key_type! {
    /// Something that was begun in a scope, and not waited for yet. What was done at once has none.
    struct BegunKey;
}

/// A send that is under way. Who drops it lets the scope wait for it.
#[derive(Debug)]
pub struct Sending<'a, 'scope, 'comm> {
    scope: &'a Scope<'scope, 'comm>,
    key: BegunKey,
}

/// A receive that is under way. Who drops it lets the scope wait for it.
#[derive(Debug)]
pub struct Receiving<'a, 'scope, 'comm, T> {
    scope: &'a Scope<'scope, 'comm>,
    key: BegunKey,
    message: *mut [T],
    _lent: PhantomData<&'scope mut [T]>,
}

impl std::fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").field("begun", &self.begun).finish_non_exhaustive()
    }
}

/// Runs something in a scope. In the end all is done, or its memory is taken back.
pub(super) fn run<'scope, R>(
    comm: &Comm,
    body: impl FnOnce(&Scope<'scope, '_>) -> Result<R, CommError>,
) -> Result<R, CommError> {
    let (begun, plays) = (RefCell::default(), RefCell::default());
    let scope = Scope { comm, begun, plays, _lends: PhantomData };
    let result = body(&scope)?;
    // One by one: after an error those that are left are taken back.
    let begun: Vec<BegunKey> = scope.begun.borrow().keys().collect();
    begun.into_iter().try_for_each(|key| scope.finished(key).map(drop))?;
    let plays = scope.plays.borrow().clone();
    plays.into_iter().try_for_each(|play| scope.end_of_collective(play))?;
    Ok(result)
}

impl<'scope, 'comm> Scope<'scope, 'comm> {
    /// Begins to send a message.
    pub fn send<'a, T: NoUninit>(
        &'a self,
        to: usize,
        tag: u32,
        message: &'scope [T],
    ) -> Result<Sending<'a, 'scope, 'comm>, CommError> {
        // SAFETY: when the scope ends, the engine is done with it or has taken it back.
        let lent = unsafe { Lent::new(bytemuck::cast_slice(message)) };
        let tag = self.comm.tag(tag)?;
        let key = self.comm.begin_send(Class::Application, to, tag, lent)?.key;
        Ok(Sending { scope: self, key: self.begin(key) })
    }

    /// Begins to receive a message from a rank, or from any, with a tag, or with any.
    pub fn recv<'a, T: Pod>(
        &'a self,
        from: impl Into<Option<usize>>,
        tag: impl Into<Option<u32>>,
        message: &'scope mut [T],
    ) -> Result<Receiving<'a, 'scope, 'comm, T>, CommError> {
        let tag = tag.into().map(|tag| self.comm.tag(tag)).transpose()?;
        let place: *mut [T] = message;
        // SAFETY: as above. Nobody else has it: the pointer is followed when the engine is done
        // with it.
        let lent = unsafe { LentMut::new(bytemuck::cast_slice_mut(&mut *place)) };
        let key = self.comm.begin_recv(Class::Application, from.into(), tag, lent)?.key;
        let key = self.begin(key);
        Ok(Receiving { scope: self, key, message: place, _lent: PhantomData })
    }

    /// Something has begun.
    fn begin(&self, key: RequestKey) -> BegunKey {
        match key.is_null() {
            true => BegunKey::null(),
            false => self.begun.borrow_mut().insert(key),
        }
    }

    fn key(&self, begun: BegunKey) -> RequestKey {
        self.begun.borrow().get(begun).copied().unwrap_or_default()
    }

    fn finished(&self, begun: BegunKey) -> Result<Status, CommError> {
        let finished = self.comm.finished(self.key(begun));
        self.begun.borrow_mut().remove(begun);
        finished
    }

    fn is_done(&self, begun: BegunKey) -> bool {
        self.comm.worker.core().is_done(self.key(begun))
    }
}

impl Sending<'_, '_, '_> {
    /// Waits until its memory can be used again.
    pub fn wait(self) -> Result<(), CommError> {
        self.scope.finished(self.key).map(|_| ())
    }

    /// Whether [`Sending::wait`] would return at once.
    pub fn is_done(&self) -> bool {
        self.scope.is_done(self.key)
    }
}

impl<'scope, T> Receiving<'_, 'scope, '_, T> {
    /// Waits until the message is there, and gives it.
    pub fn wait(self) -> Result<(Status, &'scope mut [T]), CommError> {
        let status = self.scope.finished(self.key)?;
        // SAFETY: it was lent for as long, the engine is done with it, and this can be called once.
        let message = unsafe { &mut *self.message };
        Ok((status, message))
    }

    /// Whether [`Receiving::wait`] would return at once.
    pub fn is_done(&self) -> bool {
        self.scope.is_done(self.key)
    }
}

impl Drop for Scope<'_, '_> {
    /// After an error or a panic nothing that was lent is used any more.
    fn drop(&mut self) {
        self.plays.take().into_iter().for_each(|play| self.comm.give_up_collective(play));
        let begun = self.begun.take();
        if !begun.is_empty() {
            self.comm.take_back(&begun.into_iter().map(|(_, key)| key).collect::<Vec<_>>());
        }
    }
}
