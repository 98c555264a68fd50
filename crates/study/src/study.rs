//! A whole experiment file: its points and its figures.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::DeTable;

use crate::diagnostic::Diagnostic;
use crate::document::{self, Fault};
use crate::figure::Figure;
use crate::point::Point;
use crate::source::{self, Input, Inputs, copy_of};
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
    /// The name and the text that it was read from.
    source: (String, String),
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
        Study::read(&path.display().to_string(), &text, Inputs::beside(path))
    }

    /// Reads an experiment from text; `name` stands for the file in error messages. Files that it
    /// refers to are left alone.
    pub fn parse(name: &str, text: &str) -> Result<Study, Diagnostic> {
        Study::read(name, text, Inputs::default())
    }

    fn read(name: &str, text: &str, inputs: Inputs) -> Result<Study, Diagnostic> {
        let source = (name.to_owned(), text.to_owned());
        Study::understand(source, inputs).map_err(|fault| Diagnostic::in_text(name, text, fault))
    }

    fn understand(source: (String, String), mut inputs: Inputs) -> Result<Study, Fault> {
        let mut root = document::parse(&source.1)?;
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
        Ok(Study { title, citation, description, figures, keys, sweep, points, inputs, source })
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

    /// The files that the experiment refers to, by the path that a folder of results keeps them under.
    pub(crate) fn copies(&self) -> BTreeMap<String, &Input> {
        let known = self.inputs.known().iter();
        known.map(|(path, input)| (copy_of(path, input.fingerprint), input)).collect()
    }

    /// The file it was read from, if it was.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.inputs.experiment()
    }

    /// A mistake that shows only when a point is put to use, at the place of a key in the file.
    pub fn mistake(
        &self,
        point: &Point,
        key: &str,
        title: &str,
        problem: &str,
        help: &str,
    ) -> Diagnostic {
        let (name, text) = &self.source;
        let fault = point.blame(Fault::new(title, problem).with_help(help));
        Diagnostic::in_text(name, text, fault.at(self.place(point, key).unwrap_or(0..0)))
    }

    /// Where the value of a key at a point stands in the text.
    fn place(&self, point: &Point, key: &str) -> Option<Range<usize>> {
        let mut root = document::parse(&self.source.1).ok()?;
        let sweep = match root.remove("sweep") {
            Some(value) => Sweep::read(&value).ok()?,
            None => Sweep::default(),
        };
        let root = sweep.document(&root, point.index as usize).ok()?;
        document::place(&root, key).map(|(_, value)| value)
    }

    /// The study as an experiment file with every default spelled out, and with the paths of the
    /// copies for those of its files. Reading it beside them gives the same points and figures.
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
            file.insert("sweep".into(), self.kept_sweep(sweep).into());
        }
        if !self.figures.is_empty() {
            file.insert("figure".into(), table_of(&self.figures));
        }
        toml::to_string(&file).expect("a table of plain values is TOML")
    }

    /// The sweep with the paths of the copies for those of files.
    fn kept_sweep(&self, sweep: &toml::Table) -> toml::Table {
        let mut kept = sweep.clone();
        let lists = kept.iter_mut().filter_map(|(_, axes)| axes.as_table_mut()).flatten();
        for (key, list) in lists {
            for value in list.as_array_mut().into_iter().flatten() {
                self.keep_paths(key, value);
            }
        }
        kept
    }

    fn keep_paths(&self, key: &str, value: &mut toml::Value) {
        match value {
            toml::Value::String(path) if Spec::names_a_file(key) => {
                if let Some(input) = self.inputs.known().get(path) {
                    *path = copy_of(path, input.fingerprint);
                }
            }
            toml::Value::Table(table) => {
                table.iter_mut().for_each(|(k, v)| self.keep_paths(&format!("{key}.{k}"), v));
            }
            toml::Value::Array(list) => {
                (0..).zip(list).for_each(|(i, v): (usize, _)| {
                    self.keep_paths(&format!("{key}.{i}"), v);
                });
            }
            _ => {}
        }
    }

    /// The keys on which all points agree. A key on which they differ is either swept or a default
    /// that depends on a swept key, and comes out right again when the sweep is applied.
    fn common(&self) -> toml::Table {
        let mut tables = self.points.iter().map(|point| match table_of(&point.kept_spec()) {
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
    let mut point = Point { index: index as u32, settings, spec, inputs: Vec::new() };
    // Each part alone is in order, so the clash may come from settings of this point only.
    point.spec.check(&root).map_err(|fault| point.blame(fault))?;
    for (key, path) in point.spec.files() {
        let place = document::place(&root, &key).map_or(0..0, |(_, value)| value);
        let content = inputs.fingerprint(path).map_err(|fault| fault.at(place))?;
        point.inputs.extend(content.map(|content| (path.to_owned(), content)));
    }
    Ok(point)
}
