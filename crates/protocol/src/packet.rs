//! What nodes send to each other.

use crate::livelock::Priority;
use crate::{MessageId, NodeId, Stripe};

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

/// A stripe of a message and what its receiver has to know: travels with the data.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Parcel {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
    /// The message, as the sender numbers it.
    pub message: MessageId,
    /// The length of the whole message in bytes.
    pub length: u64,
    /// Which bytes these are, and on which rail.
    pub stripe: Stripe,
    /// The receiver's NIC has been reserved for it, and is to be released.
    pub reserved: bool,
}
