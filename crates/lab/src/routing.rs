//! The routing that an experiment names, on its fabric.

use crosstie_fabric::{Fabric, SwitchId};
use crosstie_routing::{
    Choice, Method, MethodError, NotATree, Pick, Root, Routing, Shortest, TreeAdaptive,
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

/// Computes the routes of a fabric. A routing that draws at random and has no seed of its own draws
/// from `seed`.
pub fn routing(
    fabric: &Fabric,
    wanted: &study::Routing,
    seed: Seed,
) -> Result<Box<dyn Routing>, RoutingError> {
    let (method, own_seed) = match *wanted {
        study::Routing::TreeAdaptive {} => return Ok(Box::new(TreeAdaptive::new(fabric)?)),
        study::Routing::TreeDeterministic {} => {
            return Ok(Box::new(TreeDeterministic::new(fabric)?));
        }
        study::Routing::Shortest {} => return Ok(Box::new(Shortest::new(fabric))),
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
    Ok(Box::new(method.routes(fabric, own_seed.unwrap_or(seed))?))
}

/// Whether a routing is free of deadlock by its kind, on any fabric.
pub(crate) fn is_safe(routing: &study::Routing) -> bool {
    !matches!(routing, study::Routing::Shortest {} | study::Routing::Minimal { .. })
}

/// Whether a routing is one of the methods, whose routes are all written down.
pub(crate) fn is_of_a_method(routing: &study::Routing) -> bool {
    !matches!(
        routing,
        study::Routing::TreeAdaptive {}
            | study::Routing::TreeDeterministic {}
            | study::Routing::Shortest {}
    )
}

fn rooted(root: study::Root) -> Root {
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
