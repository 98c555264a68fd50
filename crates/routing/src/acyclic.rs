//! Turns without a cycle, one by one (Pearce and Kelly, "A dynamic topological sort algorithm for
//! directed acyclic graphs").
//!
//! The hops are kept in an order in which every turn leads to a later hop. A new turn that does so
//! too costs nothing. Another one is tried by a search between the places of its two hops: either
//! it closes a cycle, or the hops found there are put in order anew.

use std::ops::RangeInclusive;

use crate::turns::Turns;
use crate::wiring::{HopId, Wiring};

/// A set of turns that form no cycle.
#[derive(Debug, Clone)]
pub struct Acyclic {
    turns: Turns,
    /// The place of each hop in the order.
    place: Vec<u32>,
}

impl Acyclic {
    /// No turns.
    pub fn new(wiring: &Wiring) -> Acyclic {
        let place = (0..wiring.hops().len() as u32).collect();
        Acyclic { turns: Turns::none(wiring), place }
    }

    /// The set.
    pub fn turns(&self) -> &Turns {
        &self.turns
    }

    /// The set alone.
    pub fn into_turns(self) -> Turns {
        self.turns
    }

    /// Adds a turn unless it closes a cycle, and says whether it did.
    pub fn insert(&mut self, wiring: &Wiring, (a, b): (HopId, HopId)) -> bool {
        let (low, high) = (self.place[b as usize], self.place[a as usize]);
        if low <= high {
            let after = self.reach(b, low..=high, a, |hop| self.turns.after(wiring, hop));
            if after.last() == Some(&a) {
                return false;
            }
            let before = self.reach(a, low..=high, b, |hop| self.turns.before(wiring, hop));
            self.reorder(before, after);
        }
        self.turns.set(wiring, (a, b), true);
        true
    }

    /// Takes a turn out.
    pub fn remove(&mut self, wiring: &Wiring, turn: (HopId, HopId)) {
        self.turns.set(wiring, turn, false);
    }

    /// Everything reached from a hop, itself included, by way of hops with places in a range. The
    /// search ends when it meets the goal, which is then the last one found.
    fn reach<I: Iterator<Item = HopId>>(
        &self,
        start: HopId,
        range: RangeInclusive<u32>,
        goal: HopId,
        next: impl Fn(HopId) -> I,
    ) -> Vec<HopId> {
        let mut seen = vec![false; (range.end() - range.start() + 1) as usize];
        let mut found = vec![start];
        let mut head = 0;
        while let Some(&hop) = found.get(head) {
            head += 1;
            for hop in next(hop) {
                let place = self.place[hop as usize];
                if !range.contains(&place) {
                    continue;
                }
                if std::mem::replace(&mut seen[(place - range.start()) as usize], true) {
                    continue;
                }
                found.push(hop);
                if hop == goal {
                    return found;
                }
            }
        }
        found
    }

    /// Gives the places of all these hops to those before first, then to those after.
    fn reorder(&mut self, mut before: Vec<HopId>, mut after: Vec<HopId>) {
        before.sort_unstable_by_key(|&hop| self.place[hop as usize]);
        after.sort_unstable_by_key(|&hop| self.place[hop as usize]);
        before.extend(after);
        let mut places: Vec<u32> = before.iter().map(|&hop| self.place[hop as usize]).collect();
        places.sort_unstable();
        for (hop, place) in before.into_iter().zip(places) {
            self.place[hop as usize] = place;
        }
    }

    /// A shortest way along the turns from one hop to another, as the turns on it.
    pub fn way(&self, wiring: &Wiring, from: HopId, to: HopId) -> Option<Vec<(HopId, HopId)>> {
        let mut came_from = vec![None; self.place.len()];
        let mut queue = vec![from];
        let mut head = 0;
        while came_from[to as usize].is_none() {
            let hop = *queue.get(head)?;
            head += 1;
            for next in self.turns.after(wiring, hop) {
                if came_from[next as usize].is_none() {
                    came_from[next as usize] = Some(hop);
                    queue.push(next);
                }
            }
        }
        let back = std::iter::successors(Some(to), |&hop| came_from[hop as usize]);
        let mut way: Vec<_> = back.take_while(|&hop| hop != from).collect();
        way.push(from);
        way.reverse();
        Some(way.windows(2).map(|pair| (pair[0], pair[1])).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::{irregular, ring};
    use crate::turns::every;
    use crosstie_units::Seed;
    use proptest::prelude::*;

    #[test]
    fn a_ring_lacks_one_turn_each_way() {
        let wiring = Wiring::of(&ring(5));
        let mut acyclic = Acyclic::new(&wiring);
        let kept = every(&wiring).filter(|&turn| acyclic.insert(&wiring, turn)).count();
        assert_eq!(kept, 10 - 2);
    }

    proptest! {
        #[test]
        fn turns_are_refused_exactly_if_they_close_a_cycle(
            fabric in irregular(), seed in any::<u64>()
        ) {
            let wiring = Wiring::of(&fabric);
            let mut turns: Vec<_> = every(&wiring).collect();
            Seed(seed).stream("turns", 0).shuffle(&mut turns);
            let mut acyclic = Acyclic::new(&wiring);
            for (a, b) in turns {
                let way = acyclic.way(&wiring, b, a);
                prop_assert_eq!(acyclic.insert(&wiring, (a, b)), way.is_none());
                for (a, b) in every(&wiring).filter(|&(a, b)| acyclic.turns.has(&wiring, a, b)) {
                    prop_assert!(acyclic.place[a as usize] < acyclic.place[b as usize]);
                }
            }
        }
    }
}
