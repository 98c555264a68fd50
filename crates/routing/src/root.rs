//! Where the spanning tree of an order begins.

use std::fmt;

use crosstie_fabric::{Fabric, Search, SwitchId};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::wiring::Wiring;
use crate::{Order, RoutingError};

/// Which switch is the root of a spanning tree, and so the first of the order; in a file the number
/// of a switch, or a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Root {
    /// This one.
    Switch(SwitchId),
    /// The one with the least mean distance to all others; of several, the lowest number.
    #[default]
    Central,
    /// The one with the greatest mean distance to all others; of several, the lowest number.
    Remote,
    /// The one whose order has the fewest restrictions; of several, the lowest number.
    FewestRestrictions,
}

impl Root {
    const WORDS: [(&'static str, Root); 3] = [
        ("central", Root::Central),
        ("remote", Root::Remote),
        ("fewest-restrictions", Root::FewestRestrictions),
    ];

    /// The order that grows from this root.
    pub(crate) fn grow(
        self,
        fabric: &Fabric,
        wiring: &Wiring,
        order_from: impl Fn(SwitchId) -> Order,
    ) -> Result<Order, RoutingError> {
        let switches = wiring.switches().len();
        // Two hosts on one cable have no switch to choose, and need none.
        let Some(first) = wiring.switches().next() else { return Ok(Order::of_row(&[])) };
        let root = match self {
            Root::Switch(switch) if (switch.0 as usize) < switches => switch,
            Root::Switch(switch) => return Err(RoutingError::NoSuchRoot { switch, switches }),
            Root::Central => {
                let total = total_distances(fabric);
                wiring.switches().min_by_key(|s| total[s.0 as usize]).unwrap_or(first)
            }
            Root::Remote => {
                let total = total_distances(fabric);
                let far = |s: &SwitchId| std::cmp::Reverse(total[s.0 as usize]);
                wiring.switches().min_by_key(far).unwrap_or(first)
            }
            Root::FewestRestrictions => {
                let orders = wiring.switches().map(&order_from);
                let fewest = orders.min_by_key(|order| order.forbidden_pairs(wiring));
                return Ok(fewest.expect("there is a first switch"));
            }
        };
        Ok(order_from(root))
    }
}

/// For each switch, the distances to all others together.
pub(crate) fn total_distances(fabric: &Fabric) -> Vec<u64> {
    let mut search = Search::new(fabric);
    let total = |switch| search.from(switch).iter().map(|&distance| u64::from(distance)).sum();
    fabric.switches().map(total).collect()
}

impl Serialize for Root {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Root::Switch(switch) => to.serialize_u32(switch.0),
            word => {
                let same = Root::WORDS.iter().find(|(_, root)| root == word);
                to.serialize_str(same.expect("every root but a switch has a word").0)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Root {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Root, D::Error> {
        from.deserialize_any(RootVisitor)
    }
}

struct RootVisitor;

impl Visitor<'_> for RootVisitor {
    type Value = Root;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = Root::WORDS.map(|(word, _)| format!("\"{word}\""));
        write!(f, "the number of a switch, {}", words.join(", "))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Root, E> {
        let switch = u32::try_from(number).ok().map(|number| Root::Switch(SwitchId(number)));
        switch.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Root, E> {
        match i64::try_from(number) {
            Ok(number) => self.visit_i64(number),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Root, E> {
        let found = Root::WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, root)| *root).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}
