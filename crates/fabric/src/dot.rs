//! Graphviz DOT, for drawing with `dot` or `neato`.

use std::fmt::Write;

use crate::{End, Fabric, Node, Shape};

/// Writes a network as an undirected graph, with the levels of a tree on levels of the drawing.
pub fn write(fabric: &Fabric) -> String {
    let mut text = format!("graph \"{}\" {{\n", escaped(fabric.name()));
    let mut line = |content: String| writeln!(text, "  {content}").expect("writing to a string");
    line("rankdir=BT;".to_owned());
    line("node [fontname=\"sans-serif\"];".to_owned());
    line("edge [fontname=\"sans-serif\", fontsize=8];".to_owned());
    for node in fabric.hosts().map(Node::Host).chain(fabric.switches().map(Node::Switch)) {
        let shape = match node {
            Node::Host(_) => "ellipse",
            Node::Switch(_) => "box",
        };
        line(format!("{} [shape={shape}, label=\"{}\"];", id(node), escaped(fabric.label(node))));
    }
    if let Shape::Tree(tree) = fabric.shape() {
        for level in 0..tree.n {
            let switches: String = tree.switches_at(level).map(|s| format!(" s{s};")).collect();
            line(format!("{{ rank=same;{switches} }}"));
        }
    }
    for link in fabric.links() {
        let channel = fabric.channel(link.channels()[0]);
        let labels: Vec<_> =
            [port("taillabel", channel.from), port("headlabel", channel.to)].concat();
        let labels = labels.join(", ");
        line(format!("{} -- {} [{labels}];", id(channel.from.node), id(channel.to.node)));
    }
    text.push_str("}\n");
    text
}

fn id(node: Node) -> String {
    match node {
        Node::Host(h) => format!("h{}", h.0),
        Node::Switch(s) => format!("s{}", s.0),
    }
}

/// The port as an edge label; a host's only port needs none.
fn port(attribute: &str, end: End) -> Vec<String> {
    match end.node {
        Node::Host(_) => Vec::new(),
        Node::Switch(_) => vec![format!("{attribute}=\"{}\"", end.port.0)],
    }
}

/// A text inside a quoted DOT string.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], "\\n").replace('\0', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FabricBuilder, tree};

    #[test]
    fn a_small_tree() {
        let text = write(&tree(2, 1).unwrap());
        assert_eq!(
            text,
            "graph \"2-ary 1-tree\" {\n  rankdir=BT;\n  node [fontname=\"sans-serif\"];\n  \
             edge [fontname=\"sans-serif\", fontsize=8];\n  \
             h0 [shape=ellipse, label=\"0\"];\n  h1 [shape=ellipse, label=\"1\"];\n  \
             s0 [shape=box, label=\"⟨0⟩\"];\n  { rank=same; s0; }\n  \
             h0 -- s0 [headlabel=\"0\"];\n  h1 -- s0 [headlabel=\"1\"];\n}\n"
        );
    }

    #[test]
    fn every_link_appears_with_its_ports() {
        let fabric = tree(4, 2).unwrap();
        let text = write(&fabric);
        assert_eq!(text.matches(" -- ").count(), fabric.links().len());
        // ⟨0,1⟩ is switch 4; its upward edge labelled 3 leads to the root ⟨3,0⟩.
        assert!(text.contains("s4 -- s3 [taillabel=\"7\", headlabel=\"0\"];"));
    }

    #[test]
    fn labels_cannot_break_out_of_their_quotes() {
        let mut builder = FabricBuilder::default();
        let (a, b) = (builder.host("\"];\\"), builder.host("two\nlines"));
        builder.connect(End::host(a), End::host(b));
        let text = write(&builder.build("cable", Shape::Irregular).unwrap());
        assert!(text.contains(r#"h0 [shape=ellipse, label="\"];\\"];"#), "{text}");
        assert!(text.contains(r#"h1 [shape=ellipse, label="two\nlines"];"#), "{text}");
        assert!(text.contains("h0 -- h1 [];"));
    }
}
