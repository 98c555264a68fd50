//! Open-loop traffic as an experiment describes it.

use super::{Arrival, Destination, Size};
use crosstie_units::range::positive;
use crosstie_units::reals;
use serde::{Deserialize, Deserializer, Serialize};

reals! { load_value = "a load above 0 and at most 1", positive(1.0); }

/// As [`load_value`], for a key that may be missing.
fn load<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    load_value(from).map(Some)
}

/// What the hosts send, each on its own (open loop).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrafficSpec {
    /// Flits per cycle and rail of every host that sends: 1 fills its links in one direction.
    /// `None` where the saturation point is searched for.
    #[serde(default, deserialize_with = "load", skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// The time between messages of one host.
    #[serde(default)]
    pub arrival: Arrival,
    /// How large messages are.
    pub size: Size,
    /// Where they go.
    #[serde(default)]
    pub destination: Destination,
}
