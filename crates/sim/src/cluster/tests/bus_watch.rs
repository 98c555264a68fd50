//! What meets where it should not: opposing data on a bus, two senders on one NIC.

use crate::cluster::{Edge, Passage, Place};
use crosstie_protocol::{NodeId, Packet, Packing, StripeId};
use std::collections::BTreeMap;

/// A stripe under way: at which places one of its packets has been, and how many have still to pass
/// each.
#[derive(Debug, Clone, Copy)]
struct Stripe {
    begun: [bool; 4],
    left: [u64; 4],
}

/// Counts the conflicts that rail schemes are made to avoid [coll, 1].
#[derive(Debug, Default)]
pub struct BusWatch {
    /// Stripes that began to cross a bus while data crossed it the other way.
    pub opposed: u64,
    /// Stripes that began to arrive at a NIC while another was arriving there.
    pub crowded: u64,
    packing: Packing,
    /// By sender.
    stripes: BTreeMap<(NodeId, StripeId), Stripe>,
    /// Stripes at each place of each NIC.
    present: BTreeMap<(u32, u32), u32>,
}

impl BusWatch {
    pub fn new(packing: Packing) -> BusWatch {
        BusWatch { packing, ..BusWatch::default() }
    }

    pub fn sent(&mut self, packet: &Packet) {
        if packet.number == 0 {
            let packets = self.packing.packets(packet.parcel.stripe.len());
            let stripe = Stripe { begun: [false; 4], left: [packets; 4] };
            self.stripes.insert((packet.parcel.from, packet.parcel.id), stripe);
        }
    }

    pub fn passes(&mut self, passage: &Passage) {
        let Passage { from, stripe, place, edge, nic } = *passage;
        let stripe = self.stripes.get_mut(&(from, stripe)).expect("the stripe has been sent");
        match edge {
            Edge::Head => {
                if !std::mem::replace(&mut stripe.begun[place as usize], true) {
                    self.begins(place, nic);
                }
            }
            Edge::Tail => {
                stripe.left[place as usize] -= 1;
                if stripe.left[place as usize] == 0 {
                    *self.at(place, nic) -= 1;
                }
            }
        }
    }

    fn begins(&mut self, place: Place, nic: u32) {
        let meets = |watch: &mut BusWatch, other| u64::from(*watch.at(other, nic) > 0);
        match place {
            Place::Read => self.opposed += meets(self, Place::Write),
            Place::Write => self.opposed += meets(self, Place::Read),
            Place::Arrival => self.crowded += meets(self, Place::Arrival),
            Place::Departure => {}
        }
        *self.at(place, nic) += 1;
    }

    fn at(&mut self, place: Place, nic: u32) -> &mut u32 {
        self.present.entry((nic, place as u32)).or_default()
    }
}
