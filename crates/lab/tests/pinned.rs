//! Rows that must not change: fingerprints of what the experiments of the repository give. And what
//! follows from them for a paper: each claim that differs has a remark.
//!
//! An optimised build (`cargo test --release -p crosstie-lab --test pinned`) runs all of them,
//! which takes 15 to 25 minutes on two cores. Others run those that take a moment, and the parts of
//! three papers, which take 90 s of a core: only their rows can tell which of their claims differ.
//! `CROSSTIE_PINNED=PREFIX` runs those whose names begin with PREFIX. A change of results on
//! purpose replaces `pinned.txt` by what the test prints, and is listed in the changelog.

use crosstie_lab::paper::{Evidence, PAPERS, Paper, Scale};
use crosstie_lab::{RunOptions, Silent, revision, run};
use crosstie_study::paper::Agreement;
use crosstie_study::{Fingerprint, Point, ResultSet, Row, SideTables, Store, Study, World};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What is run by a build without optimisation: experiments, and all parts of a paper.
const MOMENTS: [&str; 6] = [
    "coll-multirail/fig12",
    "message-size",
    "unequal-rails",
    "petrini-qsnet/",
    "tam-congestion/",
    "tam-model/",
];

/// Papers of which each claim that differs has a remark.
const EXPLAINED: [&str; 4] = ["petrini-qsnet", "tam-congestion", "tam-exchange", "tam-model"];

/// Experiments by name: files of the repository, and quick forms of the parts of papers.
fn studies() -> BTreeMap<String, Study> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut studies: BTreeMap<_, _> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, Study::load(&path).unwrap_or_else(|mistake| panic!("{mistake}")))
        })
        .collect();
    for paper in PAPERS {
        for part in paper.parts {
            let study = part.study(Scale::Quick).unwrap_or_else(|mistake| panic!("{mistake}"));
            studies.insert(format!("{}/{}", paper.name, part.name), study);
        }
    }
    // Real ranks take another time every time.
    let is_live = |point: &Point| point.spec.world == World::Live;
    studies.retain(|_, study| !study.points().iter().any(is_live));
    studies
}

/// Lines of rows without what settings are as plain numbers, which stands at their ends: pins are
/// of the rest.
fn without_quantities(rows: &str, study: &Study) -> String {
    let end = |line: &str| {
        let starts = study.keys().iter().flat_map(|key| {
            ["bytes", "bytes_per_second", "seconds"].map(|unit| format!(",\"{key}_{unit}\":"))
        });
        starts.filter_map(|start| line.rfind(&start)).min()
    };
    let line = |line: &str| match end(line) {
        Some(end) => format!("{}}}\n", &line[..end]),
        None => format!("{line}\n"),
    };
    rows.lines().map(line).collect()
}

/// What an experiment has found.
struct Found {
    /// The fingerprint of its rows, as their file has them.
    print: String,
    rows: Vec<Row>,
    beside: SideTables,
}

fn found(study: &Study) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), study, "test", &revision).unwrap();
    let (threads, cancel) = (NonZeroUsize::new(2).unwrap(), AtomicBool::new(false));
    run(
        study,
        store,
        RunOptions { threads, cancel: &cancel, executable: None, lead: None },
        &Silent,
    )
    .unwrap();
    let rows = std::fs::read_to_string(folder.path().join("rows.jsonl")).unwrap();
    let print = Fingerprint::of(without_quantities(&rows, study).as_bytes()).to_string();
    let results = ResultSet::open(folder.path()).unwrap();
    let beside = results.side_tables().unwrap();
    Found { print, rows: results.rows, beside }
}

/// The claims of a paper that differ without a remark, in the quick form; nothing if a part has not
/// been run.
fn unexplained(paper: &Paper, runs: &BTreeMap<String, Found>) -> Option<Vec<String>> {
    let mut evidence = Evidence::default();
    for part in paper.parts {
        let found = runs.get(&format!("{}/{}", paper.name, part.name))?;
        evidence.add(part.name, found.rows.clone());
        evidence.add_channels(part.name, found.beside.channels.clone());
        evidence.add_timeline(part.name, found.beside.timeline.clone());
    }
    let claims = paper.published().unwrap().claims;
    let findings = paper.findings(&claims, &evidence, Scale::Quick);
    let differs = findings.iter().filter(|finding| finding.agreement() == Agreement::Differs);
    assert!(differs.clone().count() > 0, "{}: no claim differs", paper.name);
    Some(differs.filter(|it| it.remark.is_none()).map(|it| it.claim.id.clone()).collect())
}

#[test]
fn rows_are_what_they_were() {
    let pinned: BTreeMap<&str, &str> = include_str!("pinned.txt")
        .lines()
        .map(|line| line.split_once(' ').expect("a line is a fingerprint and a name"))
        .map(|(print, name)| (name, print))
        .collect();
    let studies = studies();
    let prefix = std::env::var("CROSSTIE_PINNED").ok();
    let is_run = |name: &str| {
        let takes_a_moment = |moment: &&str| match moment.ends_with('/') {
            true => name.starts_with(*moment),
            false => name == *moment,
        };
        match &prefix {
            Some(prefix) => name.starts_with(prefix),
            None => !cfg!(debug_assertions) || MOMENTS.iter().any(takes_a_moment),
        }
    };
    let runs: BTreeMap<String, Found> = studies
        .iter()
        .filter(|(name, _)| is_run(name))
        .map(|(name, study)| (name.clone(), found(study)))
        .collect();
    for paper in EXPLAINED {
        if let Some(unexplained) = unexplained(Paper::named(paper).unwrap(), &runs) {
            assert!(unexplained.is_empty(), "{paper}: differ without a remark: {unexplained:?}");
        }
    }
    let is_new = |(name, run): &(&String, &Found)| pinned.get(name.as_str()) != Some(&&*run.print);
    let changed: Vec<_> = runs.iter().filter(is_new).map(|(name, _)| name).collect();
    let prints: Vec<_> = runs.iter().map(|(name, run)| format!("{} {name}\n", run.print)).collect();
    assert!(changed.is_empty(), "rows have changed: {changed:?}; found\n{}", prints.concat());
    let known: Vec<_> = studies.keys().map(String::as_str).collect();
    assert_eq!(
        pinned.into_keys().collect::<Vec<_>>(),
        known,
        "every experiment is pinned, and no more"
    );
}
