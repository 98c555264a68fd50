//! Forwarding tables: the port as a function of switch and destination.
//!
//! InfiniBand switches look up each packet's destination in a linear forwarding table. A routing
//! fits into such tables if all routes to a host that meet at a switch leave it by the same port.

use std::io::{self, Write};

use crosstie_fabric::{Fabric, HostId, Node, Port, SwitchId};

use crate::{Route, Routing, Tag};

/// The highest address of a single destination in a subnet.
const MOST_ADDRESSES: usize = 0xbfff;
/// The highest port of a switch; 255 stands for "no port".
const MOST_PORTS: u16 = 254;
/// Nodes have these identifiers and up, as in the simulator of the OpenSM developers.
const FIRST_HOST_GUID: u64 = 0x10_0000;
const FIRST_SWITCH_GUID: u64 = 0x20_0000;

/// The port of each switch for each destination.
#[derive(Debug, Clone)]
pub struct ForwardingTables<'a> {
    fabric: &'a Fabric,
    /// At switch s for host h: `ports[s * hosts + h]`; `None` where no route passes.
    ports: Vec<Option<Port>>,
}

/// Why routes do not fit into forwarding tables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotForwarding {
    /// Two routes part where a table has one entry.
    #[error(
        "the routes to host {} do not depend on the destination alone: at switch {} the one from host \
         {} leaves by port {} and the one from host {} by port {}",
        to.0, switch.0, first.0.0, first.1.0, second.0.0, second.1.0
    )]
    Parting {
        /// The destination.
        to: HostId,
        /// Where they part.
        switch: SwitchId,
        /// A source, and the port its packets take.
        first: (HostId, Port),
        /// Another source, and the port its packets take.
        second: (HostId, Port),
    },
    /// A packet is taken out on the way.
    #[error(
        "the route from host {} to host {} stops at host {}, which forwarding tables cannot say",
        from.0, to.0, stop.0
    )]
    Stop {
        /// The source.
        from: HostId,
        /// The destination.
        to: HostId,
        /// Where the packet stops.
        stop: HostId,
    },
    /// A switch may choose.
    #[error(
        "the route from host {} to host {} leaves switches a choice of ports, which forwarding tables \
         cannot say: use a deterministic routing",
        from.0, to.0
    )]
    Adaptive {
        /// The source.
        from: HostId,
        /// The destination.
        to: HostId,
    },
    /// A port leads nowhere.
    #[error("the route from host {} to host {} does not arrive", from.0, to.0)]
    Lost {
        /// The source.
        from: HostId,
        /// The destination.
        to: HostId,
    },
    /// More nodes than a subnet has addresses.
    #[error("{nodes} hosts and switches, but a subnet has {MOST_ADDRESSES} addresses")]
    TooManyNodes {
        /// How many there are.
        nodes: usize,
    },
    /// More ports than a table can name.
    #[error("switch {} has {ports} ports, but a forwarding table can name {MOST_PORTS}", switch.0)]
    TooManyPorts {
        /// The switch.
        switch: SwitchId,
        /// Its ports.
        ports: u16,
    },
}

impl<'a> ForwardingTables<'a> {
    /// Gathers the entries from all routes.
    pub fn of(
        fabric: &'a Fabric,
        routing: &dyn Routing,
    ) -> Result<ForwardingTables<'a>, NotForwarding> {
        let (hosts, switches) = (fabric.hosts().len(), fabric.switches().len());
        if hosts + switches > MOST_ADDRESSES {
            return Err(NotForwarding::TooManyNodes { nodes: hosts + switches });
        }
        let mut tables = ForwardingTables { fabric, ports: vec![None; hosts * switches] };
        let wide = fabric
            .switches()
            .find(|&switch| tables.outside_number(fabric.ports(switch)) > MOST_PORTS + 1);
        if let Some(switch) = wide {
            return Err(NotForwarding::TooManyPorts { switch, ports: fabric.ports(switch) });
        }
        let mut route = Route::default();
        for to in fabric.hosts() {
            // Which route made the entry of each switch.
            let mut source = vec![None; switches];
            for from in fabric.hosts().filter(|&from| from != to) {
                routing.route(from, to, &mut route);
                tables.enter(from, to, &route, &mut source)?;
            }
        }
        Ok(tables)
    }

    fn enter(
        &mut self,
        from: HostId,
        to: HostId,
        route: &Route,
        source: &mut [Option<HostId>],
    ) -> Result<(), NotForwarding> {
        if let Some(stop) = route.legs().find_map(|leg| leg.stop) {
            return Err(NotForwarding::Stop { from, to, stop });
        }
        let mut node = self.fabric.channel(self.fabric.host_out(from)).to.node;
        for &tag in route.tags() {
            let Tag::Port(port) = tag else { return Err(NotForwarding::Adaptive { from, to }) };
            let lost = NotForwarding::Lost { from, to };
            let Node::Switch(switch) = node else { return Err(lost) };
            let entry =
                &mut self.ports[switch.0 as usize * self.fabric.hosts().len() + to.0 as usize];
            let earlier = *source[switch.0 as usize].get_or_insert(from);
            let known = *entry.get_or_insert(port);
            if known != port {
                let (first, second) = ((earlier, known), (from, port));
                return Err(NotForwarding::Parting { to, switch, first, second });
            }
            let out = self.fabric.switch_out(switch, port).ok_or(lost)?;
            node = self.fabric.channel(out).to.node;
        }
        if node == Node::Host(to) { Ok(()) } else { Err(NotForwarding::Lost { from, to }) }
    }

    /// The port a packet to a host leaves a switch by; `None` if no route passes there.
    pub fn port(&self, switch: SwitchId, to: HostId) -> Option<Port> {
        self.ports[switch.0 as usize * self.fabric.hosts().len() + to.0 as usize]
    }

    /// InfiniBand counts ports from 1: 0 is the switch itself. Networks that use their port 0 are
    /// renumbered, others, such as those read from `ibnetdiscover`, keep their numbers.
    fn outside_number(&self, port: u16) -> u16 {
        let uses_zero = |switch| self.fabric.switch_out(switch, Port(0)).is_some();
        port.saturating_add(u16::from(self.fabric.switches().any(uses_zero)))
    }

    /// Writes the tables as `ibroute` and `dump_lfts.sh` print them, and as OpenSM reads them with
    /// `-R file -U FILE`.
    ///
    /// Hosts have the addresses (LIDs) from 1 on, switches those after the hosts. Addresses and
    /// identifiers (GUIDs) are made up, since a fabric has none. There are no routes to switches
    /// but each to itself.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let fabric = self.fabric;
        let hosts = fabric.hosts().len() as u32;
        let last = hosts + fabric.switches().len() as u32;
        let shift = self.outside_number(0);
        for switch in fabric.switches() {
            let (lid, guid) = (hosts + 1 + switch.0, FIRST_SWITCH_GUID + u64::from(switch.0));
            let name = description(fabric.label(Node::Switch(switch)));
            writeln!(
                out,
                "Unicast lids [0x0-0x{last:x}] of switch Lid {lid} guid 0x{guid:016x} ({name}):"
            )?;
            writeln!(out, "  Lid  Out   Destination\n       Port     Info ")?;
            let mut valid = 1;
            for host in fabric.hosts() {
                let Some(port) = self.port(switch, host) else { continue };
                let (lid, port) = (host.0 + 1, port.0 + shift);
                let guid = FIRST_HOST_GUID + u64::from(host.0);
                let name = description(fabric.label(Node::Host(host)));
                writeln!(
                    out,
                    "0x{lid:04x} {port:03} : (Channel Adapter portguid 0x{guid:016x}: '{name}')"
                )?;
                valid += 1;
            }
            writeln!(out, "0x{lid:04x} 000 : (Switch portguid 0x{guid:016x}: '{name}')")?;
            writeln!(out, "{valid} valid lids dumped ")?;
        }
        Ok(())
    }
}

/// A label fit for one line.
fn description(label: &str) -> String {
    label.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{Minimal, UpDown, UpDownItb};
    use crate::networks::{irregular, ring};
    use crate::{Root, Shortest, TreeAdaptive, TreeDeterministic};
    use crosstie_fabric::{single, tree};
    use crosstie_units::Seed;
    use proptest::prelude::*;

    #[test]
    fn a_ring_as_ibroute_prints_it() {
        let ring = ring(3);
        let mut out = Vec::new();
        ForwardingTables::of(&ring, &Shortest::new(&ring)).unwrap().write(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let (first, rest) = text.split_at(text.find("dumped \n").unwrap() + 8);
        assert_eq!(
            first,
            "Unicast lids [0x0-0x6] of switch Lid 4 guid 0x0000000000200000 (s0):\n  \
             Lid  Out   Destination\n       \
             Port     Info \n\
             0x0001 001 : (Channel Adapter portguid 0x0000000000100000: 'h0')\n\
             0x0002 002 : (Channel Adapter portguid 0x0000000000100001: 'h1')\n\
             0x0003 003 : (Channel Adapter portguid 0x0000000000100002: 'h2')\n\
             0x0004 000 : (Switch portguid 0x0000000000200000: 's0')\n\
             4 valid lids dumped \n"
        );
        assert!(rest.starts_with("Unicast lids [0x0-0x6] of switch Lid 5 guid"), "{rest}");
    }

    #[test]
    fn routes_that_do_not_fit_are_named() {
        let fabric = tree(4, 2).unwrap();
        assert!(ForwardingTables::of(&fabric, &TreeDeterministic::new(&fabric).unwrap()).is_ok());
        let adaptive = TreeAdaptive::new(&fabric).unwrap();
        let (from, to) = (HostId(4), HostId(0));
        let error = ForwardingTables::of(&fabric, &adaptive).unwrap_err();
        assert_eq!(error, NotForwarding::Adaptive { from, to });

        let ring = ring(5);
        let root = Root::Switch(SwitchId(0));
        let stops = UpDownItb { root, seed: None };
        let error =
            ForwardingTables::of(&ring, &stops.routes(&ring, Seed(1)).unwrap()).unwrap_err();
        let (from, to, stop) = (HostId(4), HostId(2), HostId(3));
        assert_eq!(error, NotForwarding::Stop { from, to, stop });

        let legal = UpDown { root, ..UpDown::default() }.routes(&ring, Seed(1)).unwrap();
        assert!(ForwardingTables::of(&ring, &legal).is_ok(), "a ring has one legal way each");
        let fabric = tree(2, 2).unwrap();
        let random = Minimal::default().routes(&fabric, Seed(1)).unwrap();
        let error = ForwardingTables::of(&fabric, &random).unwrap_err();
        assert!(matches!(error, NotForwarding::Parting { .. }), "{error}");
        assert!(error.to_string().contains("do not depend on the destination alone: at switch "));
    }

    #[test]
    fn wide_switches_are_refused() {
        let fabric = single(254).unwrap();
        assert!(ForwardingTables::of(&fabric, &Shortest::new(&fabric)).is_ok());
        let fabric = single(255).unwrap();
        let error = ForwardingTables::of(&fabric, &Shortest::new(&fabric)).unwrap_err();
        assert_eq!(error, NotForwarding::TooManyPorts { switch: SwitchId(0), ports: 255 });
    }

    proptest! {
        #[test]
        fn shortest_paths_always_fit(fabric in irregular()) {
            let routing = Shortest::new(&fabric);
            let tables = ForwardingTables::of(&fabric, &routing).unwrap();
            for (from, to) in super::super::pairs(&fabric) {
                let mut node = fabric.channel(fabric.host_out(from)).to.node;
                while let Node::Switch(switch) = node {
                    let port = tables.port(switch, to).unwrap();
                    node = fabric.channel(fabric.switch_out(switch, port).unwrap()).to.node;
                }
                prop_assert_eq!(node, Node::Host(to));
            }
        }
    }
}
