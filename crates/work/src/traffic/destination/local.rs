//! Hosts near by.

use super::super::{Misfit, Neighbourhood};
use super::{Declaration, Law};
use crosstie_fabric::Fabric;
use crosstie_routing::{Root, updown};
use crosstie_units::wholes;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "local",
    sentence: "Any other host at most a given number of switches away; a host with nobody near sends nothing.",
};

wholes! { distance: u32 = 1..=64; }

/// The keys of `local`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Local {
    /// At most so many switches between the two.
    #[serde(deserialize_with = "distance")]
    pub distance: u32,
    /// Along which way they are counted. Left out of a spec's text where it is the default, so
    /// that results from before it existed are still known.
    #[serde(default, skip_serializing_if = "Along::is_graph")]
    pub along: Along,
}

/// The way along which the distance of two hosts is counted, whatever way packets take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Along {
    /// The shortest there is.
    Graph {},
    /// The shortest that goes up a breadth-first tree and then down.
    UpDown {
        /// Where the tree begins.
        #[serde(default)]
        root: Root,
    },
}

impl Along {
    fn is_graph(&self) -> bool {
        *self == Along::Graph {}
    }
}

impl Default for Along {
    fn default() -> Along {
        Along::Graph {}
    }
}

impl Local {
    /// The hosts near each host of a fabric.
    pub fn neighbourhood(&self, fabric: &Fabric) -> Result<Neighbourhood, Misfit> {
        match self.along {
            Along::Graph {} => Ok(Neighbourhood::within(fabric, self.distance)),
            Along::UpDown { root } => {
                let order = updown(fabric, root).map_err(|error| {
                    Misfit::new("local.along.up-down.root", "no such root", error.to_string())
                        .help("give another `root`, or leave it out")
                })?;
                Ok(Neighbourhood::within_legal(fabric, self.distance, &order))
            }
        }
    }

    pub(super) fn law(&self, fabric: &Fabric) -> Result<Law, Misfit> {
        self.neighbourhood(fabric).map(|near| Law::Local(Arc::new(near)))
    }
}
