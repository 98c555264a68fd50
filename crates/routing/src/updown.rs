//! Up*/down* (UD): the order of a breadth-first spanning tree, as in Autonet.
//!
//! The upper end of a link is the end nearer to the root, and at equal distance the end with the
//! lower number.

use crosstie_fabric::{Fabric, Search};

use crate::wiring::Wiring;
use crate::{Order, Root, RoutingError};

/// The order of up*/down* routing: by distance from the root, then by number.
pub fn updown(fabric: &Fabric, root: Root) -> Result<Order, RoutingError> {
    root.grow(fabric, &Wiring::of(fabric), |root| {
        let mut search = Search::new(fabric);
        let level = search.from(root);
        let mut row: Vec<_> = fabric.switches().collect();
        row.sort_by_key(|switch| (level[switch.0 as usize], switch.0));
        Order::of_row(&row)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::networks::ring;
    use crosstie_fabric::SwitchId;

    #[test]
    fn the_ring_of_five_by_levels() {
        // Levels 0 1 2 2 1.
        let order = updown(&ring(5), Root::Switch(SwitchId(0))).unwrap();
        let row = [0, 1, 4, 2, 3].map(SwitchId);
        assert_eq!(order, Order::of_row(&row));
        assert_eq!(order.restrictions(&ring(5)), 1, "2 and 4 are both above 3");
    }

    #[test]
    fn the_root_must_exist() {
        let error = updown(&ring(5), Root::Switch(SwitchId(5))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "switch 5 cannot be the root: the network has 5 switches, numbered from 0 to 4"
        );
    }
}
