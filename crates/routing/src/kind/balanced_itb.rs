//! `balanced-itb`: balanced minimal routes with stops where they would form a cycle (B_ITB).

use crosstie_fabric::Fabric;
use crosstie_units::{Seed, range};
use serde::{Deserialize, Serialize};

use super::declaration::{Declaration, FLICH, Need, Promise};
use crate::balanced::balanced;
use crate::moves::Moves;
use crate::table::Draft;
use crate::{RouteTable, RoutingError, place_itbs};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "balanced-itb",
    description: "Minimal routes chosen for an even load. Stops are placed where the routes would wait \
                  for each other in a circle: turns are kept from the busiest down as long as they form \
                  none, and at any other turn packets stop (B_ITB). Free of deadlock.",
    needs: &[Need::InTransit],
    promise: Promise::DeadlockFree {
        because: "packets stop at every turn that would close a cycle",
    },
    paper: Some(FLICH),
};

/// The keys of `balanced-itb`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct BalancedItb {
    /// Where its draws follow from; `None`: from the seed of whoever asks.
    #[serde(deserialize_with = "range::own_seed", skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

impl BalancedItb {
    /// The routes of a fabric, all written down.
    pub fn routes(self, fabric: &Fabric, seed: Seed) -> Result<RouteTable, RoutingError> {
        let draft = Draft::new(fabric)?;
        let moves = Moves::free(draft.wiring());
        place_itbs(&balanced(draft, &moves, 0, self.seed.unwrap_or(seed))?)
    }
}
