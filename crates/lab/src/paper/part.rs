//! The experiments of a paper, in three sizes.

use crosstie_study::{Diagnostic, Study};
use toml::{Table, Value};

/// How much of a paper to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scale {
    /// Smaller experiments with the same questions.
    Quick,
    /// The experiments as their files have them.
    Usual,
    /// As much as the paper ran, where that takes much longer than it tells.
    Full,
}

impl Scale {
    /// The word of the forms that change files; the usual one has none.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Scale::Quick => Some("quick"),
            Scale::Usual => None,
            Scale::Full => Some("full"),
        }
    }
}

/// One experiment of a paper.
#[derive(Debug)]
pub struct Part {
    /// Its name: that of the experiment file, and of its folder of results.
    pub name: &'static str,
    /// The text of the experiment file.
    pub(super) experiment: &'static str,
    /// What [`Scale::Quick`] changes in it.
    pub(super) quick: &'static str,
    /// What [`Scale::Full`] changes in it.
    pub(super) full: Option<&'static str>,
}

impl Part {
    /// The experiment.
    pub fn study(&self, scale: Scale) -> Result<Study, Diagnostic> {
        let changes = match scale {
            Scale::Quick => Some(self.quick),
            Scale::Usual => None,
            Scale::Full => self.full,
        };
        let name = self.name;
        match (scale.word(), changes) {
            (Some(form), Some(changes)) => {
                let text = changed(self.experiment, changes, form)
                    .unwrap_or_else(|error| panic!("{name} or its {form} form: {error}"));
                Study::parse(&format!("{form}/{name}.toml"), &text)
            }
            _ => Study::parse(&format!("{name}.toml"), self.experiment),
        }
    }
}

/// The key of a file of changes that lists, by dotted path, what to leave out.
const REMOVE: &str = "remove";

/// An experiment with changes: what `remove` lists is left out, then tables are merged key by key and
/// everything else is replaced. Within a table, plain values come before tables: swept keys may
/// change places. The key named after the form says in words what changes; it ends the description.
fn changed(experiment: &str, changes: &str, form: &str) -> Result<String, String> {
    let mut table: Table = experiment.parse().map_err(|e: toml::de::Error| e.to_string())?;
    let mut changes: Table = changes.parse().map_err(|e: toml::de::Error| e.to_string())?;
    if let Some(paths) = changes.remove(REMOVE) {
        for path in paths.as_array().ok_or("`remove` is a list of keys")? {
            let path = path.as_str().ok_or("`remove` is a list of keys")?;
            remove(&mut table, path).ok_or_else(|| format!("there is no `{path}` to remove"))?;
        }
    }
    let words = changes.remove(form).ok_or_else(|| format!("`{form}` must say what changes"))?;
    let words = words.as_str().ok_or_else(|| format!("`{form}` is a text"))?;
    merge(&mut table, changes);
    let description = table.get("description").and_then(Value::as_str).unwrap_or_default().trim();
    let description = format!("{description} The {form} form: {words}");
    table.insert("description".to_owned(), description.trim_start().into());
    toml::to_string(&table).map_err(|error| error.to_string())
}

fn remove(table: &mut Table, path: &str) -> Option<Value> {
    match path.split_once('.') {
        None => table.remove(path),
        Some((key, rest)) => remove(table.get_mut(key)?.as_table_mut()?, rest),
    }
}

fn merge(table: &mut Table, changes: Table) {
    for (key, change) in changes {
        match (table.get_mut(&key), change) {
            (Some(Value::Table(inner)), Value::Table(change)) => merge(inner, change),
            (_, change) => {
                table.insert(key, change);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPERIMENT: &str = "seed = 1\n[measure]\nprecision = 0.05\n[measure.saturation]\n\
                              precision = 0.01\n[sweep.product]\nscheme = ['basic', 'dynamic']\n\
                              traffic.load = [0.1, 0.2, 0.3]\n";

    #[test]
    fn tables_are_merged_and_lists_replaced() {
        let changes = "quick = 'one load.'\nremove = ['measure.saturation']\n\
                       measure.max-cycles = 100\nsweep.product.traffic.load = [0.2]\n";
        let text = changed(EXPERIMENT, changes, "quick").unwrap();
        let expected = "seed = 1\ndescription = 'The quick form: one load.'\nmeasure = { precision = 0.05, max-cycles = 100 }\n\
                        [sweep.product]\nscheme = ['basic', 'dynamic']\ntraffic.load = [0.2]\n";
        assert_eq!(text.parse::<Table>().unwrap(), expected.parse::<Table>().unwrap());
    }

    #[test]
    fn a_form_says_what_it_changes() {
        let mistake = changed(EXPERIMENT, "seed = 2", "full").unwrap_err();
        assert_eq!(mistake, "`full` must say what changes");
        let described = format!("description = 'Rails.'\n{EXPERIMENT}");
        let text = changed(&described, "quick = 'fewer.'", "quick").unwrap();
        assert!(text.contains("\"Rails. The quick form: fewer.\""), "{text}");
    }

    #[test]
    fn what_is_not_there_cannot_be_removed() {
        for path in ["nic", "measure.satiation", "seed.of"] {
            let mistake =
                changed(EXPERIMENT, &format!("remove = ['{path}']"), "quick").unwrap_err();
            assert_eq!(mistake, format!("there is no `{path}` to remove"));
        }
    }
}
