//! Networks that several tests use.

use crate::{End, Fabric, FabricBuilder, Node, Port, Shape, SwitchId};
use proptest::prelude::*;

/// Any connected network of up to 8 switches and 10 hosts, with parallel links, gaps between ports,
/// links laid either way round and labels of any characters.
pub fn irregular() -> impl Strategy<Value = Fabric> {
    let links = prop::collection::vec(any::<(u8, u8)>(), 0..8);
    let parents = prop::collection::vec(any::<u8>(), 0..7);
    let hosts = prop::collection::vec(any::<u8>(), 2..10);
    // Control characters too, which `any::<String>()` leaves out.
    let label = prop::collection::vec(any::<char>(), 0..12);
    (parents, links, hosts, label).prop_map(|(parents, links, hosts, label)| {
        let label = String::from_iter(label);
        let switches = parents.len() as u32 + 1;
        let mut builder = FabricBuilder::default();
        for s in 0..switches {
            builder.switch(format!("{label}{s}"), 80);
        }
        let mut used = vec![0; switches as usize];
        let mut plug = |switch: u32, gap: u8| {
            used[switch as usize] += 1 + u16::from(gap % 3);
            End::switch(SwitchId(switch), Port(used[switch as usize]))
        };
        for (child, parent) in (1..).zip(&parents) {
            builder.connect(plug(child, *parent), plug(u32::from(*parent) % child, 0));
        }
        for (a, b) in links {
            let (to, from) = (u32::from(a) % switches, u32::from(b) % switches);
            if to != from {
                builder.connect(plug(to, b), plug(from, a));
            }
        }
        for (h, s) in hosts.into_iter().enumerate() {
            let end = End::host(builder.host(format!("{label} {h}")));
            let port = plug(u32::from(s) % switches, s);
            if s % 2 == 0 {
                builder.connect(end, port)
            } else {
                builder.connect(port, end)
            };
        }
        builder.build(format!("irregular {label}"), Shape::Irregular).unwrap()
    })
}

/// The links of a network as sorted pairs of nodes, the lesser node first.
pub fn adjacency(fabric: &Fabric) -> Vec<(Node, Node)> {
    let ends = fabric.links().map(|link| fabric.channel(link.channels()[0]));
    let mut pairs: Vec<_> =
        ends.map(|c| (c.from.node.min(c.to.node), c.from.node.max(c.to.node))).collect();
    pairs.sort_unstable();
    pairs
}
