//! Collective operations: programs of `crosstie-collective`, played with the bytes that they move.
//!
//! Any number of operations may be in flight. Each is a [`Machine`]: its program says which sends
//! and receives may begin, and it is told which are done. All requests of all machines are in one
//! set, which tells those that are done, so that a completion costs the same however many are under
//! way. Machines go on while their rank waits for anything.
//!
//! Messages of one operation are told apart from those of others by a number in their tags, and
//! carry what ranks have to agree on ([`header`]).

mod call;
mod header;
mod machine;
mod memory;
mod script;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::marker::PhantomData;

use bytemuck::Pod;
use crosstie_collective::{Disagreement, OpId, Rank as Number, Signature};
use crosstie_protocol::message::{Class, Tag};
use slotmap::{Key as _, SecondaryMap, SlotMap};

pub use call::Collective;
pub(super) use call::Needs;

use super::{Begun, Comm, CommError, Scope};
use crate::lent::LentMut;
use crate::rank::{Buffer, Failure, Rank, RequestKey, Selection, SetKey, Status as Done, context};
use call::Bound;
use header::{HEADER, Header, SHORT};
use machine::Machine;
use memory::Combine;
use script::Scripts;

slotmap::new_key_type! {
    /// A collective operation that has begun and whose end the caller has not been told.
    pub(super) struct PlayKey;
}

/// How ranks contradict each other in a collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    /// They do not call the same.
    #[error(transparent)]
    Call(#[from] Disagreement),
    /// A message is longer or shorter than expected.
    #[error("it sent a message of {found} bytes, this rank expected {expected}")]
    Length {
        /// Its length.
        found: usize,
        /// That of what was to be received.
        expected: usize,
    },
    /// A message is not to be received at all.
    #[error("it sent a message of {bytes} bytes, this rank expected none")]
    Unexpected {
        /// Its length.
        bytes: usize,
    },
    /// A message is left from before.
    #[error("it sent a message of an earlier operation, which ended with an error")]
    Stale,
}

/// A send or a receive of a collective operation.
struct Underway {
    play: PlayKey,
    what: What,
    /// Its bytes, unless they lie in the memory of the operation. They stay where they are.
    memory: Vec<u8>,
}

/// What it is for.
#[derive(Debug, Clone, Copy)]
enum What {
    Send(OpId),
    Receive {
        op: OpId,
        /// True if the message goes where it belongs.
        in_place: bool,
        bytes: usize,
    },
    /// A header alone is sent.
    Greeting,
    /// A header alone is received.
    Greeted,
}

/// How far an operation is.
enum Play {
    Idle(Box<Machine>),
    /// Its machine is at work.
    Busy,
    Ended(Result<(), CommError>),
}

/// The collective operations of a rank.
#[derive(Default)]
pub(super) struct Collectives {
    state: RefCell<State>,
    /// How many are in flight.
    count: Cell<usize>,
    scripts: RefCell<Scripts>,
    /// The number of the next one.
    next: Cell<u32>,
}

#[derive(Default)]
struct State {
    set: Option<SetKey>,
    plays: SlotMap<PlayKey, Play>,
    /// Those in flight, by what of their numbers is in tags.
    rounds: HashMap<u32, PlayKey>,
    requests: SecondaryMap<RequestKey, Underway>,
    /// What was done while its machine was at work.
    late: Vec<(Underway, Result<Done, Failure>)>,
}

impl Collectives {
    /// Keeps a send or a receive until it is done. Returns false if it is done at once.
    fn keep(&self, begun: Begun<'_>, underway: Underway) -> bool {
        let set = self.state.borrow().set;
        let key = begun.watched_by(set);
        if key.is_null() {
            return false;
        }
        self.state.borrow_mut().requests.insert(key, underway);
        true
    }

    /// A send or a receive that is done, while operations are in flight.
    #[inline]
    pub fn next_done(&self, engine: &mut Rank) -> Option<RequestKey> {
        if self.count.get() == 0 {
            return None;
        }
        engine.next_done(self.state.borrow().set?)
    }

    /// Returns true if none is in flight.
    #[inline]
    pub fn are_over(&self) -> bool {
        self.count.get() == 0
    }

    /// Returns true if an operation has come to its end.
    fn is_ended(&self, play: PlayKey) -> bool {
        matches!(self.state.borrow().plays.get(play), None | Some(Play::Ended(_)))
    }
}

/// Takes a machine to work with it. It is put back, also after a panic.
struct AtWork<'a> {
    collectives: &'a Collectives,
    play: PlayKey,
    machine: Option<Box<Machine>>,
}

impl<'a> AtWork<'a> {
    fn take(collectives: &'a Collectives, play: PlayKey) -> Option<AtWork<'a>> {
        let mut state = collectives.state.borrow_mut();
        let found = state.plays.get_mut(play)?;
        match std::mem::replace(found, Play::Busy) {
            Play::Idle(machine) => Some(AtWork { collectives, play, machine: Some(machine) }),
            other => {
                *found = other;
                None
            }
        }
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        let mut state = self.collectives.state.borrow_mut();
        if let (Some(machine), Some(play)) = (self.machine.take(), state.plays.get_mut(self.play)) {
            *play = Play::Idle(machine);
        }
    }
}

/// Gives up an operation if the thread that waits for it panics.
struct Guard<'a> {
    comm: &'a Comm,
    play: PlayKey,
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        self.comm.give_up_collective(self.play);
    }
}

impl Comm {
    /// Waits until a collective operation is done.
    #[allow(unsafe_code)] // Lends memory for as long as the call lasts.
    pub fn collective<T: Pod>(&self, collective: Collective<'_, T>) -> Result<(), CommError> {
        // SAFETY: it has ended or is given up when this returns or unwinds.
        let (play, _) = unsafe { self.begin_collective(collective)? };
        let guard = Guard { comm: self, play };
        let ended = self.end_of_collective(play);
        std::mem::forget(guard);
        ended
    }

    /// Waits until all ranks have come here.
    pub fn barrier(&self) -> Result<(), CommError> {
        self.collective(Collective::barrier())
    }

    /// Everybody gets what the root has.
    pub fn broadcast<T: Pod>(&self, root: usize, data: &mut [T]) -> Result<(), CommError> {
        self.collective(Collective::broadcast(root, data))
    }

    /// [`Collective::gather`]
    pub fn gather<T: Pod>(&self, root: usize, mine: &[T], all: &mut [T]) -> Result<(), CommError> {
        self.collective(Collective::gather(root, mine, all))
    }

    /// [`Collective::gather_v`]
    pub fn gather_v<T: Pod>(
        &self,
        root: usize,
        mine: &[T],
        all: &mut [T],
        counts: &[usize],
    ) -> Result<(), CommError> {
        self.collective(Collective::gather_v(root, mine, all, counts))
    }

    /// [`Collective::scatter`]
    pub fn scatter<T: Pod>(&self, root: usize, all: &[T], mine: &mut [T]) -> Result<(), CommError> {
        self.collective(Collective::scatter(root, all, mine))
    }

    /// [`Collective::scatter_v`]
    pub fn scatter_v<T: Pod>(
        &self,
        root: usize,
        all: &[T],
        counts: &[usize],
        mine: &mut [T],
    ) -> Result<(), CommError> {
        self.collective(Collective::scatter_v(root, all, counts, mine))
    }

    /// [`Collective::all_gather`]
    pub fn all_gather<T: Pod>(&self, mine: &[T], all: &mut [T]) -> Result<(), CommError> {
        self.collective(Collective::all_gather(mine, all))
    }

    /// [`Collective::all_gather_v`]
    pub fn all_gather_v<T: Pod>(
        &self,
        mine: &[T],
        all: &mut [T],
        counts: &[usize],
    ) -> Result<(), CommError> {
        self.collective(Collective::all_gather_v(mine, all, counts))
    }

    /// [`Collective::all_to_all`]
    pub fn all_to_all<T: Pod>(&self, sent: &[T], received: &mut [T]) -> Result<(), CommError> {
        self.collective(Collective::all_to_all(sent, received))
    }

    /// [`Collective::all_to_all_v`]
    pub fn all_to_all_v<T: Pod>(
        &self,
        sent: &[T],
        sent_counts: &[usize],
        received: &mut [T],
        received_counts: &[usize],
    ) -> Result<(), CommError> {
        self.collective(Collective::all_to_all_v(sent, sent_counts, received, received_counts))
    }

    /// [`Collective::reduce`]
    pub fn reduce<T: Pod>(
        &self,
        root: usize,
        data: &mut [T],
        combine: impl Fn(&mut T, T),
    ) -> Result<(), CommError> {
        self.collective(Collective::reduce(root, data, combine))
    }

    /// [`Collective::all_reduce`]
    pub fn all_reduce<T: Pod>(
        &self,
        data: &mut [T],
        combine: impl Fn(&mut T, T),
    ) -> Result<(), CommError> {
        self.collective(Collective::all_reduce(data, combine))
    }

    /// [`Collective::reduce_scatter`]
    pub fn reduce_scatter<T: Pod>(
        &self,
        all: &[T],
        mine: &mut [T],
        combine: impl Fn(&mut T, T),
    ) -> Result<(), CommError> {
        self.collective(Collective::reduce_scatter(all, mine, combine))
    }

    /// [`Collective::reduce_scatter_v`]
    pub fn reduce_scatter_v<T: Pod>(
        &self,
        all: &[T],
        counts: &[usize],
        mine: &mut [T],
        combine: impl Fn(&mut T, T),
    ) -> Result<(), CommError> {
        self.collective(Collective::reduce_scatter_v(all, counts, mine, combine))
    }

    /// [`Collective::scan`]
    pub fn scan<T: Pod>(
        &self,
        data: &mut [T],
        combine: impl Fn(&mut T, T),
    ) -> Result<(), CommError> {
        self.collective(Collective::scan(data, combine))
    }

    /// [`Collective::exclusive_scan`]
    pub fn exclusive_scan<T: Pod>(
        &self,
        data: &mut [T],
        combine: impl Fn(&mut T, T),
    ) -> Result<(), CommError> {
        self.collective(Collective::exclusive_scan(data, combine))
    }

    /// Begins an operation. Returns it, and where its result will be.
    ///
    /// # Safety
    /// What it uses must stay lent until its end has been told or it has been given up.
    #[allow(unsafe_code)] // As above.
    unsafe fn begin_collective<T: Pod>(
        &self,
        collective: Collective<'_, T>,
    ) -> Result<(PlayKey, *mut [T]), CommError> {
        let (asked, needs) = collective.ask(self)?;
        let operation = self.choice.choose(&asked, &needs);
        let collectives = &self.collectives;
        let (ranks, rank) = (self.size as u32, Number(self.rank as u32));
        let script = collectives.scripts.borrow_mut().get(operation, ranks, rank)?;
        let number = collectives.next.get();
        // One whose messages have the same tags comes to its end first.
        loop {
            let before = collectives.state.borrow().rounds.get(&header::round(number)).copied();
            match before {
                Some(before) => self.until_collective_ends(before)?,
                None => break,
            }
        }
        collectives.next.set(number.wrapping_add(1));
        let Bound { memory, lengths, combine, result } = collective.bind(self, &script);
        // Ranks agree on the size of elements, and whether contributions have an order.
        let elements = 1 + 2 * size_of::<T>() as u64 + u64::from(needs.in_order);
        let signature = Signature::new(&operation, lengths.as_ref(), elements);
        // SAFETY: what it borrows lives until the machine has gone, as the caller promises.
        let combine: Option<Combine<'static>> = unsafe { std::mem::transmute(combine) };
        let machine = Machine::new(Header { signature, number }, script, memory, combine);
        let play = {
            let mut state = collectives.state.borrow_mut();
            if state.set.is_none() {
                state.set = Some(self.worker.core().lock()?.begin_set());
            }
            let round = machine.round();
            let play = state.plays.insert(Play::Idle(Box::new(machine)));
            state.rounds.insert(round, play);
            play
        };
        collectives.count.set(collectives.count.get() + 1);
        let guard = Guard { comm: self, play };
        self.go_on(play, None);
        std::mem::forget(guard);
        Ok((play, result.elements()))
    }

    /// A machine is told what is done, and goes on.
    fn go_on(&self, play: PlayKey, done: Option<(Underway, Result<Done, Failure>)>) {
        let collectives = &self.collectives;
        let Some(mut at_work) = AtWork::take(collectives, play) else {
            // It is at work: what combines has called something that waits.
            collectives.state.borrow_mut().late.extend(done);
            return;
        };
        let machine = at_work.machine.as_mut().expect("it has just been taken");
        let mut next = done;
        let result = loop {
            let told =
                next.take().map_or(Ok(()), |(what, outcome)| machine.completed(what, outcome));
            let advanced = told.and_then(|()| machine.advance(self, play));
            if !matches!(advanced, Ok(false)) {
                break advanced.map(drop);
            }
            let mut state = collectives.state.borrow_mut();
            match state.late.iter().position(|(underway, _)| underway.play == play) {
                Some(at) => next = Some(state.late.swap_remove(at)),
                None => return,
            }
        };
        drop(at_work);
        // A rank that is gone may have called something else before.
        if matches!(result, Err(CommError::Unreachable { .. })) {
            let is_so = |from, tag| collectives.stray(from, tag) == Some(play);
            let stray = self.worker.core().lock().ok().and_then(|engine| engine.stray(is_so));
            if let Some(stray) = stray {
                return self.contradicted_by(&stray);
            }
        }
        self.end_collective(play, result);
    }

    /// An operation has come to its end. What it lent is used no more.
    fn end_collective(&self, play: PlayKey, result: Result<(), CommError>) {
        let collectives = &self.collectives;
        let ended = result.map_err(|error| self.fails(error));
        let (machine, keys) = {
            let mut state = collectives.state.borrow_mut();
            let keys = match &ended {
                Ok(()) => Vec::new(),
                Err(_) => {
                    state.late.retain(|(underway, _)| underway.play != play);
                    let of_play = |(key, underway): (RequestKey, &Underway)| {
                        (underway.play == play).then_some(key)
                    };
                    state.requests.iter().filter_map(of_play).collect::<Vec<_>>()
                }
            };
            let Some(found) = state.plays.get_mut(play) else { return };
            (std::mem::replace(found, Play::Ended(ended)), keys)
        };
        if !keys.is_empty() {
            self.take_back(&keys);
        }
        let mut state = collectives.state.borrow_mut();
        keys.iter().for_each(|&key| drop(state.requests.remove(key)));
        if let Play::Idle(machine) = &machine {
            state.rounds.remove(&machine.round());
            collectives.count.set(collectives.count.get() - 1);
        }
        drop(state);
        // What combines is the caller's, and may do anything when it is dropped.
        drop(machine);
    }

    /// A request is done: its machine goes on.
    pub(super) fn collective_request_done(&self, request: RequestKey) {
        // One that was given up is not known any more.
        if !self.collectives.state.borrow().requests.contains_key(request) {
            return;
        }
        let Ok(mut engine) = self.worker.core().lock() else { return };
        let Some(outcome) = engine.outcome(request) else { return };
        drop(engine);
        let underway = self.collectives.state.borrow_mut().requests.remove(request);
        if let Some(underway) = underway {
            self.go_on(underway.play, Some((underway, outcome)));
        }
    }

    /// All operations go on as far as they can.
    pub(super) fn advance_collectives(&self) {
        loop {
            let Ok(mut engine) = self.worker.core().lock() else { return };
            let Some(done) = self.collectives.next_done(&mut engine) else { return };
            drop(engine);
            self.collective_request_done(done);
        }
    }

    /// Waits until an operation has come to its end.
    fn until_collective_ends(&self, play: PlayKey) -> Result<(), CommError> {
        let collectives = &self.collectives;
        while !collectives.is_ended(play) {
            let mut looks = 0u64;
            let done = self.until(|engine| {
                looks += 1;
                if let Some(done) = collectives.next_done(engine) {
                    return Some(Ok(done));
                }
                // Seldom, but after no more than twice the time.
                let seldom = looks >= 8 && looks.is_power_of_two();
                let stray = |from: u16, tag: Tag| collectives.stray(from, tag).is_some();
                seldom.then(|| engine.stray(stray)).flatten().map(Err)
            })?;
            match done {
                Ok(request) => self.collective_request_done(request),
                Err(stray) => self.contradicted_by(&stray),
            }
        }
        Ok(())
    }

    /// Waits for an operation, and forgets it.
    fn end_of_collective(&self, play: PlayKey) -> Result<(), CommError> {
        if let Err(error) = self.until_collective_ends(play) {
            self.give_up_collective(play);
            return Err(error);
        }
        let ended = self.collectives.state.borrow_mut().plays.remove(play);
        match ended {
            Some(Play::Ended(result)) => result,
            _ => Ok(()),
        }
    }

    /// Takes back all that an operation uses.
    pub(super) fn give_up_collective(&self, play: PlayKey) {
        self.end_collective(play, Err(CommError::GivenUp));
        self.collectives.state.borrow_mut().plays.remove(play);
    }

    /// A message of an operation in flight has come that it does not expect: the operation ends.
    #[allow(unsafe_code)] // Lends memory for as long as the call lasts.
    fn contradicted_by(&self, stray: &Done) {
        let Some(play) = self.collectives.stray(stray.from, stray.tag) else { return };
        let (rank, bytes) = (usize::from(stray.from), stray.bytes as usize);
        let mut message = vec![Header::ROOM; if bytes <= SHORT + HEADER { bytes } else { 0 }];
        if !message.is_empty() {
            let context = context(Class::Collective);
            let what = Selection { context, from: Some(stray.from), tag: Some(stray.tag) };
            let core = self.worker.core();
            let received = core.look().and_then(|(mut held, now)| {
                let Some((claim, _)) = held.claim(&what) else { return Ok(()) };
                // SAFETY: `finish` returns when the engine is done with it, or has taken it back.
                let lent = unsafe { LentMut::new(&mut message) };
                let key = held.receive_claimed(now, claim, Buffer::In(lent));
                Begun { key, held, now }.finish(core, self.timeout.get()).map(drop)
            });
            if let Err(error) = received {
                return self.end_collective(play, Err(error));
            }
        }
        let what = match self.collectives.state.borrow().plays.get(play) {
            Some(Play::Idle(machine)) if !message.is_empty() => machine.contradicted(&message),
            _ => Contradiction::Unexpected { bytes },
        };
        self.end_collective(play, Err(CommError::Disagreement { rank, what }));
    }
}

impl Collectives {
    /// The operation in flight to which a message belongs that it does not expect.
    fn stray(&self, from: u16, tag: Tag) -> Option<PlayKey> {
        let (round, tag) = header::parts(tag);
        let state = self.state.borrow();
        let play = *state.rounds.get(&round)?;
        match state.plays.get(play)? {
            Play::Idle(machine) if !machine.expects(from.into(), tag) => Some(play),
            _ => None,
        }
    }
}

/// A collective operation that is under way. If it is dropped, the scope waits for it.
pub struct Playing<'a, 'scope, 'comm, T> {
    scope: &'a Scope<'scope, 'comm>,
    play: PlayKey,
    result: *mut [T],
    _lent: PhantomData<&'scope mut [T]>,
}

impl<T> std::fmt::Debug for Playing<'_, '_, '_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Playing").field("play", &self.play).finish_non_exhaustive()
    }
}

impl<'scope, 'comm> Scope<'scope, 'comm> {
    /// Begins a collective operation. It goes on while this rank waits for anything, and has ended
    /// when the scope does.
    ///
    /// Ranks must begin their operations in the same order, whether or not they wait for them. Of
    /// more than 65,535 in flight, the next one waits for the first.
    #[allow(unsafe_code)] // Lends memory for as long as a scope lasts.
    pub fn collective<'a, T: Pod>(
        &'a self,
        collective: Collective<'scope, T>,
    ) -> Result<Playing<'a, 'scope, 'comm, T>, CommError> {
        // SAFETY: when the scope ends, the operation has ended or has been given up.
        let (play, result) = unsafe { self.comm.begin_collective(collective)? };
        self.plays.borrow_mut().insert(play);
        Ok(Playing { scope: self, play, result, _lent: PhantomData })
    }

    /// Waits for an operation that was begun here.
    pub(super) fn end_of_collective(&self, play: PlayKey) -> Result<(), CommError> {
        let ended = self.comm.end_of_collective(play);
        self.plays.borrow_mut().remove(&play);
        ended
    }
}

impl<'scope, T> Playing<'_, 'scope, '_, T> {
    /// Waits until this rank has done its part, and gives the memory with the result.
    #[allow(unsafe_code)] // Gives back what was lent.
    pub fn wait(self) -> Result<&'scope mut [T], CommError> {
        self.scope.end_of_collective(self.play)?;
        // SAFETY: it was lent for as long, the operation has ended, and this can be called once.
        Ok(unsafe { &mut *self.result })
    }

    /// Polls once, and returns true if [`Playing::wait`] would return at once.
    pub fn is_done(&self) -> bool {
        let comm = self.scope.comm;
        // To wait is an error at once if there is no engine any more.
        let Ok((mut engine, now)) = comm.worker.core().look() else { return true };
        engine.progress(now);
        drop(engine);
        comm.advance_collectives();
        comm.collectives.is_ended(self.play)
    }
}

#[cfg(test)]
mod tests;
