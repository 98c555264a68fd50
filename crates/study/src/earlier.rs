//! Keys under their earlier names: files that use them keep working, and mistakes are told in the
//! words of the file.

use toml::Spanned;
use toml::de::DeTable;

use crate::document::{self, Fault};

/// A key, or a table of keys, that was called otherwise.
struct Renaming {
    /// What it was called.
    earlier: &'static str,
    /// What it is called: where its value belongs.
    name: &'static str,
}

/// Everything that has been renamed, as dotted paths.
const RENAMED: [Renaming; 1] = [Renaming { earlier: "scheme", name: "policy" }];

/// What a key is called now, whichever of its names a file uses.
pub(crate) fn current(key: &str) -> String {
    let rest =
        |renaming: &Renaming| Some(format!("{}{}", renaming.name, below(key, renaming.earlier)?));
    RENAMED.iter().find_map(rest).unwrap_or_else(|| key.to_owned())
}

/// The part of a dotted key below an outer one: empty, or with its dot.
fn below<'a>(key: &'a str, outer: &str) -> Option<&'a str> {
    key.strip_prefix(outer).filter(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The earlier names that a file uses.
#[derive(Default)]
pub(crate) struct EarlierNames(Vec<&'static Renaming>);

impl EarlierNames {
    /// Moves what stands under an earlier name to where it belongs. Both names at once are refused.
    pub fn settle(root: &mut DeTable<'_>) -> Result<EarlierNames, Fault> {
        let mut used = EarlierNames::default();
        for renaming in &RENAMED {
            let Renaming { earlier, name } = *renaming;
            let Some((key, value)) = document::take(root, earlier) else { continue };
            if let Some((now, _)) = document::take(root, name) {
                let title = format!("`{earlier}` and `{name}` are two names of one key");
                return Err(Fault::new(title, format!("`{earlier}` is its earlier name"))
                    .at(key.span())
                    .with_context(now.span(), "set here already")
                    .with_help(format!("keep `{name}`, and leave `{earlier}` out")));
            }
            document::put(root, &Spanned::new(key.span(), name.to_owned()), &value)?;
            used.0.push(renaming);
        }
        Ok(used)
    }

    /// Takes note of the names of further keys.
    pub fn and(mut self, keys: &[String]) -> EarlierNames {
        let names = |renaming: &Renaming| keys.iter().any(|k| below(k, renaming.earlier).is_some());
        self.0.extend(RENAMED.iter().filter(|renaming| names(renaming)));
        self
    }

    /// A fault with the names that the file uses.
    pub fn tell(&self, fault: Fault) -> Fault {
        self.0.iter().fold(fault, |fault, renaming| fault.called(renaming.name, renaming.earlier))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_below_an_earlier_name_move_with_it() {
        assert_eq!(current("scheme"), "policy");
        assert_eq!(current("scheme.dynamic.striping"), "policy.dynamic.striping");
        for key in ["policy.dynamic", "schemes", "cluster.scheme"] {
            assert_eq!(current(key), key);
        }
    }
}
