//! `dfs`: up*/down* in the order of a depth-first search (DFS), which is made in [`dfs`].

use crosstie_fabric::Fabric;
use crosstie_units::{Seed, range};
use serde::{Deserialize, Serialize};

use super::declaration::{Declaration, FLICH, Promise};
use crate::table::Draft;
use crate::{Pick, Root, RouteTable, RoutingError, dfs};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "dfs",
    description: "As up-down, but the order is that of a depth-first search, which forbids fewer turns \
                  (DFS; Sancho, Robles, Duato). The root is the best of all by default \
                  (root=fewest-restrictions). Free of deadlock, more often minimal than up-down, and \
                  more even.",
    needs: &[],
    promise: Promise::DeadlockFree {
        because: "no route turns from down to up in the order of the switches",
    },
    paper: Some(FLICH),
};

/// The keys of `dfs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Dfs {
    /// Where the tree begins.
    pub root: Root,
    /// Which of several routes.
    pub pick: Pick,
    /// Where its draws follow from; `None`: from the seed of whoever asks.
    #[serde(deserialize_with = "range::own_seed", skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

impl Default for Dfs {
    fn default() -> Dfs {
        Dfs { root: Root::FewestRestrictions, pick: Pick::default(), seed: None }
    }
}

impl Dfs {
    /// The routes of a fabric, all written down.
    pub fn routes(self, fabric: &Fabric, seed: Seed) -> Result<RouteTable, RoutingError> {
        let draft = Draft::new(fabric)?;
        let order = dfs(fabric, self.root)?;
        self.pick.legal_routes(draft, &order, self.seed.unwrap_or(seed))
    }
}
