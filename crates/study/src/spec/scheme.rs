//! How the processing elements of a node share its rails: the schemes of Coll et al., "Using
//! Multirail Networks in High Performance Clusters".

use crosstie_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::limits;

/// By which rule messages take rails. A message is cut into one stripe for each rail it takes, and
/// `nic.packet` says whether a stripe is one packet or several.
///
/// The *striping ratio* tells how many of the rails at hand a message takes: 0 is one of them, 1 all
/// of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Scheme {
    /// Each NIC either sends or receives, fixed at start-up by the optimal allocation; a message
    /// takes one of the rails that lead to its destination, in turn.
    Static {},
    /// A message takes one rail, in turn, whatever the NICs are doing.
    Basic {},
    /// A message takes rails whose NIC at the sender neither sends nor receives.
    LocalDynamic {
        /// The striping ratio, of the free rails.
        #[serde(default = "all", deserialize_with = "limits::striping")]
        striping: f64,
    },
    /// The NICs at both ends are reserved before a message is sent.
    Dynamic {
        /// The striping ratio, of the rails that were granted.
        #[serde(default = "all", deserialize_with = "limits::striping")]
        striping: f64,
        /// How long a processing element waits for answers before it makes do with those it has;
        /// `None`: as long as it takes.
        #[serde(
            default,
            deserialize_with = "limits::timeout",
            skip_serializing_if = "Option::is_none"
        )]
        timeout: Option<Time>,
    },
    /// As dynamic, but short messages take one free rail without reservation.
    Hybrid {
        /// As in [`Scheme::Dynamic`], for messages that are not short.
        #[serde(default = "all", deserialize_with = "limits::striping")]
        striping: f64,
        /// As in [`Scheme::Dynamic`].
        #[serde(
            default,
            deserialize_with = "limits::timeout",
            skip_serializing_if = "Option::is_none"
        )]
        timeout: Option<Time>,
        /// Messages of fewer bytes are short.
        #[serde(default = "short", deserialize_with = "limits::threshold")]
        threshold: Bytes,
    },
}

/// Full striping.
fn all() -> f64 {
    1.0
}

/// The default threshold.
fn short() -> Bytes {
    Bytes::new(4096)
}
