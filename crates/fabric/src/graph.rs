//! The one graph type that every network becomes.

use std::fmt;

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

/// What is wrong with a network under construction.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FabricError {
    /// A link names a node that does not exist.
    #[error("a link names {node}, which does not exist")]
    NoSuchNode {
        /// The node.
        node: Node,
    },
    /// A link names a port beyond the node's last one.
    #[error("a link names port {} of {node}, which has {ports} ports", port.0)]
    NoSuchPort {
        /// The node.
        node: Node,
        /// The port named.
        port: Port,
        /// How many ports it has.
        ports: u16,
    },
    /// Two links want one port.
    #[error("port {} of {node} is linked twice", port.0)]
    PortTaken {
        /// The node.
        node: Node,
        /// The port.
        port: Port,
    },
    /// A link from a node to itself.
    #[error("{node} is linked to itself")]
    SelfLink {
        /// The node.
        node: Node,
    },
    /// A host without a link.
    #[error("{node} has no link")]
    Unlinked {
        /// The host.
        node: Node,
    },
    /// Part of the network cannot be reached.
    #[error("the network is in pieces: {unreached} cannot be reached from {from}")]
    Disconnected {
        /// Where the search began.
        from: Node,
        /// A node it did not find.
        unreached: Node,
    },
    /// Nobody to talk.
    #[error("the network has {hosts} hosts; it needs at least 2")]
    TooFewHosts {
        /// How many it has.
        hosts: usize,
    },
    /// More nodes or ports than the numbering can hold.
    #[error("the network is too large: {what}")]
    TooLarge {
        /// What is too many.
        what: String,
    },
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Node::Host(h) => write!(f, "host {}", h.0),
            Node::Switch(s) => write!(f, "switch {}", s.0),
        }
    }
}

/// A network being put together: add hosts and switches, connect their ports, then `build`.
#[derive(Debug, Clone, Default)]
pub struct FabricBuilder {
    hosts: Vec<String>,
    switches: Vec<(String, u16)>,
    links: Vec<(End, End)>,
}

impl FabricBuilder {
    /// Adds a host with a label for people.
    pub fn host(&mut self, label: impl Into<String>) -> HostId {
        self.hosts.push(label.into());
        HostId(self.hosts.len() as u32 - 1)
    }

    /// Adds a switch with a label for people and a number of ports.
    pub fn switch(&mut self, label: impl Into<String>, ports: u16) -> SwitchId {
        self.switches.push((label.into(), ports));
        SwitchId(self.switches.len() as u32 - 1)
    }

    /// Joins two ports by a link.
    pub fn connect(&mut self, a: End, b: End) -> LinkId {
        self.links.push((a, b));
        LinkId(self.links.len() as u32 - 1)
    }

    /// Checks everything and closes the network.
    pub fn build(self, name: impl Into<String>, shape: Shape) -> Result<Fabric, FabricError> {
        if self.hosts.len() < 2 {
            return Err(FabricError::TooFewHosts { hosts: self.hosts.len() });
        }
        if self.links.len() >= (u32::MAX / 2) as usize {
            return Err(FabricError::TooLarge { what: format!("{} links", self.links.len()) });
        }
        let mut first_port = Vec::with_capacity(self.switches.len() + 1);
        let mut ports = 0u32;
        for (_, count) in &self.switches {
            first_port.push(ports);
            ports = ports
                .checked_add(u32::from(*count))
                .ok_or_else(|| FabricError::TooLarge { what: "switch ports".into() })?;
        }
        first_port.push(ports);
        let mut fabric = Fabric {
            name: name.into(),
            shape,
            host_out: vec![NO_CHANNEL; self.hosts.len()],
            switch_out: vec![NO_CHANNEL; ports as usize],
            first_port,
            channels: Vec::with_capacity(2 * self.links.len()),
            host_labels: self.hosts,
            switch_labels: self.switches.into_iter().map(|(label, _)| label).collect(),
        };
        for (a, b) in self.links {
            if a.node == b.node {
                return Err(FabricError::SelfLink { node: a.node });
            }
            for (from, to) in [(a, b), (b, a)] {
                let channel = ChannelId(fabric.channels.len() as u32);
                let slot = fabric.out_slot(from)?;
                if *slot != NO_CHANNEL {
                    return Err(FabricError::PortTaken { node: from.node, port: from.port });
                }
                *slot = channel;
                fabric.channels.push(Channel { from, to });
            }
        }
        fabric.check_connected()?;
        Ok(fabric)
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

    /// A channel in words: `⟨0,1⟩:4 -> ⟨0,0⟩:0`.
    pub fn describe(&self, channel: ChannelId) -> String {
        let Channel { from, to } = self.channel(channel);
        let end = |e: End| match e.node {
            Node::Host(_) => self.label(e.node).to_owned(),
            Node::Switch(_) => format!("{}:{}", self.label(e.node), e.port.0),
        };
        format!("{} -> {}", end(from), end(to))
    }

    fn out_slot(&mut self, end: End) -> Result<&mut ChannelId, FabricError> {
        let no_port = |ports| FabricError::NoSuchPort { node: end.node, port: end.port, ports };
        match end.node {
            Node::Host(h) => {
                let slot = self
                    .host_out
                    .get_mut(h.0 as usize)
                    .ok_or(FabricError::NoSuchNode { node: end.node })?;
                if end.port == Port(0) { Ok(slot) } else { Err(no_port(1)) }
            }
            Node::Switch(s) => {
                if s.0 as usize >= self.switch_labels.len() {
                    return Err(FabricError::NoSuchNode { node: end.node });
                }
                let ports = self.ports(s);
                if end.port.0 >= ports {
                    return Err(no_port(ports));
                }
                Ok(&mut self.switch_out
                    [(self.first_port[s.0 as usize] + u32::from(end.port.0)) as usize])
            }
        }
    }

    fn check_connected(&self) -> Result<(), FabricError> {
        for host in self.hosts() {
            if self.host_out(host) == NO_CHANNEL {
                return Err(FabricError::Unlinked { node: Node::Host(host) });
            }
        }
        let start = Node::Host(HostId(0));
        let hosts = self.host_labels.len();
        let index = |node| match node {
            Node::Host(h) => h.0 as usize,
            Node::Switch(s) => hosts + s.0 as usize,
        };
        let mut seen = vec![false; hosts + self.switch_labels.len()];
        seen[0] = true;
        let mut todo = vec![start];
        while let Some(node) = todo.pop() {
            let mut visit = |channel: ChannelId| {
                let next = self.channel(channel).to.node;
                if !std::mem::replace(&mut seen[index(next)], true) {
                    todo.push(next);
                }
            };
            match node {
                Node::Host(h) => visit(self.host_out(h)),
                Node::Switch(s) => self.out_channels(s).for_each(visit),
            }
        }
        let nodes = self.hosts().map(Node::Host).chain(self.switches().map(Node::Switch));
        match nodes.zip(&seen).find(|(_, seen)| !**seen) {
            Some((unreached, _)) => Err(FabricError::Disconnected { from: start, unreached }),
            None => Ok(()),
        }
    }
}
