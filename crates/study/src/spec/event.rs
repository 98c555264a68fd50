//! What happens to links, and who else uses them.

use crosstie_units::{Bytes, Rate, Recurrence, Seed, Time};
use serde::{Deserialize, Serialize};

use super::{Placement, limits};

/// Something that happens to the links of a rail, once or again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LinkEvent {
    /// When it happens, first.
    #[serde(deserialize_with = "limits::moment")]
    pub at: Time,
    /// The rail.
    #[serde(deserialize_with = "limits::place")]
    pub rail: u32,
    /// The hosts whose links they are; `None`: all links of the rail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Placement>,
    /// The bandwidth that they have then.
    #[serde(
        default,
        deserialize_with = "limits::some_rate",
        skip_serializing_if = "Option::is_none"
    )]
    pub rate: Option<Rate>,
    /// Whether they go down.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub down: bool,
    /// Whether they come up again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub up: bool,
    /// How long it lasts; `None`: for good.
    #[serde(
        default,
        rename = "for",
        deserialize_with = "limits::some_duration",
        skip_serializing_if = "Option::is_none"
    )]
    pub lasts: Option<Time>,
    /// From one time to the next.
    #[serde(
        default,
        deserialize_with = "limits::some_duration",
        skip_serializing_if = "Option::is_none"
    )]
    pub every: Option<Time>,
    /// How often.
    #[serde(default = "once", deserialize_with = "limits::times", skip_serializing_if = "is_once")]
    pub times: u32,
    /// Whether the times between are random, and `every` is their mean.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub random: bool,
}

fn once() -> u32 {
    1
}

fn is_once(times: &u32) -> bool {
    *times == 1
}

impl LinkEvent {
    /// When it happens, and how often.
    pub(super) fn recurrence(&self) -> Recurrence {
        let &LinkEvent { at, lasts, every, times, random, .. } = self;
        Recurrence { at, lasts, every, times, random }
    }

    /// When it happens. What is random about it follows from the seed and from its number among all
    /// events.
    pub fn moments(&self, seed: Seed, number: u64) -> Vec<Time> {
        self.recurrence().moments(seed.stream("event", number))
    }
}

/// Somebody else's stream over the same buses, ports and wires.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Competitor {
    /// The rail that it takes.
    #[serde(deserialize_with = "limits::place")]
    pub rail: u32,
    /// The host that sends.
    #[serde(deserialize_with = "limits::host")]
    pub from: u32,
    /// The host that receives.
    #[serde(deserialize_with = "limits::host")]
    pub to: u32,
    /// The size of its messages.
    #[serde(deserialize_with = "limits::message")]
    pub size: Bytes,
    /// When it begins.
    #[serde(default = "at_once", deserialize_with = "limits::moment")]
    pub begin: Time,
    /// When it ends.
    #[serde(deserialize_with = "limits::moment")]
    pub end: Time,
    /// Packets that it has under way.
    #[serde(default = "Competitor::window", deserialize_with = "limits::window")]
    pub window: u32,
}

fn at_once() -> Time {
    Time::ZERO
}

impl Competitor {
    fn window() -> u32 {
        16
    }
}
