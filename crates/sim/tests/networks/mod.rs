//! Families of small networks with routes, some of which deadlock under load.

use crosstie_fabric::{End, Fabric, FabricBuilder, HostId, Port, Shape};
use crosstie_routing::{Branch, GroupId, HostRange, Onward, Route, Routing, Spread, Tag};
use crosstie_units::{Seed, Stream};
use proptest::prelude::*;
use std::collections::VecDeque;

/// A family of small networks. Every switch has `hosts` hosts on its first ports.
#[derive(Debug, Clone, Copy)]
pub enum Network {
    /// Switches in a ring, packets go clockwise: deadlocks under load.
    Ring { switches: u16, hosts: u16 },
    /// Switches in a line, joined by parallel links; the switch chooses among them.
    Line { switches: u16, hosts: u16, links: u16 },
    /// Leaves under spines; the leaf chooses the spine.
    Tree { leaves: u16, hosts: u16, spines: u16 },
    /// Switches joined at random, with links to spare; packets go by any shortest path, whether
    /// that deadlocks or not.
    Irregular { switches: u16, hosts: u16, spare: u16, seed: u64 },
}

/// The routes of a network, all of them.
pub struct Table {
    network: Network,
    groups: Vec<Vec<Port>>,
    routes: Vec<Vec<Route>>,
}

impl Routing for Table {
    fn groups(&self) -> &[Vec<Port>] {
        &self.groups
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.clone_from(&self.routes[from.0 as usize][to.0 as usize]);
    }

    fn spread(&self, from: HostId, range: HostRange, spread: &mut Spread) -> bool {
        self.network.spread(from, range, spread);
        true
    }
}

/// Any of the networks.
pub fn networks() -> impl Strategy<Value = Network> {
    prop_oneof![
        (2u16..6, 1u16..4).prop_map(|(switches, hosts)| Network::Ring { switches, hosts }),
        (1u16..5, 2u16..4, 1u16..4).prop_map(|(switches, hosts, links)| Network::Line {
            switches,
            hosts,
            links
        }),
        (2u16..5, 1u16..5, 1u16..4).prop_map(|(leaves, hosts, spines)| Network::Tree {
            leaves,
            hosts,
            spines
        }),
        (2u16..7, 1u16..4, 0u16..5, any::<u64>()).prop_map(|(switches, hosts, spare, seed)| {
            Network::Irregular { switches, hosts, spare, seed }
        }),
    ]
}

impl Network {
    fn hosts_per_switch(self) -> u16 {
        match self {
            Network::Ring { hosts, .. }
            | Network::Line { hosts, .. }
            | Network::Tree { hosts, .. }
            | Network::Irregular { hosts, .. } => hosts,
        }
    }

    /// Switches that have hosts.
    fn switches(self) -> u16 {
        match self {
            Network::Ring { switches, .. }
            | Network::Line { switches, .. }
            | Network::Irregular { switches, .. } => switches,
            Network::Tree { leaves, .. } => leaves,
        }
    }

    /// Links between switches, as ends of (switch, port); spines follow the switches with hosts.
    fn links(self) -> Vec<[(u16, u16); 2]> {
        let hosts = self.hosts_per_switch();
        match self {
            Network::Ring { switches: n, .. } => {
                (0..n).map(|s| [(s, hosts), ((s + 1) % n, hosts + 1)]).collect()
            }
            Network::Line { switches: n, links, .. } => (0..n - 1)
                .flat_map(|s| (0..links).map(move |l| [(s, hosts + l), (s + 1, hosts + 8 + l)]))
                .collect(),
            Network::Tree { leaves, spines, .. } => (0..spines)
                .flat_map(|s| (0..leaves).map(move |l| [(l, hosts + s), (leaves + s, l)]))
                .collect(),
            Network::Irregular { switches: n, spare, seed, .. } => {
                let mut draw = Seed(seed).stream("links", 0);
                let mut below = |n: u16| draw.below(u64::from(n)) as u16;
                let mut pairs: Vec<_> = (1..n).map(|s| (s, below(s))).collect();
                for _ in 0..spare {
                    let a = below(n);
                    pairs.push((a, (a + 1 + below(n - 1)) % n));
                }
                let mut used = vec![hosts; usize::from(n)];
                let mut end = |s: u16| {
                    used[usize::from(s)] += 1;
                    (s, used[usize::from(s)] - 1)
                };
                pairs.into_iter().map(|(a, b)| [end(a), end(b)]).collect()
            }
        }
    }

    pub fn fabric(self) -> Fabric {
        let mut builder = FabricBuilder::default();
        let spines = if let Network::Tree { spines, .. } = self { spines } else { 0 };
        let hosts = self.hosts_per_switch();
        let switches: Vec<_> = (0..self.switches() + spines)
            .map(|s| builder.switch(format!("s{s}"), hosts + 16))
            .collect();
        for &switch in &switches[..usize::from(self.switches())] {
            for port in 0..hosts {
                let host = builder.host(format!("h{port}"));
                builder.connect(End::host(host), End::switch(switch, Port(port)));
            }
        }
        for ends in self.links() {
            let [a, b] = ends.map(|(s, port)| End::switch(switches[usize::from(s)], Port(port)));
            builder.connect(a, b);
        }
        builder.build("test", Shape::Irregular).unwrap()
    }

    fn groups(self) -> Vec<Vec<Port>> {
        let hosts = self.hosts_per_switch();
        let ports = |first: u16, count: u16| (first..first + count).map(Port).collect();
        match self {
            Network::Ring { .. } | Network::Irregular { .. } => vec![],
            Network::Line { links, .. } => vec![ports(hosts, links), ports(hosts + 8, links)],
            Network::Tree { spines, .. } => vec![ports(hosts, spines)],
        }
    }

    /// From one switch to another: the switches on the way that have hosts, and the tags that lead
    /// from each of them to the next.
    fn path(self, a: u16, b: u16, draw: &mut Stream) -> Vec<(u16, Vec<Tag>)> {
        let hosts = self.hosts_per_switch();
        match self {
            Network::Ring { switches: n, .. } => {
                let steps = (b + n - a) % n;
                (0..steps).map(|i| ((a + i) % n, vec![Tag::Port(Port(hosts))])).collect()
            }
            Network::Line { .. } => {
                let group = Tag::Group(GroupId(u16::from(b < a)));
                let place = |i| if b < a { a - i } else { a + i };
                (0..a.abs_diff(b)).map(|i| (place(i), vec![group])).collect()
            }
            Network::Tree { .. } if a == b => vec![],
            Network::Tree { .. } => vec![(a, vec![Tag::Group(GroupId(0)), Tag::Port(Port(b))])],
            Network::Irregular { .. } => self.shortest(a, b, draw),
        }
    }

    fn shortest(self, a: u16, b: u16, draw: &mut Stream) -> Vec<(u16, Vec<Tag>)> {
        let links = self.links();
        let both = links.iter().flat_map(|&[x, y]| [[x, y], [y, x]]);
        let ways: Vec<[(u16, u16); 2]> = both.collect();
        let mut left = vec![u16::MAX; usize::from(self.switches())];
        left[usize::from(b)] = 0;
        let mut queue = VecDeque::from([b]);
        while let Some(s) = queue.pop_front() {
            for &[(from, _), (to, _)] in &ways {
                if to == s && left[usize::from(from)] == u16::MAX {
                    left[usize::from(from)] = left[usize::from(s)] + 1;
                    queue.push_back(from);
                }
            }
        }
        let (mut here, mut path) = (a, Vec::new());
        while here != b {
            let nearer = |way: &&[(u16, u16); 2]| {
                way[0].0 == here && left[usize::from(way[1].0)] < left[usize::from(here)]
            };
            let good: Vec<_> = ways.iter().filter(nearer).collect();
            let [(_, port), (next, _)] = good[draw.below(good.len() as u64) as usize];
            path.push((here, vec![Tag::Port(Port(*port))]));
            here = *next;
        }
        path
    }

    /// All routes; with `stops`, one in that many switches on the way takes packets out at a host.
    pub fn routing(self, stops: Option<u64>) -> Table {
        let hosts = self.hosts_per_switch();
        let all = self.switches() * hosts;
        let mut draw = Seed(u64::from(all)).stream("routes", 0);
        let mut route = |from: u16, to: u16| {
            let mut route = Route::default();
            for (switch, tags) in self.path(from / hosts, to / hosts, &mut draw) {
                let stop = switch * hosts + draw.below(u64::from(hosts)) as u16;
                let stops = stops.is_some_and(|one_in| draw.below(one_in) == 0);
                if stops && stop != from && stop != to {
                    route.push(Tag::Port(Port(stop % hosts)));
                    route.stop(HostId(u32::from(stop)));
                }
                tags.into_iter().for_each(|tag| route.push(tag));
            }
            route.push(Tag::Port(Port(to % hosts)));
            route
        };
        let routes = (0..all).map(|from| (0..all).map(|to| route(from, to)).collect()).collect();
        Table { network: self, groups: self.groups(), routes }
    }

    /// To a range of hosts: up to any spine of a tree, or to a switch that depends on the range;
    /// from there along shortest ways, which may deadlock.
    fn spread(self, from: HostId, range: HostRange, spread: &mut Spread) {
        spread.clear();
        let hosts = u32::from(self.hosts_per_switch());
        let switch_of = |host: HostId| (host.0 / hosts) as u16;
        let (source, first, last) =
            (switch_of(from), switch_of(range.first), switch_of(range.last));
        let root = match self {
            Network::Tree { .. } if (first, last) == (source, source) => source,
            Network::Tree { leaves, .. } => {
                spread.climb(Tag::Group(GroupId(0)));
                leaves
            }
            _ => {
                let all = u64::from(self.switches());
                let range = u64::from(range.first.0 * 100 + range.last.0);
                let root = Seed(range).stream("root", 0).below(all) as u16;
                let mut draw = Seed(u64::from(from.0)).stream("climb", range);
                let path = self.path(source, root, &mut draw);
                path.into_iter().flat_map(|(_, tags)| tags).for_each(|tag| spread.climb(tag));
                root
            }
        };
        // Switches in the order in which they are reached, each with the link that leads there.
        let mut reached: Vec<(u16, Option<(usize, u16)>)> = vec![(root, None)];
        let mut place = 0;
        while place < reached.len() {
            let (here, _) = reached[place];
            for [a, b] in self.links().into_iter().flat_map(|[a, b]| [[a, b], [b, a]]) {
                if a.0 == here && reached.iter().all(|&(switch, _)| switch != b.0) {
                    reached.push((b.0, Some((place, a.1))));
                }
            }
            place += 1;
        }
        let mine = |switch: u16| range.hosts().filter(move |&host| switch_of(host) == switch);
        let mut needed: Vec<bool> =
            reached.iter().map(|&(switch, _)| mine(switch).count() > 0).collect();
        for place in (1..reached.len()).rev() {
            if let (true, Some((above, _))) = (needed[place], reached[place].1) {
                needed[above] = true;
            }
        }
        let number = |place: usize| needed[..place].iter().filter(|&&needed| needed).count() as u32;
        for (place, &(switch, _)) in reached.iter().enumerate().filter(|(place, _)| needed[*place])
        {
            let to_host = |host: HostId| Branch {
                port: Port((host.0 % hosts) as u16),
                onward: Onward::Host(host),
            };
            let to_switch =
                reached.iter().enumerate().filter_map(|(next, &(_, link))| match link {
                    Some((above, port)) if above == place && needed[next] => {
                        Some(Branch { port: Port(port), onward: Onward::Fork(number(next)) })
                    }
                    _ => None,
                });
            let mut branches: Vec<Branch> = mine(switch).map(to_host).chain(to_switch).collect();
            branches.sort_by_key(|branch| branch.port);
            spread.fork(branches);
        }
    }
}
