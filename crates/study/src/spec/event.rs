//! What happens to links, and who else uses them.

use std::fmt;
use std::marker::PhantomData;

use crosstie_units::{Bytes, Rate, Seed, Time};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

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
    /// When it happens. What is random about it follows from the seed and from its number among all events.
    pub fn moments(&self, seed: Seed, number: u64) -> Vec<Time> {
        let Some(every) = self.every else { return vec![self.at] };
        let mut random = seed.stream("event", number);
        let lasts = self.lasts.unwrap_or(Time::ZERO);
        let mut at = self.at;
        let mut moments = vec![at];
        for _ in 1..self.times {
            let between = match self.random {
                false => every,
                // As often as without chance, and not before it is over.
                true => {
                    let rest = (every.ps() - lasts.ps()) as f64;
                    lasts + Time::from_ps(random.exponential(rest) as u64)
                }
            };
            at = at + between;
            moments.push(at);
        }
        moments
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

/// Reads the tables under a heading.
pub(super) fn tables<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    from.deserialize_seq(Tables(PhantomData))
}

struct Tables<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Tables<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tables, each headed by its name in double brackets")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut tables = Vec::new();
        while let Some(table) = list.next_element()? {
            tables.push(table);
        }
        Ok(tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> LinkEvent {
        toml::from_str(&format!("at = '1 ms'\nrail = 0\ndown = true\n{text}")).unwrap()
    }

    #[test]
    fn an_event_happens_once_or_regularly_or_at_random() {
        let ms = |times: &[u64]| -> Vec<Time> {
            times.iter().map(|time| Time::from_ns(time * 1_000_000)).collect()
        };
        assert_eq!(event("").moments(Seed(1), 0), ms(&[1]));
        assert_eq!(event("every = '2 ms'\ntimes = 3").moments(Seed(1), 0), ms(&[1, 3, 5]));
        let random = event("every = '2 ms'\ntimes = 2000\nrandom = true\nfor = '1 ms'");
        let moments = random.moments(Seed(1), 0);
        assert_eq!(moments, random.moments(Seed(1), 0));
        assert_ne!(moments, random.moments(Seed(1), 1));
        let least = moments.windows(2).map(|pair| pair[1] - pair[0]).min();
        assert!(least >= Some(Time::from_ns(1_000_000)));
        let mean = (moments[1999] - moments[0]).ps() as f64 / 1999.0;
        assert!((mean / 2e9 - 1.0).abs() < 0.05, "{mean}");
    }
}
