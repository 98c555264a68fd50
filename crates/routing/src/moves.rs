//! What a packet may do next: the rule of a routing as a graph, and the one search all routings
//! share.
//!
//! A *state* is a switch together with what the rule remembers of the way there: nothing (minimal
//! routing), whether the packet has gone down yet (the order rule), or the hop it came by (turns).
//! A *move* takes a hop from one state to the next. Some rules let a packet break them if it is
//! taken out at a host and put in again: such a move has a *stop*.

use crosstie_fabric::SwitchId;
use crosstie_units::Stream;

use crate::Order;
use crate::turns::Turns;
use crate::wiring::{HopId, Wiring};

/// A state, numbered from 0.
type State = u32;

/// The cost of a hop. A stop, where it costs anything, costs 1, so of the shortest ways those with
/// the fewest stops are the cheapest.
pub const HOP: u64 = 1 << 32;

/// The cost where no way leads.
const NO_WAY: u64 = u64::MAX;

/// One move.
#[derive(Debug, Clone, Copy)]
pub struct Move {
    /// The hop taken.
    pub hop: HopId,
    /// The state after it.
    pub to: State,
    /// What it costs.
    pub cost: u64,
}

/// What the order rule says of a packet that has gone down and wants up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breach {
    /// It may not.
    Forbidden,
    /// It may with a stop, at a switch that carries a host; stops cost nothing.
    Free,
    /// As free, but of equally short ways those with the fewest stops are taken.
    Costly,
}

/// A rule as a graph.
#[derive(Debug, Clone)]
pub struct Moves {
    switch_of: Vec<SwitchId>,
    /// Moves from state x: `moves[first[x]..first[x + 1]]`.
    moves: Vec<Move>,
    first: Vec<u32>,
    /// Moves into a state, each with the state it comes from and its cost.
    back: Vec<(State, u64)>,
    first_back: Vec<u32>,
    /// The state of a packet that enters the network at each switch.
    start: Vec<State>,
    /// The state at each switch that allows the least.
    strictest: Vec<State>,
}

impl Moves {
    /// Every hop is allowed, always.
    pub fn free(wiring: &Wiring) -> Moves {
        let switches: Vec<_> = wiring.switches().collect();
        let moves = |state: State| {
            let out = wiring.out(switches[state as usize]);
            out.map(|hop| Move { hop, to: wiring.hop(hop).to.0, cost: HOP })
        };
        let start: Vec<State> = switches.iter().map(|switch| switch.0).collect();
        Moves::new(switches.clone(), start.clone(), start, moves)
    }

    /// No hop up after a hop down. State 2s is switch s on the way up, 2s + 1 on the way down.
    pub fn ordered(wiring: &Wiring, order: &Order, breach: Breach) -> Moves {
        let twice: Vec<_> = wiring.switches().flat_map(|switch| [switch, switch]).collect();
        let moves = |state: State| {
            let (switch, down) = (twice[state as usize], state % 2 == 1);
            let may_stop = breach != Breach::Forbidden && !wiring.residents(switch).is_empty();
            wiring.out(switch).filter_map(move |hop| {
                let up = order.is_up(wiring, hop);
                let stop = up && down;
                let cost = HOP + u64::from(stop && breach == Breach::Costly);
                let to = 2 * wiring.hop(hop).to.0 + u32::from(!up);
                (!stop || may_stop).then_some(Move { hop, to, cost })
            })
        };
        let start = wiring.switches().map(|switch| 2 * switch.0).collect();
        let strictest = wiring.switches().map(|switch| 2 * switch.0 + 1).collect();
        Moves::new(twice.clone(), start, strictest, moves)
    }

    /// Only these turns. State h is the end of hop h; the states after those are the starts.
    pub fn turned(wiring: &Wiring, turns: &Turns) -> Moves {
        let hops = wiring.hops().len() as u32;
        let ends = wiring.hops().iter().map(|hop| hop.to);
        let switch_of: Vec<_> = ends.chain(wiring.switches()).collect();
        let start: Vec<State> = wiring.switches().map(|switch| hops + switch.0).collect();
        let moves = |state: State| {
            let arrived = (state < hops).then_some(state);
            let out = wiring.out(switch_of[state as usize]);
            out.filter(move |&hop| arrived.is_none_or(|came| turns.has(wiring, came, hop)))
                .map(|hop| Move { hop, to: hop, cost: HOP })
        };
        // What a packet may do depends on where it came from: no state allows the least.
        Moves::new(switch_of.clone(), start.clone(), start, moves)
    }

    fn new<I: Iterator<Item = Move>>(
        switch_of: Vec<SwitchId>,
        start: Vec<State>,
        strictest: Vec<State>,
        from: impl Fn(State) -> I,
    ) -> Moves {
        let states = switch_of.len();
        let (mut moves, mut first) = (Vec::new(), vec![0]);
        for state in 0..states as State {
            moves.extend(from(state));
            first.push(moves.len() as u32);
        }
        // Counting sort of the same moves by where they lead.
        let mut first_back = vec![0u32; states + 1];
        for step in &moves {
            first_back[step.to as usize + 1] += 1;
        }
        for state in 0..states {
            first_back[state + 1] += first_back[state];
        }
        let mut back = vec![(0, 0); moves.len()];
        let mut next = first_back.clone();
        for state in 0..states {
            for step in &moves[first[state] as usize..first[state + 1] as usize] {
                let slot = &mut next[step.to as usize];
                back[*slot as usize] = (state as State, step.cost);
                *slot += 1;
            }
        }
        Moves { switch_of, moves, first, back, first_back, start, strictest }
    }

    /// How many states there are.
    pub fn states(&self) -> usize {
        self.switch_of.len()
    }

    /// The state of a packet that enters the network at a switch.
    pub fn start(&self, switch: SwitchId) -> State {
        self.start[switch.0 as usize]
    }

    /// The same of every switch in order.
    pub fn starts(&self) -> impl Iterator<Item = State> + '_ {
        self.start.iter().copied()
    }

    /// The state at a switch that allows the least: what may be done in it may be done in any.
    pub fn strictest(&self, switch: SwitchId) -> State {
        self.strictest[switch.0 as usize]
    }

    /// The moves from a state.
    pub fn from(&self, state: State) -> &[Move] {
        &self.moves[self.first[state as usize] as usize..self.first[state as usize + 1] as usize]
    }

    /// Finds the cheapest ways from every state to a switch.
    pub fn toward(&self, target: SwitchId) -> Toward {
        let states = self.states();
        let mut toward = Toward {
            cost: vec![NO_WAY; states],
            ways: vec![0.0; states],
            met: Vec::with_capacity(states),
        };
        for state in 0..states {
            if self.switch_of[state] == target {
                toward.cost[state] = 0;
                toward.met.push(state as State);
            }
        }
        // Breadth first. A stop costs less than any hop, so a state met at a number of hops has its
        // final cost once all states with one hop less have been left, which is before its turn.
        let mut head = 0;
        while let Some(&state) = toward.met.get(head) {
            head += 1;
            let cost = toward.cost[state as usize];
            toward.ways[state as usize] = match cost {
                0 => 1.0,
                _ => toward.best(self, state).map(|step| toward.ways[step.to as usize]).sum(),
            };
            let back = self.first_back[state as usize]..self.first_back[state as usize + 1];
            for &(from, step) in &self.back[back.start as usize..back.end as usize] {
                let known = &mut toward.cost[from as usize];
                if *known == NO_WAY {
                    toward.met.push(from);
                }
                *known = (*known).min(cost + step);
            }
        }
        toward
    }
}

/// The cheapest ways from every state to one switch.
#[derive(Debug, Clone)]
pub struct Toward {
    cost: Vec<u64>,
    /// How many cheapest ways there are from each state.
    ways: Vec<f64>,
    /// The states from which there is a way, nearest first.
    met: Vec<State>,
}

impl Toward {
    /// The cost from a state; `None` if no way leads from there.
    pub fn cost(&self, state: State) -> Option<u64> {
        Some(self.cost[state as usize]).filter(|&cost| cost != NO_WAY)
    }

    /// The moves with which a cheapest way goes on.
    pub fn best<'a, 'm: 'a>(
        &'a self,
        moves: &'m Moves,
        state: State,
    ) -> impl Iterator<Item = &'m Move> + 'a {
        let cost = self.cost[state as usize];
        // A state without a way has no move to one with a way, so the sum does not overflow.
        let best = move |step: &&Move| {
            self.cost[step.to as usize].checked_add(step.cost).is_some_and(|sum| sum == cost)
        };
        moves.from(state).iter().filter(best)
    }

    /// One of the cheapest ways from a state, each with equal probability.
    pub fn draw(&self, moves: &Moves, from: State, stream: &mut Stream, way: &mut Vec<HopId>) {
        way.clear();
        let mut state = from;
        while let Some(step) = self.step(moves, state, stream) {
            way.push(step.hop);
            state = step.to;
        }
    }

    /// The first move of such a way; `None` at its end.
    pub fn step<'a>(
        &self,
        moves: &'a Moves,
        state: State,
        stream: &mut Stream,
    ) -> Option<&'a Move> {
        if self.cost[state as usize] == 0 {
            return None;
        }
        let mut left = stream.unit() * self.ways[state as usize];
        let mut chosen = None;
        for step in self.best(moves, state) {
            chosen = Some(step);
            left -= self.ways[step.to as usize];
            if left < 0.0 {
                break;
            }
        }
        chosen
    }

    /// Adds to the load of each hop what crosses it if `amount` at each state is shared evenly by
    /// the cheapest ways from there. Uses up the amounts.
    pub fn spread(&self, moves: &Moves, amount: &mut [f64], load: &mut [f64]) {
        for &state in self.met.iter().rev() {
            let here = std::mem::take(&mut amount[state as usize]);
            if here == 0.0 || self.cost[state as usize] == 0 {
                continue;
            }
            let per_way = here / self.ways[state as usize];
            for step in self.best(moves, state) {
                let share = per_way * self.ways[step.to as usize];
                load[step.hop as usize] += share;
                amount[step.to as usize] += share;
            }
        }
    }
}
