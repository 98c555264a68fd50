//! BookSim's `anynet` network files.
//!
//! Each line lists what one router (or node) is linked to, with an optional latency in cycles after
//! each neighbour:
//!
//! ```text
//! router 0 node 0 node 1 5 router 1 15
//! router 1 node 2
//! ```
//!
//! A link may be listed from either side or from both; it is one link. The format has no parallel
//! links: a pair of routers listed again is the same link, and the later latency counts. As in
//! BookSim, a latency between routers holds for the direction listed only (the other stays at 1
//! cycle), a latency at a node for both directions. Routers and nodes are numbered from 0 without
//! gaps. The format knows no ports; like BookSim we give each router's nodes the first ports and
//! its neighbours the next, both in order of number.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::reading::{check_length, quoted};
use crate::{
    End, Fabric, FabricBuilder, FabricError, HostId, Node, Port, ReadError, Shape, SwitchId,
};

/// What an `anynet` file describes.
#[derive(Debug, Clone)]
pub struct Anynet {
    /// The network: node i is host i, router i is switch i.
    pub fabric: Fabric,
    /// The latency of every channel in cycles, by channel number; 1 where the file gives none.
    pub latency: Vec<u32>,
}

/// Why a fabric cannot be written as `anynet`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// Two switches with several links.
    #[error("switches {} and {} have parallel links, which anynet cannot describe: write GraphML", a.0, b.0)]
    ParallelLinks {
        /// One switch.
        a: SwitchId,
        /// The other.
        b: SwitchId,
    },
    /// Hosts without a switch.
    #[error("the hosts are cabled to each other, which anynet cannot describe: write GraphML")]
    NoSwitch,
    /// A text that [`read`] would refuse.
    #[error("it could not be read again: {0}")]
    TooLong(#[from] ReadError),
}

/// Reads a network; `name` is what it will be called.
pub fn read(name: &str, text: &str) -> Result<Anynet, ReadError> {
    check_length(text)?;
    let mut listing = Listing::default();
    for (line, content) in (1..).zip(text.lines()) {
        let mut words = content.split_whitespace();
        let Some(first) = words.next() else { continue };
        listing.read_line(line, first, words)?;
    }
    listing.build(name)
}

/// Writes a network, each link once. Ports and unlinked ports are not kept.
pub fn write(fabric: &Fabric) -> Result<String, WriteError> {
    if fabric.switches().len() == 0 {
        return Err(WriteError::NoSwitch);
    }
    let mut text = String::new();
    for switch in fabric.switches() {
        let (mut nodes, mut routers) = (Vec::new(), Vec::new());
        for channel in fabric.out_channels(switch) {
            match fabric.channel(channel).to.node {
                Node::Host(host) => nodes.push(host),
                Node::Switch(other) => routers.push(other),
            }
        }
        nodes.sort_unstable();
        routers.sort_unstable();
        if let Some(pair) = routers.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(WriteError::ParallelLinks { a: switch, b: pair[0] });
        }
        let listed = nodes.iter().map(|n| format!(" node {}", n.0));
        let links = routers.iter().filter(|&&r| r > switch).map(|r| format!(" router {}", r.0));
        let neighbours: String = listed.chain(links).collect();
        writeln!(text, "router {}{neighbours}", switch.0).expect("writing to a string");
    }
    check_length(&text)?;
    Ok(text)
}

/// What the lines have said so far.
#[derive(Default)]
struct Listing {
    nodes: BTreeMap<u32, Attachment>,
    /// Every router named, and the line that named it first.
    routers: BTreeMap<u32, usize>,
    /// The latency from router to router, both directions of every link.
    links: BTreeMap<(u32, u32), u32>,
}

/// Where a node hangs.
#[derive(Clone, Copy)]
struct Attachment {
    router: u32,
    latency: u32,
    /// The line that said so first.
    line: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Router,
    Node,
}

const KIND: &str = "`router` or `node`";
const NUMBER: &str = "a number from 0";

impl Listing {
    fn read_line<'a>(
        &mut self,
        line: usize,
        first: &str,
        words: impl Iterator<Item = &'a str>,
    ) -> Result<(), ReadError> {
        let mut words = words.peekable();
        let unexpected = |found: Option<&str>, expected: &str| ReadError::Unexpected {
            line,
            found: found.map_or("the end of the line".to_owned(), quoted),
            expected: expected.to_owned(),
        };
        let kind = |word: &str| match word {
            "router" => Ok(Kind::Router),
            "node" => Ok(Kind::Node),
            _ => Err(unexpected(Some(word), KIND)),
        };
        let number = |word: Option<&str>| {
            let parsed = word.and_then(|w| w.parse::<u32>().ok());
            parsed.ok_or_else(|| unexpected(word, NUMBER))
        };
        let head = (kind(first)?, number(words.next())?);
        match head.0 {
            Kind::Router => _ = self.routers.entry(head.1).or_insert(line),
            Kind::Node if words.peek().is_none() => {
                return Err(unexpected(None, "`router` and its number"));
            }
            Kind::Node => {}
        }
        while let Some(word) = words.next() {
            let neighbour = (kind(word)?, number(words.next())?);
            let latency = match words.next_if(|w| kind(w).is_err()) {
                None => 1,
                Some(word) => {
                    word.parse().ok().filter(|&latency| latency > 0).ok_or_else(|| {
                        unexpected(Some(word), &format!("{KIND}, or a latency of at least 1 cycle"))
                    })?
                }
            };
            match (head, neighbour) {
                ((Kind::Node, a), (Kind::Node, b)) => {
                    let expected = format!("a router: node {a} cannot be linked to a node");
                    return Err(unexpected(Some(&format!("node {b}")), &expected));
                }
                ((Kind::Router, a), (Kind::Router, b)) if a == b => {
                    let expected = format!("another router than {a} itself");
                    return Err(unexpected(Some(&format!("router {b}")), &expected));
                }
                ((Kind::Router, a), (Kind::Router, b)) => {
                    self.routers.entry(b).or_insert(line);
                    self.links.insert((a, b), latency);
                    self.links.entry((b, a)).or_insert(1);
                }
                ((Kind::Router, router), (Kind::Node, node))
                | ((Kind::Node, node), (Kind::Router, router)) => {
                    self.routers.entry(router).or_insert(line);
                    let new = Attachment { router, latency, line };
                    let known = self.nodes.entry(node).or_insert(new);
                    if known.router != router {
                        let found = format!("node {node} at router {router}");
                        let expected = format!(
                            "it at router {} only, where it was before: a node has one link",
                            known.router
                        );
                        return Err(unexpected(Some(&found), &expected));
                    }
                    known.latency = latency;
                }
            }
        }
        Ok(())
    }

    fn build(self, name: &str) -> Result<Anynet, ReadError> {
        if let Some((missing, (&router, &line))) =
            (0..).zip(&self.routers).find(|(i, (router, _))| *i != **router)
        {
            return Err(ReadError::Unexpected {
                line,
                found: format!("`router {router}`"),
                expected: format!("routers numbered without gaps: there is no router {missing}"),
            });
        }
        if let Some((missing, (node, attachment))) =
            (0..).zip(&self.nodes).find(|(i, (node, _))| i != *node)
        {
            return Err(ReadError::Unexpected {
                line: attachment.line,
                found: format!("`node {node}`"),
                expected: format!("nodes numbered without gaps: there is no node {missing}"),
            });
        }
        let mut ports = vec![0u32; self.routers.len()];
        let ends = self.nodes.values().map(|attachment| &attachment.router);
        ends.chain(self.links.keys().map(|(a, _)| a)).for_each(|&r| ports[r as usize] += 1);

        let mut builder = FabricBuilder::default();
        for node in self.nodes.keys() {
            builder.host(format!("node {node}"));
        }
        for (router, &ports) in ports.iter().enumerate() {
            let ports = u16::try_from(ports).map_err(|_| FabricError::TooLarge {
                what: format!("router {router} has {ports} links; at most {} fit", u16::MAX),
            })?;
            builder.switch(format!("router {router}"), ports);
        }
        let mut next_port = vec![0; self.routers.len()];
        let mut plug = |router: u32| {
            let port = &mut next_port[router as usize];
            *port += 1;
            End::switch(SwitchId(router), Port(*port - 1))
        };
        let mut latency = Vec::new();
        for (&node, &Attachment { router, latency: cycles, .. }) in &self.nodes {
            builder.connect(End::host(HostId(node)), plug(router));
            latency.extend([cycles; 2]);
        }
        // In order of (from, to), so each router meets its neighbours in order of number.
        let plugs: BTreeMap<_, _> = self.links.keys().map(|&(a, b)| ((a, b), plug(a))).collect();
        for (&(a, b), &end) in plugs.iter().filter(|((a, b), _)| a < b) {
            builder.connect(end, plugs[&(b, a)]);
            latency.extend([self.links[&(a, b)], self.links[&(b, a)]]);
        }
        Ok(Anynet { fabric: builder.build(name, Shape::Irregular)?, latency })
    }
}

#[cfg(test)]
mod tests;
