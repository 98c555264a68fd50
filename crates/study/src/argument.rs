//! Choices as they are written on a command line: a name, and perhaps keys with values, as in
//! `up-down,root=0,pick=balanced`. What may be chosen, and its keys, are those of experiment files.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::diagnostic::Diagnostic;
use crate::document::{self, Fault};

/// Reads a choice; `key` is what it is called in experiment files and, after two dashes, on the
/// command line.
pub fn read<T: DeserializeOwned>(key: &str, text: &str) -> Result<T, Diagnostic> {
    let mut parts = text.split(',').map(str::trim);
    let name = parts.next().unwrap_or_default();
    let entry = |part: &str| match part.split_once('=') {
        Some((key, value)) if value.trim().parse::<i64>().is_ok() => format!("{key} = {value}"),
        Some((key, value)) => format!("{key} = {}", toml::Value::from(value.trim())),
        None => part.to_owned(),
    };
    let entries: Vec<String> = parts.map(entry).collect();
    let document = format!("{key} = {{{name} = {{{}}}}}", entries.join(", "));
    let decoded = document::parse(&document).and_then(|root| {
        let mut keys = root.iter();
        match (keys.next(), keys.next()) {
            (Some((_, value)), None) => document::decode(value).map_err(|fault| fault.within(key)),
            // Brackets and line breaks can make anything of the text.
            _ => Err(Fault::value("several keys", "one choice").at(0..document.len())),
        }
    });
    decoded.map_err(|fault| Diagnostic::in_text(&format!("--{key}"), &document, fault))
}

/// Writes a choice as [`read`] reads it, every key spelled out.
///
/// # Panics
/// If it has keys that are not words or numbers, which no command line could hold.
pub fn write<T: Serialize>(choice: &T) -> String {
    let value = toml::Value::try_from(choice).expect("a choice has text keys and small numbers");
    let entry = |(key, value): (&String, &toml::Value)| match value {
        toml::Value::String(word) => format!(",{key}={word}"),
        number => format!(",{key}={number}"),
    };
    let argument = |(name, entries): (&String, &toml::Value)| {
        let entries = entries.as_table().into_iter().flatten();
        name.clone() + &entries.map(entry).collect::<String>()
    };
    value.as_table().into_iter().flatten().map(argument).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoutingKind;
    use crosstie_fabric::SwitchId;
    use crosstie_routing::kind::{Smart, UpDown};
    use crosstie_routing::{Pick, Root};
    use crosstie_units::Seed;

    fn routing(text: &str) -> Result<RoutingKind, String> {
        read("routing", text).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_are_names_and_keys() {
        assert_eq!(routing("shortest"), Ok(RoutingKind::Shortest {}));
        let up_down = UpDown { root: Root::Switch(SwitchId(0)), pick: Pick::Balanced, seed: None };
        assert_eq!(routing("up-down,root=0, pick=balanced"), Ok(RoutingKind::UpDown(up_down)));
        let smart = Smart { moves: 9, seed: Some(Seed(3)) };
        assert_eq!(routing("smart,moves=9,seed=3"), Ok(RoutingKind::Smart(smart)));
        for written in ["shortest", "up-down,root=central,pick=balanced,seed=2", "smart,moves=9"] {
            assert_eq!(write(&routing(written).unwrap()), written);
        }
        for (wrong, words) in [
            ("up-dwn", "up-down"),
            ("up-down,rot=0", "root"),
            ("up-down,root=centre", "\"central\""),
            ("up-down,root=-1", "the number of a switch"),
            ("up-down,root", "expected"),
            ("", "expected"),
            ("a}b{'", "expected"),
            ("shortest = {}}\nb = {shortest", "expected one choice"),
        ] {
            let error = routing(wrong).unwrap_err();
            assert!(error.contains(words), "{wrong}: {error}");
        }
    }

    #[test]
    fn every_routing_can_be_named() {
        for kind in RoutingKind::all() {
            assert_eq!(routing(kind.name()), Ok(kind));
            assert_eq!(routing(&write(&kind)), Ok(kind));
        }
        let error = routing("none").unwrap_err();
        for kind in RoutingKind::all() {
            assert!(error.contains(kind.name()), "{} is missing in {error}", kind.name());
        }
    }
}
