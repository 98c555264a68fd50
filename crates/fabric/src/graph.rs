//! The one graph type that every network becomes.

mod builder;

use std::fmt;

pub use builder::{FabricBuilder, FabricError};

/// A host: the place in a fabric where one NIC plugs in. Numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostId(pub u32);

/// A switch, numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwitchId(pub u32);

/// A link: two channels in opposite directions, `2 * link` and `2 * link + 1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub u32);

/// One direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelId(pub u32);

/// A port number within its node. A host has port 0 only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u16);

/// A host or a switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A host.
    Host(HostId),
    /// A switch.
    Switch(SwitchId),
}

/// One end of a link: a port of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct End {
    /// The node.
    pub node: Node,
    /// Its port.
    pub port: Port,
}

impl End {
    /// The port of a host.
    pub fn host(host: HostId) -> End {
        End { node: Node::Host(host), port: Port(0) }
    }

    /// A port of a switch.
    pub fn switch(switch: SwitchId, port: Port) -> End {
        End { node: Node::Switch(switch), port }
    }
}

/// A channel with both its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Where flits enter it.
    pub from: End,
    /// Where flits leave it.
    pub to: End,
}

impl ChannelId {
    /// The link this channel is one direction of.
    pub fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    /// The other direction of the same link.
    pub fn reverse(self) -> ChannelId {
        ChannelId(self.0 ^ 1)
    }
}

impl LinkId {
    /// The two directions.
    pub fn channels(self) -> [ChannelId; 2] {
        [ChannelId(2 * self.0), ChannelId(2 * self.0 + 1)]
    }
}

/// What is known of a fabric's regularity; some routings need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A k-ary n-tree, perhaps pruned.
    Tree(crate::tree::KaryTree),
    /// All hosts on one switch, host h at port h.
    Single,
    /// Anything else.
    Irregular,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Host(h) => write!(f, "host {}", h.0),
            Node::Switch(s) => write!(f, "switch {}", s.0),
        }
    }
}

/// Stands for "nothing plugged in" in the port tables.
const NO_CHANNEL: ChannelId = ChannelId(u32::MAX);

/// A finished network: at least two hosts, every host linked, all of it connected.
#[derive(Debug, Clone)]
pub struct Fabric {
    name: String,
    shape: Shape,
    host_labels: Vec<String>,
    switch_labels: Vec<String>,
    /// Channel leaving each host.
    host_out: Vec<ChannelId>,
    /// Channel leaving each switch port; switch s owns `first_port[s]..first_port[s + 1]`.
    switch_out: Vec<ChannelId>,
    first_port: Vec<u32>,
    channels: Vec<Channel>,
}

impl Fabric {
    /// What the network is called, for example "4-ary 3-tree".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What is known of its regularity.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// All hosts in order.
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = HostId> + use<> {
        (0..self.host_labels.len() as u32).map(HostId)
    }

    /// All switches in order.
    pub fn switches(&self) -> impl ExactSizeIterator<Item = SwitchId> + use<> {
        (0..self.switch_labels.len() as u32).map(SwitchId)
    }

    /// All links in order.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkId> + use<> {
        (0..self.channels.len() as u32 / 2).map(LinkId)
    }

    /// All channels in order.
    pub fn channels(&self) -> impl ExactSizeIterator<Item = ChannelId> + use<> {
        (0..self.channels.len() as u32).map(ChannelId)
    }

    /// The two ends of a channel.
    pub fn channel(&self, channel: ChannelId) -> Channel {
        self.channels[channel.0 as usize]
    }

    /// How many ports a switch has, linked or not.
    pub fn ports(&self, switch: SwitchId) -> u16 {
        let s = switch.0 as usize;
        (self.first_port[s + 1] - self.first_port[s]) as u16
    }

    /// The channel that leaves a switch by a port, if anything is plugged in there.
    pub fn switch_out(&self, switch: SwitchId, port: Port) -> Option<ChannelId> {
        let (s, p) = (switch.0 as usize, u32::from(port.0));
        let slot = self.first_port[s] + p;
        (slot < self.first_port[s + 1])
            .then(|| self.switch_out[slot as usize])
            .filter(|&c| c != NO_CHANNEL)
    }

    /// The injection channel of a host.
    pub fn host_out(&self, host: HostId) -> ChannelId {
        self.host_out[host.0 as usize]
    }

    /// The ejection channel of a host.
    pub fn host_in(&self, host: HostId) -> ChannelId {
        self.host_out(host).reverse()
    }

    /// The switch a host hangs on, or `None` if it is cabled to another host.
    pub fn switch_of(&self, host: HostId) -> Option<SwitchId> {
        match self.channel(self.host_out(host)).to.node {
            Node::Switch(switch) => Some(switch),
            Node::Host(_) => None,
        }
    }

    /// The channels that leave a switch, by port.
    pub fn out_channels(&self, switch: SwitchId) -> impl Iterator<Item = ChannelId> + '_ {
        let s = switch.0 as usize;
        self.switch_out[self.first_port[s] as usize..self.first_port[s + 1] as usize]
            .iter()
            .copied()
            .filter(|&c| c != NO_CHANNEL)
    }

    /// What people call a node, for example `⟨1,2,0⟩` for a tree switch.
    pub fn label(&self, node: Node) -> &str {
        match node {
            Node::Host(h) => &self.host_labels[h.0 as usize],
            Node::Switch(s) => &self.switch_labels[s.0 as usize],
        }
    }

    /// Whether two fabrics join the same ports of the same nodes. Names, labels, shape and the
    /// numbering of links are not compared.
    pub fn same_wiring(&self, other: &Fabric) -> bool {
        let far = |fabric: &Fabric, out: ChannelId| match out {
            NO_CHANNEL => None,
            channel => Some(fabric.channel(channel).to),
        };
        let outs = |fabric: &Fabric| -> Vec<Option<End>> {
            fabric.host_out.iter().chain(&fabric.switch_out).map(|&c| far(fabric, c)).collect()
        };
        self.host_labels.len() == other.host_labels.len()
            && self.first_port == other.first_port
            && outs(self) == outs(other)
    }

    /// The same fabric, known to be of some shape. The caller has checked that it is.
    pub(crate) fn with_shape(self, shape: Shape) -> Fabric {
        Fabric { shape, ..self }
    }

    /// A channel in words: `⟨0,1⟩:4 -> ⟨0,0⟩:0`.
    pub fn describe(&self, channel: ChannelId) -> String {
        let Channel { from, to } = self.channel(channel);
        let end = |e: End| match e.node {
            Node::Host(_) => self.label(e.node).to_owned(),
            Node::Switch(_) => format!("{}:{}", self.label(e.node), e.port.0),
        };
        format!("{} -> {}", end(from), end(to))
    }
}
