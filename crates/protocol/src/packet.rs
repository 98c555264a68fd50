//! What nodes send to each other.

use std::ops::Range;

use crate::livelock::Priority;
use crate::{MessageId, NodeId, Stripe, StripeId};

/// A control packet between the NICs of two nodes on one rail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Control {
    /// Request to send, with what decides if two requests meet.
    Rts(Priority),
    /// Clear to send: the receiver is reserved.
    Cts,
    /// The request is refused.
    Nack,
    /// The data have arrived; the reservation has ended.
    Ack,
    /// The reservation is not wanted.
    Abort,
}

/// A stripe with its address: what every packet of it says to the receiver.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Parcel {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// The stripe, as the sender numbers those that it has under way.
    pub id: StripeId,
    /// The message, as the sender numbers it.
    pub message: MessageId,
    /// The length of the whole message in bytes.
    pub length: u64,
    /// Which bytes these are, and on which rail.
    pub stripe: Stripe,
    /// The receiver's NIC has been reserved for it, and is to be released.
    pub reserved: bool,
    /// Which of all things for this receiver the message is, by which repetitions are noticed; 0
    /// where the network repeats nothing ([`NodeSpec::repeats`](crate::NodeSpec::repeats)).
    pub serial: u64,
}

/// What travels in one piece: a part of a stripe, or all of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Packet {
    /// The stripe, and where it goes.
    pub parcel: Parcel,
    /// Its number within the stripe, from 0.
    pub number: u32,
    /// The bytes of the message that it holds.
    pub bytes: Range<u64>,
}

impl Packet {
    /// The number of bytes.
    pub fn len(&self) -> u64 {
        self.bytes.end - self.bytes.start
    }

    /// Whether there is nothing in it: the one packet of an empty message.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
