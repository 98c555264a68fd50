//! How ranks exchange messages.

use crosstie_protocol::{Profile, ProfileKind};
use crosstie_units::{Bytes, Rate, Time};
use serde::{Deserialize, Serialize};

use super::limits;

/// The protocol between ranks, in closed-loop work: short messages are pushed, long ones asked for
/// \[liu, 4\]. In a file it is the table `message`; what it leaves out is as in the profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Message {
    /// The longest message that is sent without asking.
    #[serde(deserialize_with = "limits::eager")]
    pub eager: Bytes,
    /// Bytes of an envelope, beside those of a short message in it.
    #[serde(deserialize_with = "limits::control")]
    pub envelope: Bytes,
    /// What a rank keeps for each other rank before somebody asks for it; `None`: room for 32 of
    /// the longest short messages.
    #[serde(deserialize_with = "limits::some_pool", skip_serializing_if = "Option::is_none")]
    pub credit: Option<Bytes>,
    /// Whether CTS and FIN are opened in order like all other envelopes.
    pub strict: bool,
    /// Whether an envelope on each rail that carried data (FIN) tells that they are in place;
    /// otherwise the receiver sees them come.
    pub fin: bool,
    /// True if every message waits for its receive, however short it is.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub synchronous: bool,
    /// How fast a node copies what its ranks send to each other.
    #[serde(deserialize_with = "limits::rate")]
    pub memory: Rate,
    /// How long that is on its way besides.
    #[serde(deserialize_with = "limits::wire")]
    pub latency: Time,
}

impl Default for Message {
    fn default() -> Message {
        Message::of(ProfileKind::default())
    }
}

impl Message {
    /// What a profile says, and how fast a node copies.
    pub fn of(profile: ProfileKind) -> Message {
        let Profile { message, headers, .. } = Profile::of(profile);
        Message {
            eager: Bytes::new(message.eager),
            envelope: Bytes::new(headers.envelope.into()),
            credit: None,
            strict: message.strict,
            fin: message.fins,
            synchronous: message.synchronous,
            memory: Rate::from_bytes_per_second(1_000_000_000),
            latency: Time::from_ns(500),
        }
    }
}
