//! Smart routing: the turns themselves are chosen, so that the load is even (Cherkasova, Kotov,
//! Rokicki).
//!
//! The search starts from the legal turns of the DFS order. A move adds a turn that was forbidden,
//! takes out turns until there is no cycle left, and adds every turn that closes none. It is kept
//! unless the load became less even. Only the destinations whose routes a move touches are routed
//! again, which is what makes large networks feasible.

use crosstie_fabric::{Fabric, SwitchId};
use crosstie_units::{Seed, Stream};

use crate::acyclic::Acyclic;
use crate::moves::{HOP, Moves, Toward};
use crate::turns::{Turns, every};
use crate::wiring::{HopId, Wiring};
use crate::{Root, RoutingError, dfs::dfs};

/// How much the load of a hop weighs in the sum that a move must not raise.
const POWER: i32 = 6;

/// Looks for an acyclic set of turns whose shortest routes load the hops evenly.
pub(crate) fn smart(fabric: &Fabric, moves: u32, seed: Seed) -> Result<Turns, RoutingError> {
    let wiring = Wiring::of(fabric);
    let order = dfs(fabric, Root::FewestRestrictions)?;
    let legal = Turns::legal(&wiring, &order);
    let mut acyclic = Acyclic::new(&wiring);
    for (a, b) in every(&wiring).filter(|&(a, b)| legal.has(&wiring, a, b)) {
        let fits = acyclic.insert(&wiring, (a, b));
        assert!(fits, "the turns of an order form no cycle");
    }
    let all: Vec<_> = every(&wiring).collect();
    let mut stream = seed.stream("smart", 0);
    let mut state = Evaluation::new(&wiring, acyclic.turns());
    for _ in 0..moves {
        let mut changed = acyclic.clone();
        if !perturb(&wiring, &all, &mut changed, &mut stream) {
            break;
        }
        if let Some(better) = state.after(&wiring, &all, acyclic.turns(), changed.turns()) {
            state.adopt(better);
            acyclic = changed;
        }
    }
    Ok(acyclic.into_turns())
}

/// Adds a random turn and makes room for it; false if there is none to add.
fn perturb(
    wiring: &Wiring,
    all: &[(HopId, HopId)],
    acyclic: &mut Acyclic,
    stream: &mut Stream,
) -> bool {
    let absent = |acyclic: &Acyclic| -> Vec<(HopId, HopId)> {
        all.iter().copied().filter(|&(a, b)| !acyclic.turns().has(wiring, a, b)).collect()
    };
    let mut forbidden = absent(acyclic);
    if forbidden.is_empty() {
        return false;
    }
    let (a, b) = forbidden[stream.below(forbidden.len() as u64) as usize];
    while let Some(way) = acyclic.way(wiring, b, a) {
        acyclic.remove(wiring, way[stream.below(way.len() as u64) as usize]);
    }
    acyclic.insert(wiring, (a, b));
    forbidden = absent(acyclic);
    stream.shuffle(&mut forbidden);
    for turn in forbidden {
        acyclic.insert(wiring, turn);
    }
    true
}

/// The routes to each destination and the load they make.
struct Evaluation {
    targets: Vec<Target>,
    cost: f64,
}

/// The shortest ways to one switch and the load that the traffic to its hosts makes.
struct Target {
    switch: SwitchId,
    toward: Toward,
    load: Vec<f64>,
}

/// An evaluation with some targets routed anew.
struct Change {
    targets: Vec<(usize, Target)>,
    cost: f64,
}

impl Target {
    /// `None` if some host cannot reach the switch.
    fn new(wiring: &Wiring, moves: &Moves, switch: SwitchId) -> Option<Target> {
        let toward = moves.toward(switch);
        let mut amount = vec![0.0; moves.states()];
        for source in wiring.inhabited() {
            toward.cost(moves.start(source))?;
            let pairs = wiring.residents(source).len() * wiring.residents(switch).len();
            amount[moves.start(source) as usize] = pairs as f64;
        }
        let mut load = vec![0.0; wiring.hops().len()];
        toward.spread(moves, &mut amount, &mut load);
        Some(Target { switch, toward, load })
    }

    /// Whether the ways change with a turn: one is taken that is gone, or a new one is as good.
    fn is_touched(&self, (a, b): (HopId, HopId), added: bool) -> bool {
        let (Some(from), Some(to)) = (self.toward.cost(a), self.toward.cost(b)) else {
            return added;
        };
        // At the destination no packet turns any more.
        from > 0 && if added { to + HOP <= from } else { to + HOP == from }
    }
}

impl Evaluation {
    fn new(wiring: &Wiring, turns: &Turns) -> Evaluation {
        let moves = Moves::turned(wiring, turns);
        let target = |switch| {
            Target::new(wiring, &moves, switch).expect("legal turns join every two switches")
        };
        let targets: Vec<Target> = wiring.inhabited().map(target).collect();
        let cost = cost(wiring, targets.iter());
        Evaluation { targets, cost }
    }

    /// What the change from one set of turns to another does; `None` if it makes things worse.
    fn after(
        &self,
        wiring: &Wiring,
        all: &[(HopId, HopId)],
        old: &Turns,
        new: &Turns,
    ) -> Option<Change> {
        let has = |turns: &Turns, (a, b)| turns.has(wiring, a, b);
        let differ = all.iter().filter(|&&turn| has(old, turn) != has(new, turn));
        let different: Vec<_> = differ.map(|&turn| (turn, has(new, turn))).collect();
        let moves = Moves::turned(wiring, new);
        let mut targets = Vec::new();
        for (number, target) in self.targets.iter().enumerate() {
            if different.iter().any(|&(turn, added)| target.is_touched(turn, added)) {
                targets.push((number, Target::new(wiring, &moves, target.switch)?));
            }
        }
        let mut now: Vec<&Target> = self.targets.iter().collect();
        for (number, target) in &targets {
            now[*number] = target;
        }
        let cost = cost(wiring, now.into_iter());
        (cost <= self.cost).then_some(Change { targets, cost })
    }

    fn adopt(&mut self, change: Change) {
        for (number, target) in change.targets {
            self.targets[number] = target;
        }
        self.cost = change.cost;
    }
}

fn cost<'a>(wiring: &Wiring, targets: impl Iterator<Item = &'a Target>) -> f64 {
    let mut total = vec![0.0; wiring.hops().len()];
    for target in targets {
        for (total, load) in total.iter_mut().zip(&target.load) {
            *total += load;
        }
    }
    total.iter().map(|load| load.powi(POWER)).sum()
}
