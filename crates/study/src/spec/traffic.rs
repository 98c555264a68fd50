//! What the hosts send: how much, when, how large, and to whom.

use crosstie_routing::Root;
use crosstie_units::Bytes;
use serde::{Deserialize, Serialize};

use super::limits;

/// What the hosts send, each on its own (open loop).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Traffic {
    /// Flits per cycle and rail of every host that sends: 1 fills its links in one direction. `None`
    /// where the saturation point is searched for; see [`super::Measure::goal`].
    #[serde(default, deserialize_with = "limits::load", skip_serializing_if = "Option::is_none")]
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

/// The time between messages of one host; its mean follows from load and size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Arrival {
    /// Exponentially distributed: a Poisson process.
    Exponential {},
    /// Always the same.
    Constant {},
    /// Each cycle begins a message with the same probability.
    Bernoulli {},
}

impl Default for Arrival {
    fn default() -> Arrival {
        Arrival::Exponential {}
    }
}

/// How large messages are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Size {
    /// All the same.
    Fixed {
        /// The size.
        #[serde(deserialize_with = "limits::message")]
        size: Bytes,
    },
    /// Exponentially distributed.
    Exponential {
        /// The mean.
        #[serde(deserialize_with = "limits::message")]
        mean: Bytes,
    },
    /// Some small, the others large.
    #[serde(rename_all = "kebab-case")]
    Bimodal {
        /// Size of the small ones.
        #[serde(deserialize_with = "limits::message")]
        small: Bytes,
        /// Size of the large ones.
        #[serde(deserialize_with = "limits::message")]
        large: Bytes,
        /// The share of messages, not of bytes, that is small.
        #[serde(deserialize_with = "limits::share")]
        small_share: f64,
    },
}

/// Where the messages of a host go. With b bits in a host's number, the bits of a source are
/// s(b-1) .. s(0) and those of its destination d(b-1) .. d(0). A host whose destination would be
/// itself is silent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Destination {
    /// Any other host, all equally likely.
    Uniform {},
    /// d(i) = s(b-1-i).
    BitReversal {},
    /// d(i) = not s(i).
    BitComplement {},
    /// d(i) = s(i + b/2 mod b).
    Transpose {},
    /// d(i) = s(i-1 mod b).
    Shuffle {},
    /// Of N hosts, the one ceil(N/2) - 1 further on.
    Tornado {},
    /// One host more often than the others.
    HotSpot {
        /// The host.
        #[serde(deserialize_with = "limits::host")]
        host: u32,
        /// The share of messages that goes to it whatever happens; the others are uniform.
        #[serde(deserialize_with = "limits::share")]
        share: f64,
    },
    /// Any host near by, all equally likely.
    Local {
        /// At most so many switches between the two.
        #[serde(deserialize_with = "limits::distance")]
        distance: u32,
        /// Along which way they are counted. Left out of a spec's text where it is the default, so
        /// that results from before it existed are still known.
        #[serde(default, skip_serializing_if = "Along::is_graph")]
        along: Along,
    },
    /// One fixed destination for each host, from a file.
    Permutation {
        /// Its path, relative to the experiment file.
        #[serde(deserialize_with = "limits::file")]
        file: String,
    },
    /// Each message follows one of several patterns.
    Mixture {
        /// The patterns.
        parts: Vec<Part>,
    },
}

impl Default for Destination {
    fn default() -> Destination {
        Destination::Uniform {}
    }
}

/// The way along which the distance of two hosts is counted, whatever way packets take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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

/// One pattern of a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Part {
    /// The share of messages that follows it.
    #[serde(deserialize_with = "limits::share")]
    pub share: f64,
    /// The pattern, anything but a mixture.
    pub destination: Destination,
}
