//! Shortest paths on any network.

use crosstie_fabric::{Fabric, HostId, Node, Port, Search};

use crate::{Route, Routing, Tag};

/// Shortest-path routing on any fabric, deterministic: among the ports that lead nearer to the
/// destination's switch, the lowest.
///
/// **Not deadlock-free in general.** Shortest paths round a ring of five or more switches wait for
/// each other in a circle. It is free of deadlock on a single switch and on networks without
/// cycles; for anything else ask for the certificate ([`crate::certify`]) before simulating.
///
/// The table holds two bytes per switch and destination switch.
#[derive(Debug, Clone)]
pub struct Shortest {
    /// The port to take at switch s for destination switch number d: `ports[d * switches + s]`.
    ports: Vec<u16>,
    /// The switch behind each port; switch s owns `first_port[s]..first_port[s + 1]`.
    neighbour: Vec<u32>,
    first_port: Vec<u32>,
    hosts: Vec<Attachment>,
}

/// Where a host plugs in.
#[derive(Debug, Clone, Copy)]
struct Attachment {
    switch: u32,
    port: Port,
    /// The number of its switch among those that carry hosts.
    destination: u32,
}

/// Stands for a host or nothing behind a port.
const NO_SWITCH: u32 = u32::MAX;

impl Shortest {
    /// Computes the table by one breadth-first search per switch that carries hosts.
    pub fn new(fabric: &Fabric) -> Shortest {
        let switches = fabric.switches().len();
        let mut routing = Shortest {
            ports: Vec::new(),
            neighbour: Vec::new(),
            first_port: vec![0],
            hosts: Vec::new(),
        };
        for switch in fabric.switches() {
            for port in 0..fabric.ports(switch) {
                let out = fabric.switch_out(switch, Port(port));
                routing.neighbour.push(match out.map(|c| fabric.channel(c).to.node) {
                    Some(Node::Switch(next)) => next.0,
                    Some(Node::Host(_)) | None => NO_SWITCH,
                });
            }
            routing.first_port.push(routing.neighbour.len() as u32);
        }
        let mut search = Search::new(fabric);
        let mut destination_of = vec![None; switches];
        let mut destinations = 0;
        for host in fabric.hosts() {
            // Two hosts on one cable need no switch and no tag.
            let Some(switch) = fabric.switch_of(host) else { continue };
            let destination = *destination_of[switch.0 as usize].get_or_insert_with(|| {
                routing.add_destination(search.from(switch));
                destinations += 1;
                destinations - 1
            });
            let port = fabric.channel(fabric.host_in(host)).from.port;
            routing.hosts.push(Attachment { switch: switch.0, port, destination });
        }
        routing
    }

    /// Adds to the table the port of every switch that leads nearer.
    fn add_destination(&mut self, distance: &[u32]) {
        for (s, &here) in distance.iter().enumerate() {
            let ports = self.first_port[s] as usize..self.first_port[s + 1] as usize;
            let nearer = |&next: &u32| {
                next != NO_SWITCH && distance[next as usize].saturating_add(1) == here
            };
            let port = self.neighbour[ports].iter().position(nearer);
            // The destination itself has none, and is never asked for one.
            self.ports.push(port.unwrap_or(0) as u16);
        }
    }
}

impl Routing for Shortest {
    fn groups(&self) -> &[Vec<Port>] {
        &[]
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.clear();
        let (Some(source), Some(target)) =
            (self.hosts.get(from.0 as usize), self.hosts.get(to.0 as usize))
        else {
            return;
        };
        let row = target.destination as usize * (self.first_port.len() - 1);
        let mut switch = source.switch;
        while switch != target.switch {
            let port = self.ports[row + switch as usize];
            route.push(Tag::Port(Port(port)));
            switch = self.neighbour[self.first_port[switch as usize] as usize + usize::from(port)];
        }
        route.push(Tag::Port(target.port));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::{irregular, ring};
    use crosstie_fabric::{End, FabricBuilder, Shape, distances_from, single, tree};
    use proptest::prelude::*;

    fn ports(routing: &Shortest, from: u32, to: u32) -> Vec<u16> {
        let mut route = Route::default();
        routing.route(HostId(from), HostId(to), &mut route);
        let port = |tag: &Tag| match tag {
            Tag::Port(port) => port.0,
            Tag::Group(_) => panic!("shortest paths have no groups"),
        };
        route.tags().iter().map(port).collect()
    }

    #[test]
    fn one_switch_needs_one_tag() {
        let routing = Shortest::new(&single(5).unwrap());
        assert_eq!(ports(&routing, 0, 3), [3]);
    }

    #[test]
    fn a_ring_is_walked_the_short_way() {
        // Port 0 is the host, port 1 the next switch, port 2 the one before.
        let routing = Shortest::new(&ring(5));
        assert_eq!(ports(&routing, 0, 2), [1, 1, 0]);
        assert_eq!(ports(&routing, 0, 3), [2, 2, 0]);
        let even = Shortest::new(&ring(4));
        assert_eq!(ports(&even, 0, 2), [1, 1, 0], "of two shortest ways, the lower port");
    }

    #[test]
    fn climbs_a_tree_by_the_lowest_port() {
        let routing = Shortest::new(&tree(4, 2).unwrap());
        assert_eq!(ports(&routing, 1, 14), [4, 3, 2]);
    }

    #[test]
    fn a_cable_needs_no_tag() {
        let mut builder = FabricBuilder::default();
        let (a, b) = (builder.host("a"), builder.host("b"));
        builder.connect(End::host(a), End::host(b));
        let cable = builder.build("cable", Shape::Irregular).unwrap();
        assert!(ports(&Shortest::new(&cable), 0, 1).is_empty());
    }

    proptest! {
        #[test]
        fn routes_arrive_and_are_shortest(fabric in irregular()) {
            let routing = Shortest::new(&fabric);
            for from in fabric.hosts() {
                for (to, distance) in fabric.hosts().zip(distances_from(&fabric, from)) {
                    if from == to {
                        continue;
                    }
                    let ports = ports(&routing, from.0, to.0);
                    prop_assert_eq!(ports.len() as u32 + 1, distance);
                    let mut node = fabric.channel(fabric.host_out(from)).to.node;
                    for port in ports {
                        let Node::Switch(switch) = node else { panic!("tags left at {node}") };
                        let out = fabric.switch_out(switch, Port(port)).unwrap();
                        node = fabric.channel(out).to.node;
                    }
                    prop_assert_eq!(node, Node::Host(to));
                }
            }
        }
    }
}
