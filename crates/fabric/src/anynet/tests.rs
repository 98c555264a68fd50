use super::*;
use crate::networks::{adjacency, irregular};
use crate::{pruned_tree, single, tree};
use proptest::prelude::*;

#[test]
fn the_example_that_comes_with_booksim() {
    let text = "router 0 node 0 node 1 node 2 router 1\n\
                router 1 node 3 node 4 node 5\n\
                router 2 node 6 node 7 node 8 router 1 router 0\n";
    let Anynet { fabric, latency } = read("triangle", text).unwrap();
    assert_eq!(fabric.name(), "triangle");
    assert_eq!((fabric.hosts().len(), fabric.switches().len(), fabric.links().len()), (9, 3, 12));
    assert_eq!(latency, [1; 24]);
    assert_eq!(fabric.describe(fabric.host_out(HostId(7))), "node 7 -> router 2:1");
    let out = fabric.switch_out(SwitchId(2), Port(3)).unwrap();
    assert_eq!(fabric.describe(out), "router 2:3 -> router 0:4");
}

#[test]
fn latencies_between_routers_hold_one_way() {
    let text = "router 0 node 0 node 1 5 router 1 15\nrouter 1 node 2\n\n";
    let Anynet { fabric, latency } = read("pair", text).unwrap();
    let of = |channel: crate::ChannelId| latency[channel.0 as usize];
    assert_eq!((of(fabric.host_out(HostId(1))), of(fabric.host_in(HostId(1)))), (5, 5));
    let there = fabric.switch_out(SwitchId(0), Port(2)).unwrap();
    assert_eq!((of(there), of(there.reverse())), (15, 1));
}

#[test]
fn both_sides_and_repetitions_describe_one_link() {
    let text = "router 0 router 1 4 node 0\nrouter 1 router 0 7 node 1 router 0 9\nnode 1 router 1";
    let Anynet { fabric, latency } = read("pair", text).unwrap();
    assert_eq!(fabric.links().len(), 3);
    assert_eq!(latency[4..], [4, 9]);
}

#[test]
fn mistakes_are_named() {
    for (text, message) in [
        ("roter 0", "line 1: found `roter`, expected `router` or `node`"),
        ("\nrouter x", "line 2: found `x`, expected a number from 0"),
        ("router -1", "line 1: found `-1`, expected a number from 0"),
        ("router", "line 1: found the end of the line, expected a number from 0"),
        ("router 0 node", "line 1: found the end of the line, expected a number from 0"),
        ("node 0", "line 1: found the end of the line, expected `router` and its number"),
        (
            "router 0 node 0 nod 1",
            "line 1: found `nod`, expected `router` or `node`, or a latency of at least 1 cycle",
        ),
        (
            "router 0 node 0 0",
            "line 1: found `0`, expected `router` or `node`, or a latency of at least 1 cycle",
        ),
        ("router 0 node 0 3 4", "line 1: found `4`, expected `router` or `node`"),
        (
            "node 0 node 1",
            "line 1: found `node 1`, expected a router: node 0 cannot be linked to a node",
        ),
        ("router 0 router 0", "line 1: found `router 0`, expected another router than 0 itself"),
        (
            "router 0 node 0 router 1\nrouter 1 node 0",
            "line 2: found `node 0 at router 1`, expected it at router 0 only, where it was before: a \
             node has one link",
        ),
        (
            "router 0 node 0\nrouter 2 node 1 router 0",
            "line 2: found `router 2`, expected routers numbered without gaps: there is no router 1",
        ),
        (
            "router 0 node 0\nrouter 0 node 4000000000",
            "line 2: found `node 4000000000`, expected nodes numbered without gaps: there is no node 1",
        ),
        ("", "the network has 0 hosts; it needs at least 2"),
        (
            "router 0 node 0\nrouter 1 node 1",
            "the network is in pieces: host 1 cannot be reached from host 0",
        ),
    ] {
        assert_eq!(read("bad", text).unwrap_err().to_string(), message, "{text}");
    }
}

#[test]
fn garbage_is_refused_at_its_first_word() {
    let garbage = "router 0 \u{0}\u{fffd}garbage ".repeat(500_000);
    assert!(garbage.len() > 10_000_000);
    assert!(matches!(read("bad", &garbage), Err(ReadError::Unexpected { line: 1, .. })));
    let endless = "router ".repeat(1_500_000);
    assert!(matches!(read("bad", &endless), Err(ReadError::Unexpected { line: 1, .. })));
    let star: String = (1..70_000).map(|i| format!("router 0 router {i}\n")).collect();
    let error = read("bad", &format!("{star}router 0 node 0 node 1")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the network is too large: router 0 has 70001 links; at most 65535 fit"
    );
}

#[test]
fn writes_each_link_once() {
    let text = write(&tree(2, 2).unwrap()).unwrap();
    assert_eq!(
        text,
        "router 0 router 2 router 3\nrouter 1 router 2 router 3\nrouter 2 node 0 node 1\n\
         router 3 node 2 node 3\n"
    );
}

#[test]
fn refuses_to_write_what_the_format_cannot_say() {
    let mut builder = FabricBuilder::default();
    let (a, b) = (builder.host("a"), builder.host("b"));
    builder.connect(End::host(a), End::host(b));
    let cable = builder.build("cable", Shape::Irregular).unwrap();
    assert_eq!(write(&cable), Err(WriteError::NoSwitch));
}

#[test]
fn trees_and_single_switches_come_back() {
    for fabric in [tree(4, 3).unwrap(), pruned_tree(4, 3, 32).unwrap(), single(6).unwrap()] {
        let back = read("back", &write(&fabric).unwrap()).unwrap().fabric;
        assert_eq!(adjacency(&back), adjacency(&fabric), "{}", fabric.name());
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(fabric in irregular()) {
        match write(&fabric) {
            Ok(text) => {
                let back = read("back", &text).unwrap().fabric;
                prop_assert_eq!(adjacency(&back), adjacency(&fabric));
                prop_assert_eq!(write(&back), Ok(text));
            }
            Err(WriteError::ParallelLinks { a, b }) => {
                let links = adjacency(&fabric);
                let pair = (Node::Switch(a.min(b)), Node::Switch(a.max(b)));
                prop_assert!(links.iter().filter(|&&link| link == pair).count() > 1);
            }
            Err(other) => prop_assert!(false, "there is always a switch, and room: {other}"),
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "((router|node|[0-9]{1,3}|x)[ \n])*") {
        let _ = read("any", &text);
    }
}
