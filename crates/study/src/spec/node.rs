//! The processors of a node.

use crosstie_units::{Bytes, Time};
use serde::{Deserialize, Serialize};

use super::limits;

/// What the processors of a node do for messages, in closed-loop work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Node {
    /// What sending and receiving takes them; `None`: no time, and no processor either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overhead: Option<Overhead>,
    /// The longest message that a send does not wait for the receive of; `None`: there is no such limit.
    #[serde(deserialize_with = "limits::some_message", skip_serializing_if = "Option::is_none")]
    pub eager: Option<Bytes>,
}

/// What sending and receiving takes a processor: o and O of LogGOPS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Overhead {
    /// For every message.
    #[serde(deserialize_with = "limits::wire")]
    pub message: Time,
    /// For every byte of it behind the first.
    #[serde(deserialize_with = "limits::per_byte")]
    pub byte: Time,
}

impl Node {
    /// Whether nothing is written.
    pub(super) fn is_default(&self) -> bool {
        *self == Node::default()
    }
}
