//! Times that grow with a packet and with the cluster.

use crate::Time;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A time for a packet of m bytes among p nodes: fixed + byte m + node p + byte_node m p [tam, 2.1
/// to 2.5].
///
/// Files write it as a table of what is not zero, or as one time that nothing changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Cost {
    /// For every packet: kappa.
    #[serde(skip_serializing_if = "zero")]
    pub fixed: Time,
    /// For every byte: tau.
    #[serde(skip_serializing_if = "zero")]
    pub byte: Time,
    /// For every node.
    #[serde(skip_serializing_if = "zero")]
    pub node: Time,
    /// For every byte and node.
    #[serde(skip_serializing_if = "zero")]
    pub byte_node: Time,
}

fn zero(time: &Time) -> bool {
    *time == Time::ZERO
}

impl Cost {
    /// The same for all packets and clusters.
    pub const fn fixed(time: Time) -> Cost {
        Cost { fixed: time, byte: Time::ZERO, node: Time::ZERO, byte_node: Time::ZERO }
    }

    /// What a packet of so many bytes takes among so many nodes.
    pub fn at(&self, bytes: u64, nodes: u32) -> Time {
        let nodes = u64::from(nodes);
        self.fixed + self.byte * bytes + self.node * nodes + self.byte_node * bytes * nodes
    }
}

/// The keys of a cost that is written as a table.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[derive(Default)]
struct Table {
    fixed: Time,
    byte: Time,
    node: Time,
    byte_node: Time,
}

impl<'de> Deserialize<'de> for Cost {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Cost, D::Error> {
        from.deserialize_any(Either)
    }
}

/// Reads a time or a table.
struct Either;

impl<'de> Visitor<'de> for Either {
    type Value = Cost;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time such as \"5 ns\", or a table of `fixed`, `byte`, `node`, `byte-node`")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Cost, E> {
        text.parse().map(Cost::fixed).map_err(E::custom)
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Cost, M::Error> {
        let Table { fixed, byte, node, byte_node } =
            Table::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Cost { fixed, byte, node, byte_node })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Deserialize)]
    struct File {
        cost: Cost,
    }

    fn read(text: &str) -> Result<Cost, toml::de::Error> {
        toml::from_str(&format!("cost = {text}")).map(|File { cost }| cost)
    }

    #[test]
    fn grows_with_bytes_and_nodes() {
        let cost = read("{ fixed = '1 us', byte = '80 ps', node = '2 ns', byte-node = '1 ps' }");
        assert_eq!(cost.unwrap().at(100, 16).ps(), 1_000_000 + 8_000 + 32_000 + 1_600);
        assert_eq!(read("'12.5 us'").unwrap().at(1492, 7).ps(), 12_500_000);
        assert_eq!(Cost::fixed(Time::from_ps(u64::MAX)).at(1, 1).ps(), u64::MAX);
    }

    #[test]
    fn what_is_no_cost_is_refused_in_words() {
        let said = |text: &str| read(text).unwrap_err().message().to_owned();
        assert!(said("5").contains("expected a time such as \"5 ns\", or a table of `fixed`"));
        assert!(said("'5'").contains("`5` has no unit"));
        assert!(said("{ bytes = '1 ps' }").contains("unknown field `bytes`, expected one of"));
    }

    proptest! {
        #[test]
        fn is_read_as_it_is_written(fixed: u32, byte: u32, node: u32, byte_node: u32) {
            let [fixed, byte, node, byte_node] =
                [fixed, byte, node, byte_node].map(|ps| Time::from_ps(ps.into()));
            let cost = Cost { fixed, byte, node, byte_node };
            let text = toml::to_string(&cost).unwrap();
            prop_assert_eq!(toml::from_str::<Cost>(&text).unwrap(), cost);
        }
    }
}
