//! Facts about any network: distances, degrees, bisection.

use std::collections::BTreeMap;

use crate::{Fabric, Search, Shape};

/// How many ordered pairs of different hosts lie at each distance in channels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distances {
    hosts: u64,
    /// Pairs by distance; the last entry is not zero.
    pairs: Vec<u64>,
}

impl Distances {
    /// Counts the pairs of a fabric: in closed form on a tree, by search elsewhere.
    pub fn of(fabric: &Fabric) -> Distances {
        match fabric.shape() {
            Shape::Tree(tree) => tree.distances(),
            Shape::Single | Shape::Irregular => Distances::searched(fabric),
        }
    }

    /// Counts the pairs of any fabric by graph search, one search per switch that carries hosts.
    pub fn searched(fabric: &Fabric) -> Distances {
        let mut hosts_on = vec![0u64; fabric.switches().len()];
        for switch in fabric.hosts().filter_map(|h| fabric.switch_of(h)) {
            hosts_on[switch.0 as usize] += 1;
        }
        let hosts = fabric.hosts().len() as u64;
        if hosts_on.is_empty() {
            // Two hosts on one cable: the only network without switches.
            return Distances::from_pairs(hosts, vec![0, hosts]);
        }
        let mut search = Search::new(fabric);
        let mut pairs = Vec::new();
        for switch in fabric.switches() {
            let here = hosts_on[switch.0 as usize];
            if here == 0 {
                continue;
            }
            for (&distance, &there) in search.from(switch).iter().zip(&hosts_on) {
                let channels = distance as usize + 2;
                if pairs.len() <= channels {
                    pairs.resize(channels + 1, 0);
                }
                pairs[channels] += here * there;
            }
            // A host is no partner of itself.
            pairs[2] -= here;
        }
        Distances::from_pairs(hosts, pairs)
    }

    pub(crate) fn from_pairs(hosts: u64, mut pairs: Vec<u64>) -> Distances {
        while pairs.last() == Some(&0) {
            pairs.pop();
        }
        Distances { hosts, pairs }
    }

    /// Ordered pairs at each distance that occurs: `(channels, pairs)`, nearest first.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let counted = self.pairs.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(distance, &count)| (distance as u32, count))
    }

    /// The longest distance.
    pub fn diameter(&self) -> u32 {
        self.pairs.len() as u32 - 1
    }

    /// The mean distance from a host to the others.
    pub fn mean(&self) -> f64 {
        self.sum() as f64 / (self.hosts * (self.hosts - 1)) as f64
    }

    /// The mean distance with each host also counted at distance 0 from itself, as in Petrini's
    /// equation 6.
    pub fn mean_with_self(&self) -> f64 {
        self.sum() as f64 / (self.hosts * self.hosts) as f64
    }

    /// The distances of all ordered pairs together.
    pub fn sum(&self) -> u64 {
        self.pairs.iter().zip(0u64..).map(|(count, distance)| count * distance).sum()
    }
}

/// What `crosstie fabric` tells of a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Metrics {
    /// Hosts.
    pub hosts: usize,
    /// Switches.
    pub switches: usize,
    /// Links, those of hosts included.
    pub links: usize,
    /// Distances between hosts.
    pub distances: Distances,
    /// How many switches have each number of linked ports: `(ports, switches)`, fewest ports
    /// first.
    pub degrees: Vec<(u16, usize)>,
    /// The fewest links that part the hosts into equal halves. Known for trees with an even number
    /// of hosts; finding it in any other network is NP-hard, and no estimate is given.
    pub bisection: Option<u32>,
}

impl Metrics {
    /// Measures a fabric.
    pub fn of(fabric: &Fabric) -> Metrics {
        let mut degrees = BTreeMap::new();
        for switch in fabric.switches() {
            *degrees.entry(fabric.out_channels(switch).count() as u16).or_default() += 1;
        }
        Metrics {
            hosts: fabric.hosts().len(),
            switches: fabric.switches().len(),
            links: fabric.links().len(),
            distances: Distances::of(fabric),
            degrees: degrees.into_iter().collect(),
            bisection: match fabric.shape() {
                Shape::Tree(tree) => tree.bisection(),
                Shape::Single | Shape::Irregular => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{End, FabricBuilder, pruned_tree, single, tree};

    #[test]
    fn the_16_port_qsnet_board() {
        let metrics = Metrics::of(&tree(4, 2).unwrap());
        assert_eq!((metrics.hosts, metrics.switches, metrics.links), (16, 8, 32));
        assert_eq!(metrics.degrees, [(4, 4), (8, 4)]);
        assert_eq!(metrics.distances.pairs().collect::<Vec<_>>(), [(2, 48), (4, 192)]);
        assert_eq!(metrics.distances.diameter(), 4);
        assert_eq!(metrics.bisection, Some(8));
    }

    #[test]
    fn pruning_shows_in_the_degrees() {
        let metrics = Metrics::of(&pruned_tree(4, 3, 32).unwrap());
        assert_eq!(metrics.degrees, [(2, 16), (8, 16)]);
        assert_eq!(metrics.bisection, Some(16));
    }

    #[test]
    fn small_networks_without_a_formula() {
        let metrics = Metrics::of(&single(4).unwrap());
        assert_eq!((metrics.distances.diameter(), metrics.bisection), (2, None));
        assert_eq!(metrics.distances.mean(), 2.0);
        assert_eq!(metrics.distances.mean_with_self(), 1.5);

        let mut builder = FabricBuilder::default();
        let (a, b) = (builder.host("a"), builder.host("b"));
        builder.connect(End::host(a), End::host(b));
        let cable = Metrics::of(&builder.build("cable", Shape::Irregular).unwrap());
        assert_eq!((cable.distances.diameter(), cable.distances.mean()), (1, 1.0));
        assert_eq!(cable.degrees, []);
    }

    #[test]
    fn a_thousand_hosts_are_searched_at_once() {
        let fabric = tree(4, 5).unwrap();
        assert_eq!(Distances::searched(&fabric), Distances::of(&fabric));
    }
}
