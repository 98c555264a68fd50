//! The experiments of the repository.

use crate::bench::Bench;
use crosstie_lab::World;
use crosstie_study::{Point, Row, Status, Study};
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

/// The experiment files in a folder.
fn experiments(folder: PathBuf) -> impl Iterator<Item = PathBuf> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .filter(|path| !path.ends_with("published.toml"))
}

fn build(study: &Study, point: &Point) {
    let world = World::build(&point.spec, &|file| study.locate(file));
    let world = world.unwrap_or_else(|error| panic!("{}: {error}", study.title));
    // That up*/down* crowds its root is what one of the papers is about.
    let crowded = |remark: &String| remark.starts_with("the routes are uneven");
    // That envelopes have no price is told where worlds stand side by side.
    let priced = |remark: &String| remark.starts_with("the model prices messages without");
    let expected = |remark: &String| crowded(remark) || priced(remark);
    let others: Vec<_> = world.remarks().iter().filter(|remark| !expected(remark)).collect();
    assert_eq!(others, [""; 0], "{}", study.title);
}

#[test]
fn every_point_of_every_experiment_can_be_built() {
    let mut built = 0;
    for path in experiments(folder()).chain(experiments(folder().join("coll"))) {
        let study = Study::load(&path).unwrap_or_else(|mistake| panic!("{mistake}"));
        study.points().iter().for_each(|point| build(&study, point));
        built += study.points().len();
    }
    assert!(built > 50, "{built} points");
}

#[test]
fn every_experiment_on_irregular_networks_can_be_built() {
    // The first point of each: routes of many large networks take long, and tests are not
    // optimised.
    let mut built = 0;
    for path in experiments(folder().join("flich")) {
        let study = Study::load(&path).unwrap_or_else(|mistake| panic!("{mistake}"));
        build(&study, &study.points()[0]);
        built += 1;
    }
    assert_eq!(built, 10);
}

#[test]
fn the_quickstart_runs() {
    let text = std::fs::read_to_string(folder().join("quickstart.toml")).unwrap();
    // A tenth of the cycles shows the same shape, and tests are not optimised.
    let few = "min-cycles = 2000\nmax-cycles = 20_000\nprecision = 0.1";
    let lines = text.lines().map(|line| if line.starts_with("max-cycles") { few } else { line });
    let bench = Bench::with(&[]);
    let rows = bench.rows(&lines.collect::<Vec<_>>().join("\n"));
    let load = |row: &Row| row.setting("traffic.load").unwrap().number().unwrap();
    let curves: Vec<_> = rows.chunk_by(|a, b| load(a) < load(b)).collect();
    assert!(curves.len() >= 2, "{} curves", curves.len());
    for curve in curves {
        let accepted: Vec<_> = curve.iter().map(|row| row.measured("accepted").unwrap()).collect();
        assert_eq!(curve[0].status, Status::Converged);
        assert_eq!(curve.last().unwrap().status, Status::Saturated);
        assert!((accepted[0] / load(&curve[0]) - 1.0).abs() < 0.1, "{accepted:?}");
        assert!(accepted.iter().all(|&accepted| accepted < 0.95), "{accepted:?}");
    }
}
