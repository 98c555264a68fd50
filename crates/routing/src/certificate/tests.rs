use super::*;
use crate::fault::Fault;
use crate::networks::{irregular, ring};
use crate::{GroupId, Shortest, Tag, TreeAdaptive, TreeDeterministic};
use crosstie_fabric::{Port, SwitchId, pruned_tree, single, tree};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Dependencies found the slow way: every route of every pair, every choice of every group.
fn enumerated(fabric: &Fabric, routing: &dyn Routing) -> BTreeSet<(ChannelId, ChannelId)> {
    let mut found = BTreeSet::new();
    let mut route = Route::default();
    for (from, to) in fabric.hosts().flat_map(|p| fabric.hosts().map(move |q| (p, q))) {
        if from == to {
            continue;
        }
        routing.route(from, to, &mut route);
        let mut start = from;
        for leg in route.legs() {
            follow(fabric, routing, fabric.host_out(start), leg.tags, &mut found);
            start = leg.stop.unwrap_or(to);
        }
    }
    found
}

fn follow(
    fabric: &Fabric,
    routing: &dyn Routing,
    held: ChannelId,
    tags: &[Tag],
    found: &mut BTreeSet<(ChannelId, ChannelId)>,
) {
    let Some((&tag, rest)) = tags.split_first() else { return };
    let Node::Switch(switch) = fabric.channel(held).to.node else { panic!("tags left at a host") };
    let ports = match tag {
        Tag::Port(port) => vec![port],
        Tag::Group(group) => routing.groups()[usize::from(group.0)].clone(),
    };
    for asked in ports.into_iter().filter_map(|port| fabric.switch_out(switch, port)) {
        found.insert((held, asked));
        follow(fabric, routing, asked, rest, found);
    }
}

/// Checks a certificate against the slow enumeration.
fn check(fabric: &Fabric, routing: &dyn Routing) -> Certificate {
    let certificate = certify(fabric, routing).unwrap();
    let expected = enumerated(fabric, routing);
    assert_eq!(certificate.dependencies(), expected.len());
    match &certificate {
        Certificate::DeadlockFree { order, .. } => {
            let mut place = vec![None; fabric.channels().len()];
            for (i, channel) in order.iter().enumerate() {
                assert_eq!(place[channel.0 as usize].replace(i), None, "listed twice");
            }
            for (held, asked) in expected {
                let places = (place[held.0 as usize].unwrap(), place[asked.0 as usize].unwrap());
                assert!(places.0 < places.1, "{held:?} must come before {asked:?}");
            }
        }
        Certificate::Cycle { cycle, .. } => {
            assert!(cycle.len() >= 2);
            for (i, &held) in cycle.iter().enumerate() {
                let asked = cycle[(i + 1) % cycle.len()];
                assert!(expected.contains(&(held, asked)), "{held:?} does not wait for {asked:?}");
            }
        }
    }
    certificate
}

#[test]
fn trees_certify() {
    for fabric in [tree(4, 2), tree(2, 3), tree(4, 3), pruned_tree(4, 3, 32), pruned_tree(3, 3, 11)]
    {
        let fabric = fabric.unwrap();
        let fixed = check(&fabric, &TreeDeterministic::new(&fabric).unwrap());
        let adaptive = check(&fabric, &TreeAdaptive::new(&fabric).unwrap());
        assert!(fixed.is_deadlock_free() && adaptive.is_deadlock_free(), "{}", fabric.name());
    }
    let fabric = tree(4, 3).unwrap();
    let certificate = certify(&fabric, &TreeAdaptive::new(&fabric).unwrap()).unwrap();
    assert_eq!(certificate.channels(), fabric.channels().len(), "no channel of a tree is idle");
}

#[test]
fn a_large_tree_certifies_at_once() {
    let fabric = tree(4, 4).unwrap();
    let certificate = certify(&fabric, &TreeAdaptive::new(&fabric).unwrap()).unwrap();
    assert!(certificate.is_deadlock_free());
    assert_eq!(certificate.channels(), 2048);
    // Per leaf switch: 4 hosts in, to 3 others and 4 up. Per inner switch: 4 below, to 3 others
    // below and 4 up; 4 above, to 4 below. Per root: 4 below, to 3 others.
    let (leaf, inner, root) = (4 * 7 + 16, 4 * 7 + 16, 12);
    assert_eq!(certificate.dependencies(), 64 * (leaf + 2 * inner + root));
}

#[test]
fn one_switch_certifies() {
    let fabric = single(4).unwrap();
    let certificate = check(&fabric, &Shortest::new(&fabric));
    assert!(certificate.is_deadlock_free());
    assert_eq!((certificate.channels(), certificate.dependencies()), (8, 12));
}

#[test]
fn a_ring_of_five_waits_for_itself() {
    let fabric = ring(5);
    let certificate = check(&fabric, &Shortest::new(&fabric));
    let Certificate::Cycle { cycle, channels, dependencies } = certificate else {
        panic!("shortest paths round a ring deadlock")
    };
    assert_eq!((cycle.len(), channels), (5, 20));
    // At each switch: from the host two ways, from either way on or to the host.
    assert_eq!(dependencies, 5 * (2 + 2 + 2));
    let shorter = |size| certify(&ring(size), &Shortest::new(&ring(size))).unwrap();
    assert!(!shorter(4).is_deadlock_free());
    assert!(shorter(3).is_deadlock_free(), "no route passes a switch on its way");
}

/// A routing on the ring of five with one fault, or with a stop at the next host.
struct Odd(Vec<Tag>, Option<HostId>);

impl Routing for Odd {
    fn groups(&self) -> &[Vec<Port>] {
        const GROUPS: &[Vec<Port>] = &[Vec::new()];
        GROUPS
    }
    fn route(&self, _: HostId, _: HostId, route: &mut Route) {
        route.clear();
        if let Some(stop) = self.1 {
            route.stop(stop);
        }
        self.0.iter().for_each(|&tag| route.push(tag));
    }
}

#[test]
fn broken_routes_are_named() {
    let port = |p| Tag::Port(Port(p));
    let (switch, group) = (SwitchId(1), GroupId(0));
    for (tags, stop, fault, words) in [
        (
            vec![port(9)],
            None,
            Fault::UnlinkedPort { switch, port: Port(9) },
            "leaves switch 1 by port 9, where nothing is plugged in",
        ),
        (vec![], None, Fault::TooFewTags { switch }, "has no tag left at switch 1"),
        (
            vec![port(0)],
            None,
            Fault::WrongHost { reached: HostId(1) },
            "ends a leg at host 1, which is neither its stop nor its destination",
        ),
        (
            vec![port(0), port(0)],
            None,
            Fault::TooManyTags { reached: HostId(1) },
            "reaches host 1 with tags left over",
        ),
        (
            vec![Tag::Group(group)],
            None,
            Fault::UnlinkedGroup { switch, group },
            "asks switch 1 for group 0, of which no port is plugged in",
        ),
        (
            vec![Tag::Group(GroupId(7))],
            None,
            Fault::NoSuchGroup { switch, group: GroupId(7) },
            "asks switch 1 for group 7, which its routing does not define",
        ),
        (
            vec![],
            Some(HostId(99)),
            Fault::NoSuchStop { host: HostId(99) },
            "stops at host 99, which does not exist",
        ),
    ] {
        let found = certify(&ring(5), &Odd(tags, stop)).unwrap_err();
        assert_eq!(found, RouteFault { from: HostId(1), to: HostId(0), fault });
        assert_eq!(found.to_string(), format!("the route from host 1 to host 0 {words}"));
    }
}

/// Shortest paths, taken out at every host on the way: each leg crosses two switches.
struct StopEverywhere(u32);

impl Routing for StopEverywhere {
    fn groups(&self) -> &[Vec<Port>] {
        &[]
    }
    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.clear();
        let mut host = from.0;
        while host != to.0 {
            if host != from.0 {
                route.stop(HostId(host));
            }
            route.push(Tag::Port(Port(1)));
            route.push(Tag::Port(Port(0)));
            host = (host + 1) % self.0;
        }
    }
}

#[test]
fn stops_break_the_cycle_of_a_ring() {
    let certificate = check(&ring(6), &StopEverywhere(6));
    assert!(certificate.is_deadlock_free(), "a packet in a host's buffer holds no channel");
    assert_eq!(certificate.channels(), 3 * 6);
}

proptest! {
    #[test]
    fn certificates_hold_on_any_network(fabric in irregular()) {
        check(&fabric, &Shortest::new(&fabric));
    }

    #[test]
    fn certificates_hold_on_pruned_trees(k in 2u16..4, n in 1u16..4, hosts in any::<u32>()) {
        let fabric = pruned_tree(k, n, 2 + hosts % (u32::from(k).pow(u32::from(n)) - 1)).unwrap();
        prop_assert!(check(&fabric, &TreeDeterministic::new(&fabric).unwrap()).is_deadlock_free());
        prop_assert!(check(&fabric, &TreeAdaptive::new(&fabric).unwrap()).is_deadlock_free());
    }
}
