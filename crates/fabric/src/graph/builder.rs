//! Putting a network together, and what can be wrong with it.

use super::{
    Channel, ChannelId, End, Fabric, HostId, LinkId, NO_CHANNEL, Node, Port, Shape, SwitchId,
};

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

impl Fabric {
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

#[cfg(test)]
mod tests {
    use super::*;

    const A: End = End { node: Node::Host(HostId(0)), port: Port(0) };
    const B: End = End { node: Node::Host(HostId(1)), port: Port(0) };

    fn port(switch: u32, port: u16) -> End {
        End::switch(SwitchId(switch), Port(port))
    }

    /// Two hosts and two switches of three ports each, with these links.
    fn built(links: &[(End, End)]) -> Result<Fabric, FabricError> {
        let mut builder = FabricBuilder::default();
        ["a", "b"].iter().for_each(|&label| _ = builder.host(label));
        ["x", "y"].iter().for_each(|&label| _ = builder.switch(label, 3));
        links.iter().for_each(|&(from, to)| _ = builder.connect(from, to));
        builder.build("example", Shape::Irregular)
    }

    #[test]
    fn a_link_is_two_channels() {
        let fabric = built(&[(A, port(0, 0)), (port(0, 2), port(1, 1)), (port(1, 0), B)]).unwrap();
        assert_eq!((fabric.links().len(), fabric.channels().len()), (3, 6));
        let there = fabric.switch_out(SwitchId(0), Port(2)).unwrap();
        assert_eq!((there.0, there.link(), there.reverse().0), (2, LinkId(1), 3));
        assert_eq!(fabric.describe(there), "x:2 -> y:1");
        assert_eq!(fabric.describe(there.reverse()), "y:1 -> x:2");
        assert_eq!(fabric.describe(fabric.host_out(HostId(1))), "b -> y:0");
        assert_eq!(fabric.switch_of(HostId(1)), Some(SwitchId(1)));
        assert_eq!(fabric.switch_out(SwitchId(0), Port(1)), None, "nothing plugged in");
        assert_eq!(fabric.switch_out(SwitchId(0), Port(3)), None, "no such port");
        assert_eq!(fabric.out_channels(SwitchId(0)).count(), 2);
    }

    #[test]
    fn wiring_is_compared_port_by_port() {
        let links = [(A, port(0, 0)), (port(0, 2), port(1, 1)), (port(1, 0), B)];
        let fabric = built(&links).unwrap();
        let turned = links.map(|(from, to)| (to, from));
        assert!(fabric.same_wiring(&built(&turned).unwrap()));
        let moved = [links[0], (port(0, 1), port(1, 1)), links[2]];
        assert!(!fabric.same_wiring(&built(&moved).unwrap()));
    }

    #[test]
    fn mistakes_are_named() {
        let row = [(A, port(0, 0)), (port(0, 2), port(1, 1)), (port(1, 0), B)];
        let host_port = End { port: Port(1), ..A };
        for (links, message) in [
            (vec![], "host 0 has no link"),
            (vec![row[0], row[1]], "host 1 has no link"),
            (
                vec![row[0], row[2]],
                "the network is in pieces: host 1 cannot be reached from host 0",
            ),
            (
                vec![row[0], (B, port(0, 1))],
                "the network is in pieces: switch 1 cannot be reached from host 0",
            ),
            (vec![(A, port(0, 3))], "a link names port 3 of switch 0, which has 3 ports"),
            (vec![(host_port, B)], "a link names port 1 of host 0, which has 1 ports"),
            (vec![(A, port(7, 0))], "a link names switch 7, which does not exist"),
            (vec![row[0], (B, port(0, 0))], "port 0 of switch 0 is linked twice"),
            (vec![row[0], (A, B)], "port 0 of host 0 is linked twice"),
            (vec![(port(0, 0), port(0, 1))], "switch 0 is linked to itself"),
        ] {
            assert_eq!(built(&links).unwrap_err().to_string(), message);
        }
        let nobody = FabricBuilder::default().build("empty", Shape::Irregular).unwrap_err();
        assert_eq!(nobody.to_string(), "the network has 0 hosts; it needs at least 2");
    }
}
