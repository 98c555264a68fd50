//! Rows that must not change: fingerprints of what the experiments of the repository give.
//!
//! An optimised build (`cargo test --release -p crosstie-lab --test pinned`) runs all of them,
//! which takes 15 to 25 minutes on two cores. Others run those that take a moment. A change of
//! results on purpose replaces `pinned.txt` by what the test prints, and is listed in the
//! changelog.

use crosstie_lab::paper::{PAPERS, Scale};
use crosstie_lab::{RunOptions, Silent, revision, run};
use crosstie_study::{Fingerprint, Point, Store, Study, World};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

/// What is run by a build without optimisation.
const MOMENTS: [&str; 3] = ["coll-multirail/fig12", "message-size", "unequal-rails"];

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

/// The fingerprint of the rows of an experiment, as the file of rows has them.
fn fingerprint(study: &Study) -> String {
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
    Fingerprint::of(without_quantities(&rows, study).as_bytes()).to_string()
}

#[test]
fn rows_are_what_they_were() {
    let pinned: BTreeMap<&str, &str> = include_str!("pinned.txt")
        .lines()
        .map(|line| line.split_once(' ').expect("a line is a fingerprint and a name"))
        .map(|(print, name)| (name, print))
        .collect();
    let studies = studies();
    let mut found = String::new();
    let mut changed = Vec::new();
    for (name, study) in &studies {
        if cfg!(debug_assertions) && !MOMENTS.contains(&name.as_str()) {
            continue;
        }
        let print = fingerprint(study);
        found += &format!("{print} {name}\n");
        if pinned.get(name.as_str()) != Some(&print.as_str()) {
            changed.push(name);
        }
    }
    assert!(changed.is_empty(), "rows have changed: {changed:?}; found\n{found}");
    let known: Vec<_> = studies.keys().map(String::as_str).collect();
    assert_eq!(
        pinned.into_keys().collect::<Vec<_>>(),
        known,
        "every experiment is pinned, and no more"
    );
}
