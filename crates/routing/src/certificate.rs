//! The proof that a routing cannot deadlock, or the cycle along which it can.
//!
//! A packet in a wormhole network holds channels while it asks for the next one. If the channels
//! can be put in an order such that every packet only asks for a channel after all those it holds,
//! no circle of packets can wait for each other (Dally and Seitz). The certificate is such an
//! order, or a circle of dependencies that rules every order out.
//!
//! A group tag makes the packet depend on every linked port of the group: the condition is
//! sufficient for adaptive routing too, though a routing with escape paths may be safe without it.
//! Between two legs a packet is taken out of the network and holds nothing.

mod ranges;

pub use ranges::{RangeCertificate, Taking, Turn, certify_ranges};

use crosstie_fabric::{ChannelId, Fabric, HostId, Node};

use crate::walk::{Visitor, walk};
use crate::{Route, RouteFault, Routing};

/// The answer to "can this routing deadlock?".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certificate {
    /// It cannot.
    DeadlockFree {
        /// All channels in use, such that every dependency leads from an earlier to a later one.
        order: Vec<ChannelId>,
        /// How many dependencies there are.
        dependencies: usize,
    },
    /// It can.
    Cycle {
        /// Channels each of which waits for the next, and the last for the first.
        cycle: Vec<ChannelId>,
        /// How many channels are in use.
        channels: usize,
        /// How many dependencies there are.
        dependencies: usize,
    },
}

impl Certificate {
    /// Whether the routing is proved free of deadlock.
    pub fn is_deadlock_free(&self) -> bool {
        matches!(self, Certificate::DeadlockFree { .. })
    }

    /// How many channels some route uses.
    pub fn channels(&self) -> usize {
        match self {
            Certificate::DeadlockFree { order, .. } => order.len(),
            Certificate::Cycle { channels, .. } => *channels,
        }
    }

    /// How many pairs of channels depend on each other.
    pub fn dependencies(&self) -> usize {
        match self {
            Certificate::DeadlockFree { dependencies, .. }
            | Certificate::Cycle { dependencies, .. } => *dependencies,
        }
    }
}

/// Follows the routes between all pairs of hosts and sorts the channels they use.
pub fn certify(fabric: &Fabric, routing: &dyn Routing) -> Result<Certificate, RouteFault> {
    let mut graph = Dependencies::new(fabric);
    walk(fabric, routing, &mut graph)?;
    Ok(graph.certificate())
}

/// The channel dependency graph. A packet on channel c asks for a channel that leaves the switch
/// where c ends, so a dependency is a bit: channel c owns one per port of that switch.
struct Dependencies<'a> {
    fabric: &'a Fabric,
    used: Vec<bool>,
    first_bit: Vec<usize>,
    bits: Vec<u64>,
}

impl Visitor for Dependencies<'_> {
    fn route(&mut self, _: HostId, _: HostId, _: &Route) {}

    fn hold(&mut self, channel: ChannelId, _: f64) {
        self.used[channel.0 as usize] = true;
    }

    fn depend(&mut self, held: ChannelId, asked: ChannelId) {
        let bit = self.bit(held, asked);
        self.bits[bit / 64] |= 1 << (bit % 64);
    }
}

impl<'a> Dependencies<'a> {
    fn new(fabric: &'a Fabric) -> Dependencies<'a> {
        let mut bits = 0;
        let first_bit = fabric.channels().map(|channel| {
            let first = bits;
            if let Node::Switch(switch) = fabric.channel(channel).to.node {
                bits += usize::from(fabric.ports(switch));
            }
            first
        });
        let first_bit = first_bit.collect();
        let used = vec![false; fabric.channels().len()];
        Dependencies { fabric, used, first_bit, bits: vec![0; bits.div_ceil(64)] }
    }

    fn bit(&self, held: ChannelId, asked: ChannelId) -> usize {
        self.first_bit[held.0 as usize] + usize::from(self.fabric.channel(asked).from.port.0)
    }

    fn has(&self, held: ChannelId, asked: ChannelId) -> bool {
        let bit = self.bit(held, asked);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// The channels that a packet on this one may ask for.
    fn asked_from(&self, held: ChannelId) -> impl Iterator<Item = ChannelId> + '_ {
        let switch = match self.fabric.channel(held).to.node {
            Node::Switch(switch) => Some(switch),
            Node::Host(_) => None,
        };
        let out = switch.into_iter().flat_map(|switch| self.fabric.out_channels(switch));
        out.filter(move |&asked| self.has(held, asked))
    }

    /// The channels on which a packet may ask for this one.
    fn held_before(&self, asked: ChannelId) -> impl Iterator<Item = ChannelId> + '_ {
        let switch = match self.fabric.channel(asked).from.node {
            Node::Switch(switch) => Some(switch),
            Node::Host(_) => None,
        };
        let out = switch.into_iter().flat_map(|switch| self.fabric.out_channels(switch));
        out.map(ChannelId::reverse).filter(move |&held| self.has(held, asked))
    }

    fn certificate(&self) -> Certificate {
        let dependencies = self.bits.iter().map(|word| word.count_ones() as usize).sum();
        let mut waiting = vec![0u32; self.used.len()];
        let in_use = || self.fabric.channels().filter(|c| self.used[c.0 as usize]);
        for asked in in_use().flat_map(|held| self.asked_from(held)) {
            waiting[asked.0 as usize] += 1;
        }
        // A channel joins the order when everything before it has.
        let mut order: Vec<_> = in_use().filter(|c| waiting[c.0 as usize] == 0).collect();
        let mut head = 0;
        while let Some(&held) = order.get(head) {
            head += 1;
            for asked in self.asked_from(held) {
                let left = &mut waiting[asked.0 as usize];
                *left -= 1;
                if *left == 0 {
                    order.push(asked);
                }
            }
        }
        match in_use().find(|c| waiting[c.0 as usize] > 0) {
            None => Certificate::DeadlockFree { order, dependencies },
            Some(stuck) => Certificate::Cycle {
                cycle: self.cycle(stuck, &waiting),
                channels: in_use().count(),
                dependencies,
            },
        }
    }

    /// A cycle, found by going back from a channel that could not be put in order. Every such
    /// channel waits for another such one, so the way back must meet itself.
    fn cycle(&self, stuck: ChannelId, waiting: &[u32]) -> Vec<ChannelId> {
        let mut seen = vec![false; waiting.len()];
        let mut channel = stuck;
        while !std::mem::replace(&mut seen[channel.0 as usize], true) {
            channel = self
                .held_before(channel)
                .find(|held| waiting[held.0 as usize] > 0)
                .expect("a channel left out of the order waits for another one left out");
        }
        self.shortest_cycle(channel)
    }

    /// The shortest cycle through a channel that lies on one, by breadth-first search.
    fn shortest_cycle(&self, start: ChannelId) -> Vec<ChannelId> {
        let mut came_from = vec![None; self.used.len()];
        let mut queue = vec![start];
        let mut head = 0;
        loop {
            let held = *queue.get(head).expect("the channel lies on a cycle");
            head += 1;
            for asked in self.asked_from(held) {
                if asked == start {
                    let back = std::iter::successors(Some(held), |c| came_from[c.0 as usize]);
                    let mut cycle: Vec<_> = back.collect();
                    cycle.reverse();
                    return cycle;
                }
                if came_from[asked.0 as usize].is_none() {
                    came_from[asked.0 as usize] = Some(held);
                    queue.push(asked);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
