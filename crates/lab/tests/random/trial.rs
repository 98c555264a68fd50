//! One experiment put to every test, and made smaller while it fails.

use crate::bench::Bench;
use crate::experiment::{Experiment, each_leaf};
use crate::invariants::{Observed, invariants};
use crate::relations::{RELATIONS, RESULTS, Scene, run};
use crosstie_lab::{RoutedFabric, RunOptions, Silent, check};
use crosstie_study::{ResultSet, Study, WorkKind, World};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;

/// Which test an experiment did not pass, and how.
pub struct Failure {
    pub check: &'static str,
    pub message: String,
}

const READ: &str = "an experiment that is valid by construction is read";
const RUN: &str = "and run";
const STORED: &str = "what is stored is what was found";
const CHECKED: &str = "points of real ranks are sound";
const PANIC: &str = "nothing panics";

/// The statuses and relations that many experiments are expected to meet.
pub fn expected() -> impl Iterator<Item = &'static str> {
    let kinds = [WorkKind::Traffic, WorkKind::Ping].into_iter();
    // Whether closed-loop work ever fails depends on routes that deadlock.
    let statuses = kinds.flat_map(WorkKind::statuses).map(|status| status.word());
    let statuses = statuses.filter(|&word| word != "failed");
    statuses.chain([CHECKED]).chain(RELATIONS.iter().map(|&(name, _)| name))
}

/// Runs an experiment and looks at everything; the statuses and relations that were met.
pub fn of(file: &Experiment) -> Result<Vec<String>, Failure> {
    catch_unwind(AssertUnwindSafe(|| examine(file))).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        Err(Failure { check: PANIC, message: message.unwrap_or_default() })
    })
}

fn examine(file: &Experiment) -> Result<Vec<String>, Failure> {
    let failed = |check| move |message: String| Failure { check, message };
    let files: Vec<_> =
        file.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let bench = Bench::with(&files);
    let path = bench.path("experiment.toml");
    std::fs::write(&path, file.text()).expect("a scratch folder");
    let study = Study::load(&path).map_err(|mistake| failed(READ)(mistake.to_string()))?;
    if study.points().iter().any(|point| point.spec.world == World::Live) {
        // Real ranks would be disturbed by all other cases, and they by them.
        let (threads, cancel) = (NonZeroUsize::MIN, &AtomicBool::new(false));
        let options = RunOptions { threads, cancel, executable: None, lead: None };
        let checked = check(&study, options, &Silent);
        return checked.map(|_| vec![CHECKED.to_owned()]).map_err(|e| failed(RUN)(e.to_string()));
    }
    let rows = run(&bench, &study, RESULTS, 2).map_err(failed(RUN))?.rows;
    let stored = ResultSet::open(bench.path(RESULTS))
        .and_then(|set| Ok((set.side_tables()?.channels, set.rows)));
    let (channels, stored) = stored.map_err(|error| failed(STORED)(error.to_string()))?;
    if stored != rows || rows.len() != study.points().len() {
        return Err(failed(STORED)(format!("found {rows:?}\nstored {stored:?}")));
    }
    let mut met = Vec::new();
    for (point, row) in study.points().iter().zip(&rows) {
        let locate = |path: &str| study.locate(path);
        let network = RoutedFabric::build(&point.spec.fabric, &point.spec.routing, &locate)
            .map_err(|error| failed(RUN)(error.to_string()))?;
        let channels: Vec<_> = channels.iter().filter(|c| c.point == row.point).cloned().collect();
        let seen = Observed { spec: &point.spec, network: &network, row, channels: &channels };
        for (name, check) in invariants(&point.spec) {
            check(&seen).map_err(|problem| failed(name)(format!("{problem}\n{row:?}")))?;
        }
        met.push(row.status.word().to_owned());
    }
    let scene = Scene { bench: &bench, study: &study, rows: &rows };
    for (name, relation) in RELATIONS {
        if relation(&scene).map_err(failed(name))? {
            met.push((*name).to_owned());
        }
    }
    Ok(met)
}

/// Keys that keep runs short.
const KEPT: [&str; 3] = ["measure", "measure.min-cycles", "measure.max-cycles"];

/// Leaves out one key after the other as long as the experiment fails in the same way.
pub fn shrink(mut file: Experiment, mut failure: Failure) -> (Experiment, Failure) {
    loop {
        let mut paths: Vec<String> = Vec::new();
        each_leaf(&file.keys, &mut Vec::new(), &mut |path, _| {
            // Whole tables first, then what is in them.
            let prefixes = (1..=path.len()).map(|length| path[..length].join("."));
            prefixes.for_each(|prefix| {
                if !paths.contains(&prefix) && !KEPT.contains(&prefix.as_str()) {
                    paths.push(prefix);
                }
            });
        });
        let smaller = paths.into_iter().find_map(|path| {
            let mut smaller = file.clone();
            smaller.remove(&path);
            (smaller.keys != file.keys).then_some(())?;
            let found = of(&smaller).err().filter(|found| found.check == failure.check)?;
            // A file that is refused is no smaller case of one that should not have been.
            let refused = [READ, RUN].contains(&found.check) && found.message != failure.message;
            (!refused).then_some((smaller, found))
        });
        match smaller {
            Some((smaller, found)) => (file, failure) = (smaller, found),
            None => return (file, failure),
        }
    }
}
