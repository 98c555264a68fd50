//! Who wants to know what has been delivered.

use crate::wormhole::{Delivery, Tick};
use crosstie_protocol::{NodeId, PeId};

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

/// Writes down what a cluster delivers.
pub trait Books {
    /// A packet of a stripe has reached the memory of its destination.
    fn packet_delivered(&mut self, _delivery: &Delivery) {}

    /// A message is whole.
    fn message_delivered(&mut self, receipt: &Receipt);
}
