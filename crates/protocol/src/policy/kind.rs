//! The declaration of all policies: names, keys, what they need, and how they are made.
//!
//! A new policy is a file beside this one and an arm of [`PolicyKind`]; the compiler asks for the
//! rest.

use std::sync::Arc;

use crosstie_units::range::closed;
use crosstie_units::{Bytes, Time, quantities, reals};
use serde::{Deserialize, Deserializer, Serialize};

use super::{Basic, Dynamic, LocalDynamic, Policy, RoundRobin, StaticAllocation};
use crate::matrix::{self, Allocation, MatrixError};
use crate::{NodeError, NodeSpec, StripingRatio};

/// By which rule messages take rails; all nodes of a cluster have the same. A message is cut into
/// one stripe for each rail it takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum PolicyKind {
    /// A node takes its rails in turn, message by message, and hands everything to the network at
    /// once.
    RoundRobin {},
    /// Each NIC either sends or receives, fixed at start-up by the optimal allocation; a message
    /// takes one of the rails that lead to its destination, in turn [coll, 2].
    Static {},
    /// A message takes one rail, in turn, whatever the NICs are doing [coll, 3].
    Basic {},
    /// A message takes rails whose NIC at the sender neither sends nor receives [coll, algorithm 3].
    LocalDynamic {
        /// The striping ratio, of the free rails.
        #[serde(default = "all", deserialize_with = "striping")]
        striping: StripingRatio,
    },
    /// The NICs at both ends are reserved before a message is sent [coll, algorithms 4 to 6].
    Dynamic {
        /// The striping ratio, of the rails that were granted.
        #[serde(default = "all", deserialize_with = "striping")]
        striping: StripingRatio,
        /// How long a processing element waits for answers before it makes do with those it has;
        /// `None`: as long as it takes. Doubles each time it has none.
        #[serde(default, deserialize_with = "timeout", skip_serializing_if = "Option::is_none")]
        timeout: Option<Time>,
    },
    /// As dynamic, but short messages take one free rail without reservation [coll, algorithm 7].
    Hybrid {
        /// As in [`PolicyKind::Dynamic`], for messages that are not short.
        #[serde(default = "all", deserialize_with = "striping")]
        striping: StripingRatio,
        /// As in [`PolicyKind::Dynamic`].
        #[serde(default, deserialize_with = "timeout", skip_serializing_if = "Option::is_none")]
        timeout: Option<Time>,
        /// Messages of fewer bytes are short (SHORT_MESSAGE_LENGTH).
        #[serde(default = "short", deserialize_with = "threshold")]
        threshold: Bytes,
    },
}

reals! {
    ratio = "a striping ratio from 0 to 1", closed(0.0, 1.0);
}

quantities! {
    some_time: Time = "a time", Time::from_ns(1)..=Time::from_ns(1_000_000_000);
    threshold: Bytes = "a size", Bytes::new(0)..=Bytes::new(1 << 30);
}

/// Reads a striping ratio.
fn striping<'de, D: Deserializer<'de>>(from: D) -> Result<StripingRatio, D::Error> {
    ratio(from).map(|ratio| StripingRatio::new(ratio).expect("the ratio is in its range"))
}

/// Reads a time-out, a key that may be missing.
fn timeout<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
    some_time(from).map(Some)
}

/// Full striping.
fn all() -> StripingRatio {
    StripingRatio::ALL
}

/// The default threshold.
fn short() -> Bytes {
    Bytes::new(4096)
}

impl Default for PolicyKind {
    fn default() -> PolicyKind {
        PolicyKind::RoundRobin {}
    }
}

impl PolicyKind {
    /// Whether it is the one that nobody has to name.
    pub fn is_default(&self) -> bool {
        *self == PolicyKind::default()
    }

    /// One of each kind, with the defaults of its keys.
    pub fn all() -> [PolicyKind; 6] {
        let (striping, timeout, threshold) = (all(), None, short());
        [
            PolicyKind::RoundRobin {},
            PolicyKind::Static {},
            PolicyKind::Basic {},
            PolicyKind::LocalDynamic { striping },
            PolicyKind::Dynamic { striping, timeout },
            PolicyKind::Hybrid { striping, timeout, threshold },
        ]
    }

    /// The name, as files spell it.
    pub fn name(&self) -> &'static str {
        match self {
            PolicyKind::RoundRobin {} => "round-robin",
            PolicyKind::Static {} => "static",
            PolicyKind::Basic {} => "basic",
            PolicyKind::LocalDynamic { .. } => "local-dynamic",
            PolicyKind::Dynamic { .. } => "dynamic",
            PolicyKind::Hybrid { .. } => "hybrid",
        }
    }

    /// What it does, in a sentence.
    pub fn sentence(&self) -> &'static str {
        match self {
            PolicyKind::RoundRobin {} => {
                "A node takes its rails in turn, message by message, and sends everything at once."
            }
            PolicyKind::Static {} => {
                "Each NIC either sends or receives; a message takes one of the rails that lead to \
                 its destination, in turn."
            }
            PolicyKind::Basic {} => {
                "A message takes one rail, in turn for each processing element, whatever the NICs \
                 are doing."
            }
            PolicyKind::LocalDynamic { .. } => {
                "A message takes rails whose NIC at the sender neither sends nor receives."
            }
            PolicyKind::Dynamic { .. } => {
                "The NICs at both ends are reserved before a message is sent."
            }
            PolicyKind::Hybrid { .. } => {
                "As dynamic, but short messages take one free rail without reservation."
            }
        }
    }

    /// The names of its keys.
    pub fn keys(&self) -> &'static [&'static str] {
        match self {
            PolicyKind::RoundRobin {} | PolicyKind::Static {} | PolicyKind::Basic {} => &[],
            PolicyKind::LocalDynamic { .. } => &["striping"],
            PolicyKind::Dynamic { .. } => &["striping", "timeout"],
            PolicyKind::Hybrid { .. } => &["striping", "timeout", "threshold"],
        }
    }

    /// Whether nodes pace what they send: their processing elements each send on their own and may
    /// wait for a message to leave, and a NIC has only so many stripes and packets under way.
    /// Otherwise a node sends as one, and hands everything to the network at once.
    pub fn paces(&self) -> bool {
        match self {
            PolicyKind::RoundRobin {} => false,
            PolicyKind::Static {}
            | PolicyKind::Basic {}
            | PolicyKind::LocalDynamic { .. }
            | PolicyKind::Dynamic { .. }
            | PolicyKind::Hybrid { .. } => true,
        }
    }

    /// Whether it does for a cluster of so many nodes and rails. Static allocation joins every pair
    /// of nodes only with rails enough.
    pub fn fits(&self, nodes: u32, rails: u32) -> Result<(), MatrixError> {
        match self {
            PolicyKind::Static {} => matrix::room(rails, nodes),
            PolicyKind::RoundRobin {}
            | PolicyKind::Basic {}
            | PolicyKind::LocalDynamic { .. }
            | PolicyKind::Dynamic { .. }
            | PolicyKind::Hybrid { .. } => Ok(()),
        }
    }

    /// The policies of a cluster.
    pub fn policies(&self, nodes: u32, rails: u32) -> Result<Policies, MatrixError> {
        Ok(match *self {
            PolicyKind::RoundRobin {} => Policies::new(|_| Ok(Box::new(RoundRobin::default()))),
            PolicyKind::Static {} => {
                let matrix = matrix::algorithm2(rails, nodes)?;
                let allocation = Allocation::new(matrix).expect("algorithm 2 connects every pair");
                let allocation = Arc::new(allocation);
                Policies::new(move |spec| Ok(Box::new(StaticAllocation::new(spec, &allocation)?)))
            }
            PolicyKind::Basic {} => Policies::new(|spec| Ok(Box::new(Basic::new(spec)))),
            PolicyKind::LocalDynamic { striping } => {
                Policies::new(move |_| Ok(Box::new(LocalDynamic::new(striping))))
            }
            PolicyKind::Dynamic { striping, timeout } => {
                Policies::new(move |spec| Ok(Box::new(Dynamic::new(spec, striping, timeout))))
            }
            PolicyKind::Hybrid { striping, timeout, threshold } => Policies::new(move |spec| {
                let threshold = threshold.get();
                Ok(Box::new(Dynamic::hybrid(spec, striping, timeout, threshold)))
            }),
        })
    }
}

/// What makes the policy of a node.
type Maker = dyn Fn(&NodeSpec) -> Result<Box<dyn Policy>, NodeError> + Send + Sync;

/// Makes the policies of the nodes of one cluster: what they share is worked out once.
pub struct Policies(Box<Maker>);

impl Policies {
    /// Policies that are made in this way.
    pub fn new(
        make: impl Fn(&NodeSpec) -> Result<Box<dyn Policy>, NodeError> + Send + Sync + 'static,
    ) -> Policies {
        Policies(Box::new(make))
    }

    /// The policy of one node.
    pub fn node(&self, spec: &NodeSpec) -> Result<Box<dyn Policy>, NodeError> {
        (self.0)(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, MapAccessDeserializer, StrDeserializer};
    use std::collections::BTreeMap;

    /// The names in backticks that an error of serde expects.
    fn expected(error: Error) -> Vec<String> {
        let error = error.to_string();
        let (_, names) = error.split_once(", ").expect("found this, expected that");
        names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    #[test]
    fn every_kind_is_listed_under_the_name_that_files_use() {
        let nothing: StrDeserializer<'_, Error> = "?".into_deserializer();
        let read = expected(PolicyKind::deserialize(nothing).unwrap_err());
        assert_eq!(read, PolicyKind::all().map(|kind| kind.name().to_owned()));
    }

    #[test]
    fn keys_are_those_that_files_use_and_all_have_defaults() {
        for kind in PolicyKind::all() {
            let read = |keys: &[(&'static str, u32)]| {
                let keys: BTreeMap<&str, u32> = keys.iter().copied().collect();
                let kind = BTreeMap::from([(kind.name(), keys)]);
                PolicyKind::deserialize(MapAccessDeserializer::new(kind.into_deserializer()))
            };
            assert_eq!(read(&[]).unwrap(), kind);
            assert_eq!(expected(read(&[("?", 0)]).unwrap_err()), kind.keys(), "{}", kind.name());
        }
    }

    #[test]
    fn sentences_are_sentences() {
        for kind in PolicyKind::all() {
            let sentence = kind.sentence();
            assert!(sentence.ends_with('.') && sentence.starts_with(char::is_uppercase));
        }
    }

    #[test]
    fn only_static_allocation_needs_rails_enough() {
        for kind in PolicyKind::all() {
            assert!(kind.fits(6, 4).is_ok() && kind.policies(6, 4).is_ok());
            let needs = kind == PolicyKind::Static {};
            assert_eq!(kind.fits(7, 4).is_err(), needs, "{}", kind.name());
            assert_eq!(kind.policies(7, 4).err(), kind.fits(7, 4).err());
        }
    }
}
