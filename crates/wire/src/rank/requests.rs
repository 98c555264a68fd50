//! The table of sends and receives: their memory, and how far they are.

use std::collections::{BTreeMap, VecDeque};

use crosstie_protocol::message::Tag;
use slotmap::{SlotMap, new_key_type};

use crate::lent::{Lent, LentMut, put};
use crate::memory::Fault;

new_key_type! {
    /// A send or a receive.
    pub(crate) struct RequestKey;
    /// A set of requests, of which the program asks which are done.
    pub(crate) struct SetKey;
}

/// A send or a receive that is not forgotten yet.
#[derive(Debug)]
struct Request {
    buffer: Buffer,
    state: State,
    /// The set that is told when it is done.
    set: Option<SetKey>,
    /// True if the program asks no more: it is forgotten when it is done.
    released: bool,
}

/// How far it is.
#[derive(Debug, Clone, Copy)]
pub(super) enum State {
    Pending,
    Done(Status),
    Failed(Failure),
}

/// The memory of a request.
#[derive(Debug)]
pub(crate) enum Buffer {
    /// What is sent.
    Out(Lent),
    /// The same, which the rank owns.
    OwnOut(Vec<u8>),
    /// Where a message goes.
    In(LentMut),
    /// The same, which the rank owns.
    OwnIn(Vec<u8>),
    /// Nowhere: the program no longer waits for it.
    None,
    /// It has been given back.
    Returned,
}

/// What has been received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// The rank that sent it.
    pub from: u16,
    /// Its tag.
    pub tag: Tag,
    /// Its length, also if there was room for less.
    pub bytes: u64,
}

/// Why a request is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The other rank cannot be reached.
    Unreachable { rank: u16, cause: Loss },
    /// A message was longer than its room.
    Truncated { from: u16, tag: Tag, bytes: u64, room: usize },
    /// It was cancelled before it had any effect.
    Cancelled,
}

/// Why a rank cannot be reached any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, thiserror::Error)]
pub enum Loss {
    /// Nothing was heard of it for as long as patience lasts.
    #[default]
    #[error("it has ended, or no rail leads to it (after CROSSTIE_PATIENCE)")]
    Silent,
    /// Its process has ended.
    #[error("its process has ended")]
    Ended,
    /// It said that it leaves without waiting for others.
    #[error("it left after an error")]
    Left,
    /// It said that it leaves, without finishing.
    #[error("it left without finishing, and sends nothing more")]
    Departed,
    /// It has finished: what it has not received by then is refused.
    #[error("it has finished, and receives nothing more")]
    Finished,
    /// What it wrote into shared memory cannot be.
    #[error("its shared memory is broken: {0}")]
    Broken(Fault),
}

impl Buffer {
    /// What is sent.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Buffer::Out(lent) => lent.get(),
            Buffer::OwnOut(bytes) => bytes,
            Buffer::In(_) | Buffer::OwnIn(_) | Buffer::None | Buffer::Returned => &[],
        }
    }

    /// The bytes that there is room for.
    pub fn room(&self) -> usize {
        match self {
            Buffer::In(lent) => lent.len(),
            Buffer::OwnIn(room) => room.len(),
            _ => 0,
        }
    }

    /// Returns true if a message goes there.
    fn is_room(&self) -> bool {
        matches!(self, Buffer::In(_) | Buffer::OwnIn(_))
    }

    /// Returns true if its memory is the rank's own.
    pub fn is_own(&self) -> bool {
        matches!(self, Buffer::OwnOut(_) | Buffer::OwnIn(_))
    }
}

/// Buffers for short messages that are kept for later, and the longest of these.
const SPARE: usize = 64;
const SPARE_BYTES: usize = 32 << 10;

/// All sends and receives of a rank.
#[derive(Debug, Default)]
pub(super) struct Requests {
    all: SlotMap<RequestKey, Request>,
    sets: SlotMap<SetKey, VecDeque<RequestKey>>,
    /// How many have been done so far.
    completions: u64,
    /// Requests that were released and are not done.
    released: usize,
    /// Messages that the program no longer waits for and that were lost with their receivers: how
    /// many, by rank.
    undelivered: BTreeMap<u16, usize>,
    spare: Vec<Vec<u8>>,
}

impl Requests {
    /// Something begins.
    #[inline]
    pub fn begin(&mut self, buffer: Buffer) -> RequestKey {
        let (state, set, released) = (State::Pending, None, false);
        self.all.insert(Request { buffer, state, set, released })
    }

    /// Something was done at once, and its memory is to be given back.
    pub fn done_at_once(&mut self, buffer: Buffer, status: Status) -> RequestKey {
        let key = self.begin(buffer);
        self.finish(key, State::Done(status));
        key
    }

    /// Returns true if a request is known: it was begun, and its outcome was not taken yet.
    pub fn knows(&self, key: RequestKey) -> bool {
        self.all.get(key).is_some_and(|request| !request.released)
    }

    /// The bytes that a request sends; none if they are not ours any more.
    #[inline]
    pub fn bytes(&self, key: RequestKey) -> &[u8] {
        self.all.get(key).map_or(&[], |request| request.buffer.bytes())
    }

    /// The room of a receive, if the program still waits for it.
    #[inline]
    pub fn room(&mut self, key: RequestKey) -> Option<&mut [u8]> {
        match &mut self.all.get_mut(key)?.buffer {
            Buffer::In(room) => Some(room.get()),
            Buffer::OwnIn(room) => Some(room),
            _ => None,
        }
    }

    /// Copies what one request sends to where another receives it.
    pub fn copy(&mut self, from: RequestKey, into: RequestKey) {
        if let Some([from, into]) = self.all.get_disjoint_mut([from, into]) {
            match &mut into.buffer {
                Buffer::In(room) => put(room.get(), 0, from.buffer.bytes()),
                Buffer::OwnIn(room) => put(room, 0, from.buffer.bytes()),
                _ => {}
            }
        }
    }

    /// How many requests have been done so far.
    #[inline]
    pub fn completions(&self) -> u64 {
        self.completions
    }

    /// A request is done, and its memory is not ours any more.
    #[inline]
    pub fn finish(&mut self, key: RequestKey, state: State) {
        self.completions += 1;
        let Some(request) = self.all.get_mut(key) else { return };
        request.state = match (state, &request.buffer) {
            (State::Done(Status { from, tag, bytes }), room)
                if room.is_room() && bytes > room.room() as u64 =>
            {
                let room = room.room();
                State::Failed(Failure::Truncated { from, tag, bytes, room })
            }
            (state, _) => state,
        };
        if !request.buffer.is_own() {
            request.buffer = Buffer::Returned;
        }
        if let Some(done) = request.set.and_then(|set| self.sets.get_mut(set)) {
            done.push_back(key);
        }
        if request.released {
            self.released -= 1;
            self.all.remove(key);
        }
    }

    /// A request fails since a rank cannot be reached.
    pub fn fail(&mut self, key: RequestKey, rank: u16, cause: Loss) {
        let is_sent = |request: &Request| {
            request.released && matches!(request.buffer, Buffer::Out(_) | Buffer::OwnOut(_))
        };
        // `finish` reports refused messages, even if the program has heard of them before.
        if cause == Loss::Finished || self.all.get(key).is_some_and(is_sent) {
            self.lost(rank, 1);
        }
        self.finish(key, State::Failed(Failure::Unreachable { rank, cause }));
    }

    /// Messages of which the program was told that they are sent have not reached a rank.
    pub fn lost(&mut self, rank: u16, messages: usize) {
        if messages > 0 {
            *self.undelivered.entry(rank).or_default() += messages;
        }
    }

    /// The first rank that has not got such messages, and how many.
    pub fn undelivered(&self) -> Option<(u16, usize)> {
        self.undelivered.first_key_value().map(|(&rank, &messages)| (rank, messages))
    }

    /// What has become of a request that is done; then it is forgotten.
    #[inline]
    pub fn outcome(&mut self, key: RequestKey) -> Option<Result<Status, Failure>> {
        let outcome = match self.all.get(key)?.state {
            State::Pending => return None,
            State::Done(status) => Ok(status),
            State::Failed(failure) => Err(failure),
        };
        self.all.remove(key);
        Some(outcome)
    }

    /// Returns true if a request is done or forgotten.
    #[inline]
    pub fn is_done(&self, key: RequestKey) -> bool {
        self.all.get(key).is_none_or(|request| !matches!(request.state, State::Pending))
    }

    /// Gives the memory of a request back now: what is still to be sent is copied, and what still
    /// comes is dropped. One that is done is forgotten.
    pub fn take_back(&mut self, key: RequestKey) {
        if self.is_done(key) {
            self.all.remove(key);
            return;
        }
        let Some(request) = self.all.get_mut(key) else { return };
        request.buffer = match std::mem::replace(&mut request.buffer, Buffer::None) {
            Buffer::Out(lent) => Buffer::OwnOut(lent.get().to_vec()),
            Buffer::OwnOut(bytes) => Buffer::OwnOut(bytes),
            _ => Buffer::None,
        };
        self.release(key);
    }

    /// A request has had no effect and is forgotten.
    pub fn withdraw(&mut self, key: RequestKey) {
        if self.all.remove(key).is_some_and(|request| request.released) {
            self.released -= 1;
        }
    }

    /// The program asks no more what becomes of a request, which goes on with its memory.
    pub fn release(&mut self, key: RequestKey) {
        if self.is_done(key) {
            self.all.remove(key);
        } else if let Some(request) = self.all.get_mut(key)
            && !std::mem::replace(&mut request.released, true)
        {
            request.set = None;
            self.released += 1;
        }
    }

    /// Returns the number of requests that were released and are not done.
    pub fn released(&self) -> usize {
        self.released
    }

    /// The memory of a request that is done, if the rank owned it.
    pub fn take_memory(&mut self, key: RequestKey) -> Vec<u8> {
        let Some(request) = self.all.get_mut(key) else { return Vec::new() };
        match std::mem::replace(&mut request.buffer, Buffer::Returned) {
            Buffer::OwnOut(bytes) | Buffer::OwnIn(bytes) => bytes,
            _ => Vec::new(),
        }
    }

    /// Begins a set: of requests that are put into it, it tells which are done.
    pub fn begin_set(&mut self) -> SetKey {
        self.sets.insert(VecDeque::new())
    }

    /// Puts a request into a set, and takes it out of another one. One that is done is told at
    /// once.
    pub fn put(&mut self, set: SetKey, key: RequestKey) {
        let Some(done) = self.sets.get_mut(set) else { return };
        match self.all.get_mut(key) {
            Some(request) if matches!(request.state, State::Pending) => request.set = Some(set),
            _ => done.push_back(key),
        }
    }

    /// Returns true if there is such a set.
    pub fn has_set(&self, set: SetKey) -> bool {
        self.sets.contains_key(set)
    }

    /// A request of a set that is done, each once.
    #[inline]
    pub fn next_done(&mut self, set: SetKey) -> Option<RequestKey> {
        self.sets.get_mut(set)?.pop_front()
    }

    /// Ends a set. Its requests go on.
    pub fn end_set(&mut self, set: SetKey) {
        self.sets.remove(set);
    }

    /// Returns true if all that was begun is forgotten.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// An empty buffer.
    #[inline]
    pub fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Keeps a buffer for later.
    #[inline]
    pub fn put_back(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < SPARE && buffer.capacity() <= SPARE_BYTES {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}
