//! The experiments of a paper, in three sizes and in every reading of the paper.

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

/// What a paper may mean instead, where it is damaged or silent: its experiments read it one way,
/// and this is another.
#[derive(Debug)]
pub struct OtherReading {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it reads, in a sentence.
    pub says: &'static str,
    /// What it changes in all experiments alike, if it is about another machine.
    pub machine: Option<Machine>,
}

/// Another machine for the experiments of a paper.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// The changes, as a file of changes has them.
    pub(super) changes: &'static str,
    /// Parts that keep their own machine.
    pub(super) spares: &'static [&'static str],
}

/// Which experiments of a paper to run: their size, and the reading of the paper.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// How much to run.
    pub scale: Scale,
    /// The reading, where it is not that of the experiment files.
    pub reading: Option<&'static OtherReading>,
}

impl From<Scale> for Form {
    fn from(scale: Scale) -> Form {
        Form { scale, reading: None }
    }
}

impl Form {
    /// What distinguishes it on the command line and, without its blanks, in the name of a folder.
    pub fn flags(self) -> Vec<String> {
        let scale = self.scale.word().map(|word| format!("--{word}"));
        let reading = self.reading.map(|reading| format!("--reading {}", reading.name));
        scale.into_iter().chain(reading).collect()
    }

    /// The name of the folder of its results. Forms have different points: none may take the place
    /// of another.
    pub fn folder(self, paper: &str) -> String {
        let scale = self.scale.word().map(|word| format!("-{word}"));
        let reading = self.reading.map(|reading| format!("-reading-{}", reading.name));
        [Some(paper.to_owned()), scale, reading].into_iter().flatten().collect()
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
    /// What other readings change in it, by their names.
    pub(super) readings: &'static [(&'static str, &'static str)],
}

impl Part {
    /// The experiment in this form.
    pub fn study(&self, form: impl Into<Form>) -> Result<Study, Diagnostic> {
        let Form { scale, reading } = form.into();
        let name = self.name;
        let mut path = format!("{name}.toml");
        let mut text = self.experiment.to_owned();
        let scaled = match scale {
            Scale::Quick => Some(("quick", self.quick)),
            Scale::Usual => None,
            Scale::Full => self.full.map(|changes| ("full", changes)),
        };
        let is_read = |(other, _): &&(&str, &str)| reading.is_some_and(|r| r.name == *other);
        let read = self.readings.iter().find(is_read).map(|(_, changes)| ("reading", *changes));
        let machine = reading.and_then(|reading| reading.machine);
        let machine = machine.filter(|machine| !machine.spares.contains(&name));
        let moved = machine.map(|machine| ("reading", machine.changes));
        for (kind, changes) in scaled.into_iter().chain(moved).chain(read) {
            text = changed(&text, changes, kind)
                .unwrap_or_else(|error| panic!("{name} or its {kind} form: {error}"));
            path = format!("{kind}/{path}");
        }
        Study::parse(&path, &text)
    }
}

/// The key of a file of changes that lists, by dotted path, what to leave out.
const REMOVE: &str = "remove";

/// An experiment with changes: what `remove` lists is left out, then tables are merged key by key
/// and everything else is replaced. Within a table, plain values come before tables: swept keys may
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
    let lead = if form == "reading" { "Read otherwise" } else { &format!("The {form} form") };
    let description = format!("{description} {lead}: {words}");
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
