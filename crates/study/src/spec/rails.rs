//! The rails of a cluster: how many, and what tells them apart.

use std::fmt;

use crosstie_units::Rate;
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::limits::{self, MOST_RAILS};

/// The rails of a cluster: in a file a number, or a list of tables, one for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rails(Vec<Rail>);

/// A rail. What is not written is its own, or as on every link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rail {
    /// Bandwidth of its links.
    #[serde(deserialize_with = "limits::some_rate", skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// The number of the I/O bus that its NIC sits on; NICs of one number share a bus.
    #[serde(deserialize_with = "limits::some_place", skip_serializing_if = "Option::is_none")]
    pub bus: Option<u32>,
    /// The number of its port; rails of one number share its links, and differ in their way
    /// through the fabric.
    #[serde(deserialize_with = "limits::some_place", skip_serializing_if = "Option::is_none")]
    pub port: Option<u32>,
}

impl Rails {
    /// So many that are alike.
    pub fn alike(count: u32) -> Rails {
        Rails(vec![Rail::default(); count as usize])
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }

    /// Each of them.
    pub fn list(&self) -> &[Rail] {
        &self.0
    }

    /// Whether each has links, a port and a bus of its own, and all links are those of a cluster
    /// whose rails are a number.
    pub fn are_alike(&self) -> bool {
        *self == Rails::alike(self.count())
    }

    /// The port of each rail, numbered from 0 in the order of their first rails.
    pub fn ports(&self) -> Vec<u32> {
        numbered(self.0.iter().map(|rail| rail.port))
    }

    /// The I/O bus of each rail, numbered likewise. A port has one bus.
    pub fn buses(&self) -> Vec<u32> {
        let ports = self.ports();
        let named = |port: &u32| self.of_port(*port).find_map(|rail| rail.bus);
        let of_ports =
            numbered((0..ports.iter().max().map_or(0, |last| last + 1)).map(|port| named(&port)));
        ports.iter().map(|&port| of_ports[port as usize]).collect()
    }

    /// The bandwidth of the links of each port; `None`: that of every link.
    pub fn rates(&self) -> Vec<Option<Rate>> {
        let ports = self.ports().into_iter().max().map_or(0, |last| last + 1);
        (0..ports).map(|port| self.of_port(port).find_map(|rail| rail.rate)).collect()
    }

    /// The rails of a port.
    fn of_port(&self, port: u32) -> impl Iterator<Item = &Rail> {
        let ports = self.ports();
        self.0.iter().zip(ports).filter(move |(_, other)| *other == port).map(|(rail, _)| rail)
    }
}

/// Numbers things from 0 in the order in which they come: those of one name are one, those without
/// are each their own.
fn numbered(names: impl Iterator<Item = Option<u32>>) -> Vec<u32> {
    let (mut known, mut next) = (Vec::new(), 0);
    let number = |name: Option<u32>| {
        let found = known.iter().find(|(other, _)| name.is_some() && *other == name);
        found.map(|&(_, number)| number).unwrap_or_else(|| {
            known.push((name, next));
            next += 1;
            next - 1
        })
    };
    names.map(number).collect()
}

impl Serialize for Rails {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.are_alike() {
            true => self.count().serialize(to),
            false => self.0.serialize(to),
        }
    }
}

impl<'de> Deserialize<'de> for Rails {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Rails, D::Error> {
        from.deserialize_any(NumberOrList)
    }
}

struct NumberOrList;

impl NumberOrList {
    fn alike<E: Error>(&self, count: Option<u32>, found: Unexpected<'_>) -> Result<Rails, E> {
        let fits = count.filter(|count| (1..=MOST_RAILS).contains(count));
        fits.map(Rails::alike).ok_or_else(|| E::invalid_value(found, self))
    }
}

impl<'de> Visitor<'de> for NumberOrList {
    type Value = Rails;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a whole number from 1 to {MOST_RAILS}, or a list of as many rails, such as \
             [{{ rate = \"1 GB/s\" }}, {{ rate = \"250 MB/s\" }}]"
        )
    }

    fn visit_i64<E: Error>(self, count: i64) -> Result<Rails, E> {
        self.alike(u32::try_from(count).ok(), Unexpected::Signed(count))
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Rails, E> {
        self.alike(u32::try_from(count).ok(), Unexpected::Unsigned(count))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Rails, A::Error> {
        let mut rails = Vec::new();
        while let Some(rail) = list.next_element()? {
            rails.push(rail);
        }
        let count = rails.len();
        if (1..=MOST_RAILS as usize).contains(&count) {
            return Ok(Rails(rails));
        }
        let expected = format!("a list of 1 to {MOST_RAILS} rails");
        Err(A::Error::custom(format!("found {count} of them, expected {expected}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Rails {
        let table: toml::Table = format!("rails = {text}").parse().unwrap();
        table["rails"].clone().try_into().unwrap()
    }

    #[test]
    fn rails_are_a_number_or_a_list() {
        assert_eq!(read("3"), Rails::alike(3));
        assert_eq!(read("[{}, {}, {}]"), Rails::alike(3));
        let unequal = read("[{ rate = '1 GB/s' }, { port = 3, bus = 0 }]");
        assert_eq!((unequal.count(), unequal.are_alike()), (2, false));
        for rails in [Rails::alike(2), unequal] {
            let json = serde_json::to_string(&rails).unwrap();
            assert_eq!(serde_json::from_str::<Rails>(&json).unwrap(), rails, "{json}");
        }
    }

    #[test]
    fn ports_and_buses_are_shared_by_name() {
        let rails = read(
            "[{ port = 4 }, {}, { port = 4, rate = '1 GB/s' }, { port = 2, bus = 1 }, { bus = 1 }]",
        );
        assert_eq!(rails.ports(), [0, 1, 0, 2, 3]);
        assert_eq!(rails.buses(), [0, 1, 0, 2, 2]);
        let gigabyte = Some(Rate::from_bytes_per_second(1_000_000_000));
        assert_eq!(rails.rates(), [gigabyte, None, None, None]);
    }
}
