//! GraphML, the XML graph format of networkx, igraph, Gephi and yEd.
//!
//! | attribute | of | says |
//! |---|---|---|
//! | `kind` | node | `host` or `switch`; needed |
//! | `label` | node | what people call it; the node's id if absent |
//! | `ports` | switch | how many ports it has; as many as it uses if absent |
//! | `from` | edge | the end that the link starts at; the edge's source if absent |
//! | `from_port`, `to_port` | edge | the ports at its two ends; the lowest free ones if absent |
//! | `name` | graph | what the network is called |
//! | `shape` | graph | `tree K N HOSTS` or `single`; believed only if the wiring agrees |
//!
//! `from` is there because the format's edges are undirected and some tools write them the other
//! way round. Hosts and switches are numbered in the order of the file. Other attributes and
//! elements are skipped; directed, nested and several graphs and hyperedges are refused.

mod assembly;
mod document;

use std::fmt::Write;

use quick_xml::escape::escape;

use crate::reading::{check_length, check_ports};
use crate::{Fabric, Node, ReadError, Shape};

/// Reads a network; `name` is what it will be called unless the file gives it a name.
pub fn read(name: &str, text: &str) -> Result<Fabric, ReadError> {
    check_length(text)?;
    assembly::assemble(name, text, &document::Document::parse(text)?)
}

/// Writes a network with everything needed to read the same one back. One so large that [`read`]
/// would refuse the text is refused here, for the same reason.
pub fn write(fabric: &Fabric) -> Result<String, ReadError> {
    check_ports(fabric.switches().map(|switch| u64::from(fabric.ports(switch))).sum())?;
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n",
    );
    for (name, domain, kind) in [
        ("name", "graph", "string"),
        ("shape", "graph", "string"),
        ("kind", "node", "string"),
        ("label", "node", "string"),
        ("ports", "node", "int"),
        ("from", "edge", "string"),
        ("from_port", "edge", "int"),
        ("to_port", "edge", "int"),
    ] {
        line(
            &mut text,
            format_args!(
                "  <key id=\"{name}\" for=\"{domain}\" attr.name=\"{name}\" attr.type=\"{kind}\"/>"
            ),
        );
    }
    line(&mut text, format_args!("  <graph edgedefault=\"undirected\">"));
    line(&mut text, format_args!("    {}", data("name", fabric.name())));
    line(&mut text, format_args!("    {}", data("shape", &claim(fabric.shape()))));
    for node in fabric.hosts().map(Node::Host).chain(fabric.switches().map(Node::Switch)) {
        let (kind, ports) = match node {
            Node::Host(_) => ("host", String::new()),
            Node::Switch(s) => ("switch", data("ports", &fabric.ports(s).to_string())),
        };
        let label = data("label", fabric.label(node));
        let kind = data("kind", kind);
        line(&mut text, format_args!("    <node id=\"{}\">{kind}{label}{ports}</node>", id(node)));
    }
    for link in fabric.links() {
        let channel = fabric.channel(link.channels()[0]);
        let (from, to) = (id(channel.from.node), id(channel.to.node));
        let start = data("from", &from);
        let from_port = data("from_port", &channel.from.port.0.to_string());
        let to_port = data("to_port", &channel.to.port.0.to_string());
        line(
            &mut text,
            format_args!(
                "    <edge source=\"{from}\" target=\"{to}\">{start}{from_port}{to_port}</edge>"
            ),
        );
    }
    text.push_str("  </graph>\n</graphml>\n");
    check_length(&text)?;
    Ok(text)
}

fn line(text: &mut String, content: std::fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("writing to a string");
}

fn id(node: Node) -> String {
    match node {
        Node::Host(h) => format!("h{}", h.0),
        Node::Switch(s) => format!("s{}", s.0),
    }
}

fn claim(shape: Shape) -> String {
    match shape {
        Shape::Tree(tree) => format!("tree {} {} {}", tree.k, tree.n, tree.hosts),
        Shape::Single => "single".to_owned(),
        Shape::Irregular => "irregular".to_owned(),
    }
}

fn data(key: &str, value: &str) -> String {
    let clean: String = value.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect();
    // XML turns a bare carriage return into a line feed.
    let escaped = escape(clean.as_str()).replace('\r', "&#13;");
    format!("<data key=\"{key}\">{escaped}</data>")
}

/// Whether XML 1.0 can hold a character at all.
fn allowed(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests;
