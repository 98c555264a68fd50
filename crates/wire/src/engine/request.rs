//! Sends and receives, and their memory.

use crosstie_protocol::message::Tag;

use crate::lent::{Lent, LentMut};

/// A send or a receive that is not forgotten yet.
#[derive(Debug)]
pub(super) struct Request {
    pub buffer: Buffer,
    pub state: State,
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
    /// The same, of which the engine has a copy.
    Copy(Vec<u8>),
    /// Where a message goes.
    In(LentMut),
    /// Nowhere: nobody waits for it.
    None,
    /// It has been given back.
    Returned,
}

/// What has been received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Status {
    /// Who sent it.
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
    Unreachable { rank: u16 },
}

impl Buffer {
    /// What is sent.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Buffer::Out(lent) => lent.get(),
            Buffer::Copy(bytes) => bytes,
            Buffer::In(_) | Buffer::None | Buffer::Returned => &[],
        }
    }

    /// The bytes that there is room for.
    pub fn room(&self) -> usize {
        match self {
            Buffer::In(lent) => lent.len(),
            _ => 0,
        }
    }
}

impl Request {
    pub fn new(buffer: Buffer) -> Request {
        Request { buffer, state: State::Pending }
    }

    /// Nobody waits for it any more.
    pub fn abandon(&mut self) {
        self.buffer = match std::mem::replace(&mut self.buffer, Buffer::None) {
            Buffer::Out(lent) => Buffer::Copy(lent.get().to_vec()),
            Buffer::Copy(bytes) => Buffer::Copy(bytes),
            _ => Buffer::None,
        };
    }
}
