//! Reads of the memory of other nodes, which their NICs serve. Machines of `protocol` have nothing
//! to do with them: a get takes one rail, from the descriptor to the last byte.

use super::identity::PacketId;
use super::report::{Letter, Listener};
use super::{Ends, Fate, Network, Nodes, Packet, Priority};
use crate::slab::Slab;

/// Gets that are under way.
#[derive(Debug, Default)]
pub(super) struct Gets {
    letters: Slab<Letter>,
    /// The rail that the next get of each node takes; those that are not listed begin with the
    /// first.
    turns: Vec<u32>,
}

impl Gets {
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    fn turn(&mut self, node: u32, rails: u32) -> u32 {
        let node = node as usize;
        if self.turns.len() <= node {
            self.turns.resize(node + 1, 0);
        }
        let rail = self.turns[node];
        self.turns[node] = if rail + 1 == rails { 0 } else { rail + 1 };
        rail
    }
}

impl Nodes {
    /// A node gets bytes from the memory of the node that the letter is to, at the time that it is.
    /// Gets that name no rail take all in turn.
    pub fn get(&mut self, network: &mut dyn Network, letter: Letter) {
        let Letter { from, to, bytes, rail, .. } = letter;
        let rail = match rail {
            Some(rail) => rail.0,
            None => self.gets.turn(from.0, self.spec.rails),
        };
        let id = PacketId::Got(self.gets.letters.put(letter)).id();
        let (from, to, siblings, departs) = (from.0, to.0, 1, false);
        let (ends, priority) = (Ends::Memories, Priority::Low);
        network.get(Packet { rail, from, to, bytes, id, siblings, departs, ends, priority });
    }

    /// What the network tells of a get.
    pub(super) fn hear_of_get(&mut self, place: u32, fate: Fate, listener: &mut impl Listener) {
        match fate {
            Fate::Arrived(_) => listener.got(&self.gets.letters.take(place)),
            Fate::Dropped => {
                self.lost += 1;
                self.gets.letters.take(place);
            }
            Fate::Left | Fate::Arriving | Fate::Acknowledged | Fate::Refused | Fate::Done => {}
            Fate::Reached(..) => unreachable!("a get has one destination"),
        }
    }
}
