//! What can be wrong with a description of traffic. Every case is the describer's to mend.

use super::Misfit;

/// Why a description of traffic was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrafficError {
    /// The load is no rate.
    #[error("found load {load}, expected a positive number of bytes per cycle and host")]
    Load {
        /// The load asked for.
        load: f64,
    },
    /// More than one message per cycle and host from a source that decides once per cycle.
    #[error(
        "Bernoulli arrivals start at most one message per cycle, but load {load} with messages of \
         {mean} on average needs more: lower the load, lengthen the messages or use \
         exponential arrivals"
    )]
    Crowded {
        /// The load asked for, per cycle.
        load: f64,
        /// The mean message size, in the unit of the load.
        mean: f64,
    },
    /// Sizes that cannot be drawn.
    #[error(transparent)]
    Size(#[from] Misfit),
    /// Every host maps to itself or has nobody near.
    #[error(
        "no host sends: the destination pattern gives each of the {hosts} hosts only itself or \
         nobody at all"
    )]
    Silent {
        /// How many hosts there are.
        hosts: u32,
    },
}
