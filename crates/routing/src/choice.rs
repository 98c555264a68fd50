//! Which of several minimal ways a pair of hosts takes if stops make all of them possible.

use crosstie_units::Seed;
use serde::{Deserialize, Serialize};

use crate::moves::{Breach, Moves};
use crate::table::Draft;
use crate::turns::Turns;
use crate::{Order, RouteTable, RoutingError, random};

/// Which of several minimal ways a pair of hosts takes if stops make all of them possible.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// Any, each with equal probability.
    #[default]
    Random,
    /// One that needs no stop if there is one, else one with the fewest stops.
    CompliantFirst,
}

impl Choice {
    /// Minimal routes with stops where they are not legal. Where a switch carries no host and no
    /// packet can stop, ways round it are taken.
    pub(crate) fn stopping_routes(
        self,
        draft: Draft,
        order: &Order,
        seed: Seed,
    ) -> Result<RouteTable, RoutingError> {
        let breach = match self {
            Choice::Random => Breach::Free,
            Choice::CompliantFirst => Breach::Costly,
        };
        let moves = Moves::ordered(draft.wiring(), order, breach);
        let kept = Turns::legal(draft.wiring(), order);
        random::by_pair(draft.stopping_off(kept), &moves, seed)
    }
}
