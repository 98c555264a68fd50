//! How the processing elements of a node share its rails: in turn, or by the schemes of Coll et al.,
//! "Using Multirail Networks in High Performance Clusters".

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
    /// A node sends one message after another, and they take the rails in turn.
    RoundRobin {},
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

impl Default for Scheme {
    fn default() -> Scheme {
        Scheme::RoundRobin {}
    }
}

impl Scheme {
    /// Left out of a spec's text.
    pub(super) fn is_default(&self) -> bool {
        *self == Scheme::default()
    }
}

/// Full striping.
fn all() -> f64 {
    1.0
}

/// The default threshold.
fn short() -> Bytes {
    Bytes::new(4096)
}

/// The most nodes that `rails` rails join under static allocation, `C(r, floor(r/2))` (Coll,
/// proposition 1).
pub(super) fn most_static_nodes(rails: u32) -> u64 {
    let (rails, half) = (u64::from(rails), u64::from(rails / 2));
    // Each step makes C(r - half + i, i) of the one before, so every quotient is whole.
    (1..=half).fold(1, |most, i| most * (rails - half + i) / i)
}

/// The least number of rails that join `nodes` nodes under static allocation.
pub(super) fn least_static_rails(nodes: u32) -> u32 {
    (1..).find(|&rails| most_static_nodes(rails) >= u64::from(nodes)).expect("the bound grows")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_allocation_is_bounded_as_published() {
        let table = [1, 2, 3, 6, 10, 20, 35, 70, 126, 252, 462, 924, 1716, 3432, 6435];
        for (rails, nodes) in (1..).zip(table) {
            assert_eq!(most_static_nodes(rails), nodes, "{rails} rails");
        }
        for (nodes, rails) in
            [(2, 2), (3, 3), (20, 6), (21, 7), (128, 10), (4096, 15), (65_536, 19)]
        {
            assert_eq!(least_static_rails(nodes), rails, "{nodes} nodes");
        }
    }
}
