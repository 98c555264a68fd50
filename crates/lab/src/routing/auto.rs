//! The routing of a network for which nobody named one.

use super::{RoutingError, table};
use crosstie_fabric::{Fabric, Shape};
use crosstie_routing::{MethodError, RouteTable, Routing, Shortest, TreeAdaptive};
use crosstie_study as study;
use crosstie_units::Seed;

/// The most hosts for which routes are balanced pair by pair. With more of them, so many routes share
/// each channel that routes drawn at random are nearly as even, and much sooner found.
const MOST_BALANCED: usize = 1 << 9;

/// What suits the shape of a fabric, and its routes.
pub(super) fn choose(
    fabric: &Fabric,
    seed: Seed,
) -> Result<(study::Routing, Box<dyn Routing>), RoutingError> {
    Ok(match fabric.shape() {
        Shape::Tree(_) => (study::Routing::TreeAdaptive {}, Box::new(TreeAdaptive::new(fabric)?)),
        Shape::Single => (study::Routing::Shortest {}, Box::new(Shortest::new(fabric))),
        Shape::Irregular => {
            let (routing, routes) = most_even(fabric, seed)?;
            (routing, Box::new(routes))
        }
    })
}

/// The routing that loads its busiest channel least, of those that are proved free of deadlock.
///
/// Minimal routes come first, since no others put less load on the network as a whole. On fat trees
/// they are free of deadlock, and nothing need be given up for it. Elsewhere the orders of up*/down*
/// and DFS are compared. Routings with stops need NICs that pass packets on, and Smart, though it may
/// be more even, takes too long to be tried unasked.
fn most_even(fabric: &Fabric, seed: Seed) -> Result<(study::Routing, RouteTable), MethodError> {
    let pick = match fabric.hosts().len() {
        ..=MOST_BALANCED => study::Pick::Balanced,
        _ => study::Pick::Random,
    };
    let made = |wanted| table(fabric, &wanted, seed).map(|routes| (wanted, routes));
    let own = Some(seed);
    let minimal = made(study::Routing::Minimal { pick, seed: own })?;
    if minimal.1.is_deadlock_free() {
        return Ok(minimal);
    }
    // A table may take hundreds of megabytes.
    drop(minimal);
    let root = study::Root::Central;
    let first = made(study::Routing::UpDown { root, pick, seed: own })?;
    let root = study::Root::FewestRestrictions;
    let second = made(study::Routing::Dfs { root, pick, seed: own })?;
    Ok(if busiest(&second.1) < busiest(&first.1) { second } else { first })
}

/// Routes on the busiest channel.
fn busiest(routes: &RouteTable) -> f64 {
    routes.summary().and_then(|summary| summary.load).map_or(0.0, |load| load.max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_fabric::{End, FabricBuilder, Irregular, Port, irregular, single, tree};
    use crosstie_routing::{Summary, certify};

    fn unevenness(fabric: &Fabric, routes: &dyn Routing) -> f64 {
        Summary::of(fabric, routes).unwrap().load.unwrap().unevenness()
    }

    fn random_network(switches: u32, seed: u64) -> Fabric {
        irregular(&Irregular { switches, ports: 8, hosts_per_switch: 4, links: None }, Seed(seed))
            .unwrap()
    }

    #[test]
    fn known_shapes_have_routings_of_their_own() {
        let name = |fabric: &Fabric| choose(fabric, Seed(1)).unwrap().0.to_argument();
        assert_eq!(name(&tree(4, 2).unwrap()), "tree-adaptive");
        assert_eq!(name(&single(4).unwrap()), "shortest");
    }

    #[test]
    fn a_fat_tree_nobody_knows_to_be_one_is_loaded_evenly() {
        // Eight leaves with eight hosts each, every leaf linked to every one of four spines.
        let mut builder = FabricBuilder::default();
        let leaves: Vec<_> = (0..8).map(|leaf| builder.switch(format!("l{leaf}"), 12)).collect();
        let spines: Vec<_> = (0..4).map(|spine| builder.switch(format!("s{spine}"), 8)).collect();
        for (l, &leaf) in leaves.iter().enumerate() {
            for port in 0..8 {
                let host = builder.host("h");
                builder.connect(End::host(host), End::switch(leaf, Port(port)));
            }
            for (s, &spine) in spines.iter().enumerate() {
                let up = End::switch(leaf, Port(8 + s as u16));
                builder.connect(up, End::switch(spine, Port(l as u16)));
            }
        }
        let fabric = builder.build("fat tree", Shape::Irregular).unwrap();
        let (routing, routes) = choose(&fabric, Seed(1)).unwrap();
        assert_eq!(routing.to_argument(), "minimal,pick=balanced,seed=1");
        assert!(unevenness(&fabric, &*routes) < 1.05);
        let before = study::Routing::from_argument("up-down").unwrap();
        let before = table(&fabric, &before, Seed(1)).unwrap();
        assert!(unevenness(&fabric, &before) > 3.5, "one root, and three spines that do nothing");
    }

    #[test]
    fn elsewhere_the_most_even_order_is_taken() {
        let mut seen = Vec::new();
        for seed in 1..=8 {
            let fabric = random_network(8, seed);
            let (routing, routes) = choose(&fabric, Seed(seed)).unwrap();
            assert!(certify(&fabric, &*routes).unwrap().is_deadlock_free());
            let max =
                |routes: &dyn Routing| Summary::of(&fabric, routes).unwrap().load.unwrap().max;
            for order in ["up-down,pick=balanced", "dfs,pick=balanced"] {
                let order = study::Routing::from_argument(order).unwrap();
                assert!(max(&*routes) <= max(&table(&fabric, &order, Seed(seed)).unwrap()));
            }
            seen.push(routing.to_argument().split(',').next().unwrap().to_owned());
        }
        assert!(
            seen.contains(&"up-down".to_owned()) && seen.contains(&"dfs".to_owned()),
            "{seen:?}"
        );
    }
}
