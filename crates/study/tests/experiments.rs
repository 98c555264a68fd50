//! The experiment files of the repository.

use std::path::{Path, PathBuf};

use crosstie_study::{Spec, Study, box_file};

fn is_published(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("published"))
}

/// All of them, those in folders of their own included. What a paper publishes, what its other
/// forms and readings change, and boxes are no experiments.
fn experiments() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            let other = ["quick", "full", "box"].contains(&&*name) || name.starts_with("reading-");
            if other || is_published(&path) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "toml") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

#[test]
fn every_experiment_is_sound_and_shows_something() {
    let files = experiments();
    assert!(files.iter().any(|path| path.ends_with("quickstart.toml")));
    for path in files {
        let study = Study::load(&path).unwrap_or_else(|mistake| panic!("{mistake}"));
        let shown = study.figures.len() + study.tables.len();
        assert!(shown > 0, "{}: no figure and no table", path.display());
    }
}

#[test]
fn every_box_is_sound_and_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let reference = std::fs::read_to_string(root.join("README.md")).unwrap();
    let mut count = 0;
    for entry in std::fs::read_dir(root.join("box")).unwrap() {
        let path = entry.unwrap().path();
        // Beside them are programs to run in them.
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let spec = box_file::load(&path).unwrap_or_else(|mistake| panic!("{mistake}"));
        assert!(spec.title.is_some(), "{}: no title", path.display());
        let name = path.file_name().unwrap().to_string_lossy();
        let row = format!("| [box/{name}](box/{name}) |");
        assert!(reference.contains(&row), "experiments/README.md has no row {row}");
        count += 1;
    }
    assert!(count >= 6);
}

#[test]
fn spelled_out_every_experiment_is_still_the_same() {
    for path in experiments() {
        let study = Study::load(&path).unwrap();
        let text = study.to_toml();
        let again = Study::parse("again", &text).unwrap_or_else(|mistake| panic!("{mistake}"));
        assert_eq!(again.points(), study.points(), "{}", path.display());
        assert_eq!((&again.figures, &again.tables), (&study.figures, &study.tables));
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
    assert_eq!(blocks.len(), 8);
    for block in blocks {
        let text = block.split("```").next().unwrap();
        Study::parse("README.md", text).unwrap_or_else(|mistake| panic!("{mistake}"));
    }
}

#[test]
fn the_examples_of_the_page_on_rails_are_sound() {
    let page = include_str!("../../../docs/rails.md");
    let points = page.split("```toml\n").skip(1).map(|block| {
        let text = block.split("```").next().unwrap();
        let study = Study::parse("rails.md", text).unwrap_or_else(|mistake| panic!("{mistake}"));
        study.points().len()
    });
    assert_eq!(points.collect::<Vec<_>>(), [10, 9]);
}

#[test]
fn the_reference_lists_every_experiment_with_its_points() {
    let reference = include_str!("../../../experiments/README.md");
    for path in experiments() {
        let study = Study::load(&path).unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        let searches = study.points().iter().all(|point| point.spec.measure.saturation.is_some());
        let points = study.points().len();
        let points = if searches { format!("{points} searches") } else { points.to_string() };
        let row = reference.lines().find(|line| line.starts_with(&format!("| [{name}]({name}) |")));
        let row = row.unwrap_or_else(|| panic!("the reference lacks {name}"));
        assert!(row.ends_with(&format!("| {points} |")), "{name} has {points}: {row}");
    }
}

#[test]
fn the_reference_names_every_default() {
    let reference = include_str!("../../../experiments/README.md");
    let least = "title = 'x'\nseed = 1\nfabric.tree = {k = 4, n = 3}\ntraffic.load = 0.3\n\
                 traffic.size.fixed.size = '64 B'\nmeasure.saturation = {}\n";
    let spec = |text: &str| Study::parse("x", text).unwrap().points()[0].spec.clone();
    let searching = spec(&least.replace("traffic.load = 0.3\n", "")).to_toml();
    for name in ["ping", "stream"] {
        let text =
            format!("title = 'x'\nseed = 1\nfabric.single.hosts = 2\nwork.{name}.size = '8 B'\n");
        let table: toml::Table = spec(&text).to_toml().parse().unwrap();
        for (key, value) in table["work"][name].as_table().unwrap() {
            let default = if key == "size" { "required".to_owned() } else { value.to_string() };
            let row = format!("| `work.{name}.{key}` | {default} |");
            assert!(reference.contains(&row), "the reference lacks {row}");
        }
    }
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
