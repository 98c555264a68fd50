//! Writing a folder of results.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::journal::Journal;
use super::meta::Meta;
use super::side::SideRow;
use super::{
    BufferRow, ChannelRow, HostRow, JOURNAL, META, ROWS_CSV, ROWS_JSON, RankRow, ResultsError,
    STUDY, SideTables, TimelineRow, doing, origin, replace, rows,
};
use crate::fingerprint::Fingerprint;
use crate::point::Point;
use crate::row::Row;
use crate::spec::Spec;
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
    /// The revision that each point is computed by.
    revisions: Vec<String>,
    journal: Journal,
}

/// Tells what computes a point: the engine, and the revision of its results.
pub type Revision<'a> = &'a dyn Fn(&Spec) -> String;

impl<'a> Store<'a> {
    /// Opens a folder for this version of Crosstie, making it if need be, and takes over the points
    /// that the same revision has already finished there. A folder of another experiment is
    /// refused.
    pub fn open(
        folder: impl Into<PathBuf>,
        study: &'a Study,
        version: &str,
        revision: Revision<'_>,
    ) -> Result<Store<'a>, ResultsError> {
        let store = Store::at(folder.into(), study, version, revision, false)?;
        origin::check(&store.folder, study)?;
        Ok(store)
    }

    /// The same, but whatever is there is forgotten.
    pub fn fresh(
        folder: impl Into<PathBuf>,
        study: &'a Study,
        version: &str,
        revision: Revision<'_>,
    ) -> Result<Store<'a>, ResultsError> {
        Store::at(folder.into(), study, version, revision, true)
    }

    fn at(
        folder: PathBuf,
        study: &'a Study,
        version: &str,
        revision: Revision<'_>,
        fresh: bool,
    ) -> Result<Store<'a>, ResultsError> {
        let opened = Opened::make(&folder)?;
        let points: Vec<Fingerprint> = study.points().iter().map(Point::fingerprint).collect();
        let revisions: Vec<String> = study.points().iter().map(|p| revision(&p.spec)).collect();
        let expected: BTreeMap<_, _> = points.iter().copied().zip(&revisions).collect();
        // What an earlier form of the study left is judged when the study asks for it again.
        let counts = |point, revision: &str| expected.get(&point).is_none_or(|r| *r == revision);
        let journal = Journal::open(&folder, &counts, fresh)?;
        let version = version.to_owned();
        Ok(Store { folder, _opened: opened, study, version, points, revisions, journal })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The points that still have to run, in order.
    pub fn pending(&self) -> Vec<&'a Point> {
        let points = self.study.points().iter().zip(&self.points);
        points.filter(|(_, name)| self.journal.entry(**name).is_none()).map(|(p, _)| p).collect()
    }

    /// How many points had been finished here by another revision, and have to run again.
    pub fn stale(&self) -> usize {
        self.points.iter().filter(|point| self.journal.is_stale(**point)).count()
    }

    /// The rows of the finished points, in order.
    pub fn rows(&self) -> Vec<Row> {
        let points = self.study.points().iter().zip(&self.points);
        points.filter_map(|(point, name)| Some(self.journal.entry(*name)?.row(point))).collect()
    }

    /// Keeps what came of a point. A measured value that is not finite counts as not measured; what
    /// stands beside the row must be finite.
    pub fn record(&mut self, row: &Row, side: &SideTables) -> Result<(), ResultsError> {
        let (point, points) = (row.point, self.points.len());
        let index = point as usize;
        let name = *self.points.get(index).ok_or(ResultsError::NoSuchPoint { point, points })?;
        let kind = self.study.points()[index].spec.work.kind();
        let known = |name: &str| kind.columns().iter().any(|column| column.name == name);
        let foreign =
            |found: &str| ResultsError::Foreign { found: found.into(), kind: kind.name() };
        if let Some((column, _)) = row.measured.iter().find(|(name, _)| !known(name)) {
            return Err(foreign(column));
        }
        if !kind.statuses().contains(&row.status) {
            return Err(foreign(row.status.word()));
        }
        check_finite::<ChannelRow>(point, side)?;
        check_finite::<BufferRow>(point, side)?;
        check_finite::<HostRow>(point, side)?;
        check_finite::<RankRow>(point, side)?;
        check_finite::<TimelineRow>(point, side)?;
        let measured = (kind.columns().iter())
            .filter_map(|c| Some((c.name.to_owned(), row.measured(c.name)?)))
            .filter(|(_, value)| value.is_finite())
            .collect();
        let row = Row { measured, ..row.clone() };
        self.journal.append(name, &self.revisions[index], &row, side)
    }

    /// Writes the files that others read, from the points finished so far. Their bytes depend on
    /// the study and on which points have finished, not on the order in which they did.
    pub fn publish(&self) -> Result<(), ResultsError> {
        let rows = self.rows();
        let revisions = self.revisions.iter().cloned().collect();
        let meta = Meta::of(self.study, rows.len(), &self.version, revisions);
        let at = |name: &str| self.folder.join(name);
        self.copy_inputs()?;
        origin::write(&self.folder, self.study)?;
        replace(&at(STUDY), |to| to.write_all(self.study.to_toml().as_bytes()))?;
        replace(&at(META), |to| {
            serde_json::to_writer_pretty(&mut *to, &meta)?;
            to.write_all(b"\n")
        })?;
        replace(&at(ROWS_JSON), |to| rows::write_json(&rows, to))?;
        let (keys, kinds) = (self.study.keys(), self.study.kinds());
        replace(&at(ROWS_CSV), |to| rows::write_csv(keys, &kinds, &rows, to))?;
        self.publish_side::<ChannelRow>()?;
        self.publish_side::<BufferRow>()?;
        self.publish_side::<HostRow>()?;
        self.publish_side::<RankRow>()?;
        self.publish_side::<TimelineRow>()
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

    /// Writes a table beside the rows, if there is anything to write.
    fn publish_side<T: SideRow>(&self) -> Result<(), ResultsError> {
        let path = self.folder.join(T::TABLE.file());
        let kept = |point: &Point| point.spec.side_tables().any(|table| table == T::TABLE);
        let points = self.study.points().iter().zip(&self.points).filter(|(p, _)| kept(p));
        let mut some = false;
        replace(&path, |to| {
            let mut csv = csv::Writer::from_writer(to);
            for (point, name) in points {
                let Some(entry) = self.journal.entry(*name) else { continue };
                for row in T::rows(&self.journal.side_tables(entry)?) {
                    some = true;
                    let mut row = row.clone();
                    row.at(point.index);
                    csv.serialize(row)?;
                }
            }
            csv.flush()
        })?;
        if !some {
            std::fs::remove_file(&path).map_err(doing("remove", &path))?;
        }
        Ok(())
    }

    /// Publishes, and closes the folder with a journal in the order of the points.
    pub fn close(self) -> Result<(), ResultsError> {
        self.publish()?;
        self.journal.tidy(&self.points)
    }
}

fn check_finite<T: SideRow>(point: u32, side: &SideTables) -> Result<(), ResultsError> {
    match T::rows(side).iter().position(|row| !row.is_finite()) {
        Some(i) => Err(ResultsError::NotFinite { point, file: T::TABLE.file(), line: i + 1 }),
        None => Ok(()),
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
