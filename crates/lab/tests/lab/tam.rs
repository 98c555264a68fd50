//! The papers of Tam's thesis: trees step by step, and measures on rows that agree and differ.

use crate::bench::Bench;
use crosstie_lab::paper::{Evidence, Paper, Part, Scale};
use crosstie_lab::{RunOptions, Silent, rows};
use crosstie_model::congestion::Cycle;
use crosstie_study::paper::{Agreement, Target};
use crosstie_study::{Point, ResultSet, Row, Setting, Status, Study};
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;

fn study(part: &Part) -> Study {
    part.study(Scale::Usual).unwrap_or_else(|mistake| panic!("{mistake}"))
}

/// When the second to the last of 16 nodes have the first packet, with g = 2 and with g = 1, and
/// what the next packet is behind.
const FIRST: [[f64; 15]; 2] = [
    [13., 11., 18., 9., 18., 16., 23., 7., 18., 16., 23., 14., 23., 21., 28.],
    [10., 9., 16., 8., 16., 15., 22., 7., 16., 15., 22., 14., 22., 21., 28.],
];

/// Figures 2.3 and 2.4. A node is done when it has sent the last packet on, which takes it a unit
/// for each of its children.
#[test]
fn packets_go_down_the_trees_as_drawn() {
    let part = Paper::named("tam-model").unwrap().part("trees").unwrap();
    let study = study(part);
    let bench = Bench::with(&[]);
    bench.run(&study, "results", 2, &AtomicBool::new(false), &Silent).unwrap();
    let ranks = ResultSet::open(bench.path("results")).unwrap().side_tables().unwrap().ranks;
    let done = |gap: &str, size: &str, node: u32| {
        let is = |point: &Point, key: &str, text: &str| {
            point.settings.iter().any(|(name, value)| name == key && value.to_string() == text)
        };
        let fits = |point: &&Point| {
            is(point, "world", "ideal")
                && is(point, "ideal.gap", gap)
                && is(point, "work.broadcast.size", size)
        };
        let point = study.points().iter().find(fits).unwrap().index;
        let row = ranks.iter().find(|row| row.point == point && row.rank == node - 1).unwrap();
        row.finish
    };
    for (gap, first) in ["2 us", "1 us"].into_iter().zip(FIRST) {
        for (node, expected) in (2u32..=16).zip(first) {
            let children = f64::from((node - 1).trailing_zeros());
            let found = done(gap, "1 B", node) - children;
            assert!((found - expected).abs() < 1e-9, "g = {gap}, node {node}: {found}");
            let behind = done(gap, "2 B", node) - done(gap, "1 B", node);
            let expected = match (gap, node) {
                ("2 us", _) => 8.0,
                (_, 2..=8) => 4.0,
                _ => 5.0,
            };
            assert!((behind - expected).abs() < 1e-9, "g = {gap}, node {node}: {behind} behind");
        }
    }
}

/// Rows of `output` that carry what a function makes of the measured column of Table 4.1, and of
/// everything where the thesis has no row.
fn invented(paper: &Paper, turned: impl Fn(f64) -> f64) -> Evidence {
    let claims = paper.published().unwrap().claims;
    let published = |point: &Point| {
        let number = |key: &str| {
            let setting = point.settings.iter().find(|(name, _)| name == key);
            setting.and_then(|(_, value)| Setting::number(value)).unwrap()
        };
        let senders = number("schedule.ranks") - 1.0;
        let window = number("channel.go-back-n.window");
        let slots = (number("channel.go-back-n.timeout") / 123.04e-6).round();
        let id = format!("t4.1.p{senders}.w{window}.to{slots}.measured");
        claims.iter().find(|claim| claim.id == id).map(|claim| match claim.target {
            Target::Value(value) => value,
            _ => unreachable!("a cell is a number"),
        })
    };
    let row = |point: &Point| {
        let efficiency = turned(published(point).unwrap_or(1.0));
        let measured =
            vec![("bandwidth".to_owned(), efficiency * 1492.0 / 123.04), ("lost".to_owned(), 1.0)];
        Row::of(point, Status::Completed, String::new(), measured)
    };
    let mut evidence = Evidence::default();
    let study = study(paper.part("output").unwrap());
    evidence.add("output", study.points().iter().map(row).collect());
    evidence
}

#[test]
fn table_4_1_is_measured_by_its_cells_and_its_columns() {
    let paper = Paper::named("tam-congestion").unwrap();
    let claims = paper.published().unwrap().claims;
    let agreement = |evidence: &Evidence, id: &str| {
        let claim = claims.iter().find(|claim| claim.id == id).unwrap().clone();
        paper.findings(&[claim], evidence, Scale::Usual)[0].agreement()
    };
    let (cell, column) = ("t4.1.p15.w36.to1600.measured", "t4.1.series.measured");
    let falls = "ch4.shape.output.w";
    let same = invented(paper, |efficiency| efficiency);
    let turned = invented(paper, |efficiency| 1.2 - efficiency);
    let half = invented(paper, |efficiency| efficiency / 2.0);
    for (evidence, expected) in
        [(&same, Agreement::Agrees), (&turned, Agreement::Differs), (&half, Agreement::Differs)]
    {
        for id in [cell, column] {
            assert_eq!(agreement(evidence, id), expected, "{id}");
        }
    }
    assert_eq!(agreement(&same, "t4.1.series.c"), Agreement::Missing);
    assert_eq!(agreement(&turned, falls), Agreement::Differs);
    assert_eq!(agreement(&same, "ch4.shape.cisco.trends"), Agreement::Missing);
}

/// How steeply efficiency falls with the window is as sure as the fit: runs that follow Eq. 4.2 but
/// for noise do not tell whether it falls more.
#[test]
fn a_slope_is_as_sure_as_its_fit() {
    let paper = Paper::named("tam-congestion").unwrap();
    let claims = paper.published().unwrap().claims;
    let claim = claims.into_iter().find(|claim| claim.id == "ch4.shape.input.w").unwrap();
    let agreement = |beyond: &dyn Fn(f64) -> f64| {
        let study = study(paper.part("input").unwrap());
        let row = |point: &Point| {
            let number = |ending: &str| text(point, ending).parse::<u32>().unwrap();
            let (senders, window) = (number("schedule.ranks") - 1, number("window"));
            let cycle = Cycle::new(senders, window, 43);
            let efficiency = cycle.map_or(1.0, |it| it.efficiency() + beyond(f64::from(window)));
            let bandwidth = efficiency * 1492.0 / 123.04;
            let measured = vec![("bandwidth".to_owned(), bandwidth)];
            Row::of(point, Status::Completed, String::new(), measured)
        };
        let mut evidence = Evidence::default();
        evidence.add("input", study.points().iter().map(row).collect());
        paper.findings(std::slice::from_ref(&claim), &evidence, Scale::Usual)[0].agreement()
    };
    let noise = |window: f64| if window == 50.0 { -0.005 } else { 0.002 };
    assert_eq!(agreement(&|window| noise(window) - 1e-3 * window), Agreement::Agrees);
    assert_eq!(agreement(&|window| noise(window) + 1e-3 * window), Agreement::Differs);
    assert_eq!(agreement(&|window| noise(window) - 2e-5 * window), Agreement::NotResolved);
}

/// A table of a file of this repository, by dotted path; nothing if there is none.
fn table(file: &str, path: &str) -> Option<toml::Table> {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let root: toml::Table = text.parse().unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    path.split('.').try_fold(root, |table, key| table.get(key)?.as_table().cloned())
}

/// The machine of every exchange is that of the presets, which tell where its numbers come from.
#[test]
fn parts_carry_the_machines_of_the_presets() {
    let paper = Paper::named("tam-exchange").unwrap();
    for part in paper.parts.iter().filter(|part| part.name != "exchange-hol") {
        let file = format!("experiments/tam/{}.toml", part.name);
        let of = |path: &str| table(&file, path);
        let nodes = of("node.commodity").unwrap();
        let mut hosts = ["p450", "p733"].into_iter().filter(|host| {
            let preset = table(&format!("presets/hosts/{host}.toml"), "node.commodity").unwrap();
            preset.iter().all(|(key, cost)| nodes.get(key) == Some(cost))
        });
        assert!(hosts.next().is_some(), "{file}: nodes of no preset");
        let link = table("presets/hosts/p450.toml", "link").unwrap();
        let own = of("link").unwrap();
        assert!(link.iter().all(|(key, value)| own.get(key) == Some(value)), "{file}: link");
        let known = |switch: &toml::Table, preset: &str| {
            let preset = table(&format!("presets/switches/{preset}.toml"), "frame.switch").unwrap();
            ["lookup", "latency"].iter().all(|key| switch.get(*key) == preset.get(*key))
        };
        if let Some(switch) = of("frame.switch") {
            assert!(known(&switch, "ibm-8275-326"), "{file}: switch");
        }
        if let Some(core) = of("frame.core") {
            assert!(known(&core, "powerrail-2200"), "{file}: root");
            let uplink = of("frame.uplink");
            assert_eq!(uplink, table("presets/switches/ibm-8275-326.toml", "frame.uplink"));
        }
        for study in [Scale::Usual, Scale::Quick].map(|scale| part.study(scale).unwrap()) {
            for point in study.points() {
                let switch = &point.spec.frame.switch;
                let rooms = format!("{:?}", switch.memory);
                let room = |frames: u32| rooms.contains(&format!("Frames({frames})"));
                assert!(room(43) || room(95), "{file}: {rooms}");
            }
        }
    }
}

/// What nodes carry, in MB/s each, and how many frames are lost, at a point of a part.
type Model = fn(&str, &Point) -> (f64, f64);

fn text(point: &Point, ending: &str) -> String {
    let found = point.settings.iter().find(|(key, _)| key.ends_with(ending));
    found.map(|(_, value)| value.to_string()).unwrap_or_default()
}

/// k: packets to each.
fn packets(point: &Point) -> f64 {
    let found = point.settings.iter().find(|(key, _)| key.ends_with("all-to-all.size"));
    found.and_then(|(_, size)| size.number()).unwrap_or(95_488.0) / 1492.0
}

/// How a claim of chapters 5 and 6 stands on rows that a model gives.
fn exchanged(id: &str, model: Model) -> Agreement {
    let paper = Paper::named("tam-exchange").unwrap();
    let mut evidence = Evidence::default();
    for part in paper.parts {
        let row = |point: &Point| {
            let number = |ending: &str| text(point, ending).parse::<f64>().ok();
            let leaves = number("two-level.leaves").zip(number("hosts-per-leaf"));
            let nodes = number("schedule.ranks").or(leaves.map(|(leaves, here)| leaves * here));
            let (each, lost) = model(part.name, point);
            let bandwidth =
                each * if part.name == "exchange-uplink" { 1.0 } else { nodes.unwrap_or(16.0) };
            let measured = vec![
                ("bandwidth".to_owned(), bandwidth),
                ("lost".to_owned(), lost),
                ("accepted".to_owned(), each),
                ("accepted_ci".to_owned(), 0.001),
                ("acknowledgements".to_owned(), lost),
            ];
            Row::of(point, Status::Completed, String::new(), measured)
        };
        evidence.add(part.name, study(part).points().iter().map(row).collect());
    }
    let claims = paper.published().unwrap().claims;
    let claim = claims.iter().find(|claim| claim.id == id).unwrap_or_else(|| panic!("no {id}"));
    paper.findings(std::slice::from_ref(claim), &evidence, Scale::Usual)[0].agreement()
}

/// The modified shuffle as published: in 8x2, 8x3, 6x4 and 8x4.
fn hierarchical(_: &str, point: &Point) -> (f64, f64) {
    let algorithm = text(point, "algorithm");
    let best = [("8x2", 11.23), ("8x3", 8.23), ("6x4", 9.64), ("8x4", 7.67)];
    let best = best.iter().find(|(name, _)| algorithm.ends_with(name)).map_or(9.0, |found| found.1);
    match algorithm.split(' ').next().unwrap() {
        "modified" => (best, 0.0),
        "window" => (0.9 * best, 0.0),
        _ => (0.5 * best, 10.0),
    }
}

/// Synchronous shuffle falls beyond 512 packets, groups beyond 2304, pairwise never.
fn on_inputs(_: &str, point: &Point) -> (f64, f64) {
    let k = packets(point);
    match text(point, "algorithm").as_str() {
        "synchronous-shuffle" => {
            if k <= 512.0 {
                (11.8, 0.0)
            } else {
                (4.0, 9.0)
            }
        }
        "group-shuffle" => {
            if k <= 2304.0 {
                (11.75, 0.0)
            } else {
                (6.0, 9.0)
            }
        }
        _ => (11.0, 0.0),
    }
}

/// Best values of Figure 5.3, and times in its order.
fn ordered(_: &str, point: &Point) -> (f64, f64) {
    let each = match text(point, "algorithm").as_str() {
        "synchronous-shuffle" => 11.82,
        "pairwise" => 11.6,
        "shift" => 11.25,
        _ => 11.8,
    };
    (each, 0.0)
}

/// Twelve flows fill the uplinks; one switch carries all.
fn through_uplinks(_: &str, point: &Point) -> (f64, f64) {
    let list = text(point, "schedule.hosts");
    let pairs: f64 = match list.split(", ").next().unwrap().split_once('-') {
        Some((_, last)) => last.parse::<f64>().unwrap() + 1.0,
        None => 1.0,
    };
    let flows = 2.0 * pairs;
    match text(point, "fabric").as_str() {
        "one switch" => (11.8 * flows, 0.0),
        _ if flows <= 12.0 => (103.0 * flows / 12.0, 0.0),
        _ => (103.0 - (flows - 12.0), 0.0),
    }
}

/// Nothing matters and nothing is lost.
fn flat(_: &str, _: &Point) -> (f64, f64) {
    (9.0, 0.0)
}

#[test]
fn measures_of_exchanges_agree_and_differ() {
    let cases: [(&str, Model); 12] = [
        ("ch6.achieved.series", hierarchical),
        ("ch6.efficiency.series", hierarchical),
        ("ch6.8x4.achieved", hierarchical),
        ("ch6.8x3.efficiency", hierarchical),
        ("ch6.fall", hierarchical),
        ("ch6.shape.loss", hierarchical),
        ("ch6.shape.best", hierarchical),
        ("ours.either", hierarchical),
        ("fig5.6.sync.limit", on_inputs),
        ("fig5.3.best.series", ordered),
        ("ch5.shape.order", ordered),
        ("ch6.shape.fig6.6", through_uplinks),
    ];
    for (id, model) in cases {
        assert_eq!(exchanged(id, model), Agreement::Agrees, "{id}");
        let other = exchanged(id, flat);
        assert!([Agreement::Differs, Agreement::NotResolved].contains(&other), "{id}: {other:?}");
    }
    // Of long exchanges the limit is only known to lie beyond the last that was tried, or between
    // two.
    assert_ne!(exchanged("fig5.6.group.limit", on_inputs), Agreement::Differs);
    assert_eq!(exchanged("fig5.6.shape", on_inputs), Agreement::Agrees);
    assert_eq!(exchanged("fig5.6.shape", flat), Agreement::Differs);
    assert_eq!(exchanged("ch6.fig6.6.flows", through_uplinks), Agreement::Agrees);
    let noisy: Model = |_, _| (9.0, 3.0);
    assert_eq!(exchanged("ch5.shape.pairhol", flat), Agreement::Agrees);
    assert_eq!(exchanged("ch5.shape.pairhol", noisy), Agreement::Differs);
    assert_eq!(exchanged("ch6.shape.loss", noisy), Agreement::Differs);
}

/// What each node sends of blocks of 100 packets, in MB/s, as a share of Eq. 6.4: `here` nodes at
/// each of two switches, and uplinks that carry `share` of what those of chapter 6 do.
fn of_uplinks(here: u32, share: f64) -> f64 {
    let part = include_str!("../../../../experiments/tam/exchange-modified.toml");
    let mut file: toml::Table = part.parse().expect("the part is TOML");
    for key in ["sweep", "table"] {
        file.remove(key).expect("the part sweeps");
    }
    let circuit = |rate: f64| toml::Value::from(format!("{} Mbit/s", rate * share));
    let rates = toml::Table::from_iter([
        ("in".to_owned(), circuit(720.0)),
        ("out".to_owned(), circuit(1040.0)),
    ]);
    file["frame"]["switch"]["memory"]["input"]["circuit"] = rates.into();
    file["fabric"]["two-level"]["hosts-per-leaf"] = i64::from(here).into();
    let keys = format!(
        "hosts-per-switch = {here}, buffer = 45, reading = 'published', counts = 'received'"
    );
    let algorithm: toml::Table =
        toml::from_str(&format!("modified-shuffle = {{ {keys} }}")).unwrap();
    file["work"]["all-to-all"]["size"] = "149200 B".into();
    file["work"]["all-to-all"]
        .as_table_mut()
        .expect("the work has keys")
        .insert("algorithm".to_owned(), algorithm.into());
    let study =
        Study::parse("uplinks", &file.to_string()).unwrap_or_else(|fault| panic!("{fault}"));
    let cancel = AtomicBool::new(false);
    let threads = NonZeroUsize::MIN;
    let options = RunOptions { threads, cancel: &cancel, executable: None, lead: None };
    let rows = rows(&study, options, &Silent).unwrap().expect("nobody interrupts");
    let nodes = f64::from(2 * here);
    assert_eq!(rows[0].measured("lost"), Some(0.0));
    let each = rows[0].measured("bandwidth").expect("it completes") / nodes;
    let (here, all) = (f64::from(here), nodes);
    each / ((all - 1.0) * 103.0 * share / (2.0 * (all - here) * here))
}

/// Item 19 of the checklist of chapter 6.
#[test]
fn slower_uplinks_and_more_nodes_at_a_switch_cost_what_equation_6_4_says() {
    for (here, share) in [(8, 1.0), (8, 0.75), (8, 0.5), (12, 1.0)] {
        let found = of_uplinks(here, share);
        assert!((0.93..1.02).contains(&found), "{here}x2, {share} of an uplink: {found} of 6.4");
    }
}
