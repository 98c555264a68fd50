//! The routing that an experiment names, on its fabric, or the one that suits it.

mod auto;

use crosstie_fabric::{Fabric, SwitchId};
use crosstie_routing::{
    Choice, Method, MethodError, NotATree, Pick, Root, RouteTable, Routing, Shortest, TreeAdaptive,
    TreeDeterministic,
};
use crosstie_study as study;
use crosstie_units::Seed;

/// Why a routing does not work on a fabric.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoutingError {
    /// A tree routing on something else.
    #[error(transparent)]
    NotATree(#[from] NotATree),
    /// A method has no routes for this fabric.
    #[error(transparent)]
    Method(#[from] MethodError),
}

/// Computes the routes of a fabric, and says which routing made them: what `auto` stands for on this
/// fabric, else the one that was wanted. A routing that draws at random and has no seed of its own
/// draws from `seed`.
///
/// `auto` is `tree-adaptive` on k-ary n-trees and `shortest` on a single switch. On any other network
/// it is the routing without stops that loads its busiest channel least, of those that are proved
/// free of deadlock: `minimal`, if that is, else `up-down` or `dfs`, all of them with balanced routes
/// up to a number of hosts, and with random ones beyond.
pub fn routing(
    fabric: &Fabric,
    wanted: &study::Routing,
    seed: Seed,
) -> Result<(study::Routing, Box<dyn Routing>), RoutingError> {
    let routes: Box<dyn Routing> = match *wanted {
        study::Routing::Auto { seed: own } => return auto::choose(fabric, own.unwrap_or(seed)),
        study::Routing::TreeAdaptive {} => Box::new(TreeAdaptive::new(fabric)?),
        study::Routing::TreeDeterministic {} => Box::new(TreeDeterministic::new(fabric)?),
        study::Routing::Shortest {} => Box::new(Shortest::new(fabric)),
        _ => Box::new(table(fabric, wanted, seed)?),
    };
    Ok((wanted.clone(), routes))
}

/// The routes of a method, written down.
///
/// # Panics
/// If the routing is not one of the methods.
fn table(fabric: &Fabric, wanted: &study::Routing, seed: Seed) -> Result<RouteTable, MethodError> {
    let (method, own_seed) = match *wanted {
        study::Routing::Auto { .. }
        | study::Routing::TreeAdaptive {}
        | study::Routing::TreeDeterministic {}
        | study::Routing::Shortest {} => unreachable!("{wanted:?} is no method"),
        study::Routing::Minimal { pick, seed } => (Method::Minimal { pick: picked(pick) }, seed),
        study::Routing::UpDown { root, pick, seed } => {
            (Method::UpDown { root: rooted(root), pick: picked(pick) }, seed)
        }
        study::Routing::Dfs { root, pick, seed } => {
            (Method::Dfs { root: rooted(root), pick: picked(pick) }, seed)
        }
        study::Routing::Smart { moves, seed } => (Method::Smart { moves }, seed),
        study::Routing::UpDownMitb { root, seed } => {
            let choice = Choice::CompliantFirst;
            (Method::UpDownItb { root: rooted(root), choice }, seed)
        }
        study::Routing::UpDownItb { root, seed } => {
            (Method::UpDownItb { root: rooted(root), choice: Choice::Random }, seed)
        }
        study::Routing::DfsItb { root, choice, seed } => {
            (Method::DfsItb { root: rooted(root), choice: chosen(choice) }, seed)
        }
        study::Routing::BalancedItb { seed } => (Method::BalancedItb, seed),
    };
    method.routes(fabric, own_seed.unwrap_or(seed))
}

/// A routing that exists on the same fabrics and is found sooner: how long Smart searches decides how
/// good its routes are, not whether there are any.
pub(crate) fn soonest(routing: &study::Routing) -> study::Routing {
    match *routing {
        study::Routing::Smart { seed, .. } => study::Routing::Smart { moves: 0, seed },
        ref other => other.clone(),
    }
}

/// Whether a routing is free of deadlock by its kind, on any fabric.
pub(crate) fn is_safe(routing: &study::Routing) -> bool {
    !matches!(routing, study::Routing::Shortest {} | study::Routing::Minimal { .. })
}

/// Whether a routing is one of the methods, whose routes are all written down.
pub(crate) fn is_of_a_method(routing: &study::Routing) -> bool {
    !matches!(
        routing,
        study::Routing::Auto { .. }
            | study::Routing::TreeAdaptive {}
            | study::Routing::TreeDeterministic {}
            | study::Routing::Shortest {}
    )
}

/// Where the spanning tree of an order begins.
pub(crate) fn rooted(root: study::Root) -> Root {
    match root {
        study::Root::Switch(number) => Root::Switch(SwitchId(number)),
        study::Root::Central => Root::Central,
        study::Root::Remote => Root::Remote,
        study::Root::FewestRestrictions => Root::FewestRestrictions,
    }
}

fn picked(pick: study::Pick) -> Pick {
    match pick {
        study::Pick::Random => Pick::Random,
        study::Pick::Balanced => Pick::Balanced,
        study::Pick::Destination => Pick::Destination,
    }
}

fn chosen(choice: study::Choice) -> Choice {
    match choice {
        study::Choice::Random => Choice::Random,
        study::Choice::CompliantFirst => Choice::CompliantFirst,
    }
}
