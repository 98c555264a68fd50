//! `dfs-itb`: minimal routes with stops where they break the order of DFS (DFS_ITB).

use crosstie_fabric::Fabric;
use crosstie_units::{Seed, range};
use serde::{Deserialize, Serialize};

use super::declaration::{Declaration, FLICH, Need, Promise};
use crate::table::Draft;
use crate::{Choice, Root, RouteTable, RoutingError, dfs};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "dfs-itb",
    description: "Any minimal route at random, with a stop at a host wherever it breaks the order of dfs \
                  (DFS_ITB); choice=compliant-first prefers routes without stops. Free of deadlock.",
    needs: &[Need::InTransit],
    promise: Promise::DeadlockFree {
        because: "no leg turns from down to up in the order of the switches, and a packet that \
                  stops holds no channel",
    },
    paper: Some(FLICH),
};

/// The keys of `dfs-itb`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DfsItb {
    /// Where the tree begins.
    pub root: Root,
    /// Which of several minimal routes.
    pub choice: Choice,
    /// Where its draws follow from; `None`: from the seed of whoever asks.
    #[serde(deserialize_with = "range::own_seed", skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

impl Default for DfsItb {
    fn default() -> DfsItb {
        DfsItb { root: Root::FewestRestrictions, choice: Choice::default(), seed: None }
    }
}

impl DfsItb {
    /// The routes of a fabric, all written down.
    pub fn routes(self, fabric: &Fabric, seed: Seed) -> Result<RouteTable, RoutingError> {
        let draft = Draft::new(fabric)?;
        let order = dfs(fabric, self.root)?;
        self.choice.stopping_routes(draft, &order, self.seed.unwrap_or(seed))
    }
}
