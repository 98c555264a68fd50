//! How packets are known again: all that a network is given is a number.

use crate::network::Packet;
use crosstie_protocol::{Input, NodeId, StripeId};

/// What a packet is, of all that nodes send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PacketId {
    /// A part of a stripe.
    Data(DataId),
    /// A control packet, by its place.
    Control(u32),
    /// Something that a channel or a commodity node has posted, by its place.
    Posted(u32),
    /// A get, by its place.
    Got(u32),
    /// A put to several nodes, by its place.
    Cast(u32),
    /// Something that the thread of a NIC does, by the number that those above gave it.
    Chore(u32),
}

/// A packet of data: whose, of which stripe, and its number there. Its machine knows the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DataId {
    pub from: NodeId,
    pub stripe: StripeId,
    pub number: u32,
}

/// Mark a control packet, one that was posted, a get, what goes to several nodes, and a chore; data
/// has none.
const CONTROL: u64 = 1 << 63;
const POSTED: u64 = 1 << 63 | 1 << 62;
const GOT: u64 = 1 << 63 | 1 << 61;
const CAST: u64 = POSTED | GOT;
const CHORE: u64 = 1 << 63 | 1 << 60;
const MARK: u64 = CAST | CHORE;
/// Bits of the number of a packet within its stripe, and of the number of a stripe.
const NUMBER: u32 = Packet::NUMBER;
const STRIPE: u32 = 27;

impl PacketId {
    pub fn of(id: u64) -> PacketId {
        match id & MARK {
            _ if id & CONTROL == 0 => PacketId::Data(DataId::decode(id)),
            CAST => PacketId::Cast(id as u32),
            GOT => PacketId::Got(id as u32),
            CHORE => PacketId::Chore(id as u32),
            POSTED => PacketId::Posted(id as u32),
            _ => PacketId::Control(id as u32),
        }
    }

    pub fn id(self) -> u64 {
        match self {
            PacketId::Data(data) => data.encode(),
            PacketId::Control(place) => CONTROL | u64::from(place),
            PacketId::Posted(place) => POSTED | u64::from(place),
            PacketId::Got(place) => GOT | u64::from(place),
            PacketId::Cast(place) => CAST | u64::from(place),
            PacketId::Chore(number) => CHORE | u64::from(number),
        }
    }
}

impl DataId {
    /// # Panics
    /// If a number is too large; nothing that an experiment may ask for is.
    pub fn encode(self) -> u64 {
        let (from, stripe, number) =
            (u64::from(self.from.0), u64::from(self.stripe.0), u64::from(self.number));
        assert!(from < 1 << 16 && stripe < 1 << STRIPE && number < 1 << NUMBER, "{self:?}");
        from << (STRIPE + NUMBER) | stripe << NUMBER | number
    }

    /// What its machine is told when the receiver has it.
    pub fn acknowledged(self) -> Input {
        Input::Acknowledged { stripe: self.stripe, number: self.number }
    }

    pub fn decode(id: u64) -> DataId {
        DataId {
            from: NodeId((id >> (STRIPE + NUMBER)) as u32),
            stripe: StripeId((id >> NUMBER) as u32 & ((1 << STRIPE) - 1)),
            number: id as u32 & ((1 << NUMBER) - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_known_again() {
        let data = |from, stripe, number| {
            PacketId::Data(DataId { from: NodeId(from), stripe: StripeId(stripe), number })
        };
        for cargo in [
            data(0, 0, 0),
            data(65_535, (1 << STRIPE) - 1, (1 << NUMBER) - 1),
            data(7, 1, 65_536),
            PacketId::Control(0),
            PacketId::Control(12_345),
            PacketId::Posted(u32::MAX),
            PacketId::Got(0),
            PacketId::Got(u32::MAX),
            PacketId::Cast(0),
            PacketId::Cast(u32::MAX),
            PacketId::Chore(0),
            PacketId::Chore(u32::MAX),
        ] {
            assert_eq!(PacketId::of(cargo.id()), cargo);
        }
    }
}
