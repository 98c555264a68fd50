//! Puts to several nodes at once, which the network spreads. Machines of `protocol` have nothing to
//! do with them: such a put takes one rail.

use super::identity::PacketId;
use super::report::{Letter, Listener};
use super::{Ends, Fate, Network, Nodes, Packet, Priority};
use crate::slab::Slab;
use crosstie_protocol::NodeId;

/// Puts to several nodes that are under way.
#[derive(Debug, Default)]
pub(super) struct Casts {
    letters: Slab<Letter>,
}

impl Casts {
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }
}

impl Nodes {
    /// A node puts a letter into the memories of the nodes from the one that it is to up to the
    /// last one given, at the time that it is. It takes the first rail, unless it names one.
    pub fn cast(&mut self, network: &mut dyn Network, letter: Letter, last: NodeId) {
        let Letter { from, to, bytes, rail, .. } = letter;
        let rail = rail.map_or(0, |rail| rail.0);
        let id = PacketId::Cast(self.casts.letters.put(letter)).id();
        let (from, to, siblings, departs) = (from.0, to.0, 1, true);
        let (ends, priority) = (Ends::Memories, Priority::Low);
        let packet = Packet { rail, from, to, bytes, id, siblings, departs, ends, priority };
        network.cast(packet, last.0);
    }

    /// What the network tells of a put to several nodes.
    pub(super) fn hear_of_cast(&mut self, place: u32, fate: Fate, listener: &mut impl Listener) {
        match fate {
            Fate::Reached(_, node) => {
                listener.reached(self.casts.letters.get(place), NodeId(node));
            }
            Fate::Left => listener.cast(self.casts.letters.get(place)),
            Fate::Acknowledged => _ = self.casts.letters.take(place),
            // It may have reached others, and be told of them later: the letter stays.
            Fate::Dropped => self.lost += 1,
            Fate::Arriving | Fate::Refused => {}
            Fate::Arrived(_) | Fate::Done => unreachable!("it reaches each node by itself"),
        }
    }
}
