//! DFS: the order of a depth-first spanning tree (Sancho, Robles, Duato).
//!
//! In a depth-first tree every other link joins a switch to one of its ancestors. The tree is grown
//! so that a switch is taken when many of its neighbours are already in it: links up then spread
//! over the switches, and restrictions, which grow with the square of the links up, are few.

use std::cmp::Reverse;

use crosstie_fabric::{Fabric, SwitchId};

use crate::root::total_distances;
use crate::wiring::Wiring;
use crate::{Order, Root, RoutingError};

/// The order of DFS routing: as a depth-first search meets the switches. Of the neighbours it could
/// go to next it takes the one with the most links into the tree, then the one farthest from all
/// others, then the lowest number.
pub fn dfs(fabric: &Fabric, root: Root) -> Result<Order, RoutingError> {
    let wiring = Wiring::of(fabric);
    let remoteness = total_distances(fabric);
    root.grow(fabric, &wiring, |root| Order::of_row(&depth_first(&wiring, &remoteness, root)))
}

fn depth_first(wiring: &Wiring, remoteness: &[u64], root: SwitchId) -> Vec<SwitchId> {
    let mut met = vec![false; remoteness.len()];
    // Links from each switch into the tree so far.
    let mut links = vec![0u32; remoteness.len()];
    let mut row = Vec::with_capacity(remoteness.len());
    let mut branch = Vec::new();
    let mut next = Some(root);
    while let Some(switch) = next {
        if !std::mem::replace(&mut met[switch.0 as usize], true) {
            row.push(switch);
            branch.push(switch);
            for hop in wiring.out(switch) {
                links[wiring.hop(hop).to.0 as usize] += 1;
            }
        }
        let ahead = wiring.out(switch).map(|hop| wiring.hop(hop).to);
        let best = ahead.filter(|to| !met[to.0 as usize]).min_by_key(|to| {
            let s = to.0 as usize;
            (Reverse(links[s]), Reverse(remoteness[s]), to.0)
        });
        next = best.or_else(|| {
            branch.pop();
            branch.last().copied()
        });
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::{irregular, ring};
    use proptest::prelude::*;

    #[test]
    fn the_ring_of_five_in_a_row() {
        let order = dfs(&ring(5), Root::Switch(SwitchId(0))).unwrap();
        assert_eq!(order, Order::of_row(&[0, 1, 2, 3, 4].map(SwitchId)));
        assert_eq!(order.restrictions(&ring(5)), 1, "0 and 3 are both above 4");
    }

    proptest! {
        #[test]
        fn every_link_joins_a_switch_to_an_ancestor(fabric in irregular()) {
            let wiring = Wiring::of(&fabric);
            let row = depth_first(&wiring, &total_distances(&fabric), SwitchId(0));
            prop_assert_eq!(row.len(), fabric.switches().len());
            let order = Order::of_row(&row);
            // The parent is the last one met among the neighbours met before; in a depth-first tree
            // all neighbours met before are on the way from the root to it.
            let parent = |switch: SwitchId| {
                let neighbours = wiring.out(switch).map(|hop| wiring.hop(hop).to);
                neighbours.filter(|&n| order.place(n) < order.place(switch)).max_by_key(|&n| order.place(n))
            };
            for &switch in &row[1..] {
                let way: Vec<_> = std::iter::successors(parent(switch), |&s| parent(s)).collect();
                prop_assert_eq!(way.last(), Some(&row[0]));
                for hop in wiring.out(switch) {
                    let to = wiring.hop(hop).to;
                    prop_assert!(order.place(to) > order.place(switch) || way.contains(&to));
                }
            }
        }

        #[test]
        fn no_root_does_better_than_the_best(fabric in irregular()) {
            let count = |root| dfs(&fabric, root).unwrap().restrictions(&fabric);
            let best = count(Root::FewestRestrictions);
            for switch in fabric.switches() {
                prop_assert!(best <= count(Root::Switch(switch)));
            }
        }
    }
}
