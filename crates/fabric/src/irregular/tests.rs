use std::collections::BTreeMap;

use super::*;
use crate::networks::adjacency;
use crate::{HostId, Metrics, Node, anynet};
use proptest::prelude::*;

fn shape(switches: u32, ports: u16, hosts_per_switch: u16) -> Irregular {
    Irregular { switches, ports, hosts_per_switch, links: None }
}

fn drawn(switches: u32, ports: u16, hosts_per_switch: u16, seed: u64) -> Fabric {
    irregular(&shape(switches, ports, hosts_per_switch), Seed(seed)).unwrap()
}

/// The links between switches, written as `0-1 0-2 1-2`.
fn links(fabric: &Fabric) -> String {
    let pairs = adjacency(fabric).into_iter().filter_map(|pair| match pair {
        (Node::Switch(a), Node::Switch(b)) => Some(format!("{}-{}", a.0, b.0)),
        _ => None,
    });
    pairs.collect::<Vec<_>>().join(" ")
}

#[test]
fn hosts_come_first_and_neighbours_in_order() {
    let fabric = drawn(6, 5, 2, 1);
    assert_eq!(
        fabric.name(),
        "irregular network of 6 switches with 5 ports and 2 hosts each, seed 1"
    );
    for host in fabric.hosts() {
        let (switch, port) = (SwitchId(host.0 / 2), Port(host.0 as u16 % 2));
        assert_eq!(fabric.channel(fabric.host_out(host)).to, End::switch(switch, port));
    }
    for switch in fabric.switches() {
        let peers = fabric.out_channels(switch).skip(2).map(|c| fabric.channel(c).to.node);
        assert!(peers.is_sorted());
    }
    assert_eq!(fabric.describe(fabric.host_out(HostId(5))), "5 -> s2:1");
}

#[test]
fn networks_are_pinned() {
    let expected = "0-2 0-3 0-5 1-2 1-3 1-5 2-4 3-4 4-5";
    assert_eq!(links(&drawn(6, 5, 2, 1)), expected, "a change here changes every published result");
    assert_ne!(links(&drawn(6, 5, 2, 2)), expected);
}

/// How often each graph comes up.
fn counts(switches: u32, ports: u16, seeds: u64) -> Vec<u32> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..seeds {
        *counts.entry(links(&drawn(switches, ports, 1, seed))).or_default() += 1;
    }
    counts.into_values().collect()
}

/// Pearson's statistic against equal counts; its mean is one less than the number of graphs.
fn unevenness(counts: &[u32]) -> f64 {
    let mean = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    counts.iter().map(|&count| (f64::from(count) - mean).powi(2) / mean).sum()
}

#[test]
fn every_graph_is_equally_likely() {
    // The bounds are the 99.9 % quantiles of the statistic.
    for (switches, ports, graphs, bound) in [
        // Rings of five: 4! / 2.
        (5, 3, 12, 31.3),
        // Five switches, 3 links each but one: the unlinked pairs are a path of two and a pair.
        (5, 4, 30, 58.3),
        // The cubic graphs on six switches: 60 prisms and 10 times K3,3.
        (6, 4, 70, 111.1),
    ] {
        let counts = counts(switches, ports, 40 * graphs);
        assert_eq!(counts.len() as u64, graphs, "{switches} switches");
        assert!(unevenness(&counts) < bound, "{switches} switches: {counts:?}");
    }
}

#[test]
fn a_graph_in_pieces_is_drawn_again() {
    // 35 of the 19,355 cubic graphs on eight switches are two times K4: about 4 seeds of these meet
    // one. A fabric in pieces cannot be built, and `irregular` would panic.
    (0..2000).for_each(|seed| drop(drawn(8, 4, 1, seed)));
}

#[test]
fn ports_that_cannot_be_linked_stay_free() {
    let degrees = |switches, ports| Metrics::of(&drawn(switches, ports, 2, 3)).degrees;
    // 5 switches with 3 ports for links: the odd one out is free.
    assert_eq!(degrees(5, 5), [(4, 1), (5, 4)]);
    // 4 switches have 3 neighbours each at most.
    assert_eq!(degrees(4, 8), [(5, 4)]);
    assert_eq!(degrees(1, 8), [(2, 1)]);
    assert_eq!(links(&drawn(2, 3, 1, 0)), "0-1");
}

#[test]
fn every_switch_may_be_the_one_that_lacks_a_link() {
    let lacking = |seed| {
        let fabric = drawn(5, 5, 2, seed);
        fabric.switches().position(|s| fabric.out_channels(s).count() == 4).unwrap()
    };
    let found: std::collections::BTreeSet<_> = (0..60).map(lacking).collect();
    assert_eq!(found.len(), 5);
}

#[test]
fn links_are_taken_out_as_long_as_the_network_holds() {
    let full = Irregular { links: None, ..shape(16, 8, 4) };
    let thinned = |links| irregular(&Irregular { links: Some(links), ..full }, Seed(7)).unwrap();
    let words = |fabric: &Fabric| links(fabric).split(' ').map(str::to_owned).collect::<Vec<_>>();
    let all = words(&irregular(&full, Seed(7)).unwrap());
    assert_eq!(words(&thinned(32)), all);
    // A fabric in pieces cannot be built. With fewer links, no other ones.
    let mut before = all;
    for count in (15..=31).rev() {
        let left = words(&thinned(count));
        assert_eq!(left.len(), count as usize);
        assert!(left.iter().all(|link| before.contains(link)), "{count} links");
        before = left;
    }
    assert!(thinned(27).name().ends_with("4 hosts each, 27 links, seed 7"));
    for count in [14, 33] {
        let error = irregular(&Irregular { links: Some(count), ..full }, Seed(7)).unwrap_err();
        let range = "at least 15 connect them, and there are ports for at most 32";
        assert_eq!(error.to_string(), format!("{count} links between 16 switches: {range}"));
    }
}

#[test]
fn a_thousand_switches_are_drawn_at_once() {
    let fabric = drawn(1000, 8, 4, 7);
    assert_eq!(Metrics::of(&fabric).degrees, [(8, 1000)]);
    assert_eq!(Metrics::of(&drawn(1000, 6, 4, 7)).degrees, [(6, 1000)]);
}

#[test]
fn impossible_networks_are_refused() {
    for (switches, ports, hosts, message) in [
        (0, 8, 4, "0 switches with 4 hosts each: a network needs at least 2 hosts"),
        (9, 8, 0, "9 switches with 0 hosts each: a network needs at least 2 hosts"),
        (1, 8, 1, "1 switches with 1 hosts each: a network needs at least 2 hosts"),
        (16, 4, 5, "5 hosts on a switch with 4 ports: each host needs a port"),
        (
            16,
            5,
            4,
            "16 switches with 1 ports left for links cannot be connected: each needs at least 2, so \
             take more ports or fewer hosts per switch",
        ),
        (
            2,
            4,
            4,
            "2 switches with 0 ports left for links cannot be connected: each needs at least 1, so \
             take more ports or fewer hosts per switch",
        ),
        (
            1 << 20,
            64,
            1,
            "1048576 hosts and 67108864 switch ports: at most 1048576 hosts and 16777216 ports are \
             allowed",
        ),
    ] {
        let error = irregular(&shape(switches, ports, hosts), Seed(1)).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn networks_are_simple_connected_and_full(
        switches in 1u32..24, ports in 1u16..26, hosts in 0u16..6, seed in any::<u64>(),
    ) {
        let shape = shape(switches, ports, hosts);
        let Ok(fabric) = irregular(&shape, Seed(seed)) else {
            prop_assert!(shape.check().is_err());
            return Ok(());
        };
        // Connected, or it would not have been built.
        prop_assert_eq!(fabric.hosts().len() as u64, shape.hosts());
        let pairs = adjacency(&fabric);
        prop_assert!(pairs.windows(2).all(|pair| pair[0] != pair[1]), "parallel links");
        let most = u32::from(ports - hosts).min(switches - 1);
        let free: Vec<u32> = (fabric.switches())
            .map(|s| u32::from(hosts) + most - fabric.out_channels(s).count() as u32)
            .collect();
        prop_assert_eq!(free.iter().sum::<u32>(), switches * most % 2);
        let again = irregular(&shape, Seed(seed)).unwrap();
        prop_assert!(fabric.same_wiring(&again));
        let text = anynet::write(&fabric).unwrap();
        prop_assert_eq!(adjacency(&anynet::read("back", &text).unwrap().fabric), pairs);
    }
}
