//! An experiment file before it is text: its keys, and the files that it names.

use std::collections::BTreeMap;
use toml::{Table, Value};

/// An experiment and what lies beside it.
#[derive(Debug, Clone, Default)]
pub struct Experiment {
    /// The keys with their values.
    pub keys: Table,
    /// The files that it names, with their content.
    pub files: BTreeMap<String, String>,
    /// How it is written down.
    pub style: Style,
}

/// Two ways to write the same tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Style {
    /// `[fabric.tree]`, then `k = 4`.
    #[default]
    Headers,
    /// `fabric.tree.k = 4`.
    Dotted,
}

impl Experiment {
    /// Sets the value of a key such as `fabric.tree.k`, in the place of whatever stands in its way.
    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        put(&mut self.keys, key, value.into());
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        key.split('.').try_fold(None, |found: Option<&Value>, name| match found {
            None => self.keys.get(name).map(Some),
            Some(value) => value.get(name).map(Some),
        })?
    }

    /// Whether a choice such as `policy` was made, and which: `basic`, or the name of its table.
    pub fn choice(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::String(name) => Some(name),
            Value::Table(table) => table.keys().next().map(String::as_str),
            _ => None,
        }
    }

    /// Removes a key.
    pub fn remove(&mut self, key: &str) {
        let (outer, name) = key.rsplit_once('.').unwrap_or(("", key));
        let mut table = Some(&mut self.keys);
        for name in outer.split('.').filter(|name| !name.is_empty()) {
            table = table.and_then(|table| table.get_mut(name)?.as_table_mut());
        }
        if let Some(table) = table {
            table.remove(name);
        }
    }

    /// The file.
    pub fn text(&self) -> String {
        match self.style {
            Style::Headers => toml::to_string(&self.keys).expect("plain values are TOML"),
            Style::Dotted => {
                let mut lines = String::new();
                each_leaf(&self.keys, &mut Vec::new(), &mut |path, value| {
                    let quote = |name: &&str| match name.contains('.') {
                        true => format!("\"{name}\""),
                        false => (*name).to_owned(),
                    };
                    let path: Vec<_> = path.iter().map(quote).collect();
                    lines += &format!("{} = {value}\n", path.join("."));
                });
                lines
            }
        }
    }

    /// Every key that the file sets or sweeps, and every choice that it makes: `bus = "full"` is
    /// `bus` and `bus.full`, `fabric.tree.k` is `fabric`, `fabric.tree` and itself.
    pub fn mentioned(&self) -> Vec<String> {
        let mut keys = Vec::new();
        for (name, value) in &self.keys {
            match (name.as_str(), value) {
                ("sweep", Value::Table(kinds)) => {
                    for (key, values) in kinds.values().filter_map(Value::as_table).flatten() {
                        mention(key, values, &mut keys);
                    }
                }
                ("figure" | "table", Value::Array(list)) => {
                    list.iter().for_each(|item| mention(name, item, &mut keys));
                }
                _ => mention(name, value, &mut keys),
            }
        }
        keys
    }
}

fn mention(key: &str, value: &Value, keys: &mut Vec<String>) {
    keys.push(key.to_owned());
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(name, value)| mention(&format!("{key}.{name}"), value, keys));
        }
        Value::Array(items) => items.iter().for_each(|item| mention(key, item, keys)),
        Value::String(word) => keys.push(format!("{key}.{word}")),
        _ => {}
    }
}

/// A table of these keys.
pub fn table<V: Into<Value>>(keys: impl IntoIterator<Item = (&'static str, V)>) -> Table {
    keys.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

/// Sets a value in a table of tables.
pub fn put(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((name, rest)) => {
            let inner = table.entry(name).or_insert_with(|| Table::new().into());
            if !inner.is_table() {
                *inner = Table::new().into();
            }
            put(inner.as_table_mut().expect("made one"), rest, value);
        }
    }
}

/// Visits all values that are no tables, and empty tables, each with the names that lead to it.
pub fn each_leaf<'a>(
    table: &'a Table,
    path: &mut Vec<&'a str>,
    visit: &mut dyn FnMut(&[&'a str], &'a Value),
) {
    for (name, value) in table {
        path.push(name);
        match value {
            Value::Table(inner) if !inner.is_empty() => each_leaf(inner, path, visit),
            value => visit(path, value),
        }
        path.pop();
    }
}
