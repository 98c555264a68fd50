//! `minimal`: what is left of routing if nobody looks after deadlock.

use crosstie_fabric::Fabric;
use crosstie_units::{Seed, range};
use serde::{Deserialize, Serialize};

use super::declaration::{Declaration, FLICH, Promise};
use crate::moves::Moves;
use crate::table::Draft;
use crate::{Pick, RouteTable, RoutingError};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "minimal",
    description: "For each pair of hosts a minimal route at random, or with pick=balanced the one that \
                  keeps the load even. Deadlock is not looked after: what the in-transit buffers below \
                  set right, without them.",
    needs: &[],
    promise: Promise::Nothing,
    paper: Some(FLICH),
};

/// The keys of `minimal`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Minimal {
    /// Which of several routes.
    pub pick: Pick,
    /// Where its draws follow from; `None`: from the seed of whoever asks.
    #[serde(deserialize_with = "range::own_seed", skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

impl Minimal {
    /// The routes of a fabric, all written down.
    pub fn routes(self, fabric: &Fabric, seed: Seed) -> Result<RouteTable, RoutingError> {
        let draft = Draft::new(fabric)?;
        let moves = Moves::free(draft.wiring());
        self.pick.routes(draft, &moves, self.seed.unwrap_or(seed))
    }
}
