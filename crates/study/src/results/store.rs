//! Writing a folder of results.

use std::path::{Path, PathBuf};

use super::journal::Journal;
use super::meta::Meta;
use super::{
    CHANNELS, ChannelRow, JOURNAL, META, ROWS_CSV, ROWS_JSON, ResultsError, STUDY, doing, origin,
    replace, table,
};
use crate::column::COLUMNS;
use crate::fingerprint::Fingerprint;
use crate::point::Point;
use crate::row::Row;
use crate::study::Study;

/// The results of a study while they come in.
///
/// Points may finish in any order. Each is safe in the journal as soon as [`Store::record`]
/// returns; [`Store::publish`] writes the files that others read, whether or not all points are
/// there yet.
#[derive(Debug)]
pub struct Store<'a> {
    folder: PathBuf,
    /// Let go before the journal, whose lock keeps others out meanwhile.
    _opened: Opened,
    study: &'a Study,
    version: String,
    /// The fingerprint of each point, by its index.
    points: Vec<Fingerprint>,
    journal: Journal,
}

impl<'a> Store<'a> {
    /// Opens a folder, making it if need be, and takes over the points that `version` of Crosstie
    /// has already finished there. A folder of another experiment is refused.
    pub fn open(
        folder: impl Into<PathBuf>,
        study: &'a Study,
        version: &str,
    ) -> Result<Store<'a>, ResultsError> {
        let store = Store::at(folder.into(), study, version, false)?;
        origin::check(&store.folder, study)?;
        Ok(store)
    }

    /// The same, but whatever is there is forgotten.
    pub fn fresh(
        folder: impl Into<PathBuf>,
        study: &'a Study,
        version: &str,
    ) -> Result<Store<'a>, ResultsError> {
        Store::at(folder.into(), study, version, true)
    }

    fn at(
        folder: PathBuf,
        study: &'a Study,
        version: &str,
        fresh: bool,
    ) -> Result<Store<'a>, ResultsError> {
        let opened = Opened::make(&folder)?;
        let journal = Journal::open(&folder, version, fresh)?;
        let points = study.points().iter().map(Point::fingerprint).collect();
        Ok(Store { folder, _opened: opened, study, version: version.to_owned(), points, journal })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The points that still have to run, in order.
    pub fn pending(&self) -> Vec<&'a Point> {
        let points = self.study.points().iter().zip(&self.points);
        points.filter(|(_, name)| self.journal.outcome(**name).is_none()).map(|(p, _)| p).collect()
    }

    /// The rows of the finished points, in order.
    pub fn rows(&self) -> Vec<Row> {
        let points = self.study.points().iter().zip(&self.points);
        points.filter_map(|(point, name)| Some(self.journal.outcome(*name)?.row(point))).collect()
    }

    /// Keeps the outcome of a point. A measured value that is not finite counts as not measured; the
    /// counters of channels must be finite.
    pub fn record(&mut self, row: &Row, channels: &[ChannelRow]) -> Result<(), ResultsError> {
        let (point, points) = (row.point, self.points.len());
        let name =
            *self.points.get(point as usize).ok_or(ResultsError::NoSuchPoint { point, points })?;
        let known = |name: &str| COLUMNS.iter().any(|column| column.name == name);
        if let Some((column, _)) = row.measured.iter().find(|(name, _)| !known(name)) {
            return Err(ResultsError::NoSuchColumn { column: column.clone() });
        }
        let finite =
            |c: &ChannelRow| [c.utilisation, c.blocked, c.waiting].iter().all(|x| x.is_finite());
        if let Some(bad) = channels.iter().find(|channel| !finite(channel)) {
            return Err(ResultsError::NotFinite { point, channel: bad.channel });
        }
        let measured = COLUMNS
            .iter()
            .filter_map(|c| Some((c.name.to_owned(), row.measured(c.name)?)))
            .filter(|(_, value)| value.is_finite())
            .collect();
        self.journal.append(name, &Row { measured, ..row.clone() }, channels)
    }

    /// Writes the files that others read, from the points finished so far. Their bytes depend on the
    /// study and on which points have finished, not on the order in which they did.
    pub fn publish(&self) -> Result<(), ResultsError> {
        let rows = self.rows();
        let meta = Meta::of(self.study, rows.len(), &self.version);
        let at = |name: &str| self.folder.join(name);
        self.copy_inputs()?;
        origin::write(&self.folder, self.study)?;
        replace(&at(STUDY), |to| to.write_all(self.study.to_toml().as_bytes()))?;
        replace(&at(META), |to| {
            serde_json::to_writer_pretty(&mut *to, &meta)?;
            to.write_all(b"\n")
        })?;
        replace(&at(ROWS_JSON), |to| table::write_json(&rows, to))?;
        replace(&at(ROWS_CSV), |to| table::write_csv(self.study.keys(), &rows, to))?;
        self.publish_channels(&at(CHANNELS))
    }

    /// Copies what the experiment refers to, so that the folder is complete in itself.
    fn copy_inputs(&self) -> Result<(), ResultsError> {
        for (name, input) in self.study.copies() {
            let path = self.folder.join(name);
            let folder = path.parent().unwrap_or(&self.folder);
            std::fs::create_dir_all(folder).map_err(doing("make the folder", folder))?;
            replace(&path, |to| to.write_all(&input.content))?;
        }
        Ok(())
    }

    fn publish_channels(&self, path: &Path) -> Result<(), ResultsError> {
        let kept =
            self.study.points().iter().zip(&self.points).filter(|(p, _)| p.spec.measure.channels);
        let mut some = false;
        replace(path, |to| {
            let mut csv = csv::Writer::from_writer(to);
            for (point, name) in kept {
                let Some(outcome) = self.journal.outcome(*name) else { continue };
                for channel in self.journal.channels(outcome)? {
                    some = true;
                    csv.serialize(ChannelRow { point: point.index, ..channel })?;
                }
            }
            csv.flush()
        })?;
        if !some {
            std::fs::remove_file(path).map_err(doing("remove", path))?;
        }
        Ok(())
    }

    /// Publishes, and closes the folder with a journal in the order of the points.
    pub fn close(self) -> Result<(), ResultsError> {
        self.publish()?;
        self.journal.tidy(&self.points)
    }
}

/// A folder that is being used; if nothing came into it but a journal without lines, it goes again.
#[derive(Debug)]
struct Opened {
    folder: PathBuf,
    /// The folder and those around it, as far as they were made for it, the innermost first.
    made: Vec<PathBuf>,
}

impl Opened {
    fn make(folder: &Path) -> Result<Opened, ResultsError> {
        let missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let made = folder.ancestors().take_while(missing).map(Path::to_owned).collect();
        std::fs::create_dir_all(folder).map_err(doing("make the folder", folder))?;
        Ok(Opened { folder: folder.to_owned(), made })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        let journal = self.folder.join(JOURNAL);
        let bare = std::fs::metadata(&journal).is_ok_and(|journal| journal.len() == 0)
            && std::fs::read_dir(&self.folder).is_ok_and(|files| files.count() == 1);
        if bare && std::fs::remove_file(journal).is_ok() {
            // A folder that someone else uses by now is not empty, and stays.
            let _ = self.made.iter().try_for_each(std::fs::remove_dir);
        }
    }
}
