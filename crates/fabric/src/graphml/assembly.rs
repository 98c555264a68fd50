//! From the nodes and edges of a GraphML text to a fabric.

use std::collections::HashMap;

use super::document::{Document, EdgeElement, Field, Fields, unexpected_at};
use crate::reading::{check_ports, quoted};
use crate::{
    End, Fabric, FabricBuilder, FabricError, KaryTree, Node, Port, ReadError, Shape, SwitchId,
    pruned_tree, single,
};

/// Builds the network that a document describes.
pub fn assemble(name: &str, text: &str, document: &Document) -> Result<Fabric, ReadError> {
    let mut assembly = Assembly { text, document, nodes: HashMap::new(), switches: Vec::new() };
    let mut builder = FabricBuilder::default();
    let labels = assembly.number_nodes(&mut builder)?;
    let links = assembly.place_links()?;
    assembly.check_ports()?;
    for (label, switch) in labels.into_iter().zip(&assembly.switches) {
        builder.switch(label, switch.ports as u16);
    }
    for (a, b) in links {
        builder.connect(a, b);
    }
    let name = assembly.field(&document.fields, Field::Name).unwrap_or(name);
    let fabric = builder.build(name, Shape::Irregular)?;
    let claim = assembly.field(&document.fields, Field::Shape).unwrap_or_default();
    let shape = verified(claim, &fabric);
    Ok(fabric.with_shape(shape))
}

/// The shape that the claim names, if the fabric is wired that way.
fn verified(claim: &str, fabric: &Fabric) -> Shape {
    let words: Vec<&str> = claim.split_whitespace().collect();
    let hosts = fabric.hosts().len() as u32;
    let model = match words[..] {
        ["tree", k, n, claimed] if claimed.parse() == Ok(hosts) => k
            .parse()
            .ok()
            .zip(n.parse().ok())
            .and_then(|(k, n)| KaryTree::pruned(k, n, hosts).ok())
            // A short file must not make us build a large tree.
            .filter(|tree| tree.switches() as usize == fabric.switches().len())
            .and_then(|tree| pruned_tree(tree.k, tree.n, tree.hosts).ok()),
        ["single"] => single(hosts).ok(),
        _ => None,
    };
    match model {
        Some(model) if model.same_wiring(fabric) => model.shape(),
        _ => Shape::Irregular,
    }
}

struct Assembly<'a> {
    text: &'a str,
    document: &'a Document,
    nodes: HashMap<&'a str, Node>,
    switches: Vec<SwitchPlan>,
}

/// A switch while its ports are handed out.
struct SwitchPlan {
    /// How many ports it needs; more than a `u16` until checked.
    ports: u32,
    /// Ports that some edge names.
    named: Vec<u16>,
    /// Ports below this one are named or handed out.
    next_free: u32,
}

impl SwitchPlan {
    /// The lowest port that no edge names and that was not handed out before.
    fn free_port(&mut self) -> u32 {
        while u16::try_from(self.next_free).is_ok_and(|p| self.named.binary_search(&p).is_ok()) {
            self.next_free += 1;
        }
        self.next_free += 1;
        self.ports = self.ports.max(self.next_free);
        self.next_free - 1
    }
}

impl<'a> Assembly<'a> {
    fn field(&self, fields: &'a Fields, field: Field) -> Option<&'a str> {
        fields.get(field).or_else(|| self.document.defaults.get(field))
    }

    /// Numbers all nodes and adds the hosts; returns the labels of the switches.
    fn number_nodes(&mut self, builder: &mut FabricBuilder) -> Result<Vec<&'a str>, ReadError> {
        let mut labels = Vec::new();
        for node in &self.document.nodes {
            let label = self.field(&node.fields, Field::Label).unwrap_or(&node.id);
            let number = match self.field(&node.fields, Field::Kind).map(str::trim) {
                Some("host") => Node::Host(builder.host(label)),
                Some("switch") => {
                    let ports = self.number(&node.fields, Field::Ports, "ports", node.offset)?;
                    let ports = u32::from(ports.unwrap_or(0));
                    let named = Vec::new();
                    self.switches.push(SwitchPlan { ports, named, next_free: 0 });
                    labels.push(label);
                    Node::Switch(SwitchId(labels.len() as u32 - 1))
                }
                other => {
                    let found = match other {
                        Some(kind) => format!("node {} of kind {}", quoted(&node.id), quoted(kind)),
                        None => format!("node {} without a `kind`", quoted(&node.id)),
                    };
                    return Err(self.unexpected(node.offset, found, "kind `host` or `switch`"));
                }
            };
            if self.nodes.insert(&node.id, number).is_some() {
                let found = format!("a second node {}", quoted(&node.id));
                return Err(self.unexpected(node.offset, found, "ids that differ"));
            }
        }
        Ok(labels)
    }

    /// Finds both ends of every edge: first the ports that edges name, then free ones for the rest.
    fn place_links(&mut self) -> Result<Vec<(End, End)>, ReadError> {
        let mut ends = Vec::new();
        for edge in &self.document.edges {
            let [from, to] = self.ends(edge)?;
            for (node, port) in [from, to] {
                if let (Node::Switch(SwitchId(s)), Some(port)) = (node, port) {
                    let switch = &mut self.switches[s as usize];
                    switch.named.push(port);
                    switch.ports = switch.ports.max(u32::from(port) + 1);
                }
            }
            ends.push([from, to]);
        }
        self.switches.iter_mut().for_each(|switch| switch.named.sort_unstable());
        let mut place = |end: (Node, Option<u16>)| -> Result<End, FabricError> {
            let (node, port) = end;
            let port = match (node, port) {
                (_, Some(port)) => port,
                (Node::Host(_), None) => 0,
                (Node::Switch(s), None) => {
                    let free = self.switches[s.0 as usize].free_port();
                    u16::try_from(free).map_err(|_| too_many_ports(s))?
                }
            };
            Ok(End { node, port: Port(port) })
        };
        ends.into_iter().map(|[from, to]| Ok((place(from)?, place(to)?))).collect()
    }

    /// The nodes of an edge in the order of the link, with the ports it names.
    fn ends(&self, edge: &EdgeElement) -> Result<[(Node, Option<u16>); 2], ReadError> {
        let node = |id: &str| {
            self.nodes.get(id).copied().ok_or_else(|| {
                let found = format!("an edge to {}", quoted(id));
                self.unexpected(edge.offset, found, "the id of a node")
            })
        };
        let (source, target) = (node(&edge.source)?, node(&edge.target)?);
        let turned = match self.field(&edge.fields, Field::From) {
            None => false,
            Some(from) if from == edge.source => false,
            Some(from) if from == edge.target => true,
            Some(from) => {
                let found = format!("an edge from {}", quoted(from));
                let expected = "`from` to be its source or its target";
                return Err(self.unexpected(edge.offset, found, expected));
            }
        };
        let (from, to) = if turned { (target, source) } else { (source, target) };
        let port = |field, name| self.number(&edge.fields, field, name, edge.offset);
        Ok([(from, port(Field::FromPort, "from_port")?), (to, port(Field::ToPort, "to_port")?)])
    }

    fn check_ports(&self) -> Result<(), FabricError> {
        for (s, switch) in self.switches.iter().enumerate() {
            if switch.ports > u32::from(u16::MAX) {
                return Err(too_many_ports(SwitchId(s as u32)));
            }
        }
        check_ports(self.switches.iter().map(|switch| u64::from(switch.ports)).sum())
    }

    fn number(
        &self,
        fields: &'a Fields,
        field: Field,
        name: &str,
        offset: usize,
    ) -> Result<Option<u16>, ReadError> {
        let Some(value) = self.field(fields, field) else { return Ok(None) };
        let number = value.trim().parse().map_err(|_| {
            let found = format!("`{name}` of {}", quoted(value));
            self.unexpected(offset, found, "a number from 0 to 65535")
        });
        number.map(Some)
    }

    fn unexpected(&self, offset: usize, found: String, expected: &str) -> ReadError {
        unexpected_at(self.text, offset, found, expected)
    }
}

fn too_many_ports(switch: SwitchId) -> FabricError {
    FabricError::TooLarge { what: format!("switch {} has more than {} ports", switch.0, u16::MAX) }
}
