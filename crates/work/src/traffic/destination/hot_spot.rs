//! One host in demand.

use super::super::{Misfit, share};
use super::{Declaration, Law};
use crosstie_units::wholes;
use serde::{Deserialize, Serialize};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "hot-spot",
    sentence: "One host with a given probability, else any other; the hot host itself sends uniformly.",
};

wholes! { host: u32 = 0..=65_535; }

/// The keys of `hot-spot`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HotSpot {
    /// The host in demand.
    #[serde(deserialize_with = "host")]
    pub host: u32,
    /// The share of every other host's messages that goes to it on top of its uniform part.
    #[serde(deserialize_with = "share::read")]
    pub share: f64,
}

impl HotSpot {
    pub(super) fn check(&self, hosts: Option<u32>) -> Result<(), Misfit> {
        share::check("hot-spot.share", self.share)?;
        match hosts {
            Some(hosts) if self.host >= hosts => {
                let problem =
                    format!("found {}, expected a host from 0 to {}", self.host, hosts - 1);
                Err(Misfit::new("hot-spot.host", "no such host", problem))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn law(&self) -> Law {
        Law::HotSpot { host: self.host, share: self.share }
    }
}
