//! The simulated machine: cluster, fabric, routing, switches, links, buses and NICs.

use std::fmt;

use crosstie_fabric::{KaryTree, Shape};
use crosstie_protocol::{self as protocol, Flow};
use crosstie_units::{Bytes, Rate, Seed, Time, range};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Rails, limits};

/// The nodes as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cluster {
    /// Independent copies of the fabric; each node has one NIC on each, unless rails share a port.
    pub rails: Rails,
    /// Processing elements of each node. Each sends on its own, all of them alike; more than one
    /// makes a difference under a [`PolicyKind`](crosstie_protocol::PolicyKind) that paces only.
    #[serde(deserialize_with = "limits::pes")]
    pub pes: u32,
    /// Whether a processing element under a scheme waits until its message has left the node
    /// before it starts the next one.
    pub blocking: bool,
}

impl Default for Cluster {
    fn default() -> Cluster {
        Cluster { rails: Rails::alike(1), pes: 1, blocking: true }
    }
}

/// The network of one rail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Fabric {
    /// A k-ary n-tree.
    Tree(Tree),
    /// All hosts on one switch.
    Single {
        /// How many.
        #[serde(deserialize_with = "limits::ports")]
        hosts: u32,
    },
    /// Switches with hosts under one without.
    TwoLevel {
        /// How many switches have hosts.
        #[serde(deserialize_with = "limits::ports")]
        leaves: u32,
        /// Hosts on each of them.
        #[serde(rename = "hosts-per-leaf", deserialize_with = "limits::hosts_per_switch")]
        hosts_per_leaf: u32,
    },
    /// A random irregular network.
    Irregular(Irregular),
    /// A network from a file.
    File {
        /// Its path, relative to the experiment file; its ending or its text tells the format.
        #[serde(deserialize_with = "range::file")]
        path: String,
    },
}

impl Fabric {
    /// How many hosts it has; `None` if only its file can tell.
    pub fn hosts(&self) -> Option<u32> {
        match self {
            Fabric::Tree(tree) => Some(tree.hosts),
            Fabric::Single { hosts } => Some(*hosts),
            Fabric::TwoLevel { leaves, hosts_per_leaf } => {
                Some(leaves.saturating_mul(*hosts_per_leaf))
            }
            Fabric::Irregular(irregular) => Some(irregular.hosts()),
            Fabric::File { .. } => None,
        }
    }

    /// What is known of its shape before it is built: nothing of a file, nor of a tree that cannot
    /// be.
    pub fn shape(&self) -> Shape {
        match self {
            Fabric::Tree(Tree { k, n, hosts }) => {
                // The ranges lie within the types.
                let tree = KaryTree::pruned(*k as u16, *n as u16, *hosts);
                tree.map_or(Shape::Irregular, Shape::Tree)
            }
            Fabric::Single { .. } => Shape::Single,
            Fabric::TwoLevel { .. } | Fabric::Irregular(_) | Fabric::File { .. } => {
                Shape::Irregular
            }
        }
    }
}

/// A k-ary n-tree, perhaps pruned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TreeDraft")]
pub struct Tree {
    /// Links down from each switch, and up.
    pub k: u32,
    /// Levels of switches.
    pub n: u32,
    /// Hosts: k^n, or fewer in a pruned tree.
    pub hosts: u32,
}

/// A tree as written: the number of hosts follows from the others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeDraft {
    #[serde(deserialize_with = "limits::arity")]
    k: u32,
    #[serde(deserialize_with = "limits::levels")]
    n: u32,
    #[serde(default, deserialize_with = "limits::some_hosts")]
    hosts: Option<u32>,
}

impl From<TreeDraft> for Tree {
    fn from(draft: TreeDraft) -> Tree {
        let TreeDraft { k, n, hosts } = draft;
        Tree { k, n, hosts: hosts.unwrap_or(k.saturating_pow(n)) }
    }
}

/// A random irregular network: at most one link between two switches, all of it connected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Irregular {
    /// How many switches.
    #[serde(deserialize_with = "limits::switches")]
    pub switches: u32,
    /// Ports of each switch, for hosts and links together.
    #[serde(deserialize_with = "limits::ports")]
    pub ports: u32,
    /// Hosts on each switch.
    #[serde(deserialize_with = "limits::hosts_per_switch")]
    pub hosts_per_switch: u32,
    /// Links between switches, all told; `None`: as many as the ports allow.
    #[serde(
        default,
        deserialize_with = "limits::some_links",
        skip_serializing_if = "Option::is_none"
    )]
    pub links: Option<u32>,
    /// The number from which its cables follow, and nothing else.
    #[serde(deserialize_with = "range::seed")]
    pub seed: Seed,
}

impl Irregular {
    /// How many hosts it has.
    pub fn hosts(&self) -> u32 {
        self.switches.saturating_mul(self.hosts_per_switch)
    }
}

/// The switches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Switch {
    /// Virtual channels of each channel.
    #[serde(deserialize_with = "limits::virtual_channels")]
    pub virtual_channels: u32,
    /// Input buffer of each virtual channel, in flits.
    #[serde(deserialize_with = "limits::buffer")]
    pub buffer: u32,
    /// Cycles to route a packet's head.
    #[serde(deserialize_with = "limits::routing_delay")]
    pub routing_delay: u32,
    /// What keeps buffers from overflowing. Like the next key it is left out of a spec's text
    /// where it is the default, so that results from before it existed are still known.
    #[serde(skip_serializing_if = "is_credits")]
    pub flow: Flow,
    /// Whether every switch takes off the flit that tells it the way; packets start with one more
    /// for every switch of their route, which no load or size counts.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub consumes_headers: bool,
}

impl Default for Switch {
    fn default() -> Switch {
        Switch {
            virtual_channels: 2,
            buffer: 128,
            routing_delay: 6,
            flow: Flow::default(),
            consumes_headers: false,
        }
    }
}

fn is_credits(flow: &Flow) -> bool {
    *flow == Flow::Credits
}

/// The links.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Link {
    /// The unit of flow control.
    #[serde(deserialize_with = "limits::flit")]
    pub flit: Bytes,
    /// Bandwidth of one channel.
    #[serde(deserialize_with = "limits::rate")]
    pub rate: Rate,
    /// Time of flight from end to end.
    #[serde(deserialize_with = "limits::wire")]
    pub wire: Time,
}

impl Default for Link {
    fn default() -> Link {
        Link {
            flit: Bytes::new(2),
            rate: Rate::from_bytes_per_second(400_000_000),
            wire: Time::from_ns(15),
        }
    }
}

impl Link {
    /// The clock: the time one flit takes, at least a picosecond.
    pub fn cycle(&self) -> Time {
        let cycle = self.rate.time_for(self.flit).unwrap_or(Time::ZERO);
        Time::from_ps(cycle.ps().max(1))
    }

    /// Time of flight in whole cycles, rounded up.
    pub fn wire_cycles(&self) -> u64 {
        self.cycles(self.wire)
    }

    /// A time in whole cycles, rounded up.
    pub fn cycles(&self, time: Time) -> u64 {
        time.ps().div_ceil(self.cycle().ps())
    }

    /// How many flits hold so many bytes.
    pub fn flits(&self, size: Bytes) -> u64 {
        size.get().div_ceil(self.flit.get().max(1))
    }
}

/// The I/O bus between a NIC and its host's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Bus {
    /// One direction at a time, each as fast as a link.
    Half {},
    /// One direction at a time, with a speed for each.
    Asymmetric {
        /// From memory to the NIC, which sends.
        #[serde(deserialize_with = "limits::rate")]
        read: Rate,
        /// From the NIC, which receives, to memory.
        #[serde(deserialize_with = "limits::rate")]
        write: Rate,
    },
    /// Both directions at once, each as fast as a link.
    Full {},
}

impl Default for Bus {
    fn default() -> Bus {
        Bus::Half {}
    }
}

/// The NICs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Nic {
    /// How messages become packets.
    pub packet: Packet,
    /// Bytes added to every packet.
    #[serde(deserialize_with = "limits::overhead")]
    pub overhead: Bytes,
    /// Bytes of a control packet, all told: the schemes that reserve send them between NICs.
    #[serde(deserialize_with = "limits::control")]
    pub control: Bytes,
    /// Cycles a NIC takes to handle a control packet.
    #[serde(deserialize_with = "limits::response")]
    pub response: u32,
    /// Stripes of messages that a NIC sends at once under a scheme; the others wait in its queue.
    #[serde(deserialize_with = "limits::transfers")]
    pub transfers: u32,
    /// Packets that a NIC has under way at once under a policy that paces; `None`: as many as its
    /// link has virtual channels, or any number where links have none.
    #[serde(deserialize_with = "limits::some_window", skip_serializing_if = "Option::is_none")]
    pub window: Option<u32>,
    /// How long NICs wait for acknowledgements before they do without a rail; `None`: for ever.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<Patience>,
    /// How NICs pass on packets that stop at their host; `None`: they cannot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_transit: Option<InTransit>,
}

/// How long a NIC waits for acknowledgements, where a channel makes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Patience {
    /// Round trips for which a rail to a node may be silent.
    #[serde(deserialize_with = "limits::round_trips")]
    pub round_trips: u32,
    /// The least time for which it may be silent.
    #[serde(deserialize_with = "limits::duration")]
    pub least: Time,
    /// How long there may be no rail to a node before it is unreachable.
    #[serde(deserialize_with = "limits::duration")]
    pub give_up: Time,
}

impl Default for Patience {
    fn default() -> Patience {
        let protocol::Patience { round_trips, least, give_up, .. } = protocol::Patience::default();
        Patience { round_trips, least, give_up }
    }
}

/// How a NIC passes on packets that stop at its host on their way (in-transit buffers).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct InTransit {
    /// Time from the moment a packet begins to arrive until the NIC knows that it is to go on.
    #[serde(deserialize_with = "limits::wire")]
    pub recognition: Time,
    /// Time from then until it may begin to leave.
    #[serde(deserialize_with = "limits::wire")]
    pub setup: Time,
    /// What the NIC can hold of such packets.
    #[serde(deserialize_with = "limits::pool")]
    pub pool: Bytes,
}

impl InTransit {
    /// The same in the units of a link. A time of more cycles than can be counted is as many as
    /// can.
    pub fn on(&self, link: &Link) -> protocol::InTransit {
        let cycles = |time| u32::try_from(link.cycles(time)).unwrap_or(u32::MAX);
        protocol::InTransit {
            recognition: cycles(self.recognition),
            setup: cycles(self.setup),
            // The range lies within the type.
            pool: (self.pool.get() / link.flit.get()) as u32,
        }
    }
}

impl Default for InTransit {
    /// As measured on Myrinet by Flich et al.
    fn default() -> InTransit {
        InTransit {
            recognition: Time::from_ns(275),
            setup: Time::from_ns(200),
            pool: Bytes::new(512 << 10),
        }
    }
}

impl Default for Nic {
    fn default() -> Nic {
        Nic {
            packet: Packet::Message,
            overhead: Bytes::new(0),
            // "A few tens of flits" of 2 bytes, and "a few hundreds of cycles" in Coll et al.
            control: Bytes::new(48),
            response: 300,
            transfers: 1,
            window: None,
            patience: None,
            in_transit: None,
        }
    }
}

/// How messages become packets; in a file `"message"`, or a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packet {
    /// A message is one packet.
    Message,
    /// A message is cut into packets of this payload, the last one perhaps shorter.
    Payload(Bytes),
}

const WHOLE: &str = "message";

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Packet::Message => f.write_str(WHOLE),
            Packet::Payload(size) => size.fmt(f),
        }
    }
}

impl Serialize for Packet {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Packet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Packet, D::Error> {
        limits::message_or(from, WHOLE).map(|size| size.map_or(Packet::Message, Packet::Payload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_follow_from_flit_and_rate() {
        let link = Link::default();
        assert_eq!(link.cycle(), Time::from_ns(5));
        assert_eq!(link.wire_cycles(), 3);
        assert_eq!(Link { wire: Time::from_ps(15_001), ..link.clone() }.wire_cycles(), 4);
        assert_eq!(Link { wire: Time::ZERO, ..link.clone() }.wire_cycles(), 0);
        assert_eq!(link.flits(Bytes::new(65)), 33);
    }
}
