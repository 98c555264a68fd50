//! Turns: from one hop to another at the switch between them.
//!
//! A turn is a dependency: a packet holds the first hop while it asks for the second. A routing
//! between switches is free of deadlock exactly if the turns it takes form no cycle; hosts add
//! nothing, since nobody waits on the way out of one and nothing follows the way into one.

use crate::Order;
use crate::wiring::{HopId, Wiring};

/// A set of turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turns {
    /// The turns from hop h begin at `first[h]`; there is one for each hop out of the switch where
    /// h ends, the way back included, though no set ever holds that.
    first: Vec<u32>,
    held: Vec<bool>,
}

impl Turns {
    /// The turns that a rule allows, given both hops; never the way back.
    pub fn allowed(wiring: &Wiring, rule: impl Fn(HopId, HopId) -> bool) -> Turns {
        let mut turns = Turns { first: Vec::new(), held: Vec::new() };
        for (a, hop) in (0..).zip(wiring.hops()) {
            turns.first.push(turns.held.len() as u32);
            turns.held.extend(wiring.out(hop.to).map(|b| b != hop.reverse && rule(a, b)));
        }
        turns
    }

    /// No turn at all.
    pub fn none(wiring: &Wiring) -> Turns {
        Turns::allowed(wiring, |_, _| false)
    }

    /// The turns of legal routes: all but those from down to up.
    pub fn legal(wiring: &Wiring, order: &Order) -> Turns {
        Turns::allowed(wiring, |a, b| order.is_up(wiring, a) || !order.is_up(wiring, b))
    }

    /// The number of a turn.
    pub fn number(&self, wiring: &Wiring, a: HopId, b: HopId) -> usize {
        let switch = wiring.hop(a).to;
        debug_assert_eq!(wiring.hop(b).from, switch, "a turn joins two hops");
        (self.first[a as usize] + b - wiring.out(switch).start) as usize
    }

    /// How many numbers there are.
    pub fn numbers(&self) -> usize {
        self.held.len()
    }

    /// Whether the set holds a turn.
    pub fn has(&self, wiring: &Wiring, a: HopId, b: HopId) -> bool {
        self.held[self.number(wiring, a, b)]
    }

    /// Puts a turn in or takes it out.
    pub fn set(&mut self, wiring: &Wiring, (a, b): (HopId, HopId), held: bool) {
        let number = self.number(wiring, a, b);
        self.held[number] = held;
    }

    /// The hops that follow a hop.
    pub fn after<'a>(&'a self, wiring: &'a Wiring, a: HopId) -> impl Iterator<Item = HopId> + 'a {
        let out = wiring.out(wiring.hop(a).to);
        let first = self.first[a as usize] as usize;
        let held = &self.held[first..first + out.len()];
        out.zip(held).filter_map(|(b, &held)| held.then_some(b))
    }

    /// The hops that precede a hop.
    pub fn before<'a>(&'a self, wiring: &'a Wiring, b: HopId) -> impl Iterator<Item = HopId> + 'a {
        let into = wiring.out(wiring.hop(b).from).map(|out| wiring.hop(out).reverse);
        into.filter(move |&a| self.has(wiring, a, b))
    }
}

/// All turns there are, but for the way back.
pub fn every(wiring: &Wiring) -> impl Iterator<Item = (HopId, HopId)> + '_ {
    (0..)
        .zip(wiring.hops())
        .flat_map(|(a, hop)| wiring.out(hop.to).filter(|&b| b != hop.reverse).map(move |b| (a, b)))
}
