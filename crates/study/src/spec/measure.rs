//! What is measured, and how exactly.

use crosstie_units::Time;
use serde::{Deserialize, Serialize};

use super::{TrafficSpec, limits};

/// When a run is long enough, and what it keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Measure {
    /// Half-width of the confidence interval of mean latency, relative to the mean, at which a run
    /// may end.
    #[serde(deserialize_with = "limits::precision")]
    pub precision: f64,
    /// Probability that the interval holds the true mean.
    #[serde(deserialize_with = "limits::confidence")]
    pub confidence: f64,
    /// Cycles simulated at least.
    #[serde(deserialize_with = "limits::cycles")]
    pub min_cycles: u64,
    /// Cycles simulated at most; a run that ends here may be "not converged".
    #[serde(deserialize_with = "limits::cycles")]
    pub max_cycles: u64,
    /// Whether the counters of every channel are stored.
    pub channels: bool,
    /// Search for the saturation point instead of running at one load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturation: Option<Saturation>,
}

impl Measure {
    /// The limit of closed-loop work that sets none: it ends by itself, unless it never does.
    pub(super) const CLOSED_LOOP_LIMIT: u64 = 10_000_000_000;
}

impl Default for Measure {
    fn default() -> Measure {
        Measure {
            precision: 0.02,
            confidence: 0.95,
            min_cycles: 20_000,
            max_cycles: 2_000_000,
            channels: true,
            saturation: None,
        }
    }
}

impl Measure {
    /// What is asked of open-loop traffic: one load, or the saturation point.
    pub fn goal(&self, traffic: &TrafficSpec) -> Goal {
        match (self.saturation, traffic.load) {
            (Some(saturation), _) => Goal::Saturation(saturation),
            (None, load) => Goal::Load(load.unwrap_or_default()),
        }
    }
}

/// The search for the saturation point.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Saturation {
    /// The search ends when the load is known to within this much.
    #[serde(deserialize_with = "limits::saturation_precision")]
    pub precision: f64,
    /// What may be spent on runs longer than `max-cycles`.
    #[serde(deserialize_with = "limits::budget")]
    pub budget: Time,
}

impl Saturation {
    /// Returns the budget in steps of a simulation, of which a core does about 2.5 million in a
    /// second.
    pub fn work(&self) -> u64 {
        self.budget.ps() / 400_000
    }
}

impl Default for Saturation {
    fn default() -> Saturation {
        Saturation { precision: 0.01, budget: Time::from_ns(60_000_000_000) }
    }
}

/// What is asked of the simulator under open-loop traffic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// Measure at this load.
    Load(f64),
    /// Find the load at which the network saturates.
    Saturation(Saturation),
}
