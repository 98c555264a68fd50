//! The declaration of all channels: names, keys, and how they are made.

use crosstie_units::{Time, quantities, wholes};
use serde::{Deserialize, Deserializer, Serialize};

use super::{ChannelSpec, GoBackNSpec, SelectiveSpec};

/// What stands between nodes and each network: whether what it loses is sent again, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum ChannelKind {
    /// Nothing: packets go as they are, and what the network loses is lost.
    Raw {},
    /// Go-back-N with a fixed window; a Nack makes the sender send everything outstanding again at
    /// once, and then nothing new until a Pack [tam, 4].
    GoBackN {
        /// Most packets outstanding between two nodes in one direction, W_FC.
        #[serde(default = "eight", deserialize_with = "packets")]
        window: u32,
        /// How long a packet is outstanding before it is sent again, TO; `None`: as the network
        /// recommends.
        #[serde(default, deserialize_with = "own_time", skip_serializing_if = "Option::is_none")]
        timeout: Option<Time>,
        /// When packets are acknowledged.
        #[serde(default)]
        acknowledge: Acknowledge,
    },
    /// Go-back-N without Nacks: only a time-out tells of a loss, and makes the sender send
    /// everything outstanding again [tam, 4].
    SimpleGoBackN {
        /// As in [`ChannelKind::GoBackN`].
        #[serde(default = "eight", deserialize_with = "packets")]
        window: u32,
        /// As in [`ChannelKind::GoBackN`].
        #[serde(default, deserialize_with = "own_time", skip_serializing_if = "Option::is_none")]
        timeout: Option<Time>,
        /// As in [`ChannelKind::GoBackN`].
        #[serde(default)]
        acknowledge: Acknowledge,
    },
    /// Packets are delivered as they come, only what is missing is sent again, and the window finds
    /// itself from the rate of delivery and the round trip.
    Selective {
        /// The least time-out; `None`: as is recommended.
        #[serde(default, deserialize_with = "own_time", skip_serializing_if = "Option::is_none")]
        least: Option<Time>,
        /// The queue ahead of the rail, in time; `None`: as is recommended.
        #[serde(default, deserialize_with = "any_time", skip_serializing_if = "Option::is_none")]
        ahead: Option<Time>,
        /// How long a packet waits at most until it is acknowledged; `None`: as is recommended.
        #[serde(default, deserialize_with = "own_time", skip_serializing_if = "Option::is_none")]
        after: Option<Time>,
    },
}

/// What stands for keys that nobody gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recommended {
    /// The time-out of go-back-N.
    pub timeout: Time,
    /// All of selective recovery.
    pub selective: SelectiveSpec,
}

impl Recommended {
    /// Between real hosts.
    pub const LIVE: Recommended =
        Recommended { timeout: Time::from_ns(20_000_000), selective: SelectiveSpec::LIVE };

    /// The same on a network where packets are known to take longer: no time-out is shorter there.
    pub fn on(self, network: &Recommended) -> Recommended {
        let SelectiveSpec { least, late, .. } = network.selective;
        let least = self.selective.least.max(least);
        Recommended {
            timeout: self.timeout.max(network.timeout),
            selective: SelectiveSpec { least, late, ..self.selective },
        }
    }

    /// Between simulated hosts, where it is known how long a packet may take to be acknowledged.
    pub fn simulated(timeout: Time, selective: SelectiveSpec) -> Recommended {
        Recommended { timeout, selective }
    }
}

/// When packets in order are acknowledged. In every style, data that goes the other way carries an
/// acknowledgement, and what was waiting for a Pack then needs none [tam, 4]; and no Pack goes
/// beside a full window: it waits for room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Acknowledge {
    /// At once: each has a Pack of its own.
    #[default]
    Immediate,
    /// Some together, or when they have waited.
    Delayed {
        /// Packets for which there is a Pack at once; no more than the window, which has no more.
        #[serde(default = "two", deserialize_with = "packets")]
        every: u32,
        /// How long fewer of them wait; `None`: a quarter of the time-out.
        #[serde(default, deserialize_with = "own_time", skip_serializing_if = "Option::is_none")]
        after: Option<Time>,
    },
    /// On data that goes the other way. There is a Pack where none goes: for a whole window, or
    /// when packets have waited.
    Piggyback {
        /// How long they wait; `None`: a quarter of the time-out.
        #[serde(default, deserialize_with = "own_time", skip_serializing_if = "Option::is_none")]
        after: Option<Time>,
    },
}

wholes! {
    packets: u32 = 1..=i64::from(GoBackNSpec::WIDEST);
}

quantities! {
    some_time: Time = "a time", Time::from_ns(1)..=Time::from_ns(100_000_000_000);
    none_or_some: Time = "a time", Time::ZERO..=Time::from_ns(100_000_000_000);
}

/// Reads a time, of a key that may be missing.
fn own_time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
    some_time(from).map(Some)
}

/// Reads a time that may be none, of a key that may be missing.
fn any_time<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
    none_or_some(from).map(Some)
}

/// The default window.
fn eight() -> u32 {
    8
}

/// The default of how many packets have a Pack together.
fn two() -> u32 {
    2
}

impl Default for ChannelKind {
    fn default() -> ChannelKind {
        ChannelKind::Raw {}
    }
}

impl ChannelKind {
    /// Whether it is the one that nobody has to name.
    pub fn is_default(&self) -> bool {
        *self == ChannelKind::default()
    }

    /// One of each kind, with the defaults of its keys.
    pub fn all() -> [ChannelKind; 4] {
        let (window, timeout, acknowledge) = (eight(), None, Acknowledge::default());
        [
            ChannelKind::Raw {},
            ChannelKind::GoBackN { window, timeout, acknowledge },
            ChannelKind::SimpleGoBackN { window, timeout, acknowledge },
            ChannelKind::Selective { least: None, ahead: None, after: None },
        ]
    }

    /// The name, as files spell it.
    pub fn name(&self) -> &'static str {
        match self {
            ChannelKind::Raw {} => "raw",
            ChannelKind::GoBackN { .. } => "go-back-n",
            ChannelKind::SimpleGoBackN { .. } => "simple-go-back-n",
            ChannelKind::Selective { .. } => "selective",
        }
    }

    /// What it does, in a sentence.
    pub fn sentence(&self) -> &'static str {
        match self {
            ChannelKind::Raw {} => "Packets go as they are, and what the network loses is lost.",
            ChannelKind::GoBackN { .. } => {
                "Go-back-N with a fixed window: a Nack makes the sender send everything \
                 outstanding again at once, and nothing new until a Pack."
            }
            ChannelKind::SimpleGoBackN { .. } => {
                "Go-back-N without Nacks: a time-out makes the sender send everything outstanding \
                 again."
            }
            ChannelKind::Selective { .. } => {
                "Packets are delivered as they come, only what is missing is sent again, and the window \
                 finds itself."
            }
        }
    }

    /// Returns true if its receiver takes a packet that is overtaken by a later one for lost.
    pub fn needs_order(&self) -> bool {
        match self {
            ChannelKind::GoBackN { .. } | ChannelKind::SimpleGoBackN { .. } => true,
            ChannelKind::Raw {} | ChannelKind::Selective { .. } => false,
        }
    }

    /// The names of its keys.
    pub fn keys(&self) -> &'static [&'static str] {
        match self {
            ChannelKind::Raw {} => &[],
            ChannelKind::GoBackN { .. } | ChannelKind::SimpleGoBackN { .. } => {
                &["window", "timeout", "acknowledge"]
            }
            ChannelKind::Selective { .. } => &["least", "ahead", "after"],
        }
    }

    /// What its channels are made of, where there are any. What the kind does not say is as
    /// recommended.
    pub fn spec(&self, recommended: &Recommended) -> Option<ChannelSpec> {
        let go_back_n = |window, timeout: Option<Time>, acknowledge, simple| {
            let (every, after) = match acknowledge {
                Acknowledge::Immediate => (1, None),
                // A sender that has a whole window outstanding waits for nothing else.
                Acknowledge::Delayed { every, after } => (every.min(window), after),
                Acknowledge::Piggyback { after } => (window, after),
            };
            // An acknowledgement that may be held back is not late before that.
            let held = after.unwrap_or(Time::ZERO);
            let timeout = timeout.unwrap_or(recommended.timeout + held);
            let after = after.unwrap_or(Time::from_ps(timeout.ps() / 4));
            Some(GoBackNSpec { window, timeout, every, after, simple }.into())
        };
        match *self {
            ChannelKind::Raw {} => None,
            ChannelKind::GoBackN { window, timeout, acknowledge } => {
                go_back_n(window, timeout, acknowledge, false)
            }
            ChannelKind::SimpleGoBackN { window, timeout, acknowledge } => {
                go_back_n(window, timeout, acknowledge, true)
            }
            ChannelKind::Selective { least, ahead, after } => {
                let SelectiveSpec { least: usual, ahead: queue, after: wait, late } =
                    recommended.selective;
                // Time-outs that somebody gives are obeyed, however short.
                let late = if least.is_some() { Time::ZERO } else { late };
                let (least, ahead) = (least.unwrap_or(usual), ahead.unwrap_or(queue));
                let after = after.unwrap_or(wait);
                Some(SelectiveSpec { least, ahead, after, late }.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_units::declared;
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, MapAccessDeserializer};
    use std::collections::BTreeMap;

    /// Reads a kind with one key at most.
    fn read<V>(name: &'static str, keys: &[(&'static str, V)]) -> Result<ChannelKind, Error>
    where
        V: Copy + IntoDeserializer<'static, Error>,
    {
        let keys: BTreeMap<&str, V> = keys.iter().copied().collect();
        let kind = BTreeMap::from([(name, keys)]);
        ChannelKind::deserialize(MapAccessDeserializer::new(kind.into_deserializer()))
    }

    fn go_back_n(kind: ChannelKind, recommended: Time) -> GoBackNSpec {
        match kind.spec(&Recommended::simulated(recommended, SelectiveSpec::SIMULATED)) {
            Some(ChannelSpec::GoBackN(spec)) => spec,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_and_keys_are_those_that_files_use() {
        let names = ChannelKind::all().map(|kind| kind.name());
        assert_eq!(declared::choices::<ChannelKind>(), names);
        for kind in ChannelKind::all() {
            assert_eq!(declared::keys::<ChannelKind>(kind.name()), kind.keys());
            assert_eq!(read::<u32>(kind.name(), &[]).unwrap(), kind, "all keys have defaults");
            let sentence = kind.sentence();
            assert!(sentence.ends_with('.') && sentence.starts_with(char::is_uppercase));
        }
        assert_eq!(declared::choices::<Acknowledge>(), ["immediate", "delayed", "piggyback"]);
        assert_eq!(declared::keys::<Acknowledge>("delayed"), ["every", "after"]);
        assert_eq!(declared::keys::<Acknowledge>("piggyback"), ["after"]);
    }

    #[test]
    fn values_are_read_within_their_ranges() {
        let recommended = Recommended::simulated(Time::from_ns(9), SelectiveSpec::SIMULATED);
        let window =
            |window| read("go-back-n", &[("window", window)]).map(|kind| kind.spec(&recommended));
        assert_eq!(window(1 << 20).unwrap().unwrap().widest(), 1 << 20);
        for wrong in [0u32, (1 << 20) + 1] {
            let error = window(wrong).unwrap_err().to_string();
            assert!(error.contains("1 to 1048576"), "{error}");
        }
        let timeout = |timeout| read("simple-go-back-n", &[("timeout", timeout)]);
        let kind = timeout("50 ms").unwrap();
        assert_eq!(go_back_n(kind, Time::ZERO).timeout, Time::from_ns(50_000_000));
        assert!(timeout("0 ns").is_err() && timeout("101 s").is_err());
        assert!(read("go-back-n", &[("acknowledge", "immediate")]).is_ok());
        assert!(read("go-back-n", &[("acknowledge", "never")]).is_err());
        assert!(read("selective", &[("ahead", "0 ns")]).is_ok());
        assert!(read("selective", &[("least", "0 ns")]).is_err());
    }

    #[test]
    fn a_spec_has_every_default_filled_in() {
        let recommended = Time::from_ns(400);
        let spec = |acknowledge| {
            let kind = ChannelKind::GoBackN { window: 12, timeout: None, acknowledge };
            let spec = go_back_n(kind, recommended);
            assert_eq!(ChannelSpec::from(spec).check(), Ok(()));
            (spec.timeout, spec.every, spec.after)
        };
        let (own, quarter) = (Time::from_ns(7), Time::from_ns(100));
        assert_eq!(spec(Acknowledge::Immediate), (recommended, 1, quarter));
        let delayed = |every, after| spec(Acknowledge::Delayed { every, after });
        assert_eq!(delayed(2, None), (recommended, 2, quarter));
        assert_eq!(delayed(50, Some(own)), (recommended + own, 12, own), "no sooner than the ACK");
        assert_eq!(spec(Acknowledge::Piggyback { after: None }), (recommended, 12, quarter));
        assert_eq!(ChannelKind::default().spec(&Recommended::LIVE), None);
        assert!(ChannelKind::default().is_default());
        let selective = |least, ahead| {
            ChannelKind::Selective { least, ahead, after: None }.spec(&Recommended::LIVE)
        };
        assert_eq!(selective(None, None), Some(SelectiveSpec::LIVE.into()));
        let first = |us: u64| SelectiveSpec::simulated(Time::from_ns(1_000 * us), Time::ZERO).least;
        assert_eq!(
            [first(0), first(2_000), first(8_000)].map(|least| least.ps() / 1_000_000),
            [500, 500, 2_000]
        );
        let expected = SelectiveSpec { least: own, ahead: Time::ZERO, ..SelectiveSpec::LIVE };
        assert_eq!(selective(Some(own), Some(Time::ZERO)), Some(expected.into()));
    }
}
