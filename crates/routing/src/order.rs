//! The order rule: the switches stand in a row, and no route turns from down to up.
//!
//! A hop is *up* if it leads to a switch earlier in the row, else *down*. A route that goes up zero
//! or more times and then down zero or more times is *legal*. Whatever the order, legal routes
//! cannot deadlock: hops up lead ever earlier, hops down ever later, and there is no way back from
//! down to up. What differs between orders is how many routes they forbid.

use crosstie_fabric::{Fabric, SwitchId};

use crate::moves::{Breach, HOP, Moves};
use crate::wiring::{HopId, Wiring};

/// A row of switches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The place of each switch.
    place: Vec<u32>,
}

impl Order {
    /// The order with these switches in a row, each once.
    pub(crate) fn of_row(row: &[SwitchId]) -> Order {
        let mut place = vec![0; row.len()];
        for (number, switch) in (0..).zip(row) {
            place[switch.0 as usize] = number;
        }
        Order { place }
    }

    /// The place of a switch in the row, from 0.
    pub fn place(&self, switch: SwitchId) -> u32 {
        self.place[switch.0 as usize]
    }

    /// Whether a hop leads up.
    pub(crate) fn is_up(&self, wiring: &Wiring, hop: HopId) -> bool {
        let hop = wiring.hop(hop);
        self.place(hop.to) < self.place(hop.from)
    }

    /// How many pairs of links the order keeps packets from turning between: at each switch, every
    /// two links up. Fewer are better.
    pub fn restrictions(&self, fabric: &Fabric) -> u64 {
        self.forbidden_pairs(&Wiring::of(fabric))
    }

    pub(crate) fn forbidden_pairs(&self, wiring: &Wiring) -> u64 {
        let pairs = |switch| {
            let up = wiring.out(switch).filter(|&hop| self.is_up(wiring, hop)).count() as u64;
            up * up.saturating_sub(1) / 2
        };
        wiring.switches().map(pairs).sum()
    }
}

/// How far switches are from each other along legal routes.
#[derive(Debug, Clone)]
pub struct LegalDistances {
    moves: Moves,
}

impl LegalDistances {
    /// Those under an order of a fabric's switches.
    pub fn new(fabric: &Fabric, order: &Order) -> LegalDistances {
        LegalDistances { moves: Moves::ordered(&Wiring::of(fabric), order, Breach::Forbidden) }
    }

    /// The links that the shortest legal route crosses from each switch to this one. From there to
    /// each switch they are as many: a legal route stays legal if it is walked back.
    pub fn to(&self, target: SwitchId) -> impl Iterator<Item = u64> + '_ {
        let toward = self.moves.toward(target);
        self.moves.starts().map(move |start| {
            toward.cost(start).expect("a legal route joins any two switches") / HOP
        })
    }
}
