//! Writing a trace.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crosstie_box::{Happening, Sample, Spec};
use serde::Serialize;

use super::{
    BOX, EVENT_COLUMNS, EVENTS, FORMAT, META, RAIL_COLUMNS, RAILS, Summary, TraceError, TraceMeta,
    doing, names,
};
use crate::results::ColumnMeaning;

/// What a report puts into the folder; drawn again from the rest of it.
const REPORT: [&str; 2] = ["report.html", "figures"];

/// A trace while it is recorded.
///
/// Once something cannot be written, nothing more is: what is in the folder is whole up to there.
/// What the run came to is kept in any case.
#[derive(Debug)]
pub struct TraceWriter {
    folder: PathBuf,
    rails: Table,
    events: Table,
    meta: TraceMeta,
    summary: Summary,
    /// What is known of each end, as in the summary.
    ends: Vec<Ongoing>,
    broken: bool,
}

/// An end of a rail while it is recorded.
#[derive(Debug, Clone, Default)]
struct Ongoing {
    /// When it was looked at last.
    time: f64,
    /// Whether it was idle then.
    idle: bool,
    /// That it is still idle, which is not written yet.
    held: Option<Sample>,
}

impl TraceWriter {
    /// Begins a trace in a folder, which is made if missing. A trace that is there is replaced; a
    /// folder with anything else in it is refused.
    pub fn create(
        folder: impl Into<PathBuf>,
        box_file: &str,
        spec: &Spec,
        program: &[String],
        version: &str,
    ) -> Result<TraceWriter, TraceError> {
        let folder = folder.into();
        let empty = check_free(&folder)?;
        let begun = TraceWriter::begin_in(folder.clone(), box_file, spec, program, version);
        if empty && begun.is_err() {
            // What was begun in vain would be in the way of the next. It may not all be there.
            for name in [RAILS, EVENTS, META, BOX] {
                let _ = fs::remove_file(folder.join(name));
            }
            let _ = fs::remove_dir(&folder);
        }
        begun
    }

    fn begin_in(
        folder: PathBuf,
        box_file: &str,
        spec: &Spec,
        program: &[String],
        version: &str,
    ) -> Result<TraceWriter, TraceError> {
        fs::create_dir_all(&folder).map_err(doing("make the folder", &folder))?;
        let rails = Table::open(folder.join(RAILS))?;
        match rails.file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(TraceError::Busy { path: folder }),
            Err(TryLockError::Error(error)) => return Err(doing("lock", &rails.path)(error)),
        }
        let events = Table::open(folder.join(EVENTS))?;
        let meta = TraceMeta {
            format: FORMAT,
            crosstie: version.to_owned(),
            program: program.to_vec(),
            seconds: None,
            columns: columns(),
        };
        let summary = Summary::of(spec);
        let ends = vec![Ongoing::default(); summary.ends.len()];
        let mut writer = TraceWriter { folder, rails, events, meta, summary, ends, broken: false };
        writer.begin(box_file)?;
        Ok(writer)
    }

    fn begin(&mut self, box_file: &str) -> Result<(), TraceError> {
        // A report of what was here before would be taken for one of what is to come.
        let report = self.folder.join(REPORT[0]);
        match fs::remove_file(&report) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(doing("remove", &report)(error));
            }
            _ => {}
        }
        self.write_meta()?;
        replace(&self.folder.join(BOX), box_file.as_bytes())?;
        self.rails.begin(names(&RAIL_COLUMNS))?;
        self.events.begin(names(&EVENT_COLUMNS))
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps what every end carried since the samples before. The first time that something cannot
    /// be written is an error; from then on the run is only summed up.
    pub fn record(&mut self, samples: Vec<Sample>) -> Result<(), TraceError> {
        let mut lines = Vec::new();
        let mut guess = 0;
        for mut sample in samples {
            // Of something that the box does not have, nothing can be told.
            let Some(i) = self.summary.find(&sample.rail, &sample.host, sample.end, guess) else {
                continue;
            };
            guess = i + 1;
            sample.time = microseconds(sample.time);
            self.summary.seconds = self.summary.seconds.max(sample.time);
            let end = &mut self.ends[i];
            self.summary.ends[i].add(&sample, sample.time - end.time);
            let idle = [sample.bytes, sample.frames, sample.drops, sample.queue] == [0; 4];
            let time = sample.time;
            if idle && end.idle {
                end.held = Some(sample);
            } else {
                lines.extend(end.held.take());
                lines.push(sample);
            }
            (end.time, end.idle) = (time, idle);
        }
        self.write(|writer| writer.rails.append(&lines))
    }

    /// Keeps something that happened; errors are as those of [`TraceWriter::record`].
    pub fn happened(&mut self, happening: &Happening) -> Result<(), TraceError> {
        let (time, late) = (microseconds(happening.time), microseconds(happening.late));
        let happening = Happening { time, late, ..happening.clone() };
        self.write(|writer| writer.events.append(&[happening]))
    }

    /// What the run has come to so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Ends the trace; errors are as those of [`TraceWriter::record`].
    pub fn finish(&mut self) -> Result<(), TraceError> {
        let held: Vec<Sample> = self.ends.iter_mut().filter_map(|end| end.held.take()).collect();
        self.meta.seconds = Some(self.summary.seconds);
        self.write(|writer| {
            writer.rails.append(&held)?;
            writer.write_meta()
        })
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut TraceWriter) -> Result<(), TraceError>,
    ) -> Result<(), TraceError> {
        if self.broken {
            return Ok(());
        }
        let written = write(self);
        self.broken = written.is_err();
        written
    }

    fn write_meta(&self) -> Result<(), TraceError> {
        let path = self.folder.join(META);
        let text = serde_json::to_string_pretty(&self.meta).map_err(io::Error::from);
        let text = text.map_err(doing("write", &path))? + "\n";
        replace(&path, text.as_bytes())
    }
}

/// A table that grows by whole lines.
#[derive(Debug)]
struct Table {
    path: PathBuf,
    file: File,
    /// How long it is, all lines whole.
    length: u64,
}

impl Table {
    /// Opens a table with whatever is in it, which may be somebody else's.
    fn open(path: PathBuf) -> Result<Table, TraceError> {
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        Ok(Table { file: file.map_err(doing("write", &path))?, path, length: 0 })
    }

    /// Empties it but for its head.
    fn begin(&mut self, names: impl Iterator<Item = &'static str>) -> Result<(), TraceError> {
        self.file.set_len(0).map_err(doing("write", &self.path))?;
        let head = names.collect::<Vec<_>>().join(",") + "\n";
        self.put(head.as_bytes())
    }

    /// Adds lines, all of them or none.
    fn append(&mut self, lines: &[impl Serialize]) -> Result<(), TraceError> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut csv = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        let text = lines.iter().try_for_each(|line| csv.serialize(line)).map_err(io::Error::from);
        let text = text.and_then(|()| csv.into_inner().map_err(csv::IntoInnerError::into_error));
        self.put(&text.map_err(doing("write", &self.path))?)
    }

    fn put(&mut self, text: &[u8]) -> Result<(), TraceError> {
        if let Err(error) = self.file.write_all(text) {
            // The first error is the one to report; readers leave out half a line by themselves.
            let _ = self.file.set_len(self.length);
            return Err(doing("write", &self.path)(error));
        }
        self.length += text.len() as u64;
        Ok(())
    }
}

/// Refuses a folder with something in it that is not a trace; tells whether nothing is in it.
fn check_free(folder: &Path) -> Result<bool, TraceError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        entries => entries.map_err(doing("read the folder", folder))?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<io::Result<Vec<String>>>();
    if let Ok(names) = &mut names {
        names.sort();
    }
    let names = names.map_err(doing("read the folder", folder))?;
    let is_trace = names.iter().any(|name| name == META);
    let own = |name: &&String| {
        let drafts = [META, BOX].iter().any(|own| **name == draft_of(own));
        drafts || [BOX, RAILS, EVENTS, META].iter().chain(&REPORT).any(|own| own == name)
    };
    let other = match is_trace {
        true => names.iter().find(|name| !own(name)),
        false => names.first(),
    };
    match other {
        Some(other) => Err(TraceError::Occupied { path: folder.to_owned(), other: other.clone() }),
        None => Ok(names.is_empty()),
    }
}

fn draft_of(name: &str) -> String {
    format!("{name}.tmp")
}

/// Writes a file as a whole or not at all.
fn replace(path: &Path, content: &[u8]) -> Result<(), TraceError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = path.with_file_name(draft_of(&name));
    let written = fs::write(&draft, content).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The first error is the one to report; a draft that stays behind does no harm.
        let _ = fs::remove_file(&draft);
    }
    written.map_err(doing("write", path))
}

fn columns() -> BTreeMap<String, Vec<ColumnMeaning>> {
    let told = |columns: &[[&str; 3]]| {
        let columns = columns.iter().map(|[name, unit, meaning]| ColumnMeaning {
            name: (*name).to_owned(),
            unit: (*unit).to_owned(),
            meaning: (*meaning).to_owned(),
        });
        columns.collect()
    };
    BTreeMap::from([
        (RAILS.to_owned(), told(&RAIL_COLUMNS)),
        (EVENTS.to_owned(), told(&EVENT_COLUMNS)),
    ])
}

/// A time to the microsecond; more would be noise.
fn microseconds(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}
