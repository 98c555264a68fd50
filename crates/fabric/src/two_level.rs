//! Two levels of switches: leaves with hosts under one root.

use crate::{End, Fabric, FabricBuilder, FabricError, Port, Shape};

/// So many switches with so many hosts each, all under one switch without hosts, each by one link:
/// the uplink. Hosts are numbered leaf by leaf.
pub fn two_level(leaves: u32, hosts_per_leaf: u32) -> Result<Fabric, FabricError> {
    let ports = |what: &str, count: u32| {
        u16::try_from(count).map_err(|_| FabricError::TooLarge {
            what: format!("{count} {what}; a switch has at most {} ports", u16::MAX),
        })
    };
    let root_ports = ports("leaves under one switch", leaves)?;
    let leaf_ports = ports("hosts on a leaf and its uplink", hosts_per_leaf.saturating_add(1))?;
    let mut builder = FabricBuilder::default();
    let root = builder.switch("root", root_ports);
    for leaf in 0..root_ports {
        let switch = builder.switch(format!("leaf {leaf}"), leaf_ports);
        for port in 0..leaf_ports - 1 {
            let host = builder.host(format!("{leaf}.{port}"));
            builder.connect(End::host(host), End::switch(switch, Port(port)));
        }
        let uplink = End::switch(switch, Port(leaf_ports - 1));
        builder.connect(uplink, End::switch(root, Port(leaf)));
    }
    let name = format!("{leaves} switches with {hosts_per_leaf} hosts each under one");
    builder.build(name, Shape::Irregular)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HostId, Metrics, Node, SwitchId};

    #[test]
    fn hosts_are_numbered_leaf_by_leaf() {
        let fabric = two_level(3, 4).unwrap();
        let metrics = Metrics::of(&fabric);
        assert_eq!((metrics.hosts, metrics.switches, metrics.links), (12, 4, 15));
        for host in fabric.hosts() {
            assert_eq!(fabric.switch_of(host), Some(SwitchId(1 + host.0 / 4)));
        }
        assert_eq!(fabric.label(Node::Host(HostId(5))), "1.1");
        assert_eq!(metrics.distances.diameter(), 4);
    }

    #[test]
    fn refuses_what_no_switch_can_hold() {
        let error = two_level(70_000, 1).unwrap_err().to_string();
        assert!(error.contains("70000 leaves under one switch"), "{error}");
        assert!(two_level(2, 65_535).unwrap_err().to_string().contains("hosts on a leaf"));
        assert_eq!(two_level(1, 1).unwrap_err(), FabricError::TooFewHosts { hosts: 1 });
    }
}
