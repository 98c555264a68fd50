//! Plain lists of links, one per line.
//!
//! ```text
//! # Two switches with two cables between them, and a host on each.
//! s1 s2
//! s1 s2
//! host alice s1
//! host bob   s2
//! ```
//!
//! | line | says |
//! |---|---|
//! | `a b` | a link between `a` and `b` |
//! | `host h s` | `h` is a host on `s` |
//! | `hosts-per-switch n` | every switch has `n` hosts besides those named |
//! | `# ...` | nothing; a comment may also end a line |
//!
//! A list without the words `host` and `hosts-per-switch` may name its hosts all the same: those
//! are the nodes with a single link. In a list with one of these words every other node is a
//! switch.
//!
//! Names are any text without spaces. A link listed again is another link beside the first; listed
//! again the other way round, it is refused, since nobody could tell a second cable from the same
//! one seen from its other end. Hosts and switches are numbered in the order in which they are
//! first named, the hosts of `hosts-per-switch` after them. At each switch the hosts have the first
//! ports and the links the next, in the order of the file.

use std::collections::HashMap;

use crate::reading::{MAX_HOSTS, check_length, check_ports, quoted};
use crate::{End, Fabric, FabricBuilder, FabricError, Node, Port, ReadError, Shape};

const HOST: &str = "host";
const HOSTS_PER_SWITCH: &str = "hosts-per-switch";

/// Reads a network; `name` is what it will be called.
pub fn read(name: &str, text: &str) -> Result<Fabric, ReadError> {
    check_length(text)?;
    let mut listing = Listing::default();
    for (line, content) in (1..).zip(text.lines()) {
        let words: Vec<&str> =
            content.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
        listing.read_line(line, &words)?;
    }
    let last = text.lines().count().max(1);
    listing.build(name, last)
}

/// What the lines have said so far.
#[derive(Default)]
struct Listing<'a> {
    numbers: HashMap<&'a str, usize>,
    nodes: Vec<Named<'a>>,
    links: Vec<(usize, usize)>,
    /// The line of the first link between two nodes, the nodes as written.
    first_line: HashMap<(usize, usize), usize>,
    hosts_per_switch: Option<u16>,
}

struct Named<'a> {
    name: &'a str,
    /// Whether a line says that it is a host.
    is_host: bool,
    links: u32,
}

impl<'a> Listing<'a> {
    fn read_line(&mut self, line: usize, words: &[&'a str]) -> Result<(), ReadError> {
        match *words {
            [] => Ok(()),
            [HOSTS_PER_SWITCH, number] => self.set_hosts_per_switch(line, number),
            [a, b] => {
                let (a, b) = (self.node(a), self.node(b));
                self.link(line, a, b)
            }
            [HOST, host, switch] => {
                let (host, switch) = (self.node(host), self.node(switch));
                self.nodes[host].is_host = true;
                self.link(line, host, switch)
            }
            _ => {
                let found = format!("{} words from {} on", words.len(), quoted(words[0]));
                let expected = "the names of two linked nodes, `host NAME SWITCH` or `hosts-per-switch NUMBER`";
                Err(ReadError::Unexpected { line, found, expected: expected.to_owned() })
            }
        }
    }

    fn set_hosts_per_switch(&mut self, line: usize, number: &str) -> Result<(), ReadError> {
        let unexpected = |found: String, expected: &str| {
            Err(ReadError::Unexpected { line, found, expected: expected.to_owned() })
        };
        let Some(hosts) = number.parse().ok().filter(|&hosts: &u16| hosts > 0) else {
            return unexpected(quoted(number), "a number from 1 to 65535");
        };
        if self.hosts_per_switch.replace(hosts).is_some() {
            return unexpected(format!("a second `{HOSTS_PER_SWITCH}`"), "one for all switches");
        }
        Ok(())
    }

    fn node(&mut self, name: &'a str) -> usize {
        *self.numbers.entry(name).or_insert_with(|| {
            self.nodes.push(Named { name, is_host: false, links: 0 });
            self.nodes.len() - 1
        })
    }

    fn link(&mut self, line: usize, a: usize, b: usize) -> Result<(), ReadError> {
        let unexpected = |found, expected| Err(ReadError::Unexpected { line, found, expected });
        if a == b {
            let found = format!("a link from {} to itself", quoted(self.nodes[a].name));
            return unexpected(found, "two different nodes".to_owned());
        }
        for end in [a, b] {
            let node = &mut self.nodes[end];
            node.links += 1;
            if node.is_host && node.links > 1 {
                let found = format!("a second link of host {}", quoted(node.name));
                return unexpected(found, "one link per host".to_owned());
            }
        }
        if let Some(earlier) = self.first_line.get(&(b, a)) {
            let [a, b] = [a, b].map(|node| quoted(self.nodes[node].name));
            let found = format!("{a} and {b} the other way round than in line {earlier}");
            return unexpected(
                found,
                "each link once, parallel ones the same way round".to_owned(),
            );
        }
        self.first_line.entry((a, b)).or_insert(line);
        self.links.push((a, b));
        Ok(())
    }

    fn build(mut self, name: &str, last: usize) -> Result<Fabric, ReadError> {
        if self.hosts_per_switch.is_none() && !self.nodes.iter().any(|node| node.is_host) {
            self.nodes.iter_mut().for_each(|node| node.is_host = node.links == 1);
        }
        let named = self.nodes.iter().filter(|node| node.is_host).count();
        let switches = self.nodes.len() - named;
        let per_switch = self.hosts_per_switch.unwrap_or(0);
        let hosts = named as u64 + switches as u64 * u64::from(per_switch);
        if hosts < 2 {
            return Err(ReadError::Unexpected {
                line: last,
                found: format!("the end of a list with {hosts} hosts"),
                expected: "at least 2: name them with `host NAME SWITCH`, ask for them with \
                           `hosts-per-switch NUMBER`, or list nodes with a single link"
                    .to_owned(),
            });
        }
        if hosts > MAX_HOSTS {
            let what = format!("{hosts} hosts; at most {MAX_HOSTS} are read from a list");
            return Err(FabricError::TooLarge { what }.into());
        }
        self.assemble(name, per_switch)
    }

    fn assemble(&self, name: &str, per_switch: u16) -> Result<Fabric, ReadError> {
        let mut builder = FabricBuilder::default();
        let mut places = Vec::with_capacity(self.nodes.len());
        let mut used = Vec::new();
        let mut ports = 0;
        for node in &self.nodes {
            if node.is_host {
                places.push(Node::Host(builder.host(node.name)));
                continue;
            }
            let count = u64::from(node.links) + u64::from(per_switch);
            ports += count;
            let Ok(count) = u16::try_from(count) else {
                let what = format!("{} has {count} links; at most 65535 fit", quoted(node.name));
                return Err(FabricError::TooLarge { what }.into());
            };
            places.push(Node::Switch(builder.switch(node.name, count)));
            used.push(0);
        }
        check_ports(ports)?;
        let mut plug = |place: Node| match place {
            Node::Host(host) => End::host(host),
            Node::Switch(switch) => {
                let port = &mut used[switch.0 as usize];
                *port += 1;
                End::switch(switch, Port(*port - 1))
            }
        };
        let is_host = |node: usize| self.nodes[node].is_host;
        let (cables, links): (Vec<_>, Vec<_>) =
            self.links.iter().partition(|(a, b)| is_host(*a) || is_host(*b));
        for &(a, b) in cables {
            builder.connect(plug(places[a]), plug(places[b]));
        }
        let switches = self.nodes.iter().zip(&places).filter(|(node, _)| !node.is_host);
        for (node, &place) in switches {
            for number in 0..per_switch {
                let host = builder.host(format!("{}/{number}", node.name));
                builder.connect(End::host(host), plug(place));
            }
        }
        for &(a, b) in links {
            builder.connect(plug(places[a]), plug(places[b]));
        }
        Ok(builder.build(name, Shape::Irregular)?)
    }
}

#[cfg(test)]
mod tests;
