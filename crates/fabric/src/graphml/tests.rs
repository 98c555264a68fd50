use super::*;
use crate::networks::irregular;
use crate::{End, FabricBuilder, HostId, Port, SwitchId, pruned_tree, single, tree};
use proptest::prelude::*;

/// A file with this content of the graph element; three lines come before it.
fn file(content: &str) -> String {
    let key = |name, kind| {
        format!("<key id=\"d-{name}\" for=\"{kind}\" attr.name=\"{name}\" attr.type=\"string\"/>")
    };
    let keys = [("kind", "node"), ("ports", "node"), ("from", "edge"), ("from_port", "edge")];
    let keys: String = keys.into_iter().map(|(name, kind)| key(name, kind)).collect();
    format!("<?xml version='1.0'?>\n<graphml>{keys}\n<graph>\n{content}\n</graph></graphml>")
}

const HOSTS_AND_SWITCH: &str = "<node id='a'><data key='d-kind'>host</data></node>\
     <node id='b'><data key='d-kind'>host</data></node>\
     <node id='x'><data key='d-kind'> switch </data></node>";

fn written(fabric: &Fabric) -> String {
    write(fabric).unwrap()
}

fn same(a: &Fabric, b: &Fabric) -> bool {
    let nodes = || a.hosts().map(Node::Host).chain(a.switches().map(Node::Switch));
    a.same_wiring(b)
        && (a.name(), a.shape()) == (b.name(), b.shape())
        && nodes().all(|node| a.label(node) == b.label(node))
        && a.channels().all(|c| a.channel(c) == b.channel(c))
}

#[test]
fn trees_come_back_whole() {
    for fabric in [tree(4, 3), tree(5, 1), pruned_tree(4, 3, 32), pruned_tree(2, 4, 3)] {
        let fabric = fabric.unwrap();
        let back = read("unused", &written(&fabric)).unwrap();
        assert!(same(&fabric, &back), "{}", fabric.name());
        assert!(matches!(back.shape(), Shape::Tree(_)));
    }
    let fabric = single(6).unwrap();
    assert!(same(&fabric, &read("unused", &written(&fabric)).unwrap()));
}

#[test]
fn a_false_claim_is_not_believed() {
    let text = written(&tree(4, 2).unwrap());
    let claim = "tree 4 2 16";
    assert!(text.contains(claim));
    for lie in [
        "tree 2 4 16",
        "tree 4 2 15",
        "tree 4 3 16",
        "tree 4 10 16",
        "tree 4 10 1048576",
        "tree x 2 16",
        "single",
        "",
    ] {
        let fabric = read("lie", &text.replace(claim, lie)).unwrap();
        assert_eq!(fabric.shape(), Shape::Irregular, "{lie}");
    }
}

#[test]
fn swapped_cables_are_no_tree() {
    let text = written(&tree(4, 2).unwrap());
    let swapped = text
        .replace("<edge source=\"h0\"", "<edge source=\"h?\"")
        .replace("<data key=\"from\">h0<", "<data key=\"from\">h?<")
        .replace("<edge source=\"h15\"", "<edge source=\"h0\"")
        .replace("<data key=\"from\">h15<", "<data key=\"from\">h0<")
        .replace("<edge source=\"h?\"", "<edge source=\"h15\"")
        .replace("<data key=\"from\">h?<", "<data key=\"from\">h15<");
    assert_eq!(read("swapped", &swapped).unwrap().shape(), Shape::Irregular);
}

#[test]
fn a_file_from_another_tool() {
    let text = file(&format!(
        "{HOSTS_AND_SWITCH}<desc>anything <b>at</b> all</desc>\
         <edge source='a' target='x'><data key='color'>red</data></edge>\
         <edge source='x' target='b'><data key='d-from'>b</data></edge>"
    ));
    let fabric = read("from outside", &text).unwrap();
    assert_eq!((fabric.name(), fabric.shape()), ("from outside", Shape::Irregular));
    assert_eq!(fabric.ports(SwitchId(0)), 2);
    assert_eq!(fabric.describe(fabric.host_out(HostId(0))), "a -> x:0");
    assert_eq!(fabric.host_out(HostId(1)).0, 2, "the second link starts at b, its target");
}

#[test]
fn named_ports_are_kept_and_the_rest_filled_up() {
    let text = file(&format!(
        "{HOSTS_AND_SWITCH}<edge source='a' target='x'/>\
         <edge source='x' target='b'><data key='d-from_port'>0</data></edge>"
    ));
    let fabric = read("ports", &text).unwrap();
    let port = |host| fabric.channel(fabric.host_out(HostId(host))).to.port;
    assert_eq!((port(0), port(1)), (Port(1), Port(0)));
}

#[test]
fn defaults_and_references_are_understood() {
    let text = "<graphml><key id='k' attr.name='kind'><default>host</default></key>\
         <key id='e' for='edge' attr.name='kind'><default>copper</default></key>\
         <key id='l' attr.name='label'/><graph edgedefault='undirected'>\
         <node id='a'><data key='l'>R&amp;D &#x3c;1&gt;<![CDATA[ & more]]></data></node>\
         <node id='b'/><edge source='a' target='b'/></graph></graphml>";
    let fabric = read("cable", text).unwrap();
    assert_eq!(fabric.label(Node::Host(HostId(0))), "R&D <1> & more");
    assert_eq!(fabric.switches().len(), 0);
}

#[test]
fn mistakes_are_named() {
    let node = "<node id='a'><data key='d-kind'>host</data></node>";
    for (text, message) in [
        (file("<node/>"), "line 4: found element `node` without `id`, expected it to have one"),
        (
            file("<node id='n'/>"),
            "line 4: found node `n` without a `kind`, expected kind `host` or `switch`",
        ),
        (
            file("\n<node id='n'><data key='d-kind'>hub</data></node>"),
            "line 5: found node `n` of kind `hub`, expected kind `host` or `switch`",
        ),
        (file(&node.repeat(2)), "line 4: found a second node `a`, expected ids that differ"),
        (
            file(&format!("{node}\n<edge source='a' target='z'/>")),
            "line 5: found an edge to `z`, expected the id of a node",
        ),
        (
            file(&format!("{node}<edge source='a'/>")),
            "line 4: found element `edge` without `target`, expected it to have one",
        ),
        (
            file("<edge source='a' target='b' directed='true'/>"),
            "line 4: found a directed edge, expected undirected edges: a link works both ways",
        ),
        (
            file(&format!(
                "{HOSTS_AND_SWITCH}<edge source='a' target='x'><data key='d-from'>b</data></edge>"
            )),
            "line 4: found an edge from `b`, expected `from` to be its source or its target",
        ),
        (
            file(&format!(
                "{HOSTS_AND_SWITCH}<edge source='x' target='a'><data key='d-from_port'>-1</data></edge>"
            )),
            "line 4: found `from_port` of `-1`, expected a number from 0 to 65535",
        ),
        (file("<hyperedge/>"), "line 4: found a hyperedge, expected edges between two nodes"),
        (
            file("<node id='n'><graph/></node>"),
            "line 4: found a nested graph, expected one flat graph",
        ),
        (
            "<graphml><graph edgedefault='directed'/></graphml>".to_owned(),
            "line 1: found a directed graph, expected edgedefault=\"undirected\": a link works both \
             ways",
        ),
        (
            "<graphml><graph/>\n<graph/></graphml>".to_owned(),
            "line 2: found a second graph, expected one graph",
        ),
        ("<html/>".to_owned(), "line 1: found element `html`, expected `graphml`"),
        ("<graphml/>".to_owned(), "line 1: found the end of the file, expected a graph"),
        (
            "<graphml>\n<graph>".to_owned(),
            "line 2: found the end of the file, expected all elements closed",
        ),
        (
            "not XML".to_owned(),
            "line 1: found text `not XML`, expected XML that begins with `<graphml>`",
        ),
        (
            "<!DOCTYPE x [<!ENTITY a 'b'>]><graphml/>".to_owned(),
            "line 1: found a DOCTYPE, expected GraphML without one",
        ),
        (file(""), "the network has 0 hosts; it needs at least 2"),
        (
            file(&format!("{HOSTS_AND_SWITCH}<edge source='a' target='a'/>")),
            "host 0 is linked to itself",
        ),
    ] {
        assert_eq!(read("bad", &text).unwrap_err().to_string(), message, "{text}");
    }
    for (text, line) in [("<graphml>\n<graph></b></graphml>", 2), ("<graphml>\n\n<graph", 3)] {
        let error = read("bad", text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("line {line}: found broken XML (")), "{error}");
    }
}

#[test]
fn hostile_files_are_refused_quickly() {
    let deep = "<a>".repeat(4_000_000);
    assert!(read("bad", &deep).is_err());
    assert!(read("bad", &file(&deep)).is_err());
    let attributes: String = (0..1_000_000).map(|i| format!(" a{i}=''")).collect();
    assert!(read("bad", &file(&format!("<node{attributes}/>"))).is_err());
    assert!(read("bad", &"\u{1}garbage&<".repeat(1_000_000)).is_err());
    let node = |i| {
        format!(
            "<node id='{i}'><data key='d-kind'>switch</data><data key='d-ports'>65535</data></node>"
        )
    };
    let greedy: String = (0..100_000).map(node).collect();
    assert_eq!(
        read("bad", &file(&greedy)).unwrap_err().to_string(),
        "the network is too large: 6553500000 switch ports; at most 16777216 are read from a file"
    );
}

#[test]
fn a_cable_and_odd_labels_come_back() {
    let mut builder = FabricBuilder::default();
    let (a, b) = (builder.host(" <a> & \"b\"\r\n\t"), builder.host("\u{1}"));
    builder.connect(End::host(b), End::host(a));
    let fabric = builder.build("cable", Shape::Irregular).unwrap();
    let back = read("unused", &written(&fabric)).unwrap();
    assert!(fabric.same_wiring(&back));
    assert_eq!(back.label(Node::Host(a)), fabric.label(Node::Host(a)));
    assert_eq!(back.label(Node::Host(b)), "\u{fffd}", "XML cannot hold the character");
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let long = |bytes| {
        let mut builder = FabricBuilder::default();
        let (a, b) = (builder.host("a".repeat(bytes)), builder.host("b"));
        builder.connect(End::host(a), End::host(b));
        write(&builder.build("cable", Shape::Irregular).unwrap())
    };
    let frame = long(0).unwrap().len();
    let largest = long((64 << 20) - frame).unwrap();
    assert!(read("largest", &largest).is_ok());
    let error = long((64 << 20) - frame + 1).unwrap_err().to_string();
    assert_eq!(error, "the file has 67108865 bytes; at most 67108864 are read");
    let mut builder = FabricBuilder::default();
    let (a, b) = (builder.host("a"), builder.host("b"));
    let switches: Vec<_> = (0..260).map(|_| builder.switch("s", 65_000)).collect();
    builder.connect(End::host(a), End::switch(switches[0], Port(9)));
    builder.connect(End::host(b), End::switch(switches[0], Port(8)));
    for pair in switches.windows(2) {
        builder.connect(End::switch(pair[0], Port(1)), End::switch(pair[1], Port(0)));
    }
    let error = write(&builder.build("row", Shape::Irregular).unwrap()).unwrap_err().to_string();
    assert!(error.contains("16900000 switch ports; at most 16777216 are read"), "{error}");
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(fabric in irregular()) {
        let text = written(&fabric);
        let back = read("unused", &text).unwrap();
        prop_assert!(fabric.same_wiring(&back));
        prop_assert!(fabric.channels().all(|c| fabric.channel(c) == back.channel(c)));
        prop_assert_eq!(written(&back), text);
    }

    #[test]
    fn no_change_of_a_file_makes_it_panic(
        at in any::<prop::sample::Index>(), cut in 0usize..20, insert in "[<>&/'\"a-z0-9 ]{0,8}",
    ) {
        let text = written(&tree(2, 2).unwrap()).replace('⟨', "(").replace('⟩', ")");
        let start = at.index(text.len());
        let end = (start + cut).min(text.len());
        let _ = read("any", &format!("{}{insert}{}", &text[..start], &text[end..]));
    }
}
