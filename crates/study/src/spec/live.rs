//! What only real ranks know: where they run, and how long they may take.

use crosstie_units::{Time, quantities};
use serde::{Deserialize, Serialize};

use super::limits;

/// Where the ranks of `world = "live"` run. What they do, by which policy and channel, the rest of
/// the spec says; what it says of networks and nodes is not theirs, since those are what they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Live {
    /// The file of a box on whose hosts they run; its path is relative to the experiment file.
    #[serde(
        rename = "box",
        deserialize_with = "limits::some_file",
        skip_serializing_if = "Option::is_none"
    )]
    pub boxed: Option<String>,
    /// Whether they run in a box of the experiment's own: the hosts of `fabric`, with a rail for
    /// each of `cluster.rails`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_box: bool,
    /// The machines that they run on, by name, each in its turn for a host; `None`, without a box:
    /// this one for all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Whether ranks of one machine share memory; otherwise they talk by its rails.
    pub memory: bool,
    /// After how long without any way to a rank that rank is given up.
    #[serde(deserialize_with = "patience")]
    pub patience: Time,
    /// How long a point may take.
    #[serde(deserialize_with = "limit")]
    pub limit: Time,
}

quantities! {
    patience: Time = "a time", Time::from_ns(100_000_000)..=Time::from_ns(1_000_000_000_000);
    limit: Time = "a time", Time::from_ns(1_000_000_000)..=Time::from_ns(86_400_000_000_000);
}

impl Default for Live {
    fn default() -> Live {
        Live {
            boxed: None,
            own_box: false,
            hosts: None,
            memory: true,
            patience: Time::from_ns(5_000_000_000),
            limit: Time::from_ns(600_000_000_000),
        }
    }
}

impl Live {
    /// The name that stands for the machine that an experiment is run on.
    pub const THIS: &str = "localhost";

    /// The machines that take hosts in their turn, where there is no box.
    pub fn machines(&self) -> Vec<&str> {
        match &self.hosts {
            Some(hosts) => hosts.iter().map(String::as_str).collect(),
            None => vec![Live::THIS],
        }
    }

    /// Whether nothing is written.
    pub(super) fn is_default(&self) -> bool {
        *self == Live::default()
    }
}
