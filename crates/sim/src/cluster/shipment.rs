//! What packets carry, and how far a stripe of several packets has come.

use crosstie_protocol::{Control, NodeId, Parcel, RailId};

/// What one or several packets under way carry.
#[derive(Debug, Clone)]
pub(super) enum Cargo {
    Data(Shipment),
    Control { rail: RailId, from: NodeId, to: NodeId, packet: Control },
}

/// A stripe under way.
#[derive(Debug, Clone)]
pub(super) struct Shipment {
    pub parcel: Parcel,
    /// Packets that have not been given to the engine.
    pub waiting: u32,
    /// Packets that have, and have not arrived.
    pub under_way: u32,
    /// At which places one of its packets has been, by [`Place`].
    begun: [bool; 4],
    /// How many of its packets have still to pass each place.
    left: [u32; 4],
}

/// Where all packets of a stripe pass, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The bus of the sender, if it is shared.
    Read,
    /// The link out of the sender.
    Departure,
    /// The link into the receiver; what has passed it is in memory.
    Arrival,
    /// The bus of the receiver, if it is shared.
    Write,
}

/// Counts down. Release builds of this crate wrap around silently, and a count below nothing is a
/// bug of ours that must not become a result.
pub(super) fn fewer(count: &mut u32, invariant: &str) {
    *count = count.checked_sub(1).unwrap_or_else(|| panic!("{invariant}"));
}

impl Shipment {
    pub fn new(parcel: Parcel, packets: u32) -> Shipment {
        Shipment { parcel, waiting: packets, under_way: 0, begun: [false; 4], left: [packets; 4] }
    }

    /// A packet comes to a place; true if it is the first.
    pub fn begins(&mut self, place: Place) -> bool {
        !std::mem::replace(&mut self.begun[place as usize], true)
    }

    /// A packet has passed a place; true if it was the last.
    pub fn ends(&mut self, place: Place) -> bool {
        let left = &mut self.left[place as usize];
        fewer(left, "a packet passes each of its places once");
        *left == 0
    }
}
