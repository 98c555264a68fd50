//! Which of several equally good ways a pair of hosts takes.

use crosstie_units::Seed;
use serde::{Deserialize, Serialize};

use crate::balanced::balanced;
use crate::moves::{Breach, Moves};
use crate::table::Draft;
use crate::{Order, RouteTable, RoutingError, random};

/// Which of several equally good ways a pair of hosts takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// Any, each with equal probability.
    #[default]
    Random,
    /// The one that leaves the load most even.
    Balanced,
    /// The same for all that meet at a switch on their way to one destination, as forwarding tables
    /// need it. Under an order, routes may then be longer than the shortest legal ones.
    Destination,
}

impl Pick {
    /// Shortest routes among these moves.
    pub(crate) fn routes(
        self,
        draft: Draft,
        moves: &Moves,
        seed: Seed,
    ) -> Result<RouteTable, RoutingError> {
        match self {
            Pick::Random => random::by_pair(draft, moves, seed),
            Pick::Destination => random::by_destination(draft, moves, seed),
            Pick::Balanced => balanced(draft, moves, 0, seed),
        }
    }

    /// Shortest legal routes.
    pub(crate) fn legal_routes(
        self,
        draft: Draft,
        order: &Order,
        seed: Seed,
    ) -> Result<RouteTable, RoutingError> {
        let moves = Moves::ordered(draft.wiring(), order, Breach::Forbidden);
        self.routes(draft, &moves, seed)
    }
}
