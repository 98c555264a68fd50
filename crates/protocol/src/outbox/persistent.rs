//! Messages whose stripes may go again.

use std::ops::Range;

use super::Outbox;
use crate::pieces::{missing, unite};
use crate::way::Orphan;
use crate::{MessageId, Outgoing, PeId};

/// What is kept of a message until nothing refers to it.
#[derive(Debug)]
pub(super) struct Persistent {
    pub outgoing: Outgoing,
    pub serial: u64,
    /// The bytes that the receiver has, by whatever stripe.
    landed: Vec<Range<u64>>,
    /// Whether it has all.
    whole: bool,
}

impl Persistent {
    pub fn new(outgoing: &Outgoing, serial: u64) -> Persistent {
        Persistent { outgoing: *outgoing, serial, landed: Vec::new(), whole: false }
    }
}

impl Outbox {
    fn persistent(&mut self, number: u32) -> &mut Persistent {
        let followed = self.messages.get_mut(number).expect("something refers to the message");
        followed.persistent.as_mut().expect("it is kept where stripes may go again")
    }

    /// The message that an orphan is a part of, and its serial number.
    pub fn origin(&mut self, orphan: &Orphan) -> (Outgoing, u64) {
        let Persistent { outgoing, serial, .. } = self.persistent(orphan.message);
        (*outgoing, *serial)
    }

    /// The receiver has some bytes of a message; true if that makes it whole.
    pub(super) fn land(&mut self, number: u32, bytes: &Range<u64>) -> bool {
        let persistent = self.persistent(number);
        if persistent.whole {
            return false;
        }
        let (piece, _) = unite(&mut persistent.landed, bytes);
        persistent.whole = piece == (0..persistent.outgoing.bytes);
        persistent.whole
    }

    /// One thing less refers to a message.
    pub(super) fn let_go(&mut self, number: u32) {
        let followed = self.messages.get_mut(number).expect("something refers to the message");
        followed.landing -= 1;
        if followed.landing == 0 && !followed.open {
            self.messages.remove(number);
        }
    }

    /// What of an orphan still has to go: its receiver may have some of it by now.
    pub fn missing(&mut self, orphan: &Orphan) -> Vec<Range<u64>> {
        let persistent = self.persistent(orphan.message);
        match persistent.outgoing.bytes {
            0 if persistent.whole => Vec::new(),
            0 => std::iter::once(0..0).collect(),
            _ => missing(&persistent.landed, &orphan.bytes).collect(),
        }
    }

    /// An orphan has been handed over in stripes, or need not be. The message, and who sent it, if
    /// that has left with it.
    pub fn settle(&mut self, orphan: &Orphan) -> Option<(PeId, MessageId)> {
        let message = self.persistent(orphan.message).outgoing.message;
        let gone = if orphan.leaves { self.depart(orphan.message, message) } else { None };
        self.let_go(orphan.message);
        gone
    }
}
