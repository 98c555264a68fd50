//! The routing methods of Flich et al., "Combining In-Transit Buffers with Optimized Routing Schemes
//! to Boost the Performance of Networks with Source Routing", by name.

use crosstie_fabric::{Fabric, SwitchId};
use crosstie_units::Seed;

use crate::balanced::balanced;
use crate::moves::{Breach, Moves};
use crate::table::Draft;
use crate::turns::Turns;
use crate::{Order, Root, RouteTable, dfs, place_itbs, random, smart::smart, updown};

/// Which of several equally good ways a pair of hosts takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pick {
    /// Any, each with equal probability.
    Random,
    /// The one that leaves the load most even.
    Balanced,
    /// The same for all that meet at a switch on their way to one destination, as forwarding tables
    /// need it. Under an order, routes may then be longer than the shortest legal ones.
    Destination,
}

/// Which of several minimal ways a pair of hosts takes if stops make all of them possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Any, each with equal probability.
    Random,
    /// One that needs no stop if there is one, else one with the fewest stops.
    CompliantFirst,
}

/// A way of making routes on any network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Minimal routes, deadlock or not.
    Minimal {
        /// Which of several.
        pick: Pick,
    },
    /// Shortest legal routes in the order of a breadth-first tree (UD).
    UpDown {
        /// Where the tree begins.
        root: Root,
        /// Which of several.
        pick: Pick,
    },
    /// Shortest legal routes in the order of a depth-first tree (DFS).
    Dfs {
        /// Where the tree begins.
        root: Root,
        /// Which of several.
        pick: Pick,
    },
    /// Balanced routes over an acyclic set of turns, searched for (SMART).
    Smart {
        /// How many changes are tried.
        moves: u32,
    },
    /// Minimal routes with stops where they break the order of UD: UD_ITB, or UD_MITB with
    /// [`Choice::CompliantFirst`].
    UpDownItb {
        /// Where the tree begins.
        root: Root,
        /// Which of several.
        choice: Choice,
    },
    /// Minimal routes with stops where they break the order of DFS (DFS_ITB).
    DfsItb {
        /// Where the tree begins.
        root: Root,
        /// Which of several.
        choice: Choice,
    },
    /// Balanced minimal routes with stops where they form a cycle (B_ITB).
    BalancedItb,
}

/// Why a method has no routes for a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MethodError {
    /// The root does not exist.
    #[error(
        "switch {} cannot be the root: the network has {switches} switches, numbered from 0 to {}",
        switch.0, switches - 1
    )]
    NoSuchRoot {
        /// The root asked for.
        switch: SwitchId,
        /// How many switches there are.
        switches: usize,
    },
    /// The table would be too large.
    #[error("{hosts} hosts: routes are written down for at most {most} hosts")]
    TooManyHosts {
        /// How many there are.
        hosts: usize,
        /// How many there may be.
        most: usize,
    },
    /// A stop is needed where there is no host.
    #[error(
        "packets would have to stop at switch {}, which carries no host: use a method that follows \
         an order, such as up-down-itb",
        switch.0
    )]
    NoHostToStopAt {
        /// The switch.
        switch: SwitchId,
    },
}

impl Method {
    /// Makes the routes of a network.
    pub fn routes(self, fabric: &Fabric, seed: Seed) -> Result<RouteTable, MethodError> {
        let draft = Draft::new(fabric)?;
        let free = |draft: &Draft| Moves::free(draft.wiring());
        match self {
            Method::Minimal { pick } => {
                let moves = free(&draft);
                pick.routes(draft, &moves, seed)
            }
            Method::UpDown { root, pick } => legal(draft, &updown(fabric, root)?, pick, seed),
            Method::Dfs { root, pick } => legal(draft, &dfs(fabric, root)?, pick, seed),
            Method::Smart { moves } => {
                let turns = smart(fabric, moves, seed)?;
                let moves = Moves::turned(draft.wiring(), &turns);
                balanced(draft, &moves, 1, seed)
            }
            Method::UpDownItb { root, choice } => {
                stopping(draft, &updown(fabric, root)?, choice, seed)
            }
            Method::DfsItb { root, choice } => stopping(draft, &dfs(fabric, root)?, choice, seed),
            Method::BalancedItb => {
                let moves = free(&draft);
                place_itbs(&balanced(draft, &moves, 0, seed)?)
            }
        }
    }
}

impl Pick {
    fn routes(self, draft: Draft, moves: &Moves, seed: Seed) -> Result<RouteTable, MethodError> {
        match self {
            Pick::Random => random::by_pair(draft, moves, seed),
            Pick::Destination => random::by_destination(draft, moves, seed),
            Pick::Balanced => balanced(draft, moves, 0, seed),
        }
    }
}

/// Shortest legal routes.
fn legal(draft: Draft, order: &Order, pick: Pick, seed: Seed) -> Result<RouteTable, MethodError> {
    let moves = Moves::ordered(draft.wiring(), order, Breach::Forbidden);
    pick.routes(draft, &moves, seed)
}

/// Minimal routes with stops where they are not legal. Where a switch carries no host and no packet
/// can stop, ways round it are taken.
fn stopping(
    draft: Draft,
    order: &Order,
    choice: Choice,
    seed: Seed,
) -> Result<RouteTable, MethodError> {
    let breach = match choice {
        Choice::Random => Breach::Free,
        Choice::CompliantFirst => Breach::Costly,
    };
    let moves = Moves::ordered(draft.wiring(), order, breach);
    let kept = Turns::legal(draft.wiring(), order);
    random::by_pair(draft.stopping_off(kept), &moves, seed)
}

#[cfg(test)]
mod tests;
