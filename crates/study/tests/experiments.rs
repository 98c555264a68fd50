//! The experiment files of the repository.

use std::path::{Path, PathBuf};

use crosstie_study::{Spec, Study};

fn experiments() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    files
}

#[test]
fn every_experiment_is_sound_and_draws_something() {
    let files = experiments();
    assert!(files.iter().any(|path| path.ends_with("quickstart.toml")));
    for path in files {
        let study = Study::load(&path).unwrap_or_else(|mistake| panic!("{mistake}"));
        assert!(!study.figures.is_empty(), "{}", path.display());
    }
}

#[test]
fn spelled_out_every_experiment_is_still_the_same() {
    for path in experiments() {
        let study = Study::load(&path).unwrap();
        let text = study.to_toml();
        let again = Study::parse("again", &text).unwrap_or_else(|mistake| panic!("{mistake}"));
        assert_eq!(again.points(), study.points(), "{}", path.display());
        assert_eq!(again.figures, study.figures);
        assert_eq!(again.to_toml(), text);
    }
}

#[test]
fn every_point_survives_being_written_and_read() {
    for path in experiments() {
        for point in Study::load(&path).unwrap().points() {
            let spec = Spec::from_toml("point", &point.spec.to_toml());
            assert_eq!(spec.as_ref(), Ok(&point.spec), "{}", path.display());
        }
    }
}

#[test]
fn the_examples_of_the_reference_are_sound() {
    let reference = include_str!("../../../experiments/README.md");
    let blocks: Vec<_> = reference.split("```toml\n").skip(1).collect();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        let text = block.split("```").next().unwrap();
        Study::parse("README.md", text).unwrap_or_else(|mistake| panic!("{mistake}"));
    }
}

#[test]
fn the_reference_names_every_default() {
    let reference = include_str!("../../../experiments/README.md");
    let least = "title = 'x'\nseed = 1\nfabric.tree = {k = 4, n = 3}\ntraffic.load = 0.3\n\
                 traffic.size.fixed.size = '64 B'\nmeasure.saturation = {}\n";
    let spec = |text: &str| Study::parse("x", text).unwrap().points()[0].spec.clone();
    let searching = spec(&least.replace("traffic.load = 0.3\n", "")).to_toml();
    for (section, values) in searching.parse::<toml::Table>().unwrap() {
        for (key, value) in values.as_table().into_iter().flatten() {
            let row = match (value, section.as_str()) {
                (toml::Value::Table(_), "fabric" | "traffic" | "measure") => continue,
                (toml::Value::Table(_), "routing") => format!("`{key}` (default on trees)"),
                (toml::Value::Table(_), _) => format!("| `{section}` | `{key}` |"),
                (toml::Value::String(_), _) => format!("| `{section}.{key}` | `{value}` |"),
                _ => format!("| `{section}.{key}` | {value} |"),
            };
            assert!(reference.contains(&row), "the reference lacks {row}");
        }
    }
}
