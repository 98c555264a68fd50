//! `up-down-itb`: any minimal routes, with stops where they break the order of up*/down* (UD_ITB).

use crosstie_fabric::Fabric;
use crosstie_units::{Seed, range};
use serde::{Deserialize, Serialize};

use super::declaration::{Declaration, FLICH, Need, Promise};
use crate::table::Draft;
use crate::{Choice, Root, RouteTable, RoutingError, updown};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "up-down-itb",
    description: "Any minimal route at random, with a stop at a host wherever it breaks the order of \
                  up-down (UD_ITB). More stops than up-down-mitb and a more even load. Free of deadlock.",
    needs: &[Need::InTransit],
    promise: Promise::DeadlockFree {
        because: "no leg turns from down to up in the order of the switches, and a packet that \
                  stops holds no channel",
    },
    paper: Some(FLICH),
};

/// The keys of `up-down-itb`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct UpDownItb {
    /// Where the tree begins.
    pub root: Root,
    /// Where its draws follow from; `None`: from the seed of whoever asks.
    #[serde(deserialize_with = "range::own_seed", skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

impl UpDownItb {
    /// The routes of a fabric, all written down.
    pub fn routes(self, fabric: &Fabric, seed: Seed) -> Result<RouteTable, RoutingError> {
        let draft = Draft::new(fabric)?;
        let order = updown(fabric, self.root)?;
        Choice::Random.stopping_routes(draft, &order, self.seed.unwrap_or(seed))
    }
}
