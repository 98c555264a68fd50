//! The routings there are, by name.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command};
use crosstie_fabric::Fabric;
use crosstie_routing::Routing;
use crosstie_study as study;
use crosstie_units::Seed;

use crate::exit::Failure;

/// A routing and the seed of its draws.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The routing.
    pub routing: study::Routing,
    /// Where its draws follow from, if it makes any and has no seed of its own.
    pub seed: Seed,
}

impl Wanted {
    /// The name of the routing.
    pub fn name(&self) -> &'static str {
        RoutingName::of(&self.routing).name()
    }

    /// A routing by name, with seed 1.
    #[cfg(test)]
    pub fn plain(name: &str) -> Wanted {
        Wanted { routing: study::Routing::from_argument(name).unwrap(), seed: Seed(1) }
    }

    /// The routes of a network, and the routing that made them.
    pub fn on(&self, fabric: &Fabric) -> Result<(study::Routing, Box<dyn Routing>), Failure> {
        crosstie_lab::routing(fabric, &self.routing, self.seed).map_err(Failure::user)
    }
}

/// Reads a routing with its keys from the command line, and tells shells the names there are.
#[derive(Debug, Clone)]
pub struct RoutingParser;

impl TypedValueParser for RoutingParser {
    type Value = study::Routing;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<study::Routing, clap::Error> {
        let parse = |text: &str| {
            study::Routing::from_argument(text).map_err(|diagnostic| diagnostic.to_string())
        };
        parse.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(RoutingName::ALL.iter().map(|name| PossibleValue::new(name.name()))))
    }
}

/// The kind of a routing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoutingName {
    /// Whichever suits the network.
    Auto,
    /// Up a tree by any free link, then down the only way.
    TreeAdaptive,
    /// Up a tree by links fixed by the destination, then down the only way.
    TreeDeterministic,
    /// Shortest paths on any network.
    Shortest,
    /// Minimal routes at random.
    Minimal,
    /// Up*/down*.
    UpDown,
    /// Depth-first up*/down*.
    Dfs,
    /// Smart.
    Smart,
    /// Up*/down* with as few stops as minimal routes need.
    UpDownMitb,
    /// Up*/down* with stops on any minimal route.
    UpDownItb,
    /// Depth-first up*/down* with stops.
    DfsItb,
    /// Balanced minimal routes with stops.
    BalancedItb,
}

impl RoutingName {
    /// All of them.
    pub const ALL: [RoutingName; 12] = [
        RoutingName::Auto,
        RoutingName::TreeAdaptive,
        RoutingName::TreeDeterministic,
        RoutingName::Shortest,
        RoutingName::Minimal,
        RoutingName::UpDown,
        RoutingName::Dfs,
        RoutingName::Smart,
        RoutingName::UpDownMitb,
        RoutingName::UpDownItb,
        RoutingName::DfsItb,
        RoutingName::BalancedItb,
    ];

    /// The kind of a routing.
    pub fn of(routing: &study::Routing) -> RoutingName {
        match routing {
            study::Routing::Auto { .. } => RoutingName::Auto,
            study::Routing::TreeAdaptive {} => RoutingName::TreeAdaptive,
            study::Routing::TreeDeterministic {} => RoutingName::TreeDeterministic,
            study::Routing::Shortest {} => RoutingName::Shortest,
            study::Routing::Minimal { .. } => RoutingName::Minimal,
            study::Routing::UpDown { .. } => RoutingName::UpDown,
            study::Routing::Dfs { .. } => RoutingName::Dfs,
            study::Routing::Smart { .. } => RoutingName::Smart,
            study::Routing::UpDownMitb { .. } => RoutingName::UpDownMitb,
            study::Routing::UpDownItb { .. } => RoutingName::UpDownItb,
            study::Routing::DfsItb { .. } => RoutingName::DfsItb,
            study::Routing::BalancedItb { .. } => RoutingName::BalancedItb,
        }
    }

    /// The name, as in experiment files.
    pub fn name(self) -> &'static str {
        match self {
            RoutingName::Auto => "auto",
            RoutingName::TreeAdaptive => "tree-adaptive",
            RoutingName::TreeDeterministic => "tree-deterministic",
            RoutingName::Shortest => "shortest",
            RoutingName::Minimal => "minimal",
            RoutingName::UpDown => "up-down",
            RoutingName::Dfs => "dfs",
            RoutingName::Smart => "smart",
            RoutingName::UpDownMitb => "up-down-mitb",
            RoutingName::UpDownItb => "up-down-itb",
            RoutingName::DfsItb => "dfs-itb",
            RoutingName::BalancedItb => "balanced-itb",
        }
    }

    /// The networks it can route.
    pub fn networks(self) -> &'static str {
        match self {
            RoutingName::TreeAdaptive | RoutingName::TreeDeterministic => {
                "k-ary n-trees, pruned or not"
            }
            _ => "any network",
        }
    }

    /// What it does, in a paragraph.
    pub fn description(self) -> &'static str {
        match self {
            RoutingName::Auto => {
                "Whichever suits the network: tree-adaptive on k-ary n-trees, shortest on a single switch. \
                 Elsewhere the most even of minimal, if its routes cannot deadlock there, else of up-down \
                 and dfs; balanced routes up to 512 hosts, random ones beyond."
            }
            RoutingName::TreeAdaptive => {
                "A packet climbs to a nearest common ancestor of source and destination; each switch \
                 on the way up takes any free upward port, so all minimal paths are in use and load \
                 spreads by itself. From the ancestor down there is one way. Packets between the \
                 same two hosts may overtake each other. Minimal and free of deadlock (Petrini, \
                 Appendix A)."
            }
            RoutingName::TreeDeterministic => {
                "As tree-adaptive, but the upward port at level l is fixed: the destination's digit \
                 l (D-mod-k). All packets to one destination meet at one ancestor and come down by \
                 one path; uniform traffic loads the channels of a level evenly, other patterns \
                 may not. Packets between two hosts take one path. Minimal and free of deadlock."
            }
            RoutingName::Shortest => {
                "Among the ports that lead nearer to the destination's switch, the one with the \
                 lowest number; deterministic. Free of deadlock on a single switch and on networks \
                 without cycles, but not in general: ask with --certify before simulating. On trees \
                 it crowds the lowest ports; prefer the tree routings there."
            }
            RoutingName::Minimal => {
                "For each pair of hosts a minimal route at random, or with pick=balanced the one that \
                 keeps the load even. Deadlock is not looked after: what the in-transit buffers below \
                 set right, without them."
            }
            RoutingName::UpDown => {
                "Up*/down* as in Autonet (UD). The switches are ordered by their distance from a root; a \
                 route goes towards the root for a while, then away, and never turns back. The shortest \
                 such route, ties at random; pick=balanced for an even load, pick=destination for routes \
                 that forwarding tables can hold. root=N, central (default), remote or \
                 fewest-restrictions. Free of deadlock, not minimal, crowded near the root."
            }
            RoutingName::Dfs => {
                "As up-down, but the order is that of a depth-first search, which forbids fewer turns \
                 (DFS; Sancho, Robles, Duato). The root is the best of all by default \
                 (root=fewest-restrictions). Free of deadlock, more often minimal than up-down, and \
                 more even."
            }
            RoutingName::Smart => {
                "No order: the turns that packets may take are searched for, always without a cycle, so \
                 that the busiest links carry as little as possible; moves=N changes are tried \
                 (default 2000). Then each pair of hosts takes the best of its shortest routes and \
                 those one link longer. Free of deadlock and even, but slow to compute."
            }
            RoutingName::UpDownMitb => {
                "Minimal routes only. A pair of hosts takes one that up-down allows if there is one; \
                 else the packet is taken out at a host wherever its route turns back up, and put in \
                 again (UD_MITB): as few such stops as minimal routes need. Free of deadlock."
            }
            RoutingName::UpDownItb => {
                "Any minimal route at random, with a stop at a host wherever it breaks the order of \
                 up-down (UD_ITB). More stops than up-down-mitb and a more even load. Free of deadlock."
            }
            RoutingName::DfsItb => {
                "Any minimal route at random, with a stop at a host wherever it breaks the order of dfs \
                 (DFS_ITB); choice=compliant-first prefers routes without stops. Free of deadlock."
            }
            RoutingName::BalancedItb => {
                "Minimal routes chosen for an even load. Stops are placed where the routes would wait \
                 for each other in a circle: turns are kept from the busiest down as long as they form \
                 none, and at any other turn packets stop (B_ITB). Free of deadlock."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_experiment_files() {
        for name in RoutingName::ALL {
            let routing = study::Routing::from_argument(name.name()).unwrap();
            assert_eq!(RoutingName::of(&routing), name);
        }
        let error = study::Routing::from_argument("none").unwrap_err().to_string();
        for name in RoutingName::ALL {
            assert!(error.contains(name.name()), "{name:?} is missing in {error}");
        }
    }
}
