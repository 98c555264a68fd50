//! The declaration of all policies: names, keys, what they need, and how they are made.
//!
//! A new policy is a file beside this one and an arm of [`PolicyKind`]; the compiler asks for the
//! rest.

use std::sync::Arc;

use crosstie_units::range::closed;
use crosstie_units::{Bytes, Time, quantities, reals, wholes};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    Basic, Cutting, Dynamic, Fastest, LocalDynamic, Multiplex, Policy, Pull, RoundRobin, Rule,
    Shares, StaticAllocation, Striping,
};
use crate::matrix::{self, Allocation, MatrixError};
use crate::weights::Adaptation;
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
    /// A message takes rails whose NIC at the sender neither sends nor receives [coll, algorithm
    /// 3].
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
    /// Each processing element has one rail for everything: the first has the first, and so on
    /// [liu, 4.4].
    Binding {},
    /// Messages to a node take rails in turn, a rail of weight w as often as w rails of weight 1
    /// [liu, 4.4].
    WeightedRoundRobin {
        /// The weights of the rails; the last one goes for all further rails.
        #[serde(default = "equal", deserialize_with = "weights", serialize_with = "list")]
        weights: Shares,
    },
    /// Messages to a node take a rail so many times before they take the next one [liu, 4.4].
    WindowRoundRobin {
        /// How many times.
        #[serde(default = "several", deserialize_with = "window")]
        window: u32,
    },
    /// Long messages are cut into equal stripes for all rails; short ones take rails in turn [liu,
    /// 4.4].
    EvenStriping {
        /// Messages of fewer bytes are short.
        #[serde(default = "worthwhile", deserialize_with = "threshold")]
        threshold: Bytes,
    },
    /// Long messages are cut in proportion to fixed weights; short ones take rails in turn [liu,
    /// 4.4].
    WeightedStriping {
        /// As in [`PolicyKind::WeightedRoundRobin`].
        #[serde(default = "equal", deserialize_with = "weights", serialize_with = "list")]
        weights: Shares,
        /// As in [`PolicyKind::EvenStriping`].
        #[serde(default = "worthwhile", deserialize_with = "threshold")]
        threshold: Bytes,
    },
    /// Long messages are cut in proportion to weights that follow what rails carry; short ones take
    /// rails in turn [liu, 4.5].
    AdaptiveStriping {
        /// How much the latest message counts beside those before it: alpha.
        #[serde(default = "half", deserialize_with = "alpha")]
        alpha: f64,
        /// The least share of a message that a rail is given.
        #[serde(default = "hundredth", deserialize_with = "floor")]
        floor: f64,
        /// The sum of all weights, if these are to be whole numbers.
        #[serde(default, deserialize_with = "some_units", skip_serializing_if = "Option::is_none")]
        units: Option<u32>,
        /// As in [`PolicyKind::EvenStriping`].
        #[serde(default = "worthwhile", deserialize_with = "threshold")]
        threshold: Bytes,
    },
    /// A message takes the rail on which it is expected to be there first, by what is ahead of it
    /// and by what each rail has shown.
    Fastest {},
    /// Rails take the next piece of a long message as they finish; short messages take the rail on
    /// which they are expected to be there first.
    Pull {},
}

reals! {
    ratio = "a striping ratio from 0 to 1", closed(0.0, 1.0);
    alpha = "a share from 0.001 to 1", closed(0.001, 1.0);
    floor = "a share from 0 to 0.5", closed(0.0, 0.5);
}

wholes! {
    window: u32 = 1..=65_536;
    weight: u16 = 1..=10_000;
    units: u32 = 10..=1_000_000;
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

/// Reads the sum of whole weights, a key that may be missing.
fn some_units<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    units(from).map(Some)
}

/// One weight.
#[derive(Deserialize)]
struct Weight(#[serde(deserialize_with = "weight")] u16);

/// Reads weights.
fn weights<'de, D: Deserializer<'de>>(from: D) -> Result<Shares, D::Error> {
    let weights: Vec<Weight> = Vec::deserialize(from)?;
    let weights: Vec<u16> = weights.into_iter().map(|Weight(weight)| weight).collect();
    Shares::new(&weights).ok_or_else(|| {
        let (found, most) = (weights.len(), Shares::MOST);
        D::Error::custom(format!("found {found} weights, expected 1 to {most}"))
    })
}

/// Writes weights.
fn list<S: Serializer>(weights: &Shares, to: S) -> Result<S::Ok, S::Error> {
    weights.as_slice().serialize(to)
}

/// Equal weights.
fn equal() -> Shares {
    Shares::EQUAL
}

/// The default window.
fn several() -> u32 {
    8
}

/// From where on a message is cut by default [liu, 11].
fn worthwhile() -> Bytes {
    Bytes::new(16_384)
}

/// The default alpha.
fn half() -> f64 {
    0.5
}

/// The default floor.
fn hundredth() -> f64 {
    0.01
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
    /// The one that does best for messages between ranks, by measurement over rails that are equal,
    /// differ, change and die.
    pub fn recommended() -> PolicyKind {
        PolicyKind::Pull {}
    }

    /// One of each kind, with the defaults of its keys.
    pub fn all() -> [PolicyKind; 14] {
        let (striping, timeout, threshold) = (all(), None, short());
        let (weights, alpha, floor, units) = (equal(), half(), hundredth(), None);
        [
            PolicyKind::RoundRobin {},
            PolicyKind::Static {},
            PolicyKind::Basic {},
            PolicyKind::LocalDynamic { striping },
            PolicyKind::Dynamic { striping, timeout },
            PolicyKind::Hybrid { striping, timeout, threshold },
            PolicyKind::Binding {},
            PolicyKind::WeightedRoundRobin { weights },
            PolicyKind::WindowRoundRobin { window: several() },
            PolicyKind::EvenStriping { threshold: worthwhile() },
            PolicyKind::WeightedStriping { weights, threshold: worthwhile() },
            PolicyKind::AdaptiveStriping { alpha, floor, units, threshold: worthwhile() },
            PolicyKind::Fastest {},
            PolicyKind::Pull {},
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
            PolicyKind::Binding {} => "binding",
            PolicyKind::WeightedRoundRobin { .. } => "weighted-round-robin",
            PolicyKind::WindowRoundRobin { .. } => "window-round-robin",
            PolicyKind::EvenStriping { .. } => "even-striping",
            PolicyKind::WeightedStriping { .. } => "weighted-striping",
            PolicyKind::AdaptiveStriping { .. } => "adaptive-striping",
            PolicyKind::Fastest {} => "fastest",
            PolicyKind::Pull {} => "pull",
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
            PolicyKind::Binding {} => "Each processing element has one rail for everything.",
            PolicyKind::WeightedRoundRobin { .. } => {
                "Messages to a node take rails in turn, some rails more often than others."
            }
            PolicyKind::WindowRoundRobin { .. } => {
                "Messages to a node take a rail several times before they take the next one."
            }
            PolicyKind::EvenStriping { .. } => {
                "Long messages are cut into equal stripes for all rails; short ones take rails in \
                 turn."
            }
            PolicyKind::WeightedStriping { .. } => {
                "Long messages are cut by fixed weights; short ones take rails in turn."
            }
            PolicyKind::AdaptiveStriping { .. } => {
                "Long messages are cut by weights that follow what rails carry; short ones take \
                 rails in turn."
            }
            PolicyKind::Fastest {} => {
                "A message takes the rail on which it is expected to be there first."
            }
            PolicyKind::Pull {} => {
                "Rails take the next piece of a long message as they finish; short ones take the \
                 rail on which they are expected to be there first."
            }
        }
    }

    /// The names of its keys.
    pub fn keys(&self) -> &'static [&'static str] {
        match self {
            PolicyKind::RoundRobin {}
            | PolicyKind::Static {}
            | PolicyKind::Basic {}
            | PolicyKind::Binding {}
            | PolicyKind::Fastest {}
            | PolicyKind::Pull {} => &[],
            PolicyKind::LocalDynamic { .. } => &["striping"],
            PolicyKind::Dynamic { .. } => &["striping", "timeout"],
            PolicyKind::Hybrid { .. } => &["striping", "timeout", "threshold"],
            PolicyKind::WeightedRoundRobin { .. } => &["weights"],
            PolicyKind::WindowRoundRobin { .. } => &["window"],
            PolicyKind::EvenStriping { .. } => &["threshold"],
            PolicyKind::WeightedStriping { .. } => &["weights", "threshold"],
            PolicyKind::AdaptiveStriping { .. } => &["alpha", "floor", "units", "threshold"],
        }
    }

    /// How NICs take what they are given.
    pub fn pacing(&self) -> Pacing {
        match self {
            PolicyKind::RoundRobin {} => Pacing::AtOnce,
            PolicyKind::Static {}
            | PolicyKind::Basic {}
            | PolicyKind::LocalDynamic { .. }
            | PolicyKind::Dynamic { .. }
            | PolicyKind::Hybrid { .. } => Pacing::Transfers,
            PolicyKind::Binding {}
            | PolicyKind::WeightedRoundRobin { .. }
            | PolicyKind::WindowRoundRobin { .. }
            | PolicyKind::EvenStriping { .. }
            | PolicyKind::WeightedStriping { .. }
            | PolicyKind::AdaptiveStriping { .. }
            | PolicyKind::Fastest {}
            | PolicyKind::Pull {} => Pacing::InOrder,
        }
    }

    /// Returns true if a long message takes several rails.
    pub fn stripes(&self) -> bool {
        match self {
            PolicyKind::LocalDynamic { striping }
            | PolicyKind::Dynamic { striping, .. }
            | PolicyKind::Hybrid { striping, .. } => *striping != StripingRatio::ONE,
            PolicyKind::EvenStriping { .. }
            | PolicyKind::WeightedStriping { .. }
            | PolicyKind::AdaptiveStriping { .. }
            | PolicyKind::Pull { .. } => true,
            PolicyKind::RoundRobin { .. }
            | PolicyKind::Static { .. }
            | PolicyKind::Basic { .. }
            | PolicyKind::Binding { .. }
            | PolicyKind::WeightedRoundRobin { .. }
            | PolicyKind::WindowRoundRobin { .. }
            | PolicyKind::Fastest { .. } => false,
        }
    }

    /// Whether nodes pace what they send: their processing elements each send on their own, and a
    /// NIC has only so many packets under way. Otherwise a node sends as one, and hands
    /// everything to the network at once.
    pub fn paces(&self) -> bool {
        self.pacing() != Pacing::AtOnce
    }

    /// Returns true if nodes reserve the NICs of receivers before they send. That takes control
    /// packets between NICs, which real rails do not have.
    pub fn reserves(&self) -> bool {
        matches!(self, PolicyKind::Dynamic { .. } | PolicyKind::Hybrid { .. })
    }

    /// Those that real ranks can have.
    pub fn live() -> impl Iterator<Item = PolicyKind> {
        PolicyKind::all().into_iter().filter(|kind| !kind.reserves())
    }

    /// Whether it does for a cluster of so many nodes and rails. Static allocation joins every pair
    /// of nodes only with rails enough.
    pub fn fits(&self, nodes: u32, rails: u32) -> Result<(), MatrixError> {
        match self {
            PolicyKind::Static {} => matrix::room(rails, nodes),
            _ => Ok(()),
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
            PolicyKind::Binding {} => multiplex(Rule::Binding),
            PolicyKind::WeightedRoundRobin { weights } => multiplex(Rule::Weighted(weights)),
            PolicyKind::WindowRoundRobin { window } => multiplex(Rule::Window(window)),
            PolicyKind::EvenStriping { threshold } => {
                stripe(Cutting::Weighted(Shares::EQUAL), threshold)
            }
            PolicyKind::WeightedStriping { weights, threshold } => {
                stripe(Cutting::Weighted(weights), threshold)
            }
            PolicyKind::AdaptiveStriping { alpha, floor, units, threshold } => {
                stripe(Cutting::Adaptive(Adaptation { alpha, floor, units }), threshold)
            }
            PolicyKind::Fastest {} => Policies::new(|spec| Ok(Box::new(Fastest::new(spec)))),
            PolicyKind::Pull {} => Policies::new(|spec| Ok(Box::new(Pull::new(spec)))),
        })
    }
}

/// How NICs take what they are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pacing {
    /// They hand everything to the network at once.
    AtOnce,
    /// They send only so many stripes at once, and have only so many packets under way; processing
    /// elements may wait for a message to leave.
    Transfers,
    /// They send stripes one after another, and have only so many packets under way.
    InOrder,
}

fn multiplex(rule: Rule) -> Policies {
    Policies::new(move |spec| Ok(Box::new(Multiplex::new(rule, spec.rails))))
}

fn stripe(cutting: Cutting, threshold: Bytes) -> Policies {
    Policies::new(move |spec| {
        Ok(Box::new(Striping::new(spec, cutting, threshold.get(), Rule::RoundRobin)))
    })
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
