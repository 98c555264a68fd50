//! `auto`: the routing of a network for which nobody named one.

use crosstie_fabric::Fabric;
use crosstie_units::{Seed, range};
use serde::{Deserialize, Serialize};

use super::declaration::{Declaration, Promise};
use super::{Dfs, Minimal, RoutingKind, UpDown};
use crate::{Pick, RouteTable, Routing, RoutingError};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "auto",
    description: "Whichever suits the network: tree-adaptive on k-ary n-trees, shortest on a single switch. \
                  Elsewhere the most even of minimal, if its routes cannot deadlock there, else of up-down \
                  and dfs; balanced routes up to 512 hosts, random ones beyond.",
    needs: &[],
    promise: Promise::DeadlockFree { because: "it takes nothing that is not proved or promised" },
    paper: None,
};

/// The most hosts for which routes are balanced pair by pair. With more of them, so many routes
/// share each channel that routes drawn at random are nearly as even, and much sooner found.
const MOST_BALANCED: usize = 1 << 9;

/// The keys of `auto`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Auto {
    /// Where its draws follow from; `None`: from the seed of whoever asks.
    #[serde(deserialize_with = "range::own_seed", skip_serializing_if = "Option::is_none")]
    pub seed: Option<Seed>,
}

impl Auto {
    /// The routes of a fabric, and the kind that made them: what is usual for its shape, and where
    /// that is `auto`, the routing without stops that loads its busiest channel least, of those
    /// that are proved free of deadlock.
    pub fn routes(
        self,
        fabric: &Fabric,
        seed: Seed,
    ) -> Result<(RoutingKind, Box<dyn Routing>), RoutingError> {
        let seed = self.seed.unwrap_or(seed);
        match RoutingKind::usual(fabric.shape()) {
            RoutingKind::Auto(_) => {
                let (kind, routes) = most_even(fabric, seed)?;
                Ok((kind, Box::new(routes)))
            }
            usual => usual.routes(fabric, seed),
        }
    }
}

/// The routing that loads its busiest channel least, of those that are proved free of deadlock.
///
/// Minimal routes come first, since no others put less load on the network as a whole. On fat trees
/// they are free of deadlock, and nothing need be given up for it. Elsewhere the orders of
/// up*/down* and DFS are compared. Routings with stops need NICs that pass packets on, and Smart,
/// though it may be more even, takes too long to be tried unasked.
fn most_even(fabric: &Fabric, seed: Seed) -> Result<(RoutingKind, RouteTable), RoutingError> {
    let pick = match fabric.hosts().len() {
        ..=MOST_BALANCED => Pick::Balanced,
        _ => Pick::Random,
    };
    let own = Some(seed);
    let minimal = Minimal { pick, seed: own };
    let routes = minimal.routes(fabric, seed)?;
    if routes.is_deadlock_free() {
        return Ok((RoutingKind::Minimal(minimal), routes));
    }
    // A table may take hundreds of megabytes.
    drop(routes);
    let up_down = UpDown { pick, seed: own, ..UpDown::default() };
    let dfs = Dfs { pick, seed: own, ..Dfs::default() };
    let (first, second) = (up_down.routes(fabric, seed)?, dfs.routes(fabric, seed)?);
    Ok(match busiest(&second) < busiest(&first) {
        true => (RoutingKind::Dfs(dfs), second),
        false => (RoutingKind::UpDown(up_down), first),
    })
}

/// Routes on the busiest channel.
fn busiest(routes: &RouteTable) -> f64 {
    routes.summary().and_then(|summary| summary.load).map_or(0.0, |load| load.max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Summary, certify};
    use crosstie_fabric::{End, FabricBuilder, Irregular, Port, Shape, irregular, single, tree};

    fn chosen(fabric: &Fabric, seed: u64) -> (RoutingKind, Box<dyn Routing>) {
        Auto::default().routes(fabric, Seed(seed)).unwrap()
    }

    fn unevenness(fabric: &Fabric, routes: &dyn Routing) -> f64 {
        Summary::of(fabric, routes).unwrap().load.unwrap().unevenness()
    }

    fn random_network(switches: u32, seed: u64) -> Fabric {
        irregular(&Irregular { switches, ports: 8, hosts_per_switch: 4, links: None }, Seed(seed))
            .unwrap()
    }

    #[test]
    fn known_shapes_have_routings_of_their_own() {
        assert_eq!(chosen(&tree(4, 2).unwrap(), 1).0, RoutingKind::TreeAdaptive {});
        assert_eq!(chosen(&single(4).unwrap(), 1).0, RoutingKind::Shortest {});
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
        let (kind, routes) = chosen(&fabric, 1);
        let balanced = Minimal { pick: Pick::Balanced, seed: Some(Seed(1)) };
        assert_eq!(kind, RoutingKind::Minimal(balanced));
        assert!(unevenness(&fabric, &*routes) < 1.05);
        let before = UpDown::default().routes(&fabric, Seed(1)).unwrap();
        assert!(unevenness(&fabric, &before) > 3.5, "one root, and three spines that do nothing");
    }

    #[test]
    fn elsewhere_the_most_even_order_is_taken() {
        let mut seen = Vec::new();
        for seed in 1..=8 {
            let fabric = random_network(8, seed);
            let (kind, routes) = chosen(&fabric, seed);
            assert!(certify(&fabric, &*routes).unwrap().is_deadlock_free());
            let max =
                |routes: &dyn Routing| Summary::of(&fabric, routes).unwrap().load.unwrap().max;
            let pick = Pick::Balanced;
            let up_down = UpDown { pick, ..UpDown::default() };
            let dfs = Dfs { pick, ..Dfs::default() };
            assert!(max(&*routes) <= max(&up_down.routes(&fabric, Seed(seed)).unwrap()));
            assert!(max(&*routes) <= max(&dfs.routes(&fabric, Seed(seed)).unwrap()));
            seen.push(kind.name());
        }
        assert!(seen.contains(&"up-down") && seen.contains(&"dfs"), "{seen:?}");
    }
}
