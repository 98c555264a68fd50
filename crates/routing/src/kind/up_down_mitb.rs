//! `up-down-mitb`: minimal routes with as few stops as they need under the order of up*/down*
//! (UD_MITB).

use crosstie_fabric::Fabric;
use crosstie_units::{Seed, range};
use serde::{Deserialize, Serialize};

use super::declaration::{Declaration, FLICH, Need, Promise};
use crate::table::Draft;
use crate::{Choice, Root, RouteTable, RoutingError, updown};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "up-down-mitb",
    description: "Minimal routes only. A pair of hosts takes one that up-down allows if there is one; \
                  else the packet is taken out at a host wherever its route turns back up, and put in \
                  again (UD_MITB): as few such stops as minimal routes need. Free of deadlock.",
    needs: &[Need::InTransit],
    promise: Promise::DeadlockFree {
        because: "no leg turns from down to up in the order of the switches, and a packet that \
                  stops holds no channel",
    },
    paper: Some(FLICH),
};

/// The keys of `up-down-mitb`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct UpDownMitb {
    /// Where the tree begins.
    pub root: Root,
    /// Where its draws follow from; `None`: from the seed of whoever asks.
    #[serde(deserialize_with = "range::own_seed", skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

impl UpDownMitb {
    /// The routes of a fabric, all written down.
    pub fn routes(self, fabric: &Fabric, seed: Seed) -> Result<RouteTable, RoutingError> {
        let draft = Draft::new(fabric)?;
        let order = updown(fabric, self.root)?;
        let choice = Choice::CompliantFirst;
        choice.stopping_routes(draft, &order, self.seed.unwrap_or(seed))
    }
}
