//! What is to be done: open-loop traffic, or work whose next step waits for the one before.

use std::fmt;
use std::sync::LazyLock;

use crosstie_collective::Operation;
use crosstie_units::declared::choices;
use crosstie_units::{Bytes, Time};
use serde::de::value::StrDeserializer;
use serde::de::{DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer, forward_to_deserialize_any};

use super::{Placement, TrafficSpec, limits};

/// What is to be done. In a file, open-loop traffic is the table `traffic`, and everything else a
/// choice of `work`.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// Every host sends on its own, whether or not the network keeps up.
    Traffic(TrafficSpec),
    /// A message there and one back.
    Ping(Ping),
    /// Many messages back to back, then an answer.
    Stream(Stream),
    /// Many pairs that send at once.
    Pairs(Pairs),
    /// Ranks that read the memory of one.
    Read(Read),
    /// A collective operation.
    Collective(Operation),
    /// A schedule from a file.
    Goal(GoalFile),
}

/// The choices of `work` that are declared here; collective operations declare themselves.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
enum Own {
    Ping(Ping),
    Stream(Stream),
    Pairs(Pairs),
    Read(Read),
    Goal(GoalFile),
}

/// The names of all choices of `work`.
static NAMES: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| [choices::<Own>(), choices::<Operation>()].concat());

impl<'de> Deserialize<'de> for Work {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Work, D::Error> {
        struct Choices;
        impl<'de> Visitor<'de> for Choices {
            type Value = Work;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("something to do")
            }

            fn visit_enum<A: EnumAccess<'de>>(self, choice: A) -> Result<Work, A::Error> {
                let (name, variant) = choice.variant_seed(Name)?;
                let chosen = Chosen { name, variant };
                if choices::<Operation>().contains(&name) {
                    return Operation::deserialize(chosen).map(Work::Collective);
                }
                Ok(match Own::deserialize(chosen)? {
                    Own::Ping(ping) => Work::Ping(ping),
                    Own::Stream(stream) => Work::Stream(stream),
                    Own::Pairs(pairs) => Work::Pairs(pairs),
                    Own::Read(read) => Work::Read(read),
                    Own::Goal(goal) => Work::Goal(goal),
                })
            }
        }
        from.deserialize_enum("Work", &NAMES, Choices)
    }
}

impl Serialize for Work {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Work::Traffic(_) => {
                Err(serde::ser::Error::custom("open-loop traffic is no choice of `work`"))
            }
            Work::Ping(ping) => Own::Ping(ping.clone()).serialize(to),
            Work::Stream(stream) => Own::Stream(stream.clone()).serialize(to),
            Work::Pairs(pairs) => Own::Pairs(pairs.clone()).serialize(to),
            Work::Read(read) => Own::Read(read.clone()).serialize(to),
            Work::Collective(operation) => operation.serialize(to),
            Work::Goal(goal) => Own::Goal(goal.clone()).serialize(to),
        }
    }
}

/// Reads the name of a choice of `work`.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<&'static str, D::Error> {
        from.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Name {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of something to do")
    }

    fn visit_str<E: serde::de::Error>(self, found: &str) -> Result<&'static str, E> {
        let known = NAMES.iter().find(|name| **name == found);
        known.copied().ok_or_else(|| E::unknown_variant(found, &NAMES))
    }
}

/// A choice whose name has been read, to be read again by whoever declares it.
struct Chosen<A> {
    name: &'static str,
    variant: A,
}

impl<'de, A: VariantAccess<'de>> Deserializer<'de> for Chosen<A> {
    type Error = A::Error;

    fn deserialize_any<W: Visitor<'de>>(self, visitor: W) -> Result<W::Value, A::Error> {
        visitor.visit_enum(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, A: VariantAccess<'de>> EnumAccess<'de> for Chosen<A> {
    type Error = A::Error;
    type Variant = A;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, A), A::Error> {
        let name: StrDeserializer<'_, A::Error> = self.name.into_deserializer();
        Ok((seed.deserialize(name)?, self.variant))
    }
}

/// Every rank of the first half sends one message to its partner in the second half, all at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Pairs {
    /// The size of a message.
    #[serde(deserialize_with = "limits::message")]
    pub size: Bytes,
    /// Whether the partners send as much at the same time.
    #[serde(default)]
    pub both_ways: bool,
}

/// All ranks but one read the same memory of that one, all at once; it does nothing for it. NICs
/// that serve reads do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Read {
    /// What each of them reads.
    #[serde(deserialize_with = "limits::message")]
    pub size: Bytes,
    /// The rank whose memory it is.
    #[serde(default, deserialize_with = "limits::host")]
    pub from: u32,
}

/// A schedule from a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GoalFile {
    /// The file, in GOAL's text form.
    pub file: String,
}

/// What all schedules have in common.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScheduleSpec {
    /// The ranks that take part, on the first hosts; `None`: one on every host.
    #[serde(deserialize_with = "limits::some_hosts", skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// The hosts of ranks, which are then as many; `None`: the first ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Placement>,
    /// How many sends of a rank may be under way at once; `None`: any number.
    #[serde(deserialize_with = "limits::some_window", skip_serializing_if = "Option::is_none")]
    pub outstanding: Option<u32>,
    /// How long every rank computes before each iteration.
    #[serde(deserialize_with = "limits::moment", skip_serializing_if = "is_nothing")]
    pub compute: Time,
    /// How often it is played.
    #[serde(deserialize_with = "limits::iterations")]
    pub iterations: u32,
}

impl Default for ScheduleSpec {
    fn default() -> ScheduleSpec {
        let (ranks, hosts, outstanding) = (None, None, None);
        ScheduleSpec { ranks, hosts, outstanding, compute: Time::ZERO, iterations: 1 }
    }
}

fn is_nothing(time: &Time) -> bool {
    *time == Time::ZERO
}

impl ScheduleSpec {
    /// Whether nothing is written.
    pub(super) fn is_default(&self) -> bool {
        *self == ScheduleSpec::default()
    }
}

/// Two ranks that send a message to and fro. An iteration is a message there and one back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Ping {
    /// The size of a message, which may be empty.
    #[serde(deserialize_with = "limits::any_message")]
    pub size: Bytes,
    /// The rank that begins.
    #[serde(default, deserialize_with = "limits::host")]
    pub from: u32,
    /// The rank that answers.
    #[serde(default = "second", deserialize_with = "limits::host")]
    pub to: u32,
    /// How often.
    #[serde(default = "Ping::iterations", deserialize_with = "limits::iterations")]
    pub iterations: u32,
}

/// A rank that sends as fast as it can, or several that do at once. An iteration is a window of
/// messages back to back, and an answer of 4 bytes when all of them have arrived.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Stream {
    /// The size of a message.
    #[serde(deserialize_with = "limits::message")]
    pub size: Bytes,
    /// The rank that sends.
    #[serde(default, deserialize_with = "limits::host")]
    pub from: u32,
    /// The rank that receives, and answers.
    #[serde(default = "second", deserialize_with = "limits::host")]
    pub to: u32,
    /// Messages of an iteration.
    #[serde(default = "Stream::window", deserialize_with = "limits::window")]
    pub window: u32,
    /// Whether both ranks send at once, each as above.
    #[serde(default)]
    pub both_ways: bool,
    /// How many pairs of ranks do: `from` and `to`, the next rank after each, and so on.
    #[serde(
        default = "Stream::pairs",
        deserialize_with = "limits::host_count",
        skip_serializing_if = "Stream::is_one"
    )]
    pub pairs: u32,
    /// Whether every second pair sends the other way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crossed: bool,
    /// How often.
    #[serde(default = "Stream::iterations", deserialize_with = "limits::iterations")]
    pub iterations: u32,
}

/// The rank at the other end.
fn second() -> u32 {
    1
}

impl Ping {
    fn iterations() -> u32 {
        100
    }
}

impl Stream {
    /// The size of an answer.
    pub const ANSWER: Bytes = Bytes::new(4);

    fn window() -> u32 {
        64
    }

    fn pairs() -> u32 {
        1
    }

    fn is_one(pairs: &u32) -> bool {
        *pairs == 1
    }

    fn iterations() -> u32 {
        50
    }
}
