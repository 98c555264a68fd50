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

use super::{JOURNAL, ResultsError, SideTables, doing, replace};
use crate::fingerprint::Fingerprint;
use crate::point::Point;
use crate::row::{Row, Status};

/// What the journal knows of a point: a row without what the study knows already.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub status: Status,
    pub note: String,
    pub measured: Vec<(String, f64)>,
    /// Where in the journal its line is; side tables are read from there when they are needed,
    /// since those of a large study would not fit in memory.
    line: Range<u64>,
}

impl Entry {
    /// The row of the point that it is of.
    pub fn row(&self, point: &Point) -> Row {
        Row::of(point, self.status, self.note.clone(), self.measured.clone())
    }
}

/// A line as it is written.
#[derive(Serialize)]
struct Line<'a> {
    fingerprint: String,
    revision: &'a str,
    status: &'a str,
    note: &'a str,
    measured: &'a [(String, f64)],
    #[serde(flatten)]
    side: &'a SideTables,
}

/// A line as it is read when the journal is opened.
#[derive(Deserialize)]
struct Head {
    fingerprint: String,
    /// Empty in journals from before there were revisions.
    #[serde(default)]
    revision: String,
    status: String,
    note: String,
    measured: Vec<(String, f64)>,
}

/// The open journal of a folder.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
    entries: BTreeMap<Fingerprint, Entry>,
    stale: BTreeSet<Fingerprint>,
}

/// Whether an entry of a point by a revision counts.
pub(super) type Counts<'a> = &'a dyn Fn(Fingerprint, &str) -> bool;

impl Journal {
    /// Opens the journal of a folder, or begins one; in a `fresh` one, no entries count.
    pub fn open(folder: &Path, counts: Counts<'_>, fresh: bool) -> Result<Journal, ResultsError> {
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
        let Scan { entries, stale, whole } =
            Scan::of(&file, counts).map_err(doing("read", &path))?;
        if !whole {
            // Ended here, what was cut off is a line that counts as not written.
            (&file).write_all(b"\n").map_err(doing("write", &path))?;
        }
        Ok(Journal { path, file, entries, stale })
    }

    /// The entries in the journal of a folder that someone else may be writing.
    pub fn look(
        folder: &Path,
        counts: Counts<'_>,
    ) -> Result<BTreeMap<Fingerprint, Entry>, ResultsError> {
        let path = folder.join(JOURNAL);
        let scan = File::open(&path).and_then(|file| Scan::of(&file, counts));
        scan.map(|scan| scan.entries).map_err(doing("read", &path))
    }

    /// Whether the point had finished when the journal was opened, and its entry does not count.
    pub fn is_stale(&self, point: Fingerprint) -> bool {
        self.stale.contains(&point)
    }

    /// What the journal knows of a point, if it has finished.
    pub fn entry(&self, point: Fingerprint) -> Option<&Entry> {
        self.entries.get(&point)
    }

    /// Adds the entry of a point.
    pub fn append(
        &mut self,
        point: Fingerprint,
        revision: &str,
        row: &Row,
        side: &SideTables,
    ) -> Result<(), ResultsError> {
        let line = Line {
            fingerprint: point.to_string(),
            revision,
            status: row.status.word(),
            note: &row.note,
            measured: &row.measured,
            side,
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
        self.entries.insert(point, Entry { status, note, measured, line });
        Ok(())
    }

    /// What a finished point has beside its row.
    pub fn side_tables(&self, entry: &Entry) -> io::Result<SideTables> {
        Ok(serde_json::from_slice(&self.line(entry)?)?)
    }

    fn line(&self, entry: &Entry) -> io::Result<Vec<u8>> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(entry.line.start))?;
        let mut line = Vec::new();
        file.take(entry.line.end - entry.line.start).read_to_end(&mut line)?;
        Ok(line)
    }

    /// Closes the journal, leaving one line per entry: those of the study in its order, then those
    /// of earlier forms of the study. Its bytes no longer tell in which order points finished.
    pub fn tidy(self, order: &[Fingerprint]) -> Result<(), ResultsError> {
        let current: BTreeSet<_> = order.iter().collect();
        let earlier = self.entries.keys().filter(|point| !current.contains(point));
        let mut written = BTreeSet::new();
        replace(&self.path, |to| {
            for point in order.iter().chain(earlier) {
                if let Some(entry) = self.entries.get(point)
                    && written.insert(point)
                {
                    to.write_all(&self.line(entry)?)?;
                }
            }
            Ok(())
        })
    }
}

/// A journal as it was read.
struct Scan {
    /// The entries that count.
    entries: BTreeMap<Fingerprint, Entry>,
    /// Points all of whose entries do not.
    stale: BTreeSet<Fingerprint>,
    /// Whether the last line has its end.
    whole: bool,
}

impl Scan {
    fn of(file: &File, counts: Counts<'_>) -> io::Result<Scan> {
        let mut reader = BufReader::new(file);
        let mut scan = Scan { entries: BTreeMap::new(), stale: BTreeSet::new(), whole: true };
        let (mut start, mut line) = (0, Vec::new());
        while reader.read_until(b'\n', &mut line)? > 0 {
            let end = start + line.len() as u64;
            scan.whole = line.last() == Some(&b'\n');
            if scan.whole {
                match entry(&line, start..end) {
                    Some((point, revision, entry)) if counts(point, &revision) => {
                        scan.entries.insert(point, entry);
                    }
                    Some((point, ..)) => {
                        scan.stale.insert(point);
                    }
                    None => {}
                }
            }
            start = end;
            line.clear();
        }
        scan.stale.retain(|point| !scan.entries.contains_key(point));
        Ok(scan)
    }
}

/// Reads a line: the point, the revision that ran it, and the entry; `None` if it cannot be read.
fn entry(line: &[u8], place: Range<u64>) -> Option<(Fingerprint, String, Entry)> {
    let head: Head = serde_json::from_slice(line).ok()?;
    let status = head.status.parse().ok()?;
    let entry = Entry { status, note: head.note, measured: head.measured, line: place };
    Some((head.fingerprint.parse().ok()?, head.revision, entry))
}
