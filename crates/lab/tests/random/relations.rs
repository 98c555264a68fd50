//! What holds between the rows of runs that are alike, or that differ in a known way.
//!
//! A new relation is a function and its line in [`RELATIONS`].

use crate::bench::Bench;
use crate::experiment::Experiment;
use crate::frame::PERMUTATION;
use crate::invariants::ensure;
use crosstie_fabric::{Format, anynet, graphml};
use crosstie_lab::{RunSummary, Silent, build_fabric};
use crosstie_protocol::PolicyKind;
use crosstie_routing::Need;
use crosstie_study::{Fabric, Node, Point, RoutingKind, Row, Status, Study, Work, World};
use crosstie_units::{Rate, Time};
use std::sync::atomic::AtomicBool;
use toml::{Table, Value};

/// An experiment that has been run, in the folder with its files.
pub struct Scene<'a> {
    pub bench: &'a Bench,
    pub study: &'a Study,
    pub rows: &'a [Row],
}

/// Whether a relation had anything to say of an experiment, or how it is broken.
pub type Relation = fn(&Scene<'_>) -> Result<bool, String>;

/// Where the results are to which all others are compared.
pub const RESULTS: &str = "results";

/// Every relation, by name.
pub const RELATIONS: &[(&str, Relation)] = &[
    ("a second run writes the same bytes", twice),
    ("threads do not matter", threads),
    ("a rerun has nothing to do", rerun),
    ("with every default spelled out it is the same study", spelled_out),
    ("a point alone is the point in its sweep", alone),
    ("keys that a world does not use change nothing", unused),
    ("all times scaled are the same cycles", scaled),
    ("a fabric and its GraphML are the same network", as_graphml),
    ("anynet and the GraphML of what it says are the same network", as_anynet),
    ("hybrid without short messages is dynamic", hybrid),
    ("striping on one rail changes nothing", striping),
    ("larger buffers do not slow down a light load", buffers),
    ("no world is faster than the ideal one", ideal),
];

/// Runs a study into a folder.
pub fn run(
    bench: &Bench,
    study: &Study,
    results: &str,
    threads: usize,
) -> Result<RunSummary, String> {
    bench
        .run(study, results, threads, &AtomicBool::new(false), &Silent)
        .map_err(|error| error.to_string())
}

impl Scene<'_> {
    fn same_bytes(&self, results: &str, threads: usize) -> Result<bool, String> {
        run(self.bench, self.study, results, threads)?;
        let (expected, found) = (self.bench.bytes(RESULTS), self.bench.bytes(results));
        let different = expected.iter().find(|&(name, bytes)| found.get(name) != Some(bytes));
        ensure!(different.is_none(), "{} differs", different.unwrap().0);
        ensure!(expected.len() == found.len(), "{} files and {}", expected.len(), found.len());
        Ok(true)
    }

    fn first(&self) -> &Point {
        &self.study.points()[0]
    }

    /// Whether the first point is measured in the cycles of a wormhole network.
    fn is_wormhole_traffic(&self) -> bool {
        let spec = &self.first().spec;
        matches!(spec.work, Work::Traffic(_)) && spec.world == World::Wormhole
    }

    /// The row of an experiment with one point.
    fn row(&self, name: &str, file: &Experiment) -> Result<Row, String> {
        let path = self.bench.path(&format!("{name}.toml"));
        std::fs::write(&path, file.text()).map_err(|error| error.to_string())?;
        let study = Study::load(path).map_err(|mistake| mistake.to_string())?;
        let mut rows = run(self.bench, &study, name, 1)?.rows;
        ensure!(rows.len() == 1, "{} rows of one point", rows.len());
        Ok(rows.remove(0))
    }

    /// Two experiments have the same numbers.
    fn same(&self, one: (&str, &Experiment), other: (&str, &Experiment)) -> Result<bool, String> {
        let (a, b) = (self.row(one.0, one.1)?, self.row(other.0, other.1)?);
        same(one.0, &a, other.0, &b)
    }
}

/// Two rows have the same status and the same numbers.
fn same(one: &str, a: &Row, other: &str, b: &Row) -> Result<bool, String> {
    let alike = a.status == b.status && a.measured == b.measured;
    ensure!(alike, "{one}: {a:?}\n{other}: {b:?}");
    Ok(true)
}

/// A point as an experiment of its own, every default spelled out.
fn single(point: &Point) -> Experiment {
    let mut keys: Table = point.spec.to_toml().parse().expect("a spec is TOML");
    keys.insert("title".to_owned(), "One point".into());
    Experiment { keys, ..Experiment::default() }
}

fn twice(scene: &Scene<'_>) -> Result<bool, String> {
    scene.same_bytes("twice", 2)
}

fn threads(scene: &Scene<'_>) -> Result<bool, String> {
    Ok(scene.study.points().len() > 1
        && scene.same_bytes("one-thread", 1)?
        && scene.same_bytes("three-threads", 3)?)
}

fn rerun(scene: &Scene<'_>) -> Result<bool, String> {
    let before = scene.bench.bytes(RESULTS);
    let summary = run(scene.bench, scene.study, RESULTS, 1)?;
    ensure!(summary.skipped == summary.points, "{} skipped", summary.skipped);
    ensure!(summary.rows == scene.rows, "other rows");
    ensure!(scene.bench.bytes(RESULTS) == before, "other bytes");
    Ok(true)
}

fn spelled_out(scene: &Scene<'_>) -> Result<bool, String> {
    let study = Study::load(scene.bench.path(RESULTS).join("study.toml"))
        .map_err(|mistake| mistake.to_string())?;
    // It names copies of the files of the experiment; all else is to the letter.
    let names = |study: &Study| study.points().iter().map(Point::fingerprint).collect::<Vec<_>>();
    ensure!(names(&study) == names(scene.study), "other points");
    let settings = |study: &Study| study.points().iter().map(Point::name).collect::<Vec<_>>();
    let (found, expected) = (settings(&study).join("\n"), settings(scene.study).join("\n"));
    let same = expected == found || expected.contains(PERMUTATION);
    ensure!(same, "found {found}, expected {expected}");
    ensure!(study.figures == scene.study.figures, "other figures");
    Ok(true)
}

fn alone(scene: &Scene<'_>) -> Result<bool, String> {
    let (point, row) = (scene.study.points().last().unwrap(), scene.rows.last().unwrap());
    let alone = scene.row("alone", &single(point))?;
    // What one world does not use is told where no other world of the sweep does.
    let told = |row: &Row| -> Vec<String> {
        let words = row.note.split("; ").filter(|words| !words.is_empty());
        words.filter(|words| !words.starts_with("not used by")).map(str::to_owned).collect()
    };
    ensure!(told(&alone) == told(row), "alone: {}\nswept: {}", alone.note, row.note);
    same("alone", &alone, "swept", row)
}

fn unused(scene: &Scene<'_>) -> Result<bool, String> {
    let mut file = single(scene.first());
    let study = Study::parse("all", &file.text()).map_err(|mistake| mistake.to_string())?;
    let mut keys = study.unused(&study.points()[0]);
    // Links say what a cycle is, in which some columns count.
    keys.retain(|key| !key.starts_with("link."));
    if keys.is_empty() {
        return Ok(false);
    }
    for key in &keys {
        // These ask for keys beside them that may not be used either.
        let whole = ["nic.in-transit", "nic.patience"].into_iter().find(|it| key.starts_with(it));
        file.remove(whole.unwrap_or(key));
    }
    let without = scene.row("unused", &file).map_err(|error| format!("{keys:?}: {error}"))?;
    same("without what is not used", &without, "with it", &scene.rows[0])
        .map_err(|error| format!("{keys:?}: {error}"))
}

/// What becomes of a quantity when all takes twice as long.
type Scale = fn(&str) -> String;

/// Keys with a time, which is doubled, or a rate, which is halved.
const TIMES: [(&str, Scale); 8] = [
    ("link.rate", half),
    ("link.wire", double),
    ("bus.asymmetric.read", half),
    ("bus.asymmetric.write", half),
    ("nic.in-transit.recognition", double),
    ("nic.in-transit.setup", double),
    ("policy.dynamic.timeout", double),
    ("policy.hybrid.timeout", double),
];

fn half(rate: &str) -> String {
    let rate: Rate = rate.parse().expect("a rate");
    Rate::from_bytes_per_second(rate.bytes_per_second() / 2).to_string()
}

fn double(time: &str) -> String {
    let time: Time = time.parse().expect("a time");
    Time::from_ps(2 * time.ps()).to_string()
}

fn scaled(scene: &Scene<'_>) -> Result<bool, String> {
    // The steps of a put are times of their own.
    if !scene.is_wormhole_traffic() || scene.first().spec.node.elan.is_some() {
        return Ok(false);
    }
    let mut slow = single(scene.first());
    for (key, scale) in TIMES {
        if let Some(value) = slow.get(key).and_then(Value::as_str).map(scale) {
            slow.put(key, value);
        }
    }
    same("scaled", &scene.row("scaled", &slow)?, "unscaled", &scene.rows[0])
}

/// A point on the network of a file, and the same with its own network; both with a routing that
/// works on any network.
fn on_file(scene: &Scene<'_>, name: &str, text: &str) -> Result<(Experiment, Experiment), String> {
    std::fs::write(scene.bench.path(name), text).map_err(|error| error.to_string())?;
    let mut own = single(scene.first());
    let spec = &scene.first().spec;
    // What suits a tree or a single switch, though a file does not say that it is one.
    let suits_a_shape = matches!(spec.routing, RoutingKind::Auto(_))
        && matches!(spec.fabric, Fabric::Tree(_) | Fabric::Single { .. });
    if spec.routing.needs(Need::Tree) || suits_a_shape {
        own.put("routing", "dfs");
    }
    let mut filed = own.clone();
    filed.remove("fabric");
    filed.put("fabric.file.path", name);
    Ok((own, filed))
}

/// Returns true if switches fork the release of a barrier: the network has to be known as a tree.
fn forks(scene: &Scene<'_>) -> bool {
    single(scene.first()).choice("work.barrier.algorithm") == Some("hardware")
}

fn as_graphml(scene: &Scene<'_>) -> Result<bool, String> {
    let spec = &scene.first().spec;
    // The model prices uplinks of networks that are described as two levels.
    let has_uplinks = spec.world == World::Model && matches!(spec.fabric, Fabric::TwoLevel { .. });
    if has_uplinks || forks(scene) || matches!(spec.fabric, Fabric::File { .. }) {
        return Ok(false);
    }
    let locate = |path: &str| scene.study.locate(path);
    let (fabric, _) =
        build_fabric(&scene.first().spec.fabric, &locate).map_err(|e| e.to_string())?;
    let text = graphml::write(&fabric).map_err(|error| error.to_string())?;
    let (own, filed) = on_file(scene, "written.graphml", &text)?;
    scene.same(("own-fabric", &own), ("graphml", &filed))
}

fn as_anynet(scene: &Scene<'_>) -> Result<bool, String> {
    if forks(scene) {
        return Ok(false);
    }
    let locate = |path: &str| scene.study.locate(path);
    let (fabric, _) =
        build_fabric(&scene.first().spec.fabric, &locate).map_err(|e| e.to_string())?;
    // Parallel links cannot be written.
    let Ok(text) = anynet::write(&fabric) else { return Ok(false) };
    let read = Format::Anynet.read("written", &text).map_err(|error| error.to_string())?;
    let (_, plain) = on_file(scene, "written.anynet", &text)?;
    let rewritten = graphml::write(&read).map_err(|error| error.to_string())?;
    let (_, again) = on_file(scene, "rewritten.graphml", &rewritten)?;
    scene.same(("anynet", &plain), ("anynet-as-graphml", &again))
}

fn hybrid(scene: &Scene<'_>) -> Result<bool, String> {
    let policy = &scene.first().spec.policy;
    if !matches!(policy, PolicyKind::Dynamic { .. } | PolicyKind::Hybrid { .. }) {
        return Ok(false);
    }
    let mut hybrid = single(scene.first());
    let name = hybrid.choice("policy").expect("a policy").to_owned();
    let mut keys = hybrid.get(&format!("policy.{name}")).expect("spelled out").clone();
    let keys = keys.as_table_mut().expect("a choice has keys");
    keys.remove("threshold");
    let mut dynamic = hybrid.clone();
    dynamic.remove("policy");
    dynamic.put("policy.dynamic", keys.clone());
    keys.insert("threshold".to_owned(), "0 B".into());
    hybrid.remove("policy");
    hybrid.put("policy.hybrid", keys.clone());
    scene.same(("dynamic", &dynamic), ("hybrid", &hybrid))
}

fn striping(scene: &Scene<'_>) -> Result<bool, String> {
    let mut none = single(scene.first());
    let Some(key) = none.choice("policy").map(|name| format!("policy.{name}.striping")) else {
        return Ok(false);
    };
    if none.get(&key).is_none() {
        return Ok(false);
    }
    none.put("cluster.rails", 1);
    // They may be about other rails.
    none.remove("event");
    none.remove("competitor");
    none.put(&key, 0.0);
    let mut all = none.clone();
    all.put(&key, 1.0);
    scene.same(("unstriped", &none), ("striped", &all))
}

fn buffers(scene: &Scene<'_>) -> Result<bool, String> {
    if !scene.is_wormhole_traffic() {
        return Ok(false);
    }
    let mut small = single(scene.first());
    small.remove("measure.saturation");
    small.put("traffic.load", 0.01);
    small.put("measure.precision", 0.2);
    small.put("measure.min-cycles", 10_000);
    small.put("measure.max-cycles", 40_000);
    let mut large = small.clone();
    let buffer = i64::from(scene.first().spec.switch.buffer);
    large.put("switch.buffer", (2 * buffer).min(65_536));
    let before = scene.row("buffer", &small)?;
    // With buffers too small for even this load there is no light load to speak of.
    if before.status != Status::Converged {
        return Ok(false);
    }
    let after = scene.row("buffer-doubled", &large)?;
    let latency = |row: &Row| Some((row.measured("latency_mean")?, row.measured("latency_ci")?));
    let (Some((mean, half)), Some((doubled, other))) = (latency(&before), latency(&after)) else {
        return Err(format!("{before:?}\nwith twice the buffer: {after:?}"));
    };
    let most = 1.02 * mean + half + other;
    ensure!(doubled <= most, "found {doubled}, expected at most {most}\n{before:?}\n{after:?}");
    Ok(true)
}

/// Where nobody reserves, nobody acknowledges, and processors take no time: a node that is told
/// sooner may ask sooner and be refused, and what comes in sooner may keep a processor from what
/// would better go first.
fn ideal(scene: &Scene<'_>) -> Result<bool, String> {
    let spec = &scene.first().spec;
    let plain = matches!(
        spec.policy,
        PolicyKind::RoundRobin {} | PolicyKind::Basic {} | PolicyKind::Static {}
    );
    let alike = spec.cluster.rails.are_alike();
    let alone = alike && spec.events.is_empty() && spec.competitors.is_empty();
    let alone = alone && spec.channel.is_default();
    if matches!(spec.work, Work::Traffic(_)) || !plain || spec.node != Node::default() || !alone {
        return Ok(false);
    }
    let mut best = single(scene.first());
    best.remove("ideal");
    best.remove("measure.max-cycles");
    let mut real = best.clone();
    best.put("world", "ideal");
    real.put("world", "wormhole");
    let (best, real) = (scene.row("ideal", &best)?, scene.row("wormhole", &real)?);
    if real.status != Status::Completed {
        return Ok(false);
    }
    let time = |row: &Row| row.measured("time_mean").ok_or(format!("{row:?}"));
    let (best, real) = (time(&best)?, time(&real)?);
    ensure!(best <= real * (1.0 + 1e-9), "ideal {best} us, wormhole {real} us");
    Ok(true)
}
