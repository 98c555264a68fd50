//! Sends and receives, and their memory.

use crosstie_protocol::message::Tag;

use crate::envelope::Context;
use crate::lent::{Lent, LentMut};
use crate::memory::Fault;

/// A send or a receive that is not forgotten yet.
#[derive(Debug)]
pub(super) struct Request {
    pub context: Context,
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
    Unreachable { rank: u16, cause: Loss },
    /// A message was longer than its room.
    Truncated { from: u16, tag: Tag, bytes: u64, room: usize },
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
    /// It said that it leaves without waiting for anybody.
    #[error("it left after an error")]
    Left,
    /// It said that it leaves, without finishing.
    #[error("it left without finishing, and sends nothing more")]
    Departed,
    /// What it wrote into shared memory cannot be.
    #[error("its shared memory is broken: {0}")]
    Broken(Fault),
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
    pub fn new(context: Context, buffer: Buffer) -> Request {
        Request { context, buffer, state: State::Pending }
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
