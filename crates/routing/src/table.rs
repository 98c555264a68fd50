//! Routes written down: one for every ordered pair of hosts.
//!
//! A route is kept as the ports a packet leaves by, switch by switch, two bytes each. The last one,
//! which leads to the destination, goes without saying; any other port that leads to a host is a
//! stop, after which the packet is back at the same switch. A thousand switches with four hosts
//! each have sixteen million routes, which take about 16 bytes each.

use crosstie_fabric::{Fabric, HostId, Port, SwitchId};

use crate::wiring::{Behind, HopId, Wiring};
use crate::{Route, Routing, SchemeError, Tag};

/// The most hosts of a network whose routes are written down: they are 67 million routes.
const MOST_HOSTS: usize = 1 << 13;

/// One route for every ordered pair of hosts.
#[derive(Debug, Clone)]
pub struct RouteTable {
    wiring: Wiring,
    ports: Vec<Port>,
    /// The route from f to t is `ports[start[t * hosts + f]..start[t * hosts + f + 1]]`.
    start: Vec<u32>,
}

/// One switch of a route.
struct Step {
    port: Port,
    behind: Behind,
    /// The hop before and the one taken now, if no stop is between them.
    turn: Option<(HopId, HopId)>,
}

/// A table being written, destination by destination and within that source by source.
pub(crate) struct Draft {
    table: RouteTable,
}

impl Draft {
    /// An empty table.
    pub fn new(fabric: &Fabric) -> Result<Draft, SchemeError> {
        let hosts = fabric.hosts().len();
        if hosts > MOST_HOSTS {
            return Err(SchemeError::TooManyHosts { hosts, most: MOST_HOSTS });
        }
        Ok(Draft::on(Wiring::of(fabric)))
    }

    fn on(wiring: Wiring) -> Draft {
        let mut start = Vec::with_capacity(wiring.hosts().len().pow(2) + 1);
        start.push(0);
        Draft { table: RouteTable { wiring, ports: Vec::new(), start } }
    }

    /// What the table is about.
    pub fn wiring(&self) -> &Wiring {
        &self.table.wiring
    }

    /// Writes every route as a way between switches, which `way` puts into the list it is given.
    pub fn fill(mut self, mut way: impl FnMut(HostId, HostId, &mut Vec<HopId>)) -> RouteTable {
        let mut hops = Vec::new();
        for to in self.table.wiring.hosts() {
            for from in self.table.wiring.hosts() {
                hops.clear();
                if from != to {
                    way(from, to, &mut hops);
                }
                let port = |&hop: &HopId| self.table.wiring.hop(hop).port;
                self.table.ports.extend(hops.iter().map(port));
                self.end();
            }
        }
        self.table
    }

    fn end(&mut self) {
        let end = u32::try_from(self.table.ports.len());
        self.table
            .start
            .push(end.expect("so few hosts have fewer than 2^32 ports on their routes"));
    }
}

impl RouteTable {
    /// The wiring of the network.
    pub(crate) fn wiring(&self) -> &Wiring {
        &self.wiring
    }

    fn ports(&self, from: HostId, to: HostId) -> &[Port] {
        let pair = to.0 as usize * self.wiring.hosts().len() + from.0 as usize;
        &self.ports[self.start[pair] as usize..self.start[pair + 1] as usize]
    }

    /// A route, switch by switch, without the last step, which leads to the destination.
    fn steps(&self, from: HostId, to: HostId) -> impl Iterator<Item = Step> + '_ {
        let mut switch = self.wiring.place(from).switch;
        let mut last = None;
        self.ports(from, to).iter().map(move |&port| {
            let (behind, before) = (self.wiring.behind(switch, port), last);
            last = match behind {
                Behind::Hop(hop) => Some(hop),
                Behind::Host(_) | Behind::Nothing => None,
            };
            if let Some(hop) = last {
                switch = self.wiring.hop(hop).to;
            }
            Step { port, behind, turn: before.zip(last) }
        })
    }

    /// All pairs of hosts in the order of the table, (source, destination).
    fn pairs(&self) -> impl Iterator<Item = (HostId, HostId)> + use<> {
        let hosts = self.wiring.hosts();
        let sources = self.wiring.hosts().len() as u32;
        hosts.flat_map(move |to| (0..sources).map(move |from| (HostId(from), to)))
    }

    /// Calls `visit` with every turn of every route.
    pub(crate) fn turns(&self, mut visit: impl FnMut(HopId, HopId)) {
        for (from, to) in self.pairs() {
            self.steps(from, to).filter_map(|step| step.turn).for_each(|(a, b)| visit(a, b));
        }
    }

    /// The same routes with a stop at every turn that is not to be taken. The hosts of a switch
    /// serve in turn, so that each is used as often as the others.
    pub(crate) fn stopping_at(
        self,
        cut: impl Fn(HopId, HopId) -> bool,
    ) -> Result<RouteTable, SchemeError> {
        let mut draft = Draft::on(self.wiring.clone());
        let mut served = vec![0usize; self.wiring.switches().len()];
        for (from, to) in self.pairs() {
            for Step { port, turn, .. } in self.steps(from, to) {
                if let Some((_, b)) = turn.filter(|&(a, b)| cut(a, b)) {
                    let switch = self.wiring.hop(b).from;
                    draft.table.ports.push(self.stop(switch, &mut served)?);
                }
                draft.table.ports.push(port);
            }
            draft.end();
        }
        Ok(draft.table)
    }

    /// The port of the host whose turn it is at a switch.
    fn stop(&self, switch: SwitchId, served: &mut [usize]) -> Result<Port, SchemeError> {
        let residents = self.wiring.residents(switch);
        if residents.is_empty() {
            return Err(SchemeError::NoHostToStopAt { switch });
        }
        let turn = &mut served[switch.0 as usize];
        let host = residents[*turn % residents.len()];
        *turn += 1;
        Ok(self.wiring.place(host).port)
    }
}

impl Routing for RouteTable {
    fn groups(&self) -> &[Vec<Port>] {
        &[]
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.clear();
        if self.wiring.hosts().len() == 0 {
            // Two hosts on one cable need no tag.
            return;
        }
        for Step { port, behind, .. } in self.steps(from, to) {
            route.push(Tag::Port(port));
            if let Behind::Host(host) = behind {
                route.stop(host);
            }
        }
        route.push(Tag::Port(self.wiring.place(to).port));
    }
}
