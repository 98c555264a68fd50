//! What is told of a network.

use std::collections::BTreeSet;
use std::fmt;

use crosstie_fabric::{Fabric, Metrics, Node, Shape};
use serde::Serialize;

/// A network in numbers.
#[derive(Debug, Serialize)]
pub struct Description {
    name: String,
    shape: &'static str,
    hosts: usize,
    switches: usize,
    links: usize,
    host_links: usize,
    /// Links beyond the first between the same two switches.
    parallel_links: usize,
    /// Switch ports with nothing plugged in.
    free_ports: usize,
    /// In channels.
    diameter: u32,
    mean_distance: f64,
    mean_distance_with_self: f64,
    /// Ordered pairs of hosts at each distance.
    distances: Vec<Pairs>,
    bisection: Option<u32>,
    /// Switches by the number of their links.
    degrees: Vec<Degree>,
}

#[derive(Debug, Serialize)]
struct Pairs {
    channels: u32,
    pairs: u64,
}

#[derive(Debug, Serialize)]
struct Degree {
    links: u16,
    switches: usize,
}

impl Description {
    /// Measures a network.
    pub fn of(fabric: &Fabric) -> Description {
        let metrics = Metrics::of(fabric);
        let mut pairs = BTreeSet::new();
        let (mut host_links, mut parallel_links) = (0, 0);
        for link in fabric.links() {
            let channel = fabric.channel(link.channels()[0]);
            match (channel.from.node, channel.to.node) {
                (Node::Switch(a), Node::Switch(b)) => {
                    parallel_links += usize::from(!pairs.insert((a.min(b), a.max(b))));
                }
                _ => host_links += 1,
            }
        }
        let ports = |s| usize::from(fabric.ports(s)) - fabric.out_channels(s).count();
        let distances = &metrics.distances;
        Description {
            name: fabric.name().to_owned(),
            shape: match fabric.shape() {
                Shape::Tree(tree) if tree.is_pruned() => "pruned tree",
                Shape::Tree(_) => "tree",
                Shape::Single => "single switch",
                Shape::Irregular => "irregular",
            },
            hosts: metrics.hosts,
            switches: metrics.switches,
            links: metrics.links,
            host_links,
            parallel_links,
            free_ports: fabric.switches().map(ports).sum(),
            diameter: distances.diameter(),
            mean_distance: distances.mean(),
            mean_distance_with_self: distances.mean_with_self(),
            distances: distances
                .pairs()
                .map(|(channels, pairs)| Pairs { channels, pairs })
                .collect(),
            bisection: metrics.bisection,
            degrees: (metrics.degrees.iter())
                .map(|&(links, switches)| Degree { links, switches })
                .collect(),
        }
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.name)?;
        let mut line = |name: &str, value: String| writeln!(f, "  {name:<15}{value}");
        let list = |items: Vec<String>| match items.is_empty() {
            true => "none".to_owned(),
            false => items.join(", "),
        };
        line("shape", self.shape.to_owned())?;
        line("hosts", self.hosts.to_string())?;
        line("switches", self.switches.to_string())?;
        line("links", format!("{}, {} of them to hosts", self.links, self.host_links))?;
        line("diameter", format!("{} channels", self.diameter))?;
        let (mean, with_self) = (self.mean_distance, self.mean_distance_with_self);
        line(
            "mean distance",
            format!("{mean:.4} channels; {with_self:.4} with each host at 0 from itself"),
        )?;
        let pairs = |p: &Pairs| format!("{} pairs at {}", p.pairs, p.channels);
        line("distances", list(self.distances.iter().map(pairs).collect()))?;
        let unknown = || "not known: there is no formula for this network".to_owned();
        line("bisection", self.bisection.map_or_else(unknown, |links| format!("{links} links")))?;
        let degree = |d: &Degree| match d.switches {
            1 => format!("1 switch with {} links", d.links),
            switches => format!("{switches} switches with {} links", d.links),
        };
        line("degrees", list(self.degrees.iter().map(degree).collect()))?;
        line("free ports", self.free_ports.to_string())?;
        line("parallel links", self.parallel_links.to_string())?;
        // A network that fails one of these is refused when it is read.
        line("checks", "connected, every host linked, no port linked twice".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_16_host_board_of_qsnet() {
        let text = Description::of(&crosstie_fabric::tree(4, 2).unwrap()).to_string();
        assert_eq!(
            text,
            "\
4-ary 2-tree
  shape          tree
  hosts          16
  switches       8
  links          32, 16 of them to hosts
  diameter       4 channels
  mean distance  3.6000 channels; 3.3750 with each host at 0 from itself
  distances      48 pairs at 2, 192 pairs at 4
  bisection      8 links
  degrees        4 switches with 4 links, 4 switches with 8 links
  free ports     16
  parallel links 0
  checks         connected, every host linked, no port linked twice
"
        );
    }

    #[test]
    fn parallel_links_are_counted() {
        let text = "<graphml><key id='k' for='node' attr.name='kind' attr.type='string'/>\
            <graph edgedefault='undirected'>\
            <node id='a'><data key='k'>host</data></node><node id='b'><data key='k'>host</data></node>\
            <node id='x'><data key='k'>switch</data></node>\
            <node id='y'><data key='k'>switch</data></node>\
            <edge source='a' target='x'/><edge source='b' target='y'/>\
            <edge source='x' target='y'/><edge source='y' target='x'/></graph></graphml>";
        let fabric = crosstie_fabric::graphml::read("two", text).unwrap();
        let description = Description::of(&fabric);
        assert_eq!((description.links, description.parallel_links), (4, 1));
        assert!(description.to_string().contains("bisection      not known"));
    }
}
