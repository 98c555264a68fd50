//! Multiplexing: whole messages take one rail each [liu, 4.4].

use std::collections::BTreeMap;

use super::Policy;
use crate::{Dispatch, NodeId, Outgoing, PeId, RailId, RailSet, Stripe, Turn};

/// By which rule messages take rails, for each pair of processing element and receiver.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// A processing element has one rail for everything: the first has the first rail, and so on.
    Binding,
    /// In turn.
    RoundRobin,
    /// Rail i takes w_i of as many messages as all weights together.
    Weighted(Shares),
    /// So many messages one after another on each rail.
    Window(u32),
}

/// The weights of rails, as files give them: whole numbers, for at most [`Shares::MOST`] rails.
/// Rails beyond those given have the weight of the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    weights: [u16; Shares::MOST],
}

impl Shares {
    /// The most weights.
    pub const MOST: usize = 16;

    /// Equal weights.
    pub const EQUAL: Shares = Shares { weights: [1; Shares::MOST] };

    /// So many weights, if there are any, not too many, and none is 0.
    pub fn new(weights: &[u16]) -> Option<Shares> {
        let last = *weights.last()?;
        if weights.len() > Shares::MOST || weights.contains(&0) {
            return None;
        }
        let mut all = [last; Shares::MOST];
        all[..weights.len()].copy_from_slice(weights);
        Some(Shares { weights: all })
    }

    /// The weight of a rail.
    pub fn of(&self, rail: RailId) -> u16 {
        self.weights[(rail.0 as usize).min(Shares::MOST - 1)]
    }

    /// The weights, without those at the end that repeat the one before.
    pub fn as_slice(&self) -> &[u16] {
        let last = self.weights[Shares::MOST - 1];
        let repeated = self.weights.iter().rev().take_while(|&&weight| weight == last).count();
        &self.weights[..=Shares::MOST - repeated]
    }
}

/// Where one processing element stands with one receiver.
#[derive(Debug, Clone, Default, PartialEq)]
struct Place {
    turn: Turn,
    /// The rail in use, and how many more messages it takes.
    current: Option<(RailId, u32)>,
    /// By how much each rail is behind its share.
    behind: Vec<i64>,
}

/// Chooses one rail for each message.
#[derive(Debug, Clone, PartialEq)]
pub struct Multiplexer {
    rule: Rule,
    rails: u32,
    places: BTreeMap<(PeId, NodeId), Place>,
}

impl Multiplexer {
    /// No message has taken a rail yet.
    pub fn new(rule: Rule, rails: u32) -> Multiplexer {
        Multiplexer { rule, rails, places: BTreeMap::new() }
    }

    /// The rail of the next message, of those that are up; `None` if there is none.
    pub fn next(&mut self, pe: PeId, to: NodeId, up: RailSet) -> Option<RailId> {
        if let Rule::Binding = self.rule {
            return up.next(pe.0 % self.rails);
        }
        let place = self.places.entry((pe, to)).or_default();
        match self.rule {
            Rule::Binding => unreachable!("a bound processing element has no turn"),
            Rule::RoundRobin => place.turn.take_one(up),
            Rule::Window(length) => {
                let current = place.current.filter(|&(rail, left)| left > 0 && up.contains(rail));
                let (rail, left) = match current {
                    Some(current) => current,
                    None => (place.turn.take_one(up)?, length),
                };
                place.current = Some((rail, left - 1));
                Some(rail)
            }
            Rule::Weighted(shares) => {
                place.behind.resize(self.rails as usize, 0);
                // Who is behind most has its turn, and is then ahead of the others by all that they
                // have gained.
                let mut gained = 0;
                for rail in up.iter() {
                    let weight = i64::from(shares.of(rail));
                    place.behind[rail.0 as usize] += weight;
                    gained += weight;
                }
                let most = up.iter().max_by_key(|rail| {
                    (place.behind[rail.0 as usize], std::cmp::Reverse(rail.0))
                })?;
                place.behind[most.0 as usize] -= gained;
                Some(most)
            }
        }
    }
}

/// Every message takes one rail, whole. Those that must not be cut take turns of their own: the
/// requests for long messages, which alternate with these, would otherwise put all of them on the
/// same rail.
#[derive(Debug)]
pub struct Multiplex {
    multiplexers: [Multiplexer; 2],
}

impl Multiplex {
    /// The policy of a node with so many rails.
    pub fn new(rule: Rule, rails: u32) -> Multiplex {
        Multiplex { multiplexers: [(); 2].map(|()| Multiplexer::new(rule, rails)) }
    }
}

/// The rail that the sender of a message has named, if it is up.
pub(super) fn named(head: &Outgoing, up: RailSet) -> Option<RailId> {
    head.rail.filter(|&rail| up.contains(rail))
}

impl Policy for Multiplex {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        while let Some(&head) = dispatch.head(pe) {
            let up = dispatch.up_to(head.to);
            let multiplexer = &mut self.multiplexers[usize::from(head.whole)];
            let rail = named(&head, up).or_else(|| multiplexer.next(pe, head.to, up));
            let Some(rail) = rail else { return };
            dispatch.send(pe, [Stripe { rail, bytes: 0..head.bytes }], false);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(rule: Rule, rails: u32, messages: usize) -> Vec<u32> {
        let mut multiplexer = Multiplexer::new(rule, rails);
        let up = RailSet::all(rails);
        let mut next = || multiplexer.next(PeId(1), NodeId(7), up).unwrap().0;
        (0..messages).map(|_| next()).collect()
    }

    #[test]
    fn binding_touches_one_rail() {
        assert_eq!(taken(Rule::Binding, 3, 4), [1; 4]);
    }

    #[test]
    fn weighted_counts_are_exact_in_every_cycle() {
        let shares = Shares::new(&[4, 1, 2]).unwrap();
        let rails = taken(Rule::Weighted(shares), 3, 70);
        for cycle in rails.chunks(7) {
            let count = |rail| cycle.iter().filter(|&&taken| taken == rail).count();
            assert_eq!([0, 1, 2].map(count), [4, 1, 2], "{cycle:?}");
        }
    }

    #[test]
    fn windows_end_at_multiples_of_their_length() {
        assert_eq!(taken(Rule::Window(3), 2, 9), [0, 0, 0, 1, 1, 1, 0, 0, 0]);
        assert_eq!(taken(Rule::RoundRobin, 3, 5), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn receivers_have_turns_of_their_own_and_rails_that_are_down_none() {
        let mut multiplexer = Multiplexer::new(Rule::RoundRobin, 3);
        let mut next = |to, up| multiplexer.next(PeId(0), NodeId(to), up).map(|rail| rail.0);
        let all = RailSet::all(3);
        let without: RailSet = [RailId(0), RailId(2)].into_iter().collect();
        assert_eq!([next(1, all), next(2, all), next(1, without)], [Some(0), Some(0), Some(2)]);
        assert_eq!([next(1, RailSet::EMPTY), next(2, all)], [None, Some(1)]);
    }

    #[test]
    fn shares_go_on_with_the_last() {
        let shares = Shares::new(&[4, 1]).unwrap();
        assert_eq!([0, 1, 2, 99].map(|rail| shares.of(RailId(rail))), [4, 1, 1, 1]);
        assert_eq!(shares.as_slice(), [4, 1]);
        assert_eq!(Shares::EQUAL.as_slice(), [1]);
        assert_eq!(Shares::new(&[1; 16]).map(|shares| shares.as_slice().len()), Some(1));
        for bad in [&[][..], &[1, 0], &[1; 17]] {
            assert_eq!(Shares::new(bad), None);
        }
    }

    /// Two rails of 5 and 8.5 us, a message every microsecond: how many have to wait for others
    /// before them.
    #[test]
    fn longer_windows_put_fewer_messages_out_of_order() {
        let deferred = |length| {
            let rails = taken(Rule::Window(length), 2, 1000);
            let arrival =
                |(number, rail): (usize, u32)| (2 * number) as u64 + [10, 17][rail as usize];
            let mut order: Vec<(u64, usize)> =
                rails.into_iter().enumerate().map(|place| (arrival(place), place.0)).collect();
            order.sort_unstable();
            let (mut expected, mut early) = (0, std::collections::BTreeSet::new());
            let mut count = 0;
            for (_, number) in order {
                if number != expected {
                    early.insert(number);
                    count += 1;
                    continue;
                }
                expected += 1;
                while early.remove(&expected) {
                    expected += 1;
                }
            }
            assert!(early.is_empty());
            count
        };
        assert_eq!([1, 2, 4, 8, 16, 32, 64].map(deferred), [499, 498, 372, 186, 93, 45, 21]);
    }
}
