//! Routes written down: one for every ordered pair of hosts.
//!
//! A route is kept as the ports a packet leaves by, switch by switch, two bytes each. The last one,
//! which leads to the destination, goes without saying; any other port that leads to a host is a
//! stop, after which the packet is back at the same switch. A thousand switches with four hosts
//! each have sixteen million routes, which take about 16 bytes each. They are counted while they
//! are written, which costs next to nothing; to follow them afterwards takes as long as to find
//! them.

use crosstie_fabric::{Fabric, HostId, Port, SwitchId};

use crate::acyclic::Acyclic;
use crate::moves::{HOP, Moves, Toward};
use crate::turns::Turns;
use crate::wiring::{Behind, Hop, HopId, Wiring};
use crate::{Load, Route, Routing, RoutingError, Summary, Tag};

/// The most hosts of a network whose routes are written down: they are 67 million routes.
const MOST_HOSTS: usize = 1 << 13;

/// One route for every ordered pair of hosts.
#[derive(Debug, Clone)]
pub struct RouteTable {
    wiring: Wiring,
    ports: Vec<Port>,
    /// The route from f to t is `ports[start[t * hosts + f]..start[t * hosts + f + 1]]`.
    start: Vec<u32>,
    summary: Summary,
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
    /// The turns that may be taken without a stop; `None` if all may.
    kept: Option<Turns>,
    /// How often hosts of each switch have been stopped at.
    served: Vec<u32>,
    /// Routes across each hop.
    load: Vec<f64>,
    /// Links and stops of the route being written.
    links: usize,
    stops: usize,
}

impl Draft {
    /// An empty table.
    pub fn new(fabric: &Fabric) -> Result<Draft, RoutingError> {
        let hosts = fabric.hosts().len();
        if hosts > MOST_HOSTS {
            return Err(RoutingError::TooManyHosts { hosts, most: MOST_HOSTS });
        }
        Ok(Draft::on(Wiring::of(fabric)))
    }

    fn on(wiring: Wiring) -> Draft {
        let (served, load) = (vec![0; wiring.switches().len()], vec![0.0; wiring.hops().len()]);
        let mut start = Vec::with_capacity(wiring.hosts().len().pow(2) + 1);
        start.push(0);
        let table = RouteTable { wiring, ports: Vec::new(), start, summary: Summary::default() };
        Draft { table, kept: None, served, load, links: 0, stops: 0 }
    }

    /// Routes are to stop wherever they do not take one of these turns.
    pub fn stopping_off(self, kept: Turns) -> Draft {
        Draft { kept: Some(kept), ..self }
    }

    /// What the table is about.
    pub fn wiring(&self) -> &Wiring {
        &self.table.wiring
    }

    /// Writes every route as a way between switches, which `way` puts into the list it is given.
    pub fn fill(
        self,
        mut way: impl FnMut(HostId, HostId, &mut Vec<HopId>),
    ) -> Result<RouteTable, RoutingError> {
        let mut hops = Vec::new();
        self.write(|draft, from, to| {
            hops.clear();
            way(from, to, &mut hops);
            let mut last = None;
            for &hop in &hops {
                draft.step(hop, last.map(|last| (last, hop)))?;
                last = Some(hop);
            }
            Ok(())
        })
    }

    /// Writes every route, step by step as `route` does it.
    fn write(
        mut self,
        mut route: impl FnMut(&mut Draft, HostId, HostId) -> Result<(), RoutingError>,
    ) -> Result<RouteTable, RoutingError> {
        let free = Moves::free(&self.table.wiring);
        let mut needed: Option<(SwitchId, Toward)> = None;
        for (from, to) in self.table.pairs() {
            if from != to {
                route(&mut self, from, to)?;
                let [start, target] = [from, to].map(|host| self.table.wiring.place(host).switch);
                let known = needed.take().filter(|(switch, _)| *switch == target);
                let (_, toward) =
                    needed.insert(known.unwrap_or_else(|| (target, free.toward(target))));
                let cost = toward.cost(free.start(start)).expect("a fabric is connected");
                self.end((cost / HOP) as usize);
            }
            let end = u32::try_from(self.table.ports.len());
            self.table
                .start
                .push(end.expect("so few hosts have fewer than 2^32 ports on their routes"));
        }
        if self.table.wiring.hosts().len() == 0 {
            // Two hosts on one cable have a route each, and nothing to write down.
            (0..2).for_each(|_| self.end(0));
        }
        self.table.summary.load = Load::over(&self.load);
        Ok(self.table)
    }

    /// Writes one hop of a route, after a stop if its turn is not kept. The hosts of a switch serve
    /// in turn, so that each is used as often as the others.
    fn step(&mut self, hop: HopId, turn: Option<(HopId, HopId)>) -> Result<(), RoutingError> {
        let wiring = &self.table.wiring;
        let Hop { from: switch, port, .. } = wiring.hop(hop);
        let kept = |(a, b)| self.kept.as_ref().is_none_or(|kept| kept.has(wiring, a, b));
        if !turn.is_none_or(kept) {
            let residents = wiring.residents(switch);
            if residents.is_empty() {
                return Err(RoutingError::NoHostToStopAt { switch });
            }
            let served = &mut self.served[switch.0 as usize];
            let host = residents[*served as usize % residents.len()];
            *served += 1;
            self.stop(wiring.place(host).port);
        }
        self.table.ports.push(port);
        self.load[hop as usize] += 1.0;
        self.links += 1;
        Ok(())
    }

    /// Writes a stop at the host behind a port.
    fn stop(&mut self, port: Port) {
        self.table.ports.push(port);
        self.stops += 1;
    }

    /// Counts the route that has been written.
    fn end(&mut self, needed: usize) {
        let (links, stops) = (std::mem::take(&mut self.links), std::mem::take(&mut self.stops));
        self.table.summary.add(links, needed, stops + 1);
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

    /// Whether the turns of its routes form no cycle, so that packets cannot wait for each other in
    /// a circle. This is what [`certify`](crate::certify) says, found sooner and without the
    /// proof.
    pub fn is_deadlock_free(&self) -> bool {
        let (mut acyclic, mut free) = (Acyclic::new(&self.wiring), true);
        self.turns(|a, b| {
            let known = acyclic.turns().has(&self.wiring, a, b);
            free = free && (known || acyclic.insert(&self.wiring, (a, b)));
        });
        free
    }

    /// The same routes with a stop at every turn that is not kept.
    pub(crate) fn stopping_off(&self, kept: Turns) -> Result<RouteTable, RoutingError> {
        let draft = Draft::on(self.wiring.clone()).stopping_off(kept);
        draft.write(|draft, from, to| {
            for Step { port, behind, turn } in self.steps(from, to) {
                match behind {
                    Behind::Hop(hop) => draft.step(hop, turn)?,
                    Behind::Host(_) | Behind::Nothing => draft.stop(port),
                }
            }
            Ok(())
        })
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

    fn summary(&self) -> Option<&Summary> {
        Some(&self.summary)
    }
}
