//! What is kept of a message until it is received.

use crosstie_collective::Overhead;
use crosstie_protocol::message::{Body, Envelope, PostId};
use crosstie_units::Time;

/// What is in a message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// What a send of the schedule sends.
    Plain {
        /// Its place.
        send: u32,
    },
    /// What a messenger posts.
    Envelope {
        /// The send whose bytes it has, or which it begins; [`NONE`] if none.
        send: u32,
        post: PostId,
        envelope: Envelope,
        /// Bytes of the application in it.
        payload: u64,
    },
}

impl Content {
    /// What an envelope takes a processor, at either end: until it is handed over, and in all.
    pub fn work(&self, overhead: &Overhead) -> (Time, Time) {
        let Content::Envelope { envelope, payload, .. } = *self else {
            return (overhead.message, overhead.message);
        };
        let bytes = match envelope.body {
            Body::Eager { .. } => overhead.bytes(payload as u32),
            _ => Time::ZERO,
        };
        (overhead.message, overhead.message + bytes)
    }

    /// What it takes the processor that receives it: data are in place when they arrive.
    pub fn opening(&self, overhead: &Overhead) -> Time {
        match self {
            Content::Envelope { envelope: Envelope { body: Body::Data { .. }, .. }, .. } => {
                Time::ZERO
            }
            _ => self.work(overhead).1,
        }
    }
}

/// What is kept of a message until it is received.
#[derive(Debug, Clone, Copy)]
pub(super) struct Letter {
    pub content: Content,
    /// Bytes on the rails, those of a header included.
    pub bytes: u32,
    pub cpu: u16,
    /// The rail that it must take.
    pub nic: Option<u16>,
    /// True if it must not be cut.
    pub whole: bool,
    /// Of those that come together, which goes first.
    pub order: usize,
    /// Parts of which nothing has come yet.
    pub missing: u32,
    /// The receive that has taken it.
    pub receive: Option<usize>,
    /// True if it has been written, if a receive has taken it, and if it is received.
    pub written: bool,
    pub received: bool,
    /// True if its send is done when it is written.
    pub completes: bool,
}

impl Letter {
    /// A message that is yet to be sent.
    pub fn new(content: Content, bytes: u32, order: usize) -> Letter {
        Letter {
            content,
            bytes,
            cpu: 0,
            nic: None,
            whole: false,
            order,
            missing: 0,
            receive: None,
            written: false,
            received: false,
            completes: false,
        }
    }
}
