//! Where a point is run.

use crosstie_units::{Rate, Time};
use serde::{Deserialize, Serialize};

use super::{Link, limits};

/// Where the work is done. What only one world knows has a table of its own, which is checked
/// always and used when that world is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum World {
    /// The fabric as a wormhole network, exact to the flit.
    #[default]
    Wormhole,
    /// The fabric as Ethernet, exact to the frame.
    Frame,
    /// A network without contention: no other is faster.
    Ideal,
    /// On paper: what the work costs by the parameters of the machine.
    Model,
    /// For real: on the hosts of a box, on this machine or on others.
    Live,
}

impl World {
    /// All of them.
    pub const ALL: [World; 5] =
        [World::Wormhole, World::Frame, World::Ideal, World::Model, World::Live];

    /// Its name in experiment files.
    pub fn name(self) -> &'static str {
        match self {
            World::Wormhole => "wormhole",
            World::Frame => "frame",
            World::Ideal => "ideal",
            World::Model => "model",
            World::Live => "live",
        }
    }

    /// What it is, for people.
    pub fn phrase(self) -> &'static str {
        match self {
            World::Wormhole => "the wormhole network",
            World::Frame => "the frame network",
            World::Ideal => "the ideal network",
            World::Model => "the model",
            World::Live => "real ranks",
        }
    }

    /// What to say of keys that it does not use; nothing if there are none.
    pub fn does_not_use(self, keys: &[String]) -> Option<String> {
        (!keys.is_empty()).then(|| format!("not used by {}: {}", self.phrase(), keys.join(", ")))
    }

    /// Left out of a spec's text, so that results from before there were worlds are still known.
    pub(super) fn is_default(&self) -> bool {
        *self == World::default()
    }
}

/// What only the ideal network knows. Every host has a wire of its own into and out of a network
/// without contention, as LogGP says: of a packet of b bytes that starts at s the last byte leaves
/// at s + (b - 1) / rate, the next one may start `gap` later, its first byte reaches the receiver's
/// wire `latency` after s, and that wire takes one packet after the other.
///
/// What is not written follows from the links, see [`Ideal::rate`] and its kin.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ideal {
    #[serde(deserialize_with = "limits::some_rate", skip_serializing_if = "Option::is_none")]
    rate: Option<Rate>,
    #[serde(deserialize_with = "limits::some_wire", skip_serializing_if = "Option::is_none")]
    latency: Option<Time>,
    #[serde(deserialize_with = "limits::some_wire", skip_serializing_if = "Option::is_none")]
    gap: Option<Time>,
}

impl Ideal {
    /// Bandwidth of a wire in one direction: that of a link, unless written.
    pub fn rate(&self, link: &Link) -> Rate {
        self.rate.unwrap_or(link.rate)
    }

    /// The bandwidth that is written, if one is.
    pub fn own_rate(&self) -> Option<Rate> {
        self.rate
    }

    /// Time from wire to wire: that of a link, unless written.
    pub fn latency(&self, link: &Link) -> Time {
        self.latency.unwrap_or(link.wire)
    }

    /// Time from the last byte of a packet to the first of the next, if it is written; else that of
    /// a byte.
    pub fn own_gap(&self) -> Option<Time> {
        self.gap
    }

    /// Whether nothing is written.
    pub(super) fn is_default(&self) -> bool {
        *self == Ideal::default()
    }
}
