use super::*;
use crate::networks::adjacency;
use crate::{HostId, Metrics, irregular};
use proptest::prelude::*;

/// The links in words, in order.
fn cables(fabric: &Fabric) -> Vec<String> {
    fabric.links().map(|link| fabric.describe(link.channels()[0])).collect()
}

#[test]
fn hosts_are_named() {
    let text = "# Two cables between two switches.\n\
                s1 s2\n\
                s1 s2   # the second\n\n\
                host alice s1\n\
                host bob s2\n\
                s2 s3\n";
    let fabric = read("pair", text).unwrap();
    assert_eq!(fabric.name(), "pair");
    assert_eq!(
        cables(&fabric),
        ["alice -> s1:0", "bob -> s2:0", "s1:1 -> s2:1", "s1:2 -> s2:2", "s2:3 -> s3:0"]
    );
}

#[test]
fn nodes_with_one_link_are_hosts_if_nothing_else_is_said() {
    let fabric = read("star", "a hub\nb hub\nhub rim\nrim c\n").unwrap();
    assert_eq!(cables(&fabric), ["a -> hub:0", "b -> hub:1", "rim:0 -> c", "hub:2 -> rim:1"]);
    let cable = read("cable", "a b").unwrap();
    assert_eq!((cable.hosts().len(), cable.switches().len()), (2, 0));
}

#[test]
fn every_switch_may_have_as_many_hosts() {
    let text = "0 1\n1 2\n2 0\n0 3\nhosts-per-switch 2\nhost extra 1\n";
    let fabric = read("ring", text).unwrap();
    assert_eq!((fabric.hosts().len(), fabric.switches().len(), fabric.links().len()), (9, 4, 13));
    assert_eq!(fabric.describe(fabric.host_out(HostId(0))), "extra -> 1:0");
    assert_eq!(fabric.describe(fabric.host_out(HostId(4))), "1/1 -> 1:2");
    assert_eq!(Metrics::of(&fabric).degrees, [(3, 1), (4, 1), (5, 2)]);
}

#[test]
fn mistakes_are_named() {
    for (text, message) in [
        (
            "a b\n\na,b",
            "line 3: found 1 words from `a,b` on, expected the names of two linked nodes, `host NAME \
             SWITCH` or `hosts-per-switch NUMBER`",
        ),
        (
            "a b 10",
            "line 1: found 3 words from `a` on, expected the names of two linked nodes, `host NAME \
             SWITCH` or `hosts-per-switch NUMBER`",
        ),
        ("a b\nb b", "line 2: found a link from `b` to itself, expected two different nodes"),
        (
            "host a s\nhost b s\ns t\na t",
            "line 4: found a second link of host `a`, expected one link per host",
        ),
        ("s a\nhost a t", "line 2: found a second link of host `a`, expected one link per host"),
        (
            "host a b\nhost b a",
            "line 2: found a second link of host `b`, expected one link per host",
        ),
        (
            "s t\nt u\nt s",
            "line 3: found `t` and `s` the other way round than in line 1, expected each link once, \
             parallel ones the same way round",
        ),
        ("hosts-per-switch 0", "line 1: found `0`, expected a number from 1 to 65535"),
        (
            "hosts-per-switch 2\nhosts-per-switch 2",
            "line 2: found a second `hosts-per-switch`, expected one for all switches",
        ),
        (
            "a b\nb c\nc a\n",
            "line 3: found the end of a list with 0 hosts, expected at least 2: name them with `host \
             NAME SWITCH`, ask for them with `hosts-per-switch NUMBER`, or list nodes with a single \
             link",
        ),
        (
            "a b\nb c\nhosts-per-switch 65535",
            "the network is too large: `a` has 65536 links; at most 65535 fit",
        ),
        ("a b\nc d", "the network is in pieces: host 2 cannot be reached from host 0"),
    ] {
        let error = read("wrong", text).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_short_list_cannot_ask_for_a_huge_network() {
    let row: String = (0..100).map(|i| format!("{i} {}\n", i + 1)).collect();
    let error = read("huge", &format!("{row}hosts-per-switch 20000")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the network is too large: 2020000 hosts; at most 1048576 are read from a list"
    );
}

proptest! {
    #[test]
    fn a_network_written_as_a_list_is_read_back(seed in any::<u64>(), switches in 3u32..20) {
        let shape = crate::Irregular { switches, ports: 6, hosts_per_switch: 2, links: None };
        let fabric = irregular(&shape, crosstie_units::Seed(seed)).unwrap();
        let name = |node: Node| match node {
            Node::Host(host) => format!("h{}", host.0),
            Node::Switch(switch) => format!("s{}", switch.0),
        };
        // Hosts first, so that their switches are first named in order.
        let list: String = (adjacency(&fabric).into_iter())
            .map(|(a, b)| match a {
                Node::Host(_) => format!("host {} {}\n", name(a), name(b)),
                Node::Switch(_) => format!("{} {}\n", name(a), name(b)),
            })
            .collect();
        prop_assert_eq!(adjacency(&read("back", &list).unwrap()), adjacency(&fabric));
    }

    #[test]
    fn nothing_makes_it_panic(
        text in "([ab#0-9]|host |hosts-per-switch |\\PC|[ \n\t\r]){0,60}", bytes in any::<Vec<u8>>(),
    ) {
        let _ = read("any", &text);
        let _ = read("any", &String::from_utf8_lossy(&bytes));
    }
}
