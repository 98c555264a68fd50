//! Who wants to know what a cluster does.

use crate::wormhole::{Delivery, Tick};
use crosstie_protocol::{NodeId, Packet, PeId, StripeId};

/// A message that has been delivered whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// Who sent it.
    pub from: (NodeId, PeId),
    /// When it was handed to that processing element.
    pub handed_over: Tick,
    /// When its last stripe arrived.
    pub delivered: Tick,
    /// Its length.
    pub flits: u64,
}

/// Where all packets of data pass, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The bus of the sender, if it is shared.
    Read,
    /// The link out of the sender.
    Departure,
    /// The link into the receiver; what has passed it is in memory.
    Arrival,
    /// The bus of the receiver, if it is shared.
    Write,
}

/// Which end of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Its first flit.
    Head,
    /// Its last flit.
    Tail,
}

/// A packet of data passes one of its places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passage {
    /// The sender.
    pub from: NodeId,
    /// The stripe, as the sender numbers it.
    pub stripe: StripeId,
    /// The place.
    pub place: Place,
    /// Whether the packet begins to pass, or has passed.
    pub edge: Edge,
    /// The NIC whose place it is.
    pub nic: u32,
}

/// Writes down what a cluster does.
pub trait Books {
    /// A packet of a stripe is queued at its NIC.
    fn packet_sent(&mut self, _packet: &Packet) {}

    /// A packet of a stripe passes one of its places.
    fn packet_passes(&mut self, _passage: &Passage) {}

    /// A packet of a stripe has reached the memory of its destination.
    fn packet_delivered(&mut self, _delivery: &Delivery) {}

    /// A message is whole.
    fn message_delivered(&mut self, receipt: &Receipt);
}
