//! A whole experiment file: its points, its figures and its tables.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::de::DeTable;

use crate::column::columns;
use crate::diagnostic::Diagnostic;
use crate::document::{self, Fault};
use crate::earlier::EarlierNames;
use crate::figure::Figure;
use crate::kind::WorkKind;
use crate::point::Point;
use crate::source::{self, Input, Inputs, copy_of};
use crate::spec::uses::{self, Ground};
use crate::spec::{Spec, World};
use crate::sweep::{self, Sweep};
use crate::table::Table;

/// The top-level keys that are the same at all points and have no part in the simulation.
pub(crate) const HEADER_KEYS: [&str; 6] =
    ["title", "citation", "description", "sweep", "figure", "table"];

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
    /// How to lay out its rows.
    pub tables: Vec<Table>,
    keys: Vec<String>,
    /// What the file sets for all points, as it says it; without the swept keys.
    written: toml::Table,
    sweep: Option<toml::Table>,
    points: Vec<Point>,
    /// Where its points are run, each once.
    grounds: Vec<Ground>,
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
        let text = source::text(path, "an experiment file")?;
        Study::read(&path.display().to_string(), &text, Inputs::beside(path))
    }

    /// Reads an experiment from text; `name` stands for the file in error messages. Files that it
    /// refers to are left alone.
    pub fn parse(name: &str, text: &str) -> Result<Study, Diagnostic> {
        Study::read(name, text, Inputs::default())
    }

    /// Reads an experiment whose results are kept. It may be from before real ranks refused what
    /// they do not use.
    pub(crate) fn kept(name: &str, text: &str) -> Result<Study, Diagnostic> {
        let source = (name.to_owned(), text.to_owned());
        Study::understand(source, Inputs::default())
            .map_err(|fault| Diagnostic::in_text(name, text, fault))
    }

    fn read(name: &str, text: &str, inputs: Inputs) -> Result<Study, Diagnostic> {
        let source = (name.to_owned(), text.to_owned());
        let study = Study::understand(source, inputs)
            .map_err(|fault| Diagnostic::in_text(name, text, fault))?;
        study.points.iter().try_for_each(|point| study.honoured(point)).map(|()| study)
    }

    /// Refuses what is written for real ranks and has no effect on them.
    fn honoured(&self, point: &Point) -> Result<(), Diagnostic> {
        if point.spec.world != World::Live {
            return Ok(());
        }
        let unused = self.unused(point);
        unused.first().map_or(Ok(()), |key| {
            let problem = format!("found `{key}`, expected keys that real ranks obey");
            let (title, help) =
                ("a key that real ranks do not use", "remove it, or choose another world");
            Err(self.mistake(point, key, title, &problem, help))
        })
    }

    fn understand(source: (String, String), mut inputs: Inputs) -> Result<Study, Fault> {
        let mut root = document::parse(&source.1)?;
        let names = EarlierNames::settle(&mut root)?;
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
        let (figure, table) = (root.remove("figure"), root.remove("table"));
        let keys = sweep.keys();
        let names = names.and(&keys);
        let points = (0..sweep.count())
            .map(|index| point(&root, &sweep, index, &mut inputs))
            .collect::<Result<Vec<Point>, Fault>>()
            .map_err(|fault| names.tell(fault))?;
        check_distinct(&points, &sweep)?;
        let mut grounds: Vec<Ground> = Vec::new();
        for ground in points.iter().map(|point| Ground::of(&point.spec)) {
            if !grounds.contains(&ground) {
                grounds.push(ground);
            }
        }
        let columns = columns(&kinds(&points));
        let figures = figure.map(|value| Figure::read(&value, &keys, &columns, &points));
        let tables = table.map(|value| Table::read(&value, &keys, &columns));
        let figures = figures.transpose()?.unwrap_or_default();
        let tables = tables.transpose()?.unwrap_or_default();
        let (written, sweep) = (sweep.base(&root), sweep.plain());
        Ok(Study {
            title,
            citation,
            description,
            figures,
            tables,
            keys,
            written,
            sweep,
            points,
            grounds,
            inputs,
            source,
        })
    }

    /// All points, in order of their index. There is at least one.
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// The swept keys: the settings that every row of the study has.
    pub fn keys(&self) -> &[String] {
        &self.keys
    }

    /// The kinds of work of its points, each once.
    pub fn kinds(&self) -> Vec<WorkKind> {
        kinds(&self.points)
    }

    /// Where a path written in the experiment file leads.
    pub fn locate(&self, path: &str) -> PathBuf {
        self.inputs.locate(path)
    }

    /// The files that the experiment refers to, by the path that a folder of results keeps them
    /// under.
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

    /// The keys that are written for a point and have no effect there, because its world does not
    /// use them. In a sweep over worlds, those that another world of the sweep uses are left out,
    /// but for what the model leaves out of the machine that it prices.
    pub fn unused(&self, point: &Point) -> Vec<String> {
        let Some(root) = self.document(point) else { return Vec::new() };
        uses::unused(&root, Ground::of(&point.spec), &self.grounds)
    }

    /// What a reader of the results of a point should know: keys without effect, and packets that
    /// cannot do what an algorithm asks of them.
    pub fn remarks(&self, point: &Point) -> Vec<String> {
        let unused = point.spec.world.does_not_use(&self.unused(point));
        unused.into_iter().chain(point.spec.takes_whole_turns()).collect()
    }

    /// The keys that are written for a point and of which a price by the model would know nothing.
    pub fn unpriced(&self, point: &Point) -> Vec<String> {
        let Some(root) = self.document(point) else { return Vec::new() };
        let ground = Ground::of_model(&point.spec);
        uses::unused(&root, ground, &[ground, Ground::of(&point.spec)])
    }

    /// Where the value of a key at a point stands in the text.
    fn place(&self, point: &Point, key: &str) -> Option<Range<usize>> {
        document::place(&self.document(point)?, key).map(|(_, value)| value)
    }

    /// What the file says at a point, with the places in its text.
    fn document(&self, point: &Point) -> Option<DeTable<'_>> {
        let mut root = document::parse(&self.source.1).ok()?;
        EarlierNames::settle(&mut root).ok()?;
        for key in ["title", "citation", "description", "figure", "table"] {
            root.remove(key);
        }
        let sweep = match root.remove("sweep") {
            Some(value) => Sweep::read(&value).ok()?,
            None => Sweep::default(),
        };
        sweep.document(&root, point.index as usize).ok()
    }

    /// The study as an experiment file with every default spelled out, and with the paths of the
    /// copies for those of its files. Reading it beside them gives the same points, figures and
    /// tables.
    pub fn to_toml(&self) -> String {
        let mut file = toml::Table::new();
        let texts = [("citation", &self.citation), ("description", &self.description)];
        file.insert("title".into(), self.title.clone().into());
        for (key, text) in texts {
            if let Some(text) = text {
                file.insert(key.into(), text.clone().into());
            }
        }
        let mut settings = self.common();
        let mut written = self.written.clone();
        written.iter_mut().for_each(|(key, value)| self.keep_paths(key, value));
        add_missing(&mut settings, written);
        file.extend(settings);
        let mut text = plain_text(&file);
        if let Some(sweep) = &self.sweep {
            text += &sweep_text(&self.kept_sweep(sweep));
        }
        for (key, list) in [
            ("figure", (!self.figures.is_empty()).then(|| value_of(&self.figures))),
            ("table", (!self.tables.is_empty()).then(|| value_of(&self.tables))),
        ] {
            if let Some(list) = list {
                text.push('\n');
                text += &plain_text(&[(key.to_owned(), list)].into_iter().collect());
            }
        }
        text
    }

    /// The sweep with the paths of the copies for those of files.
    fn kept_sweep(&self, sweep: &toml::Table) -> toml::Table {
        let mut kept = sweep.clone();
        let lists = kept.iter_mut().filter_map(|(_, axes)| axes.as_table_mut()).flatten();
        for (key, list) in lists {
            for value in list.as_array_mut().into_iter().flatten() {
                self.keep_paths(key, sweep::value_mut(value));
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
    /// that depends on a swept key, and comes out right again when the sweep is applied to what was
    /// written.
    fn common(&self) -> toml::Table {
        let mut tables = self.points.iter().map(|point| match value_of(&point.kept_spec()) {
            toml::Value::Table(table) => table,
            _ => toml::Table::new(),
        });
        let mut common = tables.next().unwrap_or_default();
        tables.for_each(|other| keep_common(&mut common, &other));
        common
    }
}

fn kinds(points: &[Point]) -> Vec<WorkKind> {
    WorkKind::among(points.iter().map(|point| point.spec.work.kind()))
}

fn value_of(value: &impl serde::Serialize) -> toml::Value {
    toml::Value::try_from(value).expect("specs, figures and tables are plain values")
}

fn plain_text(table: &toml::Table) -> String {
    toml::to_string(table).expect("a table of plain values is TOML")
}

/// The sweep, one line per key: lists of tables below headings of their own would come last, and
/// the order of the keys is that of the points.
fn sweep_text(sweep: &toml::Table) -> String {
    let mut text = String::new();
    for (kind, axes) in sweep {
        text += &format!("\n[sweep.{kind}]\n");
        for (key, list) in axes.as_table().into_iter().flatten() {
            let quote = if key.contains('.') { "\"" } else { "" };
            text += &format!("{quote}{key}{quote} = {list}\n");
        }
    }
    text
}

/// Adds to `table` what `more` has and `table` has not.
fn add_missing(table: &mut toml::Table, more: toml::Table) {
    for (key, value) in more {
        match (table.get_mut(&key), value) {
            (None, value) => {
                table.insert(key, value);
            }
            (Some(toml::Value::Table(inner)), toml::Value::Table(more)) => add_missing(inner, more),
            (Some(_), _) => {}
        }
    }
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

/// A point listed twice would only run again, and rows that are the same twice prove nothing.
fn check_distinct(points: &[Point], sweep: &Sweep<'_>) -> Result<(), Fault> {
    let mut seen = BTreeMap::new();
    for (index, point) in points.iter().enumerate() {
        if let Some(first) = seen.insert(point.fingerprint(), index) {
            return Err(sweep.repeated(first, index));
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads an experiment, what it writes, and what that writes.
    #[track_caller]
    fn survives(text: &str) -> String {
        let text = format!("title = 'x'\nseed = 1\ntraffic.size.fixed.size = '64 B'\n{text}");
        let study = Study::parse("first", &text).unwrap_or_else(|e| panic!("{e}"));
        let written = study.to_toml();
        let again = Study::parse("again", &written).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(again.points(), study.points(), "{written}");
        assert_eq!((&again.figures, &again.tables), (&study.figures, &study.tables));
        assert_eq!(again.to_toml(), written);
        written
    }

    #[test]
    fn a_choice_is_written_though_all_its_keys_differ() {
        let nics =
            "bus = 'full'\nnic.in-transit = {}\nfabric.tree = {k = 4, n = 2}\ntraffic.load = 0.3\n";
        // Each draws from the swept seed.
        for routing in ["'balanced-itb'", "'auto'", "{auto.seed = 5}", "{up-down.root = 3}"] {
            survives(&format!("{nics}routing = {routing}\nsweep.product.seed = [1, 2]"));
        }
        let moved = "routing.up-down.root = 3\nsweep.product.routing.up-down = {root = [1, 2], seed = [1, 2]}";
        survives(&format!("{nics}{moved}"));
        // A default that follows from what is swept is left to follow.
        let written = survives(
            "traffic.load = 0.3\nsweep.product.fabric = [{single.hosts = 4}, {tree = {k = 2, n = 2}}]",
        );
        assert!(!written.contains("routing]"), "{written}");
    }

    #[test]
    fn a_swept_key_that_the_file_sets_is_written_once() {
        let written = survives(
            "fabric.tree = {k = 4, n = 2}\ntraffic.load = 0.25\nsweep.product.'traffic.load' = [0.1, 0.5]",
        );
        assert!(!written.contains("0.25"), "{written}");
    }

    #[test]
    fn a_key_swept_by_its_earlier_name_is_shown_as_it_is_written() {
        let tree = "fabric.tree = {k = 4, n = 2}\ntraffic.load = 0.3\n";
        let swept = "sweep.product.scheme.dynamic.striping = [0, 1]";
        for base in ["scheme.dynamic.timeout = '1 us'", "policy.dynamic.timeout = '1 us'", ""] {
            let written = survives(&format!("{tree}{base}\n{swept}"));
            assert!(written.contains("\"scheme.dynamic.striping\" = [0, 1]"), "{written}");
            let study = Study::parse("written", &written).unwrap();
            assert_eq!(study.keys(), ["scheme.dynamic.striping"]);
        }
        let list = "['basic', 'round-robin', {dynamic.striping = 0}]";
        let study = |key: &str| {
            let text = format!("{tree}sweep.product.{key} = {list}");
            let text = format!("title = 'x'\nseed = 1\ntraffic.size.fixed.size = '64 B'\n{text}");
            Study::parse("list", &text).unwrap()
        };
        let (now, before) = (study("policy"), study("scheme"));
        for (point, earlier) in now.points().iter().zip(before.points()) {
            assert_eq!(point.fingerprint(), earlier.fingerprint());
            assert_eq!(
                (point.settings[0].0.as_str(), earlier.settings[0].0.as_str()),
                ("policy", "scheme")
            );
            assert_eq!(point.settings[0].1, earlier.settings[0].1);
        }
        survives(&format!("{tree}policy = 'basic'\nsweep.product.scheme = {list}"));
    }

    #[test]
    fn worlds_and_work_survive() {
        let title = "title = 'x'\nseed = 1\nfabric.tree = {k = 4, n = 2}\n";
        let text = format!(
            "{title}[sweep.product]\nworld = ['wormhole', 'ideal']\n\
             work = [{{ping.size = '8 B'}}, {{stream.size = '8 B'}}, {{stream = {{size = '8 B', window = 1}}}}]"
        );
        let study = Study::parse("first", &text).unwrap_or_else(|e| panic!("{e}"));
        let written = study.to_toml();
        let again = Study::parse("again", &written).unwrap_or_else(|e| panic!("{e}\n{written}"));
        assert_eq!(again.points(), study.points(), "{written}");
        let (last, world) = (&study.points()[5], &study.points()[5].spec.world);
        assert_eq!(last.name(), "point 5: world = ideal, work = stream(size=8 B, window=1)");
        assert_eq!(*world, crate::World::Ideal);
    }

    #[test]
    fn the_order_of_the_points_survives_whatever_is_swept() {
        for kind in ["product", "zip"] {
            survives(&format!(
                "fabric.tree = {{k = 4, n = 2}}\n[sweep.{kind}]\n\
                 'traffic.destination' = [{{hot-spot = {{host = 0, share = 0.5}}}}, 'uniform']\n\
                 routing = [{{up-down.root = 1}}, {{dfs = {{}}}}]\ntraffic.load = [0.1, 0.5]\n\
                 [[figure]]\nname = 'one'\nx = 'routing'\ny = 'accepted'\n\
                 [[table]]\nrows = 'routing'\ncolumns = 'traffic.load'\nvalue = 'accepted'\n\
                 [[table]]\nname = 'two'\nrows = 'routing'\nvalue = ['offered', 'accepted']"
            ));
        }
    }
}
