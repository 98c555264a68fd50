//! How packets find their way. The routings for irregular networks are those of Flich et al.,
//! "Combining In-Transit Buffers with Optimized Routing Schemes".

use std::fmt;

use crosstie_units::Seed;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::limits;
use crate::diagnostic::Diagnostic;
use crate::document;

/// How packets find their way.
///
/// Where a routing draws at random among equally good routes, `seed` is the number from which the
/// draws follow; `None` stands for the seed of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Routing {
    /// Whichever suits the network: the laboratory knows which.
    Auto {
        /// As above.
        #[serde(default, deserialize_with = "seed", skip_serializing_if = "Option::is_none")]
        seed: Option<Seed>,
    },
    /// Up a tree by any free link, then down the only way.
    TreeAdaptive {},
    /// Up a tree by links fixed by the destination, then down the only way.
    TreeDeterministic {},
    /// Any network, along shortest paths.
    Shortest {},
    /// Any network, along minimal routes that may deadlock.
    Minimal {
        /// Which of several routes.
        #[serde(default)]
        pick: Pick,
        /// As above.
        #[serde(default, deserialize_with = "seed", skip_serializing_if = "Option::is_none")]
        seed: Option<Seed>,
    },
    /// Shortest routes that go up a breadth-first tree and then down (UD).
    UpDown {
        /// Where the tree begins.
        #[serde(default = "Root::central")]
        root: Root,
        /// Which of several routes.
        #[serde(default)]
        pick: Pick,
        /// As above.
        #[serde(default, deserialize_with = "seed", skip_serializing_if = "Option::is_none")]
        seed: Option<Seed>,
    },
    /// Shortest routes that go up a depth-first tree and then down (DFS).
    Dfs {
        /// Where the tree begins.
        #[serde(default = "fewest_restrictions")]
        root: Root,
        /// Which of several routes.
        #[serde(default)]
        pick: Pick,
        /// As above.
        #[serde(default, deserialize_with = "seed", skip_serializing_if = "Option::is_none")]
        seed: Option<Seed>,
    },
    /// Balanced routes over turns chosen for balance (SMART).
    Smart {
        /// How many changes of the turns are tried.
        #[serde(default = "moves", deserialize_with = "limits::moves")]
        moves: u32,
        /// As above.
        #[serde(default, deserialize_with = "seed", skip_serializing_if = "Option::is_none")]
        seed: Option<Seed>,
    },
    /// Minimal routes, legal ones first, with stops where no minimal route is legal (UD_MITB).
    UpDownMitb {
        /// Where the tree begins.
        #[serde(default = "Root::central")]
        root: Root,
        /// As above.
        #[serde(default, deserialize_with = "seed", skip_serializing_if = "Option::is_none")]
        seed: Option<Seed>,
    },
    /// Any minimal routes, with stops where they are not legal (UD_ITB).
    UpDownItb {
        /// Where the tree begins.
        #[serde(default = "Root::central")]
        root: Root,
        /// As above.
        #[serde(default, deserialize_with = "seed", skip_serializing_if = "Option::is_none")]
        seed: Option<Seed>,
    },
    /// Minimal routes with stops where they are not legal under DFS (DFS_ITB).
    DfsItb {
        /// Where the tree begins.
        #[serde(default = "fewest_restrictions")]
        root: Root,
        /// Which of several minimal routes.
        #[serde(default)]
        choice: Choice,
        /// As above.
        #[serde(default, deserialize_with = "seed", skip_serializing_if = "Option::is_none")]
        seed: Option<Seed>,
    },
    /// Balanced minimal routes with stops where they would form a cycle (B_ITB).
    BalancedItb {
        /// As above.
        #[serde(default, deserialize_with = "seed", skip_serializing_if = "Option::is_none")]
        seed: Option<Seed>,
    },
}

impl Routing {
    /// Reads a routing as written on a command line: its name, and perhaps keys with values, as in
    /// `up-down,root=0,pick=balanced`.
    pub fn from_argument(text: &str) -> Result<Routing, Diagnostic> {
        let mut parts = text.split(',').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let key = |part: &str| match part.split_once('=') {
            Some((key, value)) if value.trim().parse::<i64>().is_ok() => format!("{key} = {value}"),
            Some((key, value)) => format!("{key} = {}", toml::Value::from(value.trim())),
            None => part.to_owned(),
        };
        let keys: Vec<String> = parts.map(key).collect();
        let document = format!("routing = {{{name} = {{{}}}}}", keys.join(", "));
        let decoded = document::parse(&document).and_then(|root| document::decode_table(&root));
        let argument: Argument =
            decoded.map_err(|fault| Diagnostic::in_text("--routing", &document, fault))?;
        Ok(argument.routing)
    }

    /// Writes a routing as [`Routing::from_argument`] reads it, every key spelled out.
    pub fn to_argument(&self) -> String {
        let value = toml::Value::try_from(self).expect("a routing has text keys and small numbers");
        let choice = value.as_table().into_iter().flatten();
        let word = |(key, value): (&String, &toml::Value)| match value {
            toml::Value::String(word) => format!(",{key}={word}"),
            number => format!(",{key}={number}"),
        };
        let argument = |(name, keys): (&String, &toml::Value)| {
            let keys = keys.as_table().into_iter().flatten();
            name.clone() + &keys.map(word).collect::<String>()
        };
        choice.map(argument).collect()
    }

    /// Whether its packets may be taken out at a host on the way and put in again.
    pub fn has_stops(&self) -> bool {
        match self {
            Routing::UpDownMitb { .. }
            | Routing::UpDownItb { .. }
            | Routing::DfsItb { .. }
            | Routing::BalancedItb { .. } => true,
            Routing::Auto { .. }
            | Routing::TreeAdaptive {}
            | Routing::TreeDeterministic {}
            | Routing::Shortest {}
            | Routing::Minimal { .. }
            | Routing::UpDown { .. }
            | Routing::Dfs { .. }
            | Routing::Smart { .. } => false,
        }
    }

    /// The same routing, with this seed if it needs one and has none of its own.
    pub fn seeded(mut self, seed: Seed) -> Routing {
        match &mut self {
            Routing::TreeAdaptive {} | Routing::TreeDeterministic {} | Routing::Shortest {} => {}
            Routing::Auto { seed: own }
            | Routing::Minimal { seed: own, .. }
            | Routing::UpDown { seed: own, .. }
            | Routing::Dfs { seed: own, .. }
            | Routing::Smart { seed: own, .. }
            | Routing::UpDownMitb { seed: own, .. }
            | Routing::UpDownItb { seed: own, .. }
            | Routing::DfsItb { seed: own, .. }
            | Routing::BalancedItb { seed: own } => *own = Some(own.unwrap_or(seed)),
        }
        self
    }
}

/// A document that holds nothing but a routing.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Argument {
    routing: Routing,
}

/// Which of several equally short routes a pair of hosts takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// Any, at random.
    #[default]
    Random,
    /// The one that leaves the load most even.
    Balanced,
    /// The same for all that meet at a switch on their way to one destination.
    Destination,
}

/// Which of several minimal routes a pair of hosts takes where stops make all of them possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// Any, at random.
    #[default]
    Random,
    /// One without a stop if there is one, else one with the fewest.
    CompliantFirst,
}

/// The root of a spanning tree; in a file the number of a switch, or a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    /// This switch.
    Switch(u32),
    /// The switch nearest to all others.
    Central,
    /// The switch farthest from all others.
    Remote,
    /// The switch whose tree forbids the fewest turns.
    FewestRestrictions,
}

impl Root {
    const WORDS: [(&'static str, Root); 3] = [
        ("central", Root::Central),
        ("remote", Root::Remote),
        ("fewest-restrictions", Root::FewestRestrictions),
    ];

    /// The default of a breadth-first tree.
    pub(super) fn central() -> Root {
        Root::Central
    }
}

fn fewest_restrictions() -> Root {
    Root::FewestRestrictions
}

/// Enough for networks of some tens of switches to settle.
fn moves() -> u32 {
    2000
}

fn seed<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Seed>, D::Error> {
    limits::own_seed(from).map(Some)
}

impl Serialize for Root {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Root::Switch(number) => to.serialize_u32(*number),
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
        let switch = u32::try_from(number).ok().map(Root::Switch);
        switch.ok_or_else(|| E::invalid_value(Unexpected::Signed(number), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Root, E> {
        let found = Root::WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, root)| *root).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_names_and_keys() {
        let read = |text: &str| Routing::from_argument(text).map_err(|error| error.to_string());
        assert_eq!(read("shortest"), Ok(Routing::Shortest {}));
        assert_eq!(
            read("up-down,root=0, pick=balanced"),
            Ok(Routing::UpDown { root: Root::Switch(0), pick: Pick::Balanced, seed: None })
        );
        assert_eq!(
            read("smart,moves=9,seed=3"),
            Ok(Routing::Smart { moves: 9, seed: Some(Seed(3)) })
        );
        for written in ["shortest", "up-down,root=central,pick=balanced,seed=2", "smart,moves=9"] {
            assert_eq!(read(written).unwrap().to_argument(), written);
        }
        for (wrong, words) in [
            ("up-dwn", "up-down"),
            ("up-down,rot=0", "root"),
            ("up-down,root=centre", "\"central\""),
            ("up-down,root=-1", "the number of a switch"),
            ("up-down,root", "expected"),
            ("", "expected"),
            ("a}b{'", "expected"),
        ] {
            let error = read(wrong).unwrap_err();
            assert!(error.contains(words), "{wrong}: {error}");
        }
    }
}
