//! `smart`: balanced routes over turns that are searched for (SMART). The search is in [`smart`].

use crosstie_fabric::Fabric;
use crosstie_units::{Seed, range, wholes};
use serde::{Deserialize, Serialize};

use super::declaration::{Declaration, FLICH, Promise};
use crate::balanced::balanced;
use crate::moves::Moves;
use crate::smart::smart;
use crate::table::Draft;
use crate::{RouteTable, RoutingError};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "smart",
    description: "No order: the turns that packets may take are searched for, always without a cycle, so \
                  that the busiest links carry as little as possible; moves=N changes are tried \
                  (default 2000). Then each pair of hosts takes the best of its shortest routes and \
                  those one link longer. Free of deadlock and even, but slow to compute.",
    needs: &[],
    promise: Promise::DeadlockFree { because: "the turns that its routes may take form no cycle" },
    paper: Some(FLICH),
};

wholes! { moves: u32 = 0..=1_000_000; }

/// The keys of `smart`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Smart {
    /// How many changes of the turns are tried.
    #[serde(deserialize_with = "moves")]
    pub moves: u32,
    /// Where its draws follow from; `None`: from the seed of whoever asks.
    #[serde(deserialize_with = "range::own_seed", skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

impl Default for Smart {
    fn default() -> Smart {
        // Enough for networks of some tens of switches to settle.
        Smart { moves: 2000, seed: None }
    }
}

impl Smart {
    /// The routes of a fabric, all written down.
    pub fn routes(self, fabric: &Fabric, seed: Seed) -> Result<RouteTable, RoutingError> {
        let seed = self.seed.unwrap_or(seed);
        let draft = Draft::new(fabric)?;
        let turns = smart(fabric, self.moves, seed)?;
        let moves = Moves::turned(draft.wiring(), &turns);
        balanced(draft, &moves, 1, seed)
    }
}
