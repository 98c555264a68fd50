//! Breadth-first search over the switches.

use crate::{Fabric, HostId, Node, SwitchId};

/// Marks a switch the search has not reached.
const FAR: u32 = u32::MAX;

/// A breadth-first search over a fabric's switches, with its memory kept between searches.
#[derive(Debug, Clone)]
pub struct Search {
    /// Neighbours of switch s: `neighbours[first[s]..first[s + 1]]`.
    neighbours: Vec<u32>,
    first: Vec<u32>,
    distance: Vec<u32>,
    queue: Vec<u32>,
}

impl Search {
    /// Prepares to search a fabric.
    pub fn new(fabric: &Fabric) -> Search {
        let switches = fabric.switches().len();
        let mut search = Search {
            neighbours: Vec::new(),
            first: vec![0],
            distance: vec![FAR; switches],
            queue: Vec::with_capacity(switches),
        };
        for switch in fabric.switches() {
            for channel in fabric.out_channels(switch) {
                if let Node::Switch(next) = fabric.channel(channel).to.node {
                    search.neighbours.push(next.0);
                }
            }
            search.first.push(search.neighbours.len() as u32);
        }
        search
    }

    /// The distance in links from one switch to every switch. All are reached: a fabric is
    /// connected, and a host, having one port, is never on the way.
    pub fn from(&mut self, start: SwitchId) -> &[u32] {
        self.distance.fill(FAR);
        self.queue.clear();
        self.distance[start.0 as usize] = 0;
        self.queue.push(start.0);
        let mut head = 0;
        while let Some(&switch) = self.queue.get(head) {
            head += 1;
            let s = switch as usize;
            let next_distance = self.distance[s] + 1;
            for &next in &self.neighbours[self.first[s] as usize..self.first[s + 1] as usize] {
                let distance = &mut self.distance[next as usize];
                if *distance == FAR {
                    *distance = next_distance;
                    self.queue.push(next);
                }
            }
        }
        &self.distance
    }
}

/// The distance in channels from one host to every host, 0 to itself.
pub fn distances_from(fabric: &Fabric, host: HostId) -> Vec<u32> {
    let mut search = Search::new(fabric);
    let reached = match fabric.switch_of(host) {
        Some(switch) => search.from(switch),
        None => &[],
    };
    let distance = |other: HostId| match fabric.switch_of(other) {
        _ if other == host => 0,
        Some(switch) => reached[switch.0 as usize] + 2,
        // Two hosts on one cable are the whole network.
        None => 1,
    };
    fabric.hosts().map(distance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{End, FabricBuilder, Port, Shape, single};

    #[test]
    fn distances_along_a_row_of_switches() {
        let mut builder = FabricBuilder::default();
        let switches: Vec<_> = (0..4).map(|i| builder.switch(format!("s{i}"), 3)).collect();
        for &switch in &switches {
            let host = builder.host("h");
            builder.connect(End::host(host), End::switch(switch, Port(0)));
        }
        for pair in switches.windows(2) {
            builder.connect(End::switch(pair[0], Port(1)), End::switch(pair[1], Port(2)));
        }
        let row = builder.build("row", Shape::Irregular).unwrap();
        assert_eq!(Search::new(&row).from(SwitchId(1)), [1, 0, 1, 2]);
        assert_eq!(distances_from(&row, HostId(0)), [0, 3, 4, 5]);
    }

    #[test]
    fn distances_without_a_way_through_switches() {
        assert_eq!(distances_from(&single(3).unwrap(), HostId(1)), [2, 0, 2]);
        let mut builder = FabricBuilder::default();
        let (a, b) = (builder.host("a"), builder.host("b"));
        builder.connect(End::host(a), End::host(b));
        let cable = builder.build("cable", Shape::Irregular).unwrap();
        assert_eq!(distances_from(&cable, b), [1, 0]);
    }
}
