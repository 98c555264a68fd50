//! Who wants to know what has been delivered.

use crate::wormhole::{Delivery, Tick};

/// Writes down what a cluster delivers.
pub trait Books {
    /// A packet of a stripe has reached the memory of its destination.
    fn packet_delivered(&mut self, _delivery: &Delivery) {}

    /// A message is whole: when it was handed over, when its last stripe arrived, its flits.
    fn message_delivered(&mut self, handed_over: Tick, at: Tick, flits: u64);
}
