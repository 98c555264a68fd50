//! The routings there are, by name.

use clap::ValueEnum;
use crosstie_fabric::{Fabric, Shape};
use crosstie_routing::{NotATree, Routing, Shortest, TreeAdaptive, TreeDeterministic};
use crosstie_study as study;

/// The name of a routing, as in experiment files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RoutingName {
    /// Up a tree by any free link, then down the only way
    TreeAdaptive,
    /// Up a tree by links fixed by the destination, then down the only way
    TreeDeterministic,
    /// Shortest paths on any network
    Shortest,
}

impl RoutingName {
    /// All of them.
    pub const ALL: [RoutingName; 3] =
        [RoutingName::TreeAdaptive, RoutingName::TreeDeterministic, RoutingName::Shortest];

    /// The routing a network gets if nobody names one.
    pub fn usual(fabric: &Fabric) -> RoutingName {
        match fabric.shape() {
            Shape::Tree(_) => RoutingName::TreeAdaptive,
            Shape::Single | Shape::Irregular => RoutingName::Shortest,
        }
    }

    /// The name, as in experiment files.
    pub fn name(self) -> &'static str {
        match self {
            RoutingName::TreeAdaptive => "tree-adaptive",
            RoutingName::TreeDeterministic => "tree-deterministic",
            RoutingName::Shortest => "shortest",
        }
    }

    /// The networks it can route.
    pub fn networks(self) -> &'static str {
        match self {
            RoutingName::TreeAdaptive | RoutingName::TreeDeterministic => {
                "k-ary n-trees, pruned or not"
            }
            RoutingName::Shortest => "any network",
        }
    }

    /// What it does, in a paragraph.
    pub fn description(self) -> &'static str {
        match self {
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
        }
    }

    /// The routing on a network.
    pub fn on(self, fabric: &Fabric) -> Result<Box<dyn Routing>, NotATree> {
        Ok(match self {
            RoutingName::TreeAdaptive => Box::new(TreeAdaptive::new(fabric)?),
            RoutingName::TreeDeterministic => Box::new(TreeDeterministic::new(fabric)?),
            RoutingName::Shortest => Box::new(Shortest::new(fabric)),
        })
    }
}

impl From<&study::Routing> for RoutingName {
    fn from(routing: &study::Routing) -> RoutingName {
        match routing {
            study::Routing::TreeAdaptive {} => RoutingName::TreeAdaptive,
            study::Routing::TreeDeterministic {} => RoutingName::TreeDeterministic,
            study::Routing::Shortest {} => RoutingName::Shortest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_the_command_line_are_those_of_experiment_files() {
        for routing in RoutingName::ALL {
            assert_eq!(RoutingName::from_str(routing.name(), false), Ok(routing));
            let text = format!(
                "seed = 1\nfabric.tree = {{k = 4, n = 2}}\nrouting = '{}'\ntraffic.load = 0.1\n\
                 traffic.size.fixed.size = '64 B'\n",
                routing.name()
            );
            let spec = study::Spec::from_toml("example", &text).unwrap();
            assert_eq!(RoutingName::from(&spec.routing), routing);
        }
        assert_eq!(RoutingName::value_variants(), RoutingName::ALL);
    }
}
