//! `up-down`: up*/down* routing, as in Autonet (UD). Its order is made in [`updown`].

use crosstie_fabric::Fabric;
use crosstie_units::{Seed, range};
use serde::{Deserialize, Serialize};

use super::declaration::{Declaration, FLICH, Promise};
use crate::table::Draft;
use crate::{Pick, Root, RouteTable, RoutingError, updown};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "up-down",
    description: "Up*/down* as in Autonet (UD). The switches are ordered by their distance from a root; a \
                  route goes towards the root for a while, then away, and never turns back. The shortest \
                  such route, ties at random; pick=balanced for an even load, pick=destination for routes \
                  that forwarding tables can hold. root=N, central (default), remote or \
                  fewest-restrictions. Free of deadlock, not minimal, crowded near the root.",
    needs: &[],
    promise: Promise::DeadlockFree {
        because: "no route turns from down to up in the order of the switches",
    },
    paper: Some(FLICH),
};

/// The keys of `up-down`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct UpDown {
    /// Where the tree begins.
    pub root: Root,
    /// Which of several routes.
    pub pick: Pick,
    /// Where its draws follow from; `None`: from the seed of whoever asks.
    #[serde(deserialize_with = "range::own_seed", skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

impl UpDown {
    /// The routes of a fabric, all written down.
    pub fn routes(self, fabric: &Fabric, seed: Seed) -> Result<RouteTable, RoutingError> {
        let draft = Draft::new(fabric)?;
        let order = updown(fabric, self.root)?;
        self.pick.legal_routes(draft, &order, self.seed.unwrap_or(seed))
    }
}
