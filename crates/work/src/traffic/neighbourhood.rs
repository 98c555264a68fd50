//! Who is near whom, for the local pattern.

use crosstie_fabric::{Fabric, Node, SwitchId};
use crosstie_routing::{LegalDistances, Order};

/// For each host the hosts that count as near it.
///
/// Hosts on the same switch see the same surroundings, so lists are kept per *place* and not per
/// host: 4096 hosts four to a switch need 16 MB at most instead of 64 MB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbourhood {
    /// The place of each host; place 0 has nobody near.
    place: Vec<u32>,
    /// Where each host stands in the list of its own place.
    rank: Vec<u32>,
    /// Place p owns `members[first[p]..first[p + 1]]`, in order of host number.
    first: Vec<usize>,
    members: Vec<u32>,
}

impl Neighbourhood {
    /// The hosts that a shortest path reaches through at most so many switches, the two at its
    /// ends counted; 1 is one's own switch. This is the "at most d switches away" of the papers,
    /// with d counted as switches passed.
    pub fn within(fabric: &Fabric, switches: u32) -> Neighbourhood {
        let mut search = Search::new(fabric.switches().len());
        Neighbourhood::gather(fabric, switches, |centre, links| {
            search.ball(fabric, centre, links).to_vec()
        })
    }

    /// The hosts that a shortest legal path under an order of the switches reaches through at most
    /// so many switches.
    pub fn within_legal(fabric: &Fabric, switches: u32, order: &Order) -> Neighbourhood {
        let distances = LegalDistances::new(fabric, order);
        Neighbourhood::gather(fabric, switches, |centre, links| {
            let reached = fabric.switches().zip(distances.to(centre));
            let near = reached.filter(|&(_, distance)| distance <= u64::from(links));
            near.map(|(switch, _)| switch).collect()
        })
    }

    /// The hosts of all switches that `ball` finds at most so many links less one from their own.
    fn gather(
        fabric: &Fabric,
        switches: u32,
        mut ball: impl FnMut(SwitchId, u32) -> Vec<SwitchId>,
    ) -> Neighbourhood {
        let all: Vec<u32> = fabric.hosts().map(|host| host.0).collect();
        let mut near = Neighbourhood {
            place: vec![0; all.len()],
            rank: vec![0; all.len()],
            first: vec![0, 0],
            members: Vec::new(),
        };
        if fabric.switches().len() == 0 {
            // Two hosts on one cable: no switch parts them.
            near.settle(&all, [all.as_slice()]);
            return near;
        }
        let mut hosts_on = vec![Vec::new(); fabric.switches().len()];
        for host in fabric.hosts() {
            if let Some(switch) = fabric.switch_of(host) {
                hosts_on[switch.0 as usize].push(host.0);
            }
        }
        for switch in fabric.switches().take_while(|_| switches > 0) {
            let residents = &hosts_on[switch.0 as usize];
            if !residents.is_empty() {
                let found = ball(switch, switches - 1);
                let lists = found.iter().map(|found| hosts_on[found.0 as usize].as_slice());
                near.settle(residents, lists);
            }
        }
        near
    }

    /// Opens a place where the residents, themselves members, see all members of some lists.
    fn settle<'a>(&mut self, residents: &[u32], lists: impl IntoIterator<Item = &'a [u32]>) {
        let (place, begin) = (self.first.len() as u32 - 1, self.members.len());
        self.members.extend(lists.into_iter().flatten());
        self.first.push(self.members.len());
        let members = &mut self.members[begin..];
        members.sort_unstable();
        for &host in residents {
            self.place[host as usize] = place;
            self.rank[host as usize] = members.partition_point(|&member| member < host) as u32;
        }
    }

    /// How many hosts it covers.
    pub fn hosts(&self) -> usize {
        self.place.len()
    }

    /// How many hosts are near a host, itself not counted.
    #[inline]
    pub fn count(&self, host: u32) -> u32 {
        (self.list(host).len() as u32).saturating_sub(1)
    }

    /// The hosts near a host, in order, itself not among them.
    pub fn of(&self, host: u32) -> impl Iterator<Item = u32> + '_ {
        (0..self.count(host)).map(move |index| self.nth(host, index))
    }

    /// The neighbour with the given index below `count(host)`.
    #[inline]
    pub(super) fn nth(&self, host: u32, index: u32) -> u32 {
        // The host itself stands in the list; step over it.
        let skip = u32::from(index >= self.rank[host as usize]);
        self.list(host)[(index + skip) as usize]
    }

    #[inline]
    fn list(&self, host: u32) -> &[u32] {
        let place = self.place[host as usize] as usize;
        &self.members[self.first[place]..self.first[place + 1]]
    }
}

/// Breadth-first search over switches, its tables kept from one start to the next.
struct Search {
    /// The round in which each switch was last seen.
    seen: Vec<u32>,
    round: u32,
    found: Vec<SwitchId>,
}

impl Search {
    fn new(switches: usize) -> Search {
        Search { seen: vec![0; switches], round: 0, found: Vec::new() }
    }

    /// The switches at most `radius` links from a switch, nearest first.
    fn ball(&mut self, fabric: &Fabric, centre: SwitchId, radius: u32) -> &[SwitchId] {
        self.round += 1;
        self.found.clear();
        self.found.push(centre);
        self.seen[centre.0 as usize] = self.round;
        let mut ring = 0;
        for _ in 0..radius {
            let end = self.found.len();
            for at in ring..end {
                for channel in fabric.out_channels(self.found[at]) {
                    let Node::Switch(next) = fabric.channel(channel).to.node else { continue };
                    if std::mem::replace(&mut self.seen[next.0 as usize], self.round) != self.round
                    {
                        self.found.push(next);
                    }
                }
            }
            if end == self.found.len() {
                break;
            }
            ring = end;
        }
        &self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_fabric::{End, FabricBuilder, Irregular, Port, Shape, irregular};
    use crosstie_routing::{Root, updown};
    use crosstie_units::Seed;

    /// Switches in a row with two hosts each: 0 1 | 2 3 | 4 5 | ...
    fn row(switches: u32) -> Fabric {
        let mut builder = FabricBuilder::default();
        let all: Vec<_> = (0..switches).map(|s| builder.switch(format!("s{s}"), 4)).collect();
        for &switch in &all {
            for port in 0..2 {
                let host = builder.host("h");
                builder.connect(End::host(host), End::switch(switch, Port(port)));
            }
        }
        for pair in all.windows(2) {
            builder.connect(End::switch(pair[0], Port(3)), End::switch(pair[1], Port(2)));
        }
        builder.build("row", Shape::Irregular).unwrap()
    }

    #[test]
    fn counts_the_switches_passed() {
        let fabric = row(4);
        let near = |d, host| Neighbourhood::within(&fabric, d).of(host).collect::<Vec<_>>();
        assert_eq!(near(0, 2), [0; 0]);
        assert_eq!(near(1, 2), [3]);
        assert_eq!(near(2, 2), [0, 1, 3, 4, 5]);
        assert_eq!(near(2, 7), [4, 5, 6]);
        assert_eq!(near(4, 0), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(near(u32::MAX, 5), [0, 1, 2, 3, 4, 6, 7]);
    }

    #[test]
    fn two_hosts_on_one_cable_are_near() {
        let mut builder = FabricBuilder::default();
        let (a, b) = (builder.host("a"), builder.host("b"));
        builder.connect(End::host(a), End::host(b));
        let fabric = builder.build("cable", Shape::Irregular).unwrap();
        let near = Neighbourhood::within(&fabric, 1);
        assert_eq!((near.nth(0, 0), near.nth(1, 0), near.count(1)), (1, 0, 1));
    }

    #[test]
    fn legal_paths_may_be_longer() {
        // A ring of six switches: 3 lies opposite the root, and nothing may turn up again there.
        let shape = Irregular { switches: 6, ports: 3, hosts_per_switch: 1, links: None };
        let ring = irregular(&shape, Seed(1)).unwrap();
        let order = updown(&ring, Root::Central).unwrap();
        let last = ring.switches().max_by_key(|&switch| order.place(switch)).unwrap();
        let beside: Vec<u32> = Neighbourhood::within(&ring, 2).of(last.0).collect();
        let [a, b] = beside[..] else { panic!("{beside:?}") };
        let graph = Neighbourhood::within(&ring, 3);
        assert!(graph.of(a).any(|host| host == b), "by way of the last switch");
        let legal = |switches| Neighbourhood::within_legal(&ring, switches, &order);
        assert!(legal(4).of(a).all(|host| host != b) && legal(5).of(a).any(|host| host == b));
        assert_eq!(legal(2), Neighbourhood::within(&ring, 2), "every link is legal");
    }
}
