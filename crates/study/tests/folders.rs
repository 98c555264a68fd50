//! A folder of results is complete in itself, belongs to one experiment, and can be read while it
//! is written.

use std::fs;
use std::path::{Path, PathBuf};

use crosstie_study::{Point, ResultSet, ResultsError, Row, SideTables, Spec, Status, Store, Study};
use tempfile::TempDir;

const VERSION: &str = "0.1.0";

fn revision(_: &Spec) -> String {
    "engine 1".into()
}

/// Networks and permutations named in every way that there is, two of them under one name.
const FILES: &str = r#"
    title = "Files"
    seed = 1
    traffic.size.fixed.size = "64 B"
    traffic.load = 0.3
    [sweep.product]
    "fabric.file.path" = ["net.edges", "other/net.edges"]
    traffic.destination = [
        "uniform",
        {permutation.file = "p.txt"},
        {mixture.parts = [{share = 1.0, destination.permutation.file = "other/p.txt"}]},
    ]
"#;

fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("other")).unwrap();
    for (name, content) in [
        ("files.toml", FILES),
        ("net.edges", "a s\nb s\n"),
        ("other/net.edges", "a s\nb s\nc s\n"),
        ("p.txt", "1\n0\n"),
        ("other/p.txt", "1\n0\n"),
    ] {
        fs::write(home.path().join(name), content).unwrap();
    }
    home
}

fn row(point: &Point) -> Row {
    Row::of(point, Status::Converged, String::new(), vec![("accepted".into(), 0.1)])
}

/// The study of a file, with one of its points finished in a folder.
fn begin(file: &Path, folder: &Path) -> Study {
    let study = Study::load(file).unwrap();
    let mut store = Store::open(folder, &study, VERSION, &revision).unwrap();
    store.record(&row(&study.points()[0]), &SideTables::default()).unwrap();
    store.close().unwrap();
    study
}

fn pending(file: &Path, folder: &Path) -> Result<usize, ResultsError> {
    let study = Study::load(file).unwrap();
    Ok(Store::open(folder, &study, VERSION, &revision)?.pending().len())
}

fn fingerprints(study: &Study) -> Vec<String> {
    study.points().iter().map(|point| point.fingerprint().to_string()).collect()
}

#[test]
fn what_an_experiment_refers_to_is_copied() {
    let home = home();
    let (file, folder) = (home.path().join("files.toml"), home.path().join("results"));
    let study = begin(&file, &folder);
    assert_eq!(pending(&file, &folder).unwrap(), 5, "a rerun of the original skips what is done");
    let copies = fs::read_dir(folder.join("inputs")).unwrap().count();
    assert_eq!(copies, 3, "two networks, and the permutation that has two names");

    // The originals are gone, and the folder is somewhere else.
    let elsewhere = tempfile::tempdir().unwrap();
    let moved: PathBuf = elsewhere.path().join("moved");
    fs::create_dir_all(moved.join("inputs")).unwrap();
    for name in ["study.toml", "inputs"] {
        fs::rename(folder.join(name), moved.join(name)).unwrap();
    }
    drop(home);
    let kept = Study::load(moved.join("study.toml")).unwrap();
    assert_eq!(fingerprints(&kept), fingerprints(&study));
    assert_eq!(kept.to_toml(), study.to_toml(), "a copy of a copy is the same");
}

#[test]
fn a_folder_that_nothing_came_into_goes_again() {
    let home = home();
    let study = Study::load(home.path().join("files.toml")).unwrap();
    let (outer, folder) = (home.path().join("results"), home.path().join("results/deep/files"));
    drop(Store::open(&folder, &study, VERSION, &revision).unwrap());
    assert!(!outer.exists());

    fs::create_dir(&outer).unwrap();
    drop(Store::open(&folder, &study, VERSION, &revision).unwrap());
    assert!(outer.exists() && !outer.join("deep").exists(), "only what was made for it");

    // What somebody keeps there stays, and so does a line of the journal.
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    drop(Store::open(&folder, &study, VERSION, &revision).unwrap());
    assert!(folder.join("notes.txt").exists());
    let kept = home.path().join("kept");
    let mut store = Store::open(&kept, &study, VERSION, &revision).unwrap();
    store.record(&row(&study.points()[0]), &SideTables::default()).unwrap();
    drop(store);
    assert_eq!(Store::open(&kept, &study, VERSION, &revision).unwrap().pending().len(), 5);
}

#[test]
fn another_experiment_of_the_same_name_is_refused() {
    let home = home();
    let (own, folder) = (home.path().join("files.toml"), home.path().join("results"));
    begin(&own, &folder);

    // Editing is the normal way to work: what still applies is kept.
    fs::write(&own, FILES.replace("\"uniform\"", "\"uniform\", \"tornado\"")).unwrap();
    assert_eq!(pending(&own, &folder).unwrap(), 7);

    // A copy that says the same shares the folder; one that says something else does not.
    fs::write(&own, FILES).unwrap();
    let other = home.path().join("copy.toml");
    fs::write(&other, FILES).unwrap();
    assert_eq!(pending(&other, &folder).unwrap(), 5);
    fs::write(&other, FILES.replace("0.3", "0.4")).unwrap();
    let refused = pending(&other, &folder).unwrap_err();
    assert!(matches!(refused, ResultsError::Taken { .. }), "{refused}");
    assert!(refused.to_string().contains("files.toml"), "{refused}");

    // Unless it is told to.
    let study = Study::load(&other).unwrap();
    let store = Store::fresh(&folder, &study, VERSION, &revision).unwrap();
    assert_eq!(store.pending().len(), 6);
    store.close().unwrap();
    assert_eq!(pending(&other, &folder).unwrap(), 6);
    assert!(pending(&own, &folder).is_err(), "now it is the other's");
}

#[test]
fn an_experiment_that_moves_with_its_results_keeps_them() {
    let (home, elsewhere) = (home(), tempfile::tempdir().unwrap());
    begin(&home.path().join("files.toml"), &home.path().join("results"));
    let moved = elsewhere.path().join("moved");
    fs::rename(home.path(), &moved).unwrap();
    let file = moved.join("files.toml");
    fs::write(&file, FILES.replace("\"uniform\"", "\"uniform\", \"tornado\"")).unwrap();
    assert_eq!(pending(&file, &moved.join("results")).unwrap(), 7);
}

#[test]
fn a_folder_can_be_read_while_it_is_written() {
    let home = home();
    let (file, folder) = (home.path().join("files.toml"), home.path().join("results"));
    let study = Study::load(&file).unwrap();
    let mut store = Store::open(&folder, &study, VERSION, &revision).unwrap();
    store.publish().unwrap();
    assert_eq!(ResultSet::open(&folder).unwrap().meta.finished, 0);
    for point in &study.points()[2..4] {
        store.record(&row(point), &SideTables::default()).unwrap();
    }
    let set = ResultSet::open(&folder).unwrap();
    assert_eq!(set.rows.iter().map(|row| row.point).collect::<Vec<_>>(), [2, 3]);
    assert_eq!((set.meta.finished, set.meta.points), (2, 6));
    assert_eq!(set.rows[0].measured("accepted"), Some(0.1));
}
