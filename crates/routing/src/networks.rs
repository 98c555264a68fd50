//! Networks that several tests use.

use crosstie_fabric::{End, Fabric, FabricBuilder, Port, Shape, SwitchId};
use proptest::prelude::*;

/// A ring of switches with one host each: port 0 the host, port 1 the next switch, port 2 the one
/// before.
pub fn ring(size: u32) -> Fabric {
    let mut builder = FabricBuilder::default();
    for s in 0..size {
        let switch = builder.switch(format!("s{s}"), 3);
        let host = builder.host(format!("h{s}"));
        builder.connect(End::host(host), End::switch(switch, Port(0)));
    }
    for s in 0..size {
        let next = SwitchId((s + 1) % size);
        builder.connect(End::switch(SwitchId(s), Port(1)), End::switch(next, Port(2)));
    }
    builder.build(format!("ring of {size}"), Shape::Irregular).unwrap()
}

/// Any connected network of up to 8 switches and 10 hosts, with parallel links and switches
/// without hosts.
pub fn irregular() -> impl Strategy<Value = Fabric> {
    let links = prop::collection::vec(any::<(u8, u8)>(), 0..8);
    let parents = prop::collection::vec(any::<u8>(), 0..7);
    let hosts = prop::collection::vec(any::<u8>(), 2..10);
    (parents, links, hosts).prop_map(|(parents, links, hosts)| {
        let switches = parents.len() as u32 + 1;
        let mut builder = FabricBuilder::default();
        for s in 0..switches {
            builder.switch(format!("s{s}"), 40);
        }
        let mut used = vec![0; switches as usize];
        let mut plug = |switch: u32| {
            used[switch as usize] += 1;
            End::switch(SwitchId(switch), Port(used[switch as usize]))
        };
        for (child, parent) in (1..).zip(&parents) {
            builder.connect(plug(child), plug(u32::from(*parent) % child));
        }
        for (a, b) in links {
            let (a, b) = (u32::from(a) % switches, u32::from(b) % switches);
            if a != b {
                builder.connect(plug(a), plug(b));
            }
        }
        for (h, switch) in hosts.into_iter().enumerate() {
            let host = builder.host(format!("h{h}"));
            builder.connect(End::host(host), plug(u32::from(switch) % switches));
        }
        builder.build("irregular", Shape::Irregular).unwrap()
    })
}
