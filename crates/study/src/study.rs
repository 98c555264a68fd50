//! A whole experiment file: its points and its figures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::DeTable;

use crate::diagnostic::Diagnostic;
use crate::document::{self, Fault};
use crate::figure::Figure;
use crate::fingerprint::Fingerprint;
use crate::point::Point;
use crate::source::{self, Inputs};
use crate::spec::Spec;
use crate::sweep::Sweep;

/// The top-level keys that are the same at all points and have no part in the simulation.
pub(crate) const HEADER_KEYS: [&str; 5] = ["title", "citation", "description", "sweep", "figure"];

/// An experiment, completely checked and expanded into its points.
#[derive(Debug)]
pub struct Study {
    /// What it is called.
    pub title: String,
    /// The publication it belongs to.
    pub citation: Option<String>,
    /// What it is about.
    pub description: Option<String>,
    /// What to draw from its rows.
    pub figures: Vec<Figure>,
    keys: Vec<String>,
    sweep: Option<toml::Table>,
    points: Vec<Point>,
    inputs: Inputs,
}

#[derive(Deserialize)]
struct Header {
    title: String,
    citation: Option<String>,
    description: Option<String>,
}

impl Study {
    /// Reads an experiment file. Files that it refers to must exist: their content is part of each
    /// point's fingerprint.
    pub fn load(path: impl AsRef<Path>) -> Result<Study, Diagnostic> {
        let path = path.as_ref();
        let text = source::text(path)?;
        Study::read(&text, Inputs::beside(path))
            .map_err(|fault| Diagnostic::in_text(&path.display().to_string(), &text, fault))
    }

    /// Reads an experiment from text; `name` stands for the file in error messages. Files that it
    /// refers to are left alone.
    pub fn parse(name: &str, text: &str) -> Result<Study, Diagnostic> {
        Study::read(text, Inputs::default()).map_err(|fault| Diagnostic::in_text(name, text, fault))
    }

    fn read(text: &str, mut inputs: Inputs) -> Result<Study, Fault> {
        let mut root = document::parse(text)?;
        for key in root.keys() {
            let known = HEADER_KEYS.into_iter().chain(Spec::KEYS);
            if !known.clone().any(|name| name == key.get_ref()) {
                return Err(Fault::unknown("key", key.get_ref(), known).at(key.span()));
            }
        }
        let Header { title, citation, description } = {
            let kept = ["title", "citation", "description"];
            let header: DeTable<'_> =
                kept.into_iter().filter_map(|key| root.remove_entry(key)).collect();
            document::decode_table(&header)?
        };
        let sweep = match root.remove("sweep") {
            Some(value) => Sweep::read(&value)?,
            None => Sweep::default(),
        };
        let figure = root.remove("figure");
        let points = (0..sweep.count())
            .map(|index| point(&root, &sweep, index, &mut inputs))
            .collect::<Result<Vec<Point>, Fault>>()?;
        let keys = sweep.keys();
        let figures = match figure {
            Some(value) => Figure::read(&value, &keys)?,
            None => Vec::new(),
        };
        let sweep = sweep.plain();
        Ok(Study { title, citation, description, figures, keys, sweep, points, inputs })
    }

    /// All points, in order of their index. There is at least one.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The swept keys: the settings that every row of the study has.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// Where a path written in the experiment file leads.
    pub fn locate(&self, path: &str) -> PathBuf {
        self.inputs.locate(path)
    }

    /// The files that the experiment refers to, as written, with the fingerprints of their content.
    pub fn inputs(&self) -> &BTreeMap<String, Fingerprint> {
        self.inputs.known()
    }

    /// The study as an experiment file with every default spelled out. Reading it gives the same
    /// points and figures.
    pub fn to_toml(&self) -> String {
        let mut file = toml::Table::new();
        let texts = [("citation", &self.citation), ("description", &self.description)];
        file.insert("title".into(), self.title.clone().into());
        for (key, text) in texts {
            if let Some(text) = text {
                file.insert(key.into(), text.clone().into());
            }
        }
        file.extend(self.common());
        if let Some(sweep) = &self.sweep {
            file.insert("sweep".into(), sweep.clone().into());
        }
        if !self.figures.is_empty() {
            file.insert("figure".into(), table_of(&self.figures));
        }
        toml::to_string(&file).expect("a table of plain values is TOML")
    }

    /// The keys on which all points agree. A key on which they differ is either swept or a default
    /// that depends on a swept key, and comes out right again when the sweep is applied.
    fn common(&self) -> toml::Table {
        let mut tables = self.points.iter().map(|point| match table_of(&point.spec) {
            toml::Value::Table(table) => table,
            _ => toml::Table::new(),
        });
        let mut common = tables.next().unwrap_or_default();
        tables.for_each(|other| keep_common(&mut common, &other));
        common
    }
}

fn table_of(value: &impl serde::Serialize) -> toml::Value {
    toml::Value::try_from(value).expect("specs and figures are plain values")
}

/// Removes from `table` what `other` does not have or has differently.
fn keep_common(table: &mut toml::Table, other: &toml::Table) {
    table.retain(|key, value| match (value, other.get(key)) {
        (toml::Value::Table(inner), Some(toml::Value::Table(theirs))) => {
            let was_empty = inner.is_empty();
            keep_common(inner, theirs);
            // An empty table is a choice, such as `bus.full`; an emptied one is nothing.
            was_empty == theirs.is_empty() && was_empty == inner.is_empty()
        }
        (value, theirs) => theirs == Some(&*value),
    });
}

/// Reads one point.
fn point<'i>(
    base: &DeTable<'i>,
    sweep: &Sweep<'i>,
    index: usize,
    inputs: &mut Inputs,
) -> Result<Point, Fault> {
    let root = sweep.document(base, index)?;
    let settings = sweep.settings(index);
    let spec = Spec::decode(&root)?;
    // Each part alone is in order, so the clash may come from settings of this point only.
    spec.check(&root).map_err(|fault| match settings.as_slice() {
        [] => fault,
        settings => {
            let list: Vec<_> =
                settings.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            fault.with_help(format!("found at point {index}: {}", list.join(", ")))
        }
    })?;
    let mut contents = Vec::new();
    for (key, path) in spec.files() {
        let place = document::place(&root, &key).map_or(0..0, |(_, value)| value);
        contents.extend(inputs.fingerprint(path).map_err(|fault| fault.at(place))?);
    }
    Ok(Point { index: index as u32, settings, spec, inputs: contents })
}
