//! Finished points as they come in, so that no finished work is ever lost.
//!
//! One line of JSON per point, appended at once. A line that cannot be read, such as the last one
//! after a crash, counts as not written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{ChannelRow, JOURNAL, ResultsError, doing, replace};
use crate::fingerprint::Fingerprint;
use crate::point::Point;
use crate::row::{Row, Status};

/// The outcome of a point: a row without what the study knows already.
#[derive(Debug, Clone)]
pub(super) struct Outcome {
    pub status: Status,
    pub note: String,
    pub measured: Vec<(String, f64)>,
    /// Where in the journal its line is; channels are read from there when they are needed, since
    /// those of a large study would not fit in memory.
    line: Range<u64>,
}

impl Outcome {
    /// The row of the point that it is the outcome of.
    pub fn row(&self, point: &Point) -> Row {
        Row {
            point: point.index,
            settings: point.settings.clone(),
            status: self.status,
            note: self.note.clone(),
            measured: self.measured.clone(),
        }
    }
}

/// A line as it is written.
#[derive(Serialize)]
struct Line<'a> {
    fingerprint: String,
    crosstie: &'a str,
    status: &'a str,
    note: &'a str,
    measured: &'a [(String, f64)],
    channels: &'a [ChannelRow],
}

/// A line as it is read when the journal is opened.
#[derive(Deserialize)]
struct Head {
    fingerprint: String,
    crosstie: String,
    status: String,
    note: String,
    measured: Vec<(String, f64)>,
}

/// The rest of a line, read when the channels are asked for.
#[derive(Deserialize)]
struct Tail {
    channels: Vec<ChannelRow>,
}

/// The open journal of a folder.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    version: String,
    outcomes: BTreeMap<Fingerprint, Outcome>,
}

impl Journal {
    /// Opens the journal of a folder, or begins one. Outcomes of other versions do not count; in a
    /// `fresh` one, none do.
    pub fn open(folder: &Path, version: &str, fresh: bool) -> Result<Journal, ResultsError> {
        let path = folder.join(JOURNAL);
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(&path)
            .map_err(doing("open", &path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(ResultsError::Busy { path: folder.to_owned() });
            }
            // Where a file system has no locks, one run at a time is the user's care.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        if fresh {
            file.set_len(0).map_err(doing("empty", &path))?;
        }
        let (outcomes, whole) = scan(&file, version).map_err(doing("read", &path))?;
        if !whole {
            // Ended here, what was cut off is a line that counts as not written.
            (&file).write_all(b"\n").map_err(doing("write", &path))?;
        }
        Ok(Journal { path, file, version: version.to_owned(), outcomes })
    }

    /// The outcomes in the journal of a folder that someone else may be writing.
    pub fn look(
        folder: &Path,
        version: &str,
    ) -> Result<BTreeMap<Fingerprint, Outcome>, ResultsError> {
        let path = folder.join(JOURNAL);
        let scanned = File::open(&path).and_then(|file| scan(&file, version));
        scanned.map(|(outcomes, _)| outcomes).map_err(doing("read", &path))
    }

    /// The outcome of a point, if it has finished.
    pub fn outcome(&self, point: Fingerprint) -> Option<&Outcome> {
        self.outcomes.get(&point)
    }

    /// Adds the outcome of a point.
    pub fn append(
        &mut self,
        point: Fingerprint,
        row: &Row,
        channels: &[ChannelRow],
    ) -> Result<(), ResultsError> {
        let line = Line {
            fingerprint: point.to_string(),
            crosstie: &self.version,
            status: row.status.word(),
            note: &row.note,
            measured: &row.measured,
            channels,
        };
        let write = |mut file: &File| -> io::Result<Range<u64>> {
            let mut text = serde_json::to_vec(&line)?;
            text.push(b'\n');
            let start = file.seek(SeekFrom::End(0))?;
            file.write_all(&text)?;
            Ok(start..start + text.len() as u64)
        };
        let line = write(&self.file).map_err(doing("write", &self.path))?;
        let (status, note, measured) = (row.status, row.note.clone(), row.measured.clone());
        self.outcomes.insert(point, Outcome { status, note, measured, line });
        Ok(())
    }

    /// The channels of a finished point.
    pub fn channels(&self, outcome: &Outcome) -> io::Result<Vec<ChannelRow>> {
        let tail: Tail = serde_json::from_slice(&self.line(outcome)?)?;
        Ok(tail.channels)
    }

    fn line(&self, outcome: &Outcome) -> io::Result<Vec<u8>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(outcome.line.start))?;
        let mut line = Vec::new();
        file.take(outcome.line.end - outcome.line.start).read_to_end(&mut line)?;
        Ok(line)
    }

    /// Closes the journal, leaving one line per outcome: those of the study in its order, then those
    /// of earlier forms of the study. Its bytes no longer tell in which order points finished.
    pub fn tidy(self, order: &[Fingerprint]) -> Result<(), ResultsError> {
        let current: BTreeSet<_> = order.iter().collect();
        let earlier = self.outcomes.keys().filter(|point| !current.contains(point));
        let mut written = BTreeSet::new();
        replace(&self.path, |to| {
            for point in order.iter().chain(earlier) {
                if let Some(outcome) = self.outcomes.get(point)
                    && written.insert(point)
                {
                    to.write_all(&self.line(outcome)?)?;
                }
            }
            Ok(())
        })
    }
}

/// Reads a whole journal: the outcomes, and whether the last line has its end.
fn scan(file: &File, version: &str) -> io::Result<(BTreeMap<Fingerprint, Outcome>, bool)> {
    let mut reader = BufReader::new(file);
    let (mut start, mut line, mut whole) = (0, Vec::new(), true);
    let mut outcomes = BTreeMap::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        let end = start + line.len() as u64;
        whole = line.last() == Some(&b'\n');
        if whole {
            outcomes.extend(outcome(&line, version, start..end));
        }
        start = end;
        line.clear();
    }
    Ok((outcomes, whole))
}

/// Reads a line; `None` if it cannot be read or comes from another version.
fn outcome(line: &[u8], version: &str, place: Range<u64>) -> Option<(Fingerprint, Outcome)> {
    let head: Head = serde_json::from_slice(line).ok()?;
    let status = head.status.parse().ok()?;
    let outcome = Outcome { status, note: head.note, measured: head.measured, line: place };
    (head.crosstie == version).then_some((head.fingerprint.parse().ok()?, outcome))
}
