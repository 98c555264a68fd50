//! Balanced routes: every pair of hosts looks for the way that burdens the busiest links least.
//!
//! Each pair holds one way. In every sweep the pairs, in random order, take their own load off the
//! hops and go where the sum over the hops of load^8 grows least: a high power, so that the busiest
//! hop decides and the others settle ties. A few sweeps reach a state in which hardly a pair still
//! moves.

use crosstie_fabric::HostId;
use crosstie_units::Seed;

use crate::moves::{HOP, Moves, Toward};
use crate::table::Draft;
use crate::wiring::{HopId, Wiring};
use crate::{RouteTable, RoutingError};

/// How often each pair chooses anew.
const SWEEPS: u64 = 4;

/// How much a load weighs.
const POWER: i32 = 8;

/// Routes that follow a rule and are balanced. Each is at most `slack` hops longer than the
/// shortest its rule allows.
pub(crate) fn balanced(
    draft: Draft,
    moves: &Moves,
    slack: u32,
    seed: Seed,
) -> Result<RouteTable, RoutingError> {
    let wiring = draft.wiring();
    let toward: Vec<Option<Toward>> = (wiring.switches())
        .map(|t| (!wiring.residents(t).is_empty()).then(|| moves.toward(t)))
        .collect();
    let ways = Ways::settle(wiring, moves, &toward, slack, seed);
    draft.fill(|from, to, way| way.extend_from_slice(ways.get(from, to)))
}

/// A way for every ordered pair of hosts.
struct Ways {
    hosts: u64,
    hops: Vec<HopId>,
    /// Each way has room for the longest it may become: it begins at `start` and has a length.
    start: Vec<u32>,
    length: Vec<u32>,
}

impl Ways {
    fn settle(
        wiring: &Wiring,
        moves: &Moves,
        toward: &[Option<Toward>],
        slack: u32,
        seed: Seed,
    ) -> Ways {
        let hosts = wiring.hosts().len() as u64;
        let mut ways = Ways { hosts, hops: Vec::new(), start: Vec::new(), length: Vec::new() };
        let mut load = Load::new(wiring);
        let mut way = Vec::new();
        let target = |to: HostId| {
            let toward = &toward[wiring.place(to).switch.0 as usize];
            toward.as_ref().expect("a host lives on an inhabited switch")
        };
        let start = |from: HostId| moves.start(wiring.place(from).switch);
        for to in wiring.hosts() {
            let mut stream = seed.stream("balanced ways", u64::from(to.0));
            for from in wiring.hosts() {
                target(to).draw(moves, start(from), &mut stream, &mut way);
                load.change(&way, 1.0);
                ways.start.push(ways.hops.len() as u32);
                ways.length.push(way.len() as u32);
                ways.hops.extend_from_slice(&way);
                let room = if way.is_empty() { 0 } else { slack as usize };
                ways.hops.resize(ways.hops.len() + room, HopId::MAX);
            }
        }
        let mut pairs: Vec<u32> = (0..ways.start.len() as u32).collect();
        let mut response = Response::new(moves, slack);
        for sweep in 0..SWEEPS {
            seed.stream("balanced sweeps", sweep).shuffle(&mut pairs);
            for &pair in &pairs {
                let (from, to) = ways.pair(pair);
                load.change(ways.get(from, to), -1.0);
                response.find(moves, target(to), start(from), &load, &mut way);
                if repeats_a_switch(wiring, &way) {
                    // A detour that passes a switch twice: the pair keeps the way it had.
                    way.clear();
                    way.extend_from_slice(ways.get(from, to));
                }
                load.change(&way, 1.0);
                ways.set(pair, &way);
            }
        }
        ways
    }

    fn pair(&self, pair: u32) -> (HostId, HostId) {
        let (to, from) = (u64::from(pair) / self.hosts, u64::from(pair) % self.hosts);
        (HostId(from as u32), HostId(to as u32))
    }

    fn get(&self, from: HostId, to: HostId) -> &[HopId] {
        let pair = (u64::from(to.0) * self.hosts + u64::from(from.0)) as usize;
        &self.hops[self.start[pair] as usize..][..self.length[pair] as usize]
    }

    fn set(&mut self, pair: u32, way: &[HopId]) {
        let start = self.start[pair as usize] as usize;
        self.length[pair as usize] = way.len() as u32;
        self.hops[start..start + way.len()].copy_from_slice(way);
    }
}

/// The ways across each hop, and what one more would cost there.
struct Load {
    ways: Vec<f64>,
    price: Vec<f64>,
}

impl Load {
    fn new(wiring: &Wiring) -> Load {
        let hops = wiring.hops().len();
        Load { ways: vec![0.0; hops], price: vec![1.0; hops] }
    }

    fn change(&mut self, way: &[HopId], by: f64) {
        for &hop in way {
            let ways = &mut self.ways[hop as usize];
            *ways += by;
            self.price[hop as usize] = (*ways + 1.0).powi(POWER) - ways.powi(POWER);
        }
    }
}

/// The cheapest way at given prices, found breadth first over (state, slack used). The memory is
/// kept between searches.
struct Response {
    /// Slack used at most, plus one.
    layers: u32,
    places: Vec<Spot>,
    search: u32,
    queue: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Spot {
    /// The search that set the rest.
    search: u32,
    price: f64,
    before: u32,
    hop: HopId,
}

impl Response {
    fn new(moves: &Moves, slack: u32) -> Response {
        let layers = slack + 1;
        let places = vec![Spot::default(); moves.states() * layers as usize];
        Response { layers, places, search: 0, queue: Vec::new() }
    }

    fn find(
        &mut self,
        moves: &Moves,
        toward: &Toward,
        from: u32,
        load: &Load,
        way: &mut Vec<HopId>,
    ) {
        self.search += 1;
        self.queue.clear();
        self.meet(from * self.layers, 0.0, u32::MAX, HopId::MAX);
        let mut head = 0;
        let mut goal: Option<u32> = None;
        // All ways to a place have the same number of hops, so its price is final in its turn.
        while let Some(&here) = self.queue.get(head) {
            head += 1;
            let price = self.places[here as usize].price;
            let (state, used) = (here / self.layers, here % self.layers);
            let cost = toward.cost(state).expect("only states with a way are met");
            if cost == 0 {
                if goal.is_none_or(|goal| price < self.places[goal as usize].price) {
                    goal = Some(here);
                }
                continue;
            }
            for step in moves.from(state) {
                let Some(rest) = toward.cost(step.to) else { continue };
                let detour = rest + step.cost - cost;
                let used = u64::from(used) + detour / HOP;
                if detour.is_multiple_of(HOP) && used < u64::from(self.layers) {
                    let next = step.to * self.layers + used as u32;
                    self.meet(next, price + load.price[step.hop as usize], here, step.hop);
                }
            }
        }
        let goal = goal.expect("a way leads from every switch to every other");
        let steps = std::iter::successors(Some(self.places[goal as usize]), |spot| {
            self.places.get(spot.before as usize).copied()
        });
        way.clear();
        way.extend(steps.map(|spot| spot.hop).take_while(|&hop| hop != HopId::MAX));
        way.reverse();
    }

    fn meet(&mut self, place: u32, price: f64, before: u32, hop: HopId) {
        let spot = &mut self.places[place as usize];
        if spot.search != self.search {
            self.queue.push(place);
        } else if price >= spot.price {
            return;
        }
        *spot = Spot { search: self.search, price, before, hop };
    }
}

fn repeats_a_switch(wiring: &Wiring, way: &[HopId]) -> bool {
    let Some(&first) = way.first() else { return false };
    let switch = |i: usize| match i {
        0 => wiring.hop(first).from,
        _ => wiring.hop(way[i - 1]).to,
    };
    (1..=way.len()).any(|i| (0..i).any(|j| switch(i) == switch(j)))
}
