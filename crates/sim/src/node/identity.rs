//! How packets are known again: all that a network is given is a number.

use crate::network::Packet;
use crosstie_protocol::{NodeId, StripeId};

/// What a packet carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cargo {
    /// A part of a stripe.
    Data(DataId),
    /// A control packet, by its place.
    Control(u64),
}

/// A packet of data: whose, of which stripe, and its number there. Its machine knows the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DataId {
    pub from: NodeId,
    pub stripe: StripeId,
    pub number: u32,
}

/// Marks a control packet.
const CONTROL: u64 = 1 << 63;
/// Bits of the number of a packet within its stripe, and of the number of a stripe.
const NUMBER: u32 = Packet::NUMBER;
const STRIPE: u32 = 30;

impl Cargo {
    pub fn of(id: u64) -> Cargo {
        match id & CONTROL {
            0 => Cargo::Data(DataId::decode(id)),
            _ => Cargo::Control(id & !CONTROL),
        }
    }

    pub fn id(self) -> u64 {
        match self {
            Cargo::Data(data) => data.encode(),
            Cargo::Control(place) => CONTROL | place,
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

    pub fn decode(id: u64) -> DataId {
        DataId {
            from: NodeId((id >> (STRIPE + NUMBER)) as u32),
            stripe: StripeId((id >> NUMBER) as u32 & ((1 << STRIPE) - 1)),
            number: id as u32 & ((1 << NUMBER) - 1),
        }
    }
}

/// Things by number, whose numbers are used again.
#[derive(Debug, Clone)]
pub(super) struct Slab<T> {
    places: Vec<T>,
    spare: Vec<u64>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { places: Vec::new(), spare: Vec::new() }
    }
}

impl<T: Copy> Slab<T> {
    pub fn put(&mut self, thing: T) -> u64 {
        match self.spare.pop() {
            Some(place) => {
                self.places[place as usize] = thing;
                place
            }
            None => {
                self.places.push(thing);
                self.places.len() as u64 - 1
            }
        }
    }

    pub fn get(&self, place: u64) -> &T {
        &self.places[place as usize]
    }

    pub fn get_mut(&mut self, place: u64) -> &mut T {
        &mut self.places[place as usize]
    }

    pub fn take(&mut self, place: u64) -> T {
        self.spare.push(place);
        self.places[place as usize]
    }

    pub fn is_empty(&self) -> bool {
        self.places.len() == self.spare.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_known_again() {
        let data = |from, stripe, number| {
            Cargo::Data(DataId { from: NodeId(from), stripe: StripeId(stripe), number })
        };
        for cargo in [
            data(0, 0, 0),
            data(65_535, (1 << STRIPE) - 1, (1 << NUMBER) - 1),
            data(7, 1, 65_536),
            Cargo::Control(0),
            Cargo::Control(12_345),
        ] {
            assert_eq!(Cargo::of(cargo.id()), cargo);
        }
    }

    #[test]
    fn places_are_used_again() {
        let mut slab = Slab::default();
        let (a, b) = (slab.put('a'), slab.put('b'));
        assert_eq!((slab.take(a), slab.is_empty()), ('a', false));
        assert_eq!((slab.put('c'), *slab.get(b)), (a, 'b'));
        slab.take(a);
        slab.take(b);
        assert!(slab.is_empty());
    }
}
