//! Reading a folder of results.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::journal::Journal;
use super::meta::{FORMAT, OLDEST};
use super::side::SideRow;
use super::{META, Meta, ROWS_JSON, ResultsError, STUDY, SideTables, doing, rows};
use crate::figure::Figure;
use crate::kind::WorkKind;
use crate::point::Point;
use crate::row::Row;
use crate::study::Study;
use crate::table::Table;

/// Everything a report needs; a figure is redrawn from it without running anything.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultSet {
    /// Where it was read from.
    pub folder: PathBuf,
    /// What the folder says about itself: title, citation, seed, version, columns.
    pub meta: Meta,
    /// What to draw.
    pub figures: Vec<Figure>,
    /// How to lay out the rows.
    pub tables: Vec<Table>,
    /// The finished points, in order.
    pub rows: Vec<Row>,
    /// The text of `study.toml`.
    pub study: String,
}

impl ResultSet {
    /// Reads a folder; of one that is still being written, what is there by now.
    pub fn open(folder: impl Into<PathBuf>) -> Result<ResultSet, ResultsError> {
        let folder = folder.into();
        let read = |name: &str| {
            let path = folder.join(name);
            fs::read_to_string(&path).map_err(doing("read", &path)).map(|text| (path, text))
        };
        let (path, text) = read(META)?;
        let damaged =
            |line, reason: String| ResultsError::Damaged { path: path.clone(), line, reason };
        /// Read first, for whatever else is in a file of another format.
        #[derive(Deserialize)]
        struct Version {
            format: u32,
        }
        let version: Version =
            serde_json::from_str(&text).map_err(|e| damaged(Some(e.line()), e.to_string()))?;
        if !(OLDEST..=FORMAT).contains(&version.format) {
            let reason = format!("its format is {}, expected at most {FORMAT}", version.format);
            return Err(damaged(None, reason));
        }
        let mut meta: Meta =
            serde_json::from_str(&text).map_err(|e| damaged(Some(e.line()), e.to_string()))?;
        let (path, text) = read(STUDY)?;
        let study = Study::kept(&path.display().to_string(), &text)?;
        let kinds: Vec<WorkKind> = study.points().iter().map(|p| p.spec.work.kind()).collect();
        let mut rows = read_rows(&folder.join(ROWS_JSON), &meta.settings, &kinds)?;
        if rows.len() < meta.points
            && let Some(more) = journalled(&folder, &meta)
            && more.len() > rows.len()
        {
            (meta.finished, rows) = (more.len(), more);
        }
        Ok(ResultSet {
            folder,
            meta,
            figures: study.figures,
            tables: study.tables,
            rows,
            study: text,
        })
    }

    /// What there is beside the rows of all finished points.
    pub fn side_tables(&self) -> Result<SideTables, ResultsError> {
        Ok(SideTables {
            channels: self.side()?,
            buffers: self.side()?,
            hosts: self.side()?,
            ranks: self.side()?,
            timeline: self.side()?,
        })
    }

    /// One table beside the rows; empty if the study kept none.
    fn side<T: SideRow>(&self) -> Result<Vec<T>, ResultsError> {
        let path = self.folder.join(T::TABLE.file());
        if !path.exists() {
            return Ok(Vec::new());
        }
        let damaged = |error: csv::Error| ResultsError::Damaged {
            path: path.clone(),
            line: error.position().map(|at| at.line() as usize),
            reason: error.to_string(),
        };
        let mut reader = csv::Reader::from_path(&path).map_err(damaged)?;
        reader.deserialize().map(|row| row.map_err(damaged)).collect()
    }
}

/// The rows of a study that is still running, or was broken off: those in the journal. `None` if
/// it, or what the study refers to, cannot be read.
fn journalled(folder: &Path, meta: &Meta) -> Option<Vec<Row>> {
    let study = Study::load(folder.join(STUDY)).ok()?;
    let entries = Journal::look(folder, &|_, revision| meta.revisions.contains(revision)).ok()?;
    let row = |point: &Point| Some(entries.get(&point.fingerprint())?.row(point));
    Some(study.points().iter().filter_map(row).collect())
}

fn read_rows(path: &Path, keys: &[String], kinds: &[WorkKind]) -> Result<Vec<Row>, ResultsError> {
    let text = fs::read_to_string(path).map_err(doing("read", path))?;
    text.lines()
        .enumerate()
        .map(|(i, line)| {
            rows::read_json(line, keys, kinds).map_err(|reason| ResultsError::Damaged {
                path: path.to_owned(),
                line: Some(i + 1),
                reason,
            })
        })
        .collect()
}
