//! The order rule: the switches stand in a row, and no route turns from down to up.
//!
//! A hop is *up* if it leads to a switch earlier in the row, else *down*. A route that goes up zero
//! or more times and then down zero or more times is *legal*. Whatever the order, legal routes
//! cannot deadlock: hops up lead ever earlier, hops down ever later, and there is no way back from
//! down to up. What differs between orders is how many routes they forbid.

use crosstie_fabric::{Fabric, Search, SwitchId};

use crate::MethodError;
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

/// Which switch is the root of a spanning tree, and so the first of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// This one.
    Switch(SwitchId),
    /// The one with the least mean distance to all others; of several, the lowest number.
    Central,
    /// The one with the greatest mean distance to all others; of several, the lowest number.
    Remote,
    /// The one whose order has the fewest restrictions; of several, the lowest number.
    FewestRestrictions,
}

impl Root {
    /// The order that grows from this root.
    pub(crate) fn grow(
        self,
        fabric: &Fabric,
        wiring: &Wiring,
        order_from: impl Fn(SwitchId) -> Order,
    ) -> Result<Order, MethodError> {
        let switches = wiring.switches().len();
        // Two hosts on one cable have no switch to choose, and need none.
        let Some(first) = wiring.switches().next() else { return Ok(Order::of_row(&[])) };
        let root = match self {
            Root::Switch(switch) if (switch.0 as usize) < switches => switch,
            Root::Switch(switch) => return Err(MethodError::NoSuchRoot { switch, switches }),
            Root::Central => {
                let total = total_distances(fabric);
                wiring.switches().min_by_key(|s| total[s.0 as usize]).unwrap_or(first)
            }
            Root::Remote => {
                let total = total_distances(fabric);
                let far = |s: &SwitchId| std::cmp::Reverse(total[s.0 as usize]);
                wiring.switches().min_by_key(far).unwrap_or(first)
            }
            Root::FewestRestrictions => {
                let orders = wiring.switches().map(&order_from);
                let fewest = orders.min_by_key(|order| order.forbidden_pairs(wiring));
                return Ok(fewest.expect("there is a first switch"));
            }
        };
        Ok(order_from(root))
    }
}

/// For each switch, the distances to all others together.
pub(crate) fn total_distances(fabric: &Fabric) -> Vec<u64> {
    let mut search = Search::new(fabric);
    let total = |switch| search.from(switch).iter().map(|&distance| u64::from(distance)).sum();
    fabric.switches().map(total).collect()
}
