//! `crosstie check`: whether experiment files are sound, and which points they have; and whether
//! box files are.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crosstie_box::Spec;
use crosstie_study::{Point, ProfileKind, Setting, Study, WorkKind, World, box_file};
use serde::{Serialize, Serializer};

use crate::console::Console;
use crate::exit::{Answer, Exit, Failure};
use crate::progress::Meter;
use crate::{boxes, experiment, run};

/// Shown under the help of the verb.
pub const EXAMPLES: &str = "\
Examples:
  crosstie check experiments/quickstart.toml
  crosstie check experiments/box/two-rails.toml
  crosstie check --json study.toml";

#[derive(Serialize)]
struct Listing<'a> {
    experiments: Vec<Experiment<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    boxes: Vec<Boxed<'a>>,
}

#[derive(Serialize)]
struct Boxed<'a> {
    file: &'a Path,
    title: Option<&'a str>,
    hosts: &'a [String],
    rails: Vec<String>,
}

#[derive(Serialize)]
struct Experiment<'a> {
    file: &'a Path,
    title: &'a str,
    points: Vec<Line<'a>>,
}

#[derive(Serialize)]
struct Line<'a> {
    point: u32,
    #[serde(serialize_with = "in_order")]
    settings: &'a [(String, Setting)],
    world: &'static str,
    work: &'static str,
    fingerprint: String,
    /// How its ranks exchange messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<Profile>,
    /// The keys that have no effect there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unused: Vec<String>,
}

/// A profile, with every setting.
#[derive(Serialize, PartialEq)]
struct Profile {
    name: &'static str,
    settings: BTreeMap<&'static str, String>,
    /// What settings that the file overrides would be by the name of the profile.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    overridden: BTreeMap<&'static str, String>,
}

impl Profile {
    fn of(point: &Point) -> Option<Profile> {
        let name = point.spec.profile?.name();
        let settings = point.spec.settings_of_profile();
        let overridden =
            settings.iter().filter_map(|(name, _, usual)| Some((*name, usual.clone()?))).collect();
        let settings = settings.into_iter().map(|(name, value, _)| (name, value)).collect();
        Some(Profile { name, settings, overridden })
    }
}

fn in_order<S: Serializer>(settings: &[(String, Setting)], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(settings.iter().map(|(key, value)| (key, value)))
}

/// Checks all files, builds what they describe, and lists their points.
pub fn check(files: &[PathBuf], threads: Option<NonZeroUsize>, console: &Console) -> Exit {
    let (boxes, files): (Vec<PathBuf>, Vec<PathBuf>) =
        files.iter().cloned().partition(|file| box_file::is_one(file));
    let specs = boxes.iter().map(|file| boxes::load(file, console).map(|read| read.spec));
    let specs = specs.collect::<Result<Vec<Spec>, Failure>>()?;
    let studies = experiment::load_all(&files, console)?;
    let runner = run::Runner::new(threads, None)?;
    for (file, study) in files.iter().zip(&studies) {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        let meter = Meter::new(&name, study.points().len(), console);
        let checked = crosstie_lab::check(study, runner.options(), &meter);
        meter.close();
        if !checked.map_err(|error| experiment::refused(study, error, console))? {
            return Ok(Answer::Interrupted);
        }
    }
    for (file, study) in files.iter().zip(&studies) {
        experiment::warn(file, study, console);
    }
    let checked = files.iter().zip(&studies);
    if console.json {
        let experiments = checked.map(|(file, study)| described(file, study)).collect();
        let boxes = boxes.iter().zip(&specs).map(|(file, spec)| Boxed {
            file,
            title: spec.title.as_deref(),
            hosts: spec.hosts.names(),
            rails: spec.rail_names(),
        });
        console.print_json(&Listing { experiments, boxes: boxes.collect() })?;
    } else {
        let boxes = boxes.iter().zip(&specs).map(|(file, spec)| in_a_line(file, spec));
        let texts: Vec<String> =
            checked.map(|(file, study)| listed(file, study)).chain(boxes).collect();
        console.tell(&texts.join("\n"))?;
    }
    Ok(Answer::Yes)
}

/// A box in one line.
fn in_a_line(file: &Path, spec: &Spec) -> String {
    let title = spec.title.as_ref().map_or(String::new(), |title| format!("{title}, "));
    let count = |number: usize, what: &str| {
        format!("{number} {what}{}", if number == 1 { "" } else { "s" })
    };
    let hosts = count(spec.hosts.count(), "host");
    let rails = count(spec.rails.len(), "rail");
    let events = count(spec.occurrences().len(), "change");
    format!("{}: {title}a box of {hosts} and {rails}, {events} in time\n", file.display())
}

fn described<'a>(file: &'a Path, study: &'a Study) -> Experiment<'a> {
    let line = |point: &'a Point| Line {
        point: point.index,
        settings: &point.settings,
        world: point.spec.world.name(),
        work: point.spec.work.kind().name(),
        fingerprint: point.fingerprint().to_string(),
        profile: Profile::of(point),
        unused: study.unused(point),
    };
    Experiment { file, title: &study.title, points: study.points().iter().map(line).collect() }
}

/// The points as a table, numbers to the right and words to the left.
fn listed(file: &Path, study: &Study) -> String {
    let points = study.points();
    let count = experiment::points(points.len());
    let mut text = format!(
        "{}: {}, {count} of {} on {}\n",
        file.display(),
        study.title,
        work(study),
        worlds(study)
    );
    let mut columns = vec![column("point", true, points.iter().map(|p| p.index.to_string()))];
    for (i, key) in study.keys().iter().enumerate() {
        let number = |point: &Point| matches!(point.settings[i].1, Setting::Number(_));
        let cells = points.iter().map(|point| point.settings[i].1.to_string());
        columns.push(column(key, points.iter().all(number), cells));
    }
    for line in 0..=points.len() {
        let cells: Vec<&str> = columns.iter().map(|column| column[line].as_str()).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
    }
    text + &profiles(points)
}

/// The profiles of points: every setting, and what it would be where the file overrides it.
fn profiles(points: &[Point]) -> String {
    let mut found: Vec<(&Point, Vec<String>)> = Vec::new();
    for point in points.iter().filter(|point| point.spec.profile.is_some()) {
        let is_same = |other: &&mut (&Point, Vec<String>)| {
            let of = |point: &Point| (point.spec.profile, point.spec.settings_of_profile());
            of(other.0) == of(point)
        };
        match found.iter_mut().find(is_same) {
            Some((_, numbers)) => numbers.push(point.index.to_string()),
            None => found.push((point, vec![point.index.to_string()])),
        }
    }
    let mut text = String::new();
    let several = found.len() > 1 || found.iter().any(|(_, list)| list.len() < points.len());
    for (point, numbers) in &found {
        let name = point.spec.profile.map_or("", ProfileKind::name);
        let of = if several { format!(" of points {}", numbers.join(", ")) } else { String::new() };
        let _ = writeln!(text, "  profile {name}{of}");
        for (name, value, usual) in point.spec.settings_of_profile() {
            let usual = usual.map_or(String::new(), |usual| format!(" (overrides {usual})"));
            let _ = writeln!(text, "    {name}: {value}{usual}");
        }
    }
    text
}

/// The kinds of work of a study.
fn work(study: &Study) -> String {
    study.kinds().into_iter().map(WorkKind::name).collect::<Vec<_>>().join(", ")
}

/// The worlds of a study.
fn worlds(study: &Study) -> String {
    let there = |world: &World| study.points().iter().any(|point| point.spec.world == *world);
    World::ALL.into_iter().filter(there).map(World::name).collect::<Vec<_>>().join(", ")
}

/// A head and its cells, all of one width.
fn column(head: &str, right: bool, cells: impl Iterator<Item = String>) -> Vec<String> {
    let mut column: Vec<String> = [head.to_owned()].into_iter().chain(cells).collect();
    let width = column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    for cell in &mut column {
        *cell = if right { format!("{cell:>width$}") } else { format!("{cell:<width$}") };
    }
    column
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_world_and_every_kind_of_work_is_named() {
        let study = Study::parse(
            "example",
            "title = 'Both'\nseed = 1\nfabric.single.hosts = 2\n[sweep.zip]\n\
             world = ['ideal', 'wormhole']\nwork = [{ping.size = '8 B'}, {stream.size = '8 B'}]\n",
        );
        let text = listed(Path::new("both.toml"), &study.unwrap());
        let head = "both.toml: Both, 2 points of ping, stream on wormhole, ideal";
        assert_eq!(text.lines().next(), Some(head));
    }

    #[test]
    fn profiles_are_listed_in_full_with_what_the_file_overrides() {
        let study = Study::parse(
            "example",
            "title = 'Two'\nseed = 1\nworld = 'frame'\nfabric.single.hosts = 2\nprofile = 'live'\n\
             work.ping.size = '64 B'\nmessage.synchronous = true\n\
             sweep.product.message.eager = ['16 KiB', '1 KiB']\n",
        );
        let text = listed(Path::new("two.toml"), &study.unwrap());
        for line in [
            "  profile live of points 0\n    eager: 16 KiB\n",
            "  profile live of points 1\n    eager: 1 KiB (overrides 16 KiB)\n",
            "    synchronous: yes (overrides no)\n    strict: no\n    fin: no\n    channel: selective",
            "    headers: 28 B and 24 B, envelope 20 B, piece 4 B\n",
            "    control packets: pack 52 B, sack 136 B, greeting 60 B\n",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        let overridden = text.matches("overrides").count();
        assert_eq!(overridden, 4, "eager, its credit, and synchronous twice: {text}");
    }

    #[test]
    fn points_are_listed_with_their_settings() {
        let study = Study::parse(
            "example",
            "title = 'Two'\nseed = 1\nfabric.tree = {k = 4, n = 2}\n\
             traffic.size.fixed.size = '64 B'\n[sweep.product]\n\
             routing = ['tree-adaptive', 'tree-deterministic']\ntraffic.load = [0.1, 0.25]\n",
        );
        assert_eq!(
            listed(Path::new("two.toml"), &study.unwrap()),
            "\
two.toml: Two, 4 points of traffic on wormhole
  point  routing             traffic.load
      0  tree-adaptive                0.1
      1  tree-adaptive               0.25
      2  tree-deterministic           0.1
      3  tree-deterministic          0.25
"
        );
    }
}
