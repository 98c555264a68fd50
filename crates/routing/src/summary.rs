//! Facts about a routing: how long its routes are and how evenly they load the channels.

use crosstie_fabric::{ChannelId, Fabric, HostId, Node, Search, SwitchId};

use crate::walk::{Visitor, walk};
use crate::{Route, RouteFault, Routing};

/// What `crosstie routes` tells of a routing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Summary {
    /// Routes, one per ordered pair of different hosts.
    pub routes: u64,
    /// Routes that cross no more links between switches than they must, stops or not.
    pub minimal: u64,
    /// Routes with at least one stop in transit.
    pub stopping: u64,
    /// Stops of all routes together.
    pub stops: u64,
    /// Routes by the number of links between switches that they cross: `lengths[n]` cross n.
    pub lengths: Vec<u64>,
    /// Switches crossed by all routes together; the switch of a stop counts twice.
    pub switches_crossed: u64,
    /// Switches crossed by the longest route.
    pub longest: usize,
    /// Load on the channels between switches; `None` if there are none.
    pub load: Option<Load>,
}

/// Routes per channel between switches when every host sends to every other once and a switch that
/// may choose shares evenly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Load {
    /// Routes on the least loaded channel.
    pub min: f64,
    /// Routes per channel.
    pub mean: f64,
    /// Routes on the most loaded channel.
    pub max: f64,
    /// Standard deviation of the routes per channel.
    pub deviation: f64,
}

impl Summary {
    /// Sums up the routes between all pairs of hosts. They are followed, unless the routing counted
    /// them while it wrote them down.
    pub fn of(fabric: &Fabric, routing: &dyn Routing) -> Result<Summary, RouteFault> {
        match routing.summary() {
            Some(known) => Ok(known.clone()),
            None => Summary::by_following(fabric, routing),
        }
    }

    /// The same, by following every route.
    pub(crate) fn by_following(
        fabric: &Fabric,
        routing: &dyn Routing,
    ) -> Result<Summary, RouteFault> {
        let mut tally = Tally {
            fabric,
            search: Search::new(fabric),
            distances: (None, Vec::new()),
            load: vec![0.0; fabric.channels().len()],
            summary: Summary::default(),
        };
        walk(fabric, routing, &mut tally)?;
        Ok(Summary { load: tally.balance(), ..tally.summary })
    }

    /// Adds a route that crosses so many links between switches, the least that it could being
    /// `needed`.
    pub(crate) fn add(&mut self, links: usize, needed: usize, legs: usize) {
        let crossed = links + legs;
        self.routes += 1;
        self.minimal += u64::from(links == needed);
        self.stopping += u64::from(legs > 1);
        self.stops += legs as u64 - 1;
        if self.lengths.len() <= links {
            self.lengths.resize(links + 1, 0);
        }
        self.lengths[links] += 1;
        self.switches_crossed += crossed as u64;
        self.longest = self.longest.max(crossed);
    }

    /// The share of routes that are minimal, from 0 to 1.
    pub fn minimal_share(&self) -> f64 {
        self.minimal as f64 / self.routes as f64
    }

    /// The mean number of switches a route crosses.
    pub fn mean_switches(&self) -> f64 {
        self.switches_crossed as f64 / self.routes as f64
    }

    /// The mean number of links between switches that a route crosses.
    pub fn mean_links(&self) -> f64 {
        let links: u64 = (0..).zip(&self.lengths).map(|(links, routes)| links * routes).sum();
        links as f64 / self.routes as f64
    }

    /// The mean number of stops of a route.
    pub fn mean_stops(&self) -> f64 {
        self.stops as f64 / self.routes as f64
    }
}

impl Load {
    /// The load over all channels between switches; `None` if there are none.
    pub(crate) fn over(loads: &[f64]) -> Option<Load> {
        let min = loads.iter().copied().reduce(f64::min)?;
        let max = loads.iter().copied().reduce(f64::max)?;
        let mean = loads.iter().sum::<f64>() / loads.len() as f64;
        let squares = loads.iter().map(|load| (load - mean).powi(2)).sum::<f64>();
        Some(Load { min, mean, max, deviation: (squares / loads.len() as f64).sqrt() })
    }

    /// How many times the mean the most loaded channel carries: 1 if the load is even.
    pub fn unevenness(&self) -> f64 {
        // Where no route crosses a channel, all of them carry the same.
        if self.mean > 0.0 { self.max / self.mean } else { 1.0 }
    }
}

struct Tally<'a> {
    fabric: &'a Fabric,
    search: Search,
    /// Distances to the switch searched from last; the walk goes destination by destination.
    distances: (Option<SwitchId>, Vec<u32>),
    load: Vec<f64>,
    summary: Summary,
}

impl Visitor for Tally<'_> {
    fn route(&mut self, from: HostId, to: HostId, route: &Route) {
        let (crossed, legs) = (route.tags().len(), route.legs().count());
        // A leg leaves its last switch for a host.
        let links = crossed.saturating_sub(legs);
        let needed = self.links_needed(from, to);
        self.summary.add(links, needed, legs);
    }

    fn hold(&mut self, channel: ChannelId, traffic: f64) {
        self.load[channel.0 as usize] += traffic;
    }

    fn depend(&mut self, _: ChannelId, _: ChannelId) {}
}

impl Tally<'_> {
    fn links_needed(&mut self, from: HostId, to: HostId) -> usize {
        let (Some(source), Some(target)) = (self.fabric.switch_of(from), self.fabric.switch_of(to))
        else {
            // Two hosts on one cable.
            return 0;
        };
        if self.distances.0 != Some(target) {
            self.distances = (Some(target), self.search.from(target).to_vec());
        }
        self.distances.1[source.0 as usize] as usize
    }

    fn balance(&self) -> Option<Load> {
        let between_switches = |&c: &ChannelId| {
            let channel = self.fabric.channel(c);
            matches!((channel.from.node, channel.to.node), (Node::Switch(_), Node::Switch(_)))
        };
        let loads: Vec<f64> = (self.fabric.channels().filter(between_switches))
            .map(|c| self.load[c.0 as usize])
            .collect();
        Load::over(&loads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::ring;
    use crate::{Shortest, TreeAdaptive, TreeDeterministic};
    use crosstie_fabric::{pruned_tree, single, tree};

    #[test]
    fn both_tree_routings_are_minimal_and_balanced() {
        let fabric = tree(4, 3).unwrap();
        for routing in [
            &TreeDeterministic::new(&fabric).unwrap() as &dyn Routing,
            &TreeAdaptive::new(&fabric).unwrap(),
        ] {
            let summary = Summary::of(&fabric, routing).unwrap();
            assert_eq!((summary.routes, summary.minimal_share()), (64 * 63, 1.0));
            assert_eq!((summary.longest, summary.stopping), (5, 0));
            assert!((summary.mean_switches() - (5.428_571 - 1.0)).abs() < 1e-6);
            // 64 channels each way between two levels: 64 x 60 routes leave a leaf switch and
            // 64 x 48 reach a root.
            let load = summary.load.unwrap();
            assert_eq!((load.min, load.mean, load.max), (48.0, 54.0, 60.0));
        }
    }

    #[test]
    fn the_lowest_port_is_a_poor_choice_in_a_tree() {
        let fabric = tree(4, 2).unwrap();
        let summary = Summary::of(&fabric, &Shortest::new(&fabric)).unwrap();
        assert_eq!(summary.minimal_share(), 1.0);
        let load = summary.load.unwrap();
        assert_eq!((load.min, load.mean, load.max), (0.0, 12.0, 48.0), "all climb to one root");
    }

    #[test]
    fn a_pruned_tree_has_idle_capacity_at_the_top() {
        let fabric = pruned_tree(4, 3, 32).unwrap();
        let summary = Summary::of(&fabric, &TreeAdaptive::new(&fabric).unwrap()).unwrap();
        let load = summary.load.unwrap();
        // 32 channels each way: 32 x 28 routes leave a leaf switch, 32 x 16 reach a root.
        assert_eq!((load.min, load.max), (16.0, 28.0));
    }

    #[test]
    fn networks_without_switch_channels_have_no_load() {
        let fabric = single(4).unwrap();
        let summary = Summary::of(&fabric, &Shortest::new(&fabric)).unwrap();
        assert_eq!((summary.load, summary.longest, summary.routes), (None, 1, 12));
    }

    #[test]
    fn detours_and_stops_are_counted() {
        /// Always clockwise, with a stop where the short way would have gone round the other side.
        struct Clockwise;
        impl Routing for Clockwise {
            fn groups(&self) -> &[Vec<crosstie_fabric::Port>] {
                &[]
            }
            fn route(&self, from: HostId, to: HostId, route: &mut Route) {
                use crate::Tag::Port as Leave;
                use crosstie_fabric::Port;
                route.clear();
                let hops = (5 + to.0 - from.0) % 5;
                for hop in 1..=hops {
                    route.push(Leave(Port(1)));
                    if hop == 2 && hops > 2 {
                        route.push(Leave(Port(0)));
                        route.stop(HostId((from.0 + hop) % 5));
                    }
                }
                route.push(Leave(Port(0)));
            }
        }
        let summary = Summary::of(&ring(5), &Clockwise).unwrap();
        assert_eq!((summary.routes, summary.minimal, summary.stopping), (20, 10, 10));
        // One to four hops, one more switch than hops, one more for a stop.
        assert_eq!((summary.switches_crossed, summary.longest), (5 * (2 + 3 + 5 + 6), 6));
        // Each clockwise channel carries 1 + 2 + 3 + 4 routes, the others none.
        let load = Load { min: 0.0, mean: 5.0, max: 10.0, deviation: 5.0 };
        assert_eq!(summary.load, Some(load));
        assert_eq!((summary.lengths.as_slice(), summary.stops), (&[0, 5, 5, 5, 5][..], 10));
        assert_eq!((summary.mean_links(), summary.mean_stops()), (2.5, 0.5));
    }
}
