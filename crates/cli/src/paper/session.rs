//! Running the parts of a paper, and reading what is finished.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crosstie_lab::paper::{Form, Paper, Part};
use crosstie_report::PaperPart;
use crosstie_study::{Fingerprint, ResultSet, Row, SideTables, Store, Study};

use crate::console::Console;
use crate::exit::Failure;
use crate::progress::Meter;
use crate::{experiment, report, run};

/// A paper, in which form, and where its results are.
pub struct Session<'a> {
    pub paper: &'static Paper,
    pub form: Form,
    pub folder: &'a Path,
    pub console: &'a Console,
}

/// How far the parts to run have come.
pub struct Progress {
    pub points: usize,
    pub finished: usize,
    pub cancelled: bool,
}

impl Session<'_> {
    /// These parts without those of real ranks if this machine allows no boxes, and why it does
    /// not.
    pub fn allowed(&self, parts: Vec<&'static Part>) -> (Vec<&'static Part>, Option<String>) {
        let is_live = |part: &Part| part.name.ends_with(crosstie_lab::paper::LIVE);
        if !parts.iter().any(|part| is_live(part)) {
            return (parts, None);
        }
        match crosstie_lab::live::why_no_box() {
            None => (parts, None),
            Some(why) => {
                self.console.remark(format_args!(
                    "{}: what real ranks would measure is left out: {why}",
                    self.paper.name
                ));
                (parts.into_iter().filter(|part| !is_live(part)).collect(), Some(why))
            }
        }
    }

    /// Runs what is not finished yet of these parts, one after the other, each as `crosstie run`
    /// does.
    pub fn run(
        &self,
        parts: &[&'static Part],
        fresh: bool,
        threads: Option<NonZeroUsize>,
    ) -> Result<Progress, Failure> {
        let studies = parts.iter().map(|part| self.study(part));
        let studies = studies.collect::<Result<Vec<Study>, Failure>>()?;
        // All folders are opened first: what is wrong with one shows before anything runs.
        let mut stores = Vec::new();
        for (part, study) in parts.iter().zip(&studies) {
            stores.push(run::open(study, &self.place(part), fresh)?);
        }
        let points: usize = studies.iter().map(|study| study.points().len()).sum();
        let left: usize = stores.iter().map(|store| store.pending().len()).sum();
        let (name, count) = (self.paper.name, experiment::points(points));
        let parts_run = match parts {
            [part] => part.name.to_owned(),
            parts => format!("{} parts", parts.len()),
        };
        run::tell_stale(name, stores.iter().map(Store::stale).sum(), self.console);
        match points - left {
            0 => self.console.remark(format_args!("{name}: {parts_run}, {count}")),
            done => self.console.remark(format_args!(
                "{name}: {parts_run}, {done} of {count} finished already and skipped; --fresh runs \
                 them again"
            )),
        }
        let runner = run::Runner::new(threads, None)?;
        let meter = Meter::new(name, left, self.console);
        let mut progress = Progress { points, finished: 0, cancelled: false };
        let mut known = BTreeMap::new();
        for ((part, study), mut store) in parts.iter().zip(&studies).zip(stores) {
            if progress.cancelled {
                progress.finished += store.rows().len();
                continue;
            }
            meter.rename(&format!("{name} {}", part.name));
            take_over(&mut store, &known, &meter)?;
            let summary = crosstie_lab::run(study, store, runner.options(), &meter);
            let summary = summary.inspect_err(|_| meter.close())?;
            progress.finished += summary.rows.len();
            progress.cancelled = summary.cancelled;
            for row in summary.rows {
                known.insert(study.points()[row.point as usize].fingerprint(), row);
            }
            let place = self.place(part);
            crosstie_report::write(&report::open(&place)?, &place)?;
        }
        meter.close();
        Ok(progress)
    }

    /// All parts of the paper, with the results of those that are finished.
    pub fn parts(&self) -> Result<Vec<PaperPart>, Failure> {
        let run_live = |part: &&Part| self.place(part).exists();
        let live = self.paper.live.iter().filter(run_live);
        let parts = self.paper.parts.iter().chain(live).map(|part| {
            let study = self.study(part)?;
            let results = finished(&study, &self.place(part));
            Ok(PaperPart { name: part.name.to_owned(), title: study.title, results })
        });
        parts.collect()
    }

    fn study(&self, part: &Part) -> Result<Study, Failure> {
        // A paper's files are part of the program: a mistake in them is ours.
        part.study(self.form).map_err(Failure::ours)
    }

    fn place(&self, part: &Part) -> PathBuf {
        self.folder.join(part.name)
    }
}

/// Figures of a paper share points: what has run for one of them need not run for the next.
fn take_over(
    store: &mut Store<'_>,
    known: &BTreeMap<Fingerprint, Row>,
    progress: &dyn crosstie_lab::Progress,
) -> Result<(), Failure> {
    for point in store.pending() {
        // What stands beside rows stays where it was measured.
        if point.spec.side_tables().next().is_some() {
            continue;
        }
        if let Some(row) = known.get(&point.fingerprint()) {
            let settings = point.settings.clone();
            let row = Row { point: point.index, settings, ..row.clone() };
            store.record(&row, &SideTables::default())?;
            progress.point_done(&row, 0, 0);
        }
    }
    Ok(())
}

/// The results in a folder, if they are those of all points of this very study. Anything else
/// there, those of another revision or a part of the points, is no evidence.
fn finished(study: &Study, folder: &Path) -> Option<ResultSet> {
    let results = ResultSet::open(folder).ok()?;
    let whole = results.meta.finished == study.points().len();
    let revisions: BTreeSet<String> =
        study.points().iter().map(|point| crosstie_lab::revision(&point.spec)).collect();
    let same = results.study == study.to_toml() && results.meta.revisions == revisions;
    (whole && same).then_some(results)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_study::Status;

    const PART: &str = "title = 'A part'\nseed = 1\nfabric.single.hosts = 4\n\
                        measure.channels = false\ntraffic.size.fixed.size = '64 B'\n\
                        sweep.product.traffic.load = ";

    struct Unwatched;
    impl crosstie_lab::Progress for Unwatched {}

    #[test]
    fn a_point_that_parts_share_runs_once() {
        let study = |loads: &str| Study::parse("part.toml", &format!("{PART}{loads}\n")).unwrap();
        let (first, second) = (study("[0.1, 0.2]"), study("[0.2, 0.3]"));
        let point = &first.points()[1];
        let measured = vec![("accepted".to_owned(), 0.19)];
        let row = Row::of(point, Status::Converged, String::new(), measured);
        let known = BTreeMap::from([(point.fingerprint(), row)]);
        let folder = tempfile::tempdir().unwrap();
        let mut store = run::open(&second, folder.path(), false).unwrap();
        take_over(&mut store, &known, &Unwatched).unwrap();
        let left: Vec<u32> = store.pending().iter().map(|point| point.index).collect();
        assert_eq!(left, [1], "only the load of 0.3 is left");
        let [row] = &store.rows()[..] else { panic!("one row is known") };
        assert_eq!((row.point, row.measured("accepted")), (0, Some(0.19)));
        assert_eq!(row.settings, second.points()[0].settings);
    }
}
