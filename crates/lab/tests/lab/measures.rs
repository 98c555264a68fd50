//! How claims are measured: for each, rows on which it agrees, rows on which it differs, and rows
//! that cannot tell. Rows are invented for every point of the paper, one column as a model has it.

use crosstie_lab::paper::{Evidence, Paper, Part, Scale};
use crosstie_study::paper::{Agreement, Claim, Target};
use crosstie_study::{ChannelRow, Point, Row, Setting, Status, Study};
use std::collections::BTreeSet;

/// A point of a part, as models ask about it.
struct At<'a> {
    part: &'a str,
    point: &'a Point,
}

impl At<'_> {
    fn setting(&self, key: &str) -> Option<&Setting> {
        self.point.settings.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The value of a swept key; 1 where it is not swept.
    fn number(&self, key: &str) -> f64 {
        self.setting(key).and_then(Setting::number).unwrap_or(1.0)
    }

    /// The scheme or the routing.
    fn way(&self) -> String {
        let way = self.setting("scheme").or_else(|| self.setting("routing"));
        way.map(Setting::to_string).unwrap_or_default()
    }

    /// One value for ways that begin so, another for all others.
    fn with(&self, begin: &str, value: f64, other: f64) -> f64 {
        if self.way().starts_with(begin) { value } else { other }
    }

    fn load(&self) -> f64 {
        self.number("traffic.load")
    }

    fn rails(&self) -> f64 {
        self.number("cluster.rails")
    }

    fn kilobytes(&self) -> f64 {
        self.number("traffic.size.exponential.mean") / 1024.0
    }

    fn switches(&self) -> f64 {
        self.number("fabric.irregular.switches")
    }

    fn is_long(&self) -> bool {
        self.part == "fig07-10-64k"
    }

    fn is_striped(&self) -> bool {
        !self.way().contains("striping=0")
    }
}

type Model = fn(&At) -> f64;

/// A claim, the column it is about, and a model on which it agrees and one on which it differs.
type Case = (&'static str, &'static str, Model, Model);

/// Relative half-widths that decide, and that do not.
const SURE: f64 = 0.002;
const UNSURE: f64 = 0.9;

/// A row whose column is what the model says, known so well.
fn row(at: &At, column: &str, model: Model, noise: f64) -> Row {
    let value = model(at);
    let mut measured = vec![("offered".to_owned(), at.load())];
    if column != "network_mean" {
        measured.push(("network_mean".to_owned(), 1.0));
    }
    let mut set = |name: String, value: f64| measured.push((name, value));
    let stem = column.strip_suffix("_mean").unwrap_or(column);
    match column {
        "accepted" | "latency_mean" => {
            set(column.to_owned(), value);
            set(format!("{stem}_ci"), noise * value);
        }
        "saturation" => {
            set(column.to_owned(), value);
            set("saturation_low".to_owned(), (1.0 - noise) * value);
            set("saturation_high".to_owned(), (1.0 + noise) * value);
        }
        // Columns about routes are exact: what is not known is which networks there might be.
        _ => {
            let sign = if at.number("fabric.irregular.seed") % 2.0 == 0.0 { 1.0 } else { -1.0 };
            let way = if at.way().starts_with("dfs") { sign } else { -sign };
            set(column.to_owned(), value * (1.0 + way * noise));
        }
    }
    Row::of(at.point, Status::Converged, String::new(), measured)
}

/// A paper, with what it claims and the studies of its parts.
struct Stage {
    paper: &'static Paper,
    claims: Vec<Claim>,
    parts: Vec<(&'static str, Study)>,
}

fn stage(name: &str) -> Stage {
    let paper = Paper::named(name).unwrap();
    let study = |part: &'static Part| {
        (part.name, part.study(Scale::Usual).unwrap_or_else(|mistake| panic!("{mistake}")))
    };
    let claims = paper.published().unwrap_or_else(|mistake| panic!("{mistake}")).claims;
    Stage { paper, claims, parts: paper.parts.iter().map(study).collect() }
}

/// How a claim stands on evidence that is invented part by part.
fn judged(stage: &Stage, id: &str, add: impl Fn(&mut Evidence, &str, &[Point])) -> Agreement {
    let mut evidence = Evidence::default();
    for (part, study) in &stage.parts {
        add(&mut evidence, part, study.points());
    }
    let claim = stage.claims.iter().find(|claim| claim.id == id);
    let claim = claim.unwrap_or_else(|| panic!("no claim `{id}`")).clone();
    stage.paper.findings(&[claim], &evidence, Scale::Usual)[0].agreement()
}

fn on_rows(stage: &Stage, id: &str, column: &str, model: Model, noise: f64) -> Agreement {
    judged(stage, id, |evidence, part, points| {
        let rows = points.iter().map(|point| row(&At { part, point }, column, model, noise));
        evidence.add(part, rows.collect());
    })
}

fn check(stage: &Stage, cases: &[Case]) {
    for &(id, column, agrees, differs) in cases {
        assert_eq!(on_rows(stage, id, column, agrees, SURE), Agreement::Agrees, "{id}");
        assert_eq!(on_rows(stage, id, column, differs, SURE), Agreement::Differs, "{id}");
        for model in [agrees, differs] {
            let unsure = on_rows(stage, id, column, model, UNSURE);
            assert_eq!(unsure, Agreement::NotResolved, "{id}");
        }
    }
}

const COLL: &[Case] = &[
    ("metric.ceiling", "accepted", |_| 0.4, |_| 0.6),
    ("metric.presaturation", "accepted", |at| at.load().min(0.4), |at| 0.9 * at.load().min(0.4)),
    (
        "metric.postsaturation",
        "accepted",
        |at| at.load().min(0.4),
        |at| 0.4 / (1.0 + 10.0 * at.load()),
    ),
    ("headline.dynamic_vs_local", "accepted", |at| at.with("dynamic", 0.298, 0.2), |_| 0.2),
    ("headline.dynamic_vs_basic", "accepted", |at| at.with("dynamic", 0.274, 0.2), |_| 0.2),
    (
        "f7_10.basic_size",
        "accepted",
        |at| if at.is_long() { 0.2 } else { 0.3 },
        |at| if at.is_long() { 0.3 } else { 0.2 },
    ),
    (
        "f7_10.dynamic_size",
        "accepted",
        |at| if at.is_long() { 0.3 } else { 0.2 },
        |at| if at.is_long() { 0.2 } else { 0.3 },
    ),
    (
        "f7_10.short_order",
        "accepted",
        |at| at.with("basic", 0.3, at.with("local", 0.25, 0.2)),
        |at| at.with("basic", 0.2, at.with("local", 0.25, 0.3)),
    ),
    (
        "f7_10.long_order",
        "accepted",
        |at| at.with("basic", 0.2, at.with("local", 0.25, 0.3)),
        |at| at.with("basic", 0.3, at.with("local", 0.25, 0.2)),
    ),
    (
        "f7_10.local_latency",
        "latency_mean",
        |at| at.with("local", 1000.0, 1500.0),
        |at| at.with("local", 1500.0, 1000.0),
    ),
    ("striping.bandwidth", "accepted", |_| 0.3, |at| if at.is_striped() { 0.3 } else { 0.2 }),
    (
        "striping.latency",
        "latency_mean",
        |at| match (at.is_striped(), at.is_long()) {
            (true, true) => 1000.0 * (0.3 + at.load()),
            (true, false) => 950.0,
            _ => 1000.0,
        },
        |at| match (at.is_striped(), at.is_long()) {
            (true, true) => 900.0,
            (true, false) => 500.0,
            _ => 1000.0,
        },
    ),
    (
        "striping.full_best",
        "latency_mean",
        |at| if at.is_striped() { 500.0 } else { 1000.0 },
        |at| if at.is_striped() { 1500.0 } else { 1000.0 },
    ),
    (
        "f10.dynamic_striping_gain",
        "latency_mean",
        |at| if at.is_striped() { 500.0 } else { 1000.0 },
        |at| if at.is_striped() { 990.0 } else { 1000.0 },
    ),
    (
        "f10.local_striping_gain",
        "latency_mean",
        |at| if at.is_striped() { 500.0 } else { 1000.0 },
        |at| if at.is_striped() { 990.0 } else { 1000.0 },
    ),
    (
        "f10.latency_crossover",
        "latency_mean",
        |at| at.with("dynamic", 1000.0 * (1.15 - at.load()), 1000.0),
        |at| at.with("dynamic", 1000.0 * (1.3 - at.load()), 1000.0),
    ),
    (
        "f11.size_crossover",
        "latency_mean",
        |at| 1000.0 * if at.way() == "dynamic" { (16.0 / at.kilobytes()).sqrt() } else { 1.0 },
        |at| 1000.0 * if at.way() == "dynamic" { 2.0 + at.kilobytes() } else { 1.0 },
    ),
    (
        "f12.gain_32",
        "accepted",
        |at| at.with("dynamic", 0.25, 0.2),
        |at| at.with("dynamic", 0.2, 0.25),
    ),
    (
        "f12.gain_128",
        "accepted",
        |at| at.with("dynamic", 0.25, 0.2),
        |at| at.with("dynamic", 0.2, 0.25),
    ),
    ("f12.loss_min", "accepted", by_nodes, |at| 10.0 / at.number("fabric.tree.hosts")),
    ("f12.loss_max", "accepted", by_nodes, |at| 10.0 / at.number("fabric.tree.hosts")),
    ("f13.dynamic_size", "accepted", |at| 0.1 + 0.01 * at.kilobytes().log2(), falling),
    ("f13.basic_size", "accepted", falling, |at| 0.1 + 0.01 * at.kilobytes().log2()),
    ("f13.dynamic_rails", "accepted", |_| 0.3, |at| 0.3 / at.rails().powf(0.3)),
    ("concl.rails_linear", "accepted", |_| 0.3, |at| 0.3 / at.rails().powf(0.3)),
    (
        "f13.improve_size",
        "accepted",
        |at| 0.3 * if at.rails() > 1.0 { (at.kilobytes() / 16.0).powf(0.1) } else { 1.0 },
        |at| 0.3 / at.rails(),
    ),
    (
        "concl.superlinear_size",
        "accepted",
        |at| 0.3 * if at.rails() > 1.0 { (at.kilobytes() / 5.0).powf(0.1) } else { 1.0 },
        |at| 0.3 / at.rails(),
    ),
    ("f14.dynamic", "accepted", |at| 0.3 + 0.01 * at.rails(), |at| 0.3 - 0.01 * at.rails()),
    ("f14.basic_loss", "accepted", |at| 0.3 / at.rails().sqrt(), |_| 0.3),
    ("f15.basic", "latency_mean", |at| 1000.0 * at.rails(), |at| 1000.0 / at.rails()),
    (
        "f15.striped",
        "latency_mean",
        |at| at.with("local", 1000.0, 1500.0) / at.rails().sqrt(),
        |at| at.with("local", 1000.0, 1500.0) * at.rails().sqrt(),
    ),
    ("f15.unstriped", "latency_mean", |_| 1000.0, |at| 1000.0 * at.rails().sqrt()),
    ("f16.dynamic", "accepted", |at| 0.1 + 0.01 * at.kilobytes().log2(), falling),
    ("f16.others", "accepted", |_| 0.3, falling),
    (
        "f17_20.bandwidth",
        "accepted",
        |at| at.with("hybrid", 0.3, 0.2),
        |at| at.with("hybrid", 0.2, 0.3),
    ),
    (
        "f17_20.latency",
        "latency_mean",
        |at| at.with("hybrid", 1000.0, 1500.0),
        |at| at.with("hybrid", 1500.0, 1000.0),
    ),
    (
        "f17_20.latency_unstriped",
        "latency_mean",
        |at| at.with("dynamic", 1000.0 * (1.2 - at.load()), 1000.0),
        |at| at.with("dynamic", 1000.0 * (0.8 + at.load()), 1000.0),
    ),
    (
        "concl.hybrid_vs_dynamic",
        "accepted",
        |at| at.with("hybrid", 0.21, 0.2),
        |at| at.with("hybrid", 0.3, 0.2),
    ),
    (
        "concl.hybrid_vs_basic",
        "accepted",
        |at| at.with("hybrid", 0.3, 0.2),
        |at| at.with("hybrid", 0.2, 0.3),
    ),
    (
        "concl.hybrid_vs_local",
        "accepted",
        |at| at.with("hybrid", 0.3, 0.2),
        |at| at.with("hybrid", 0.2, 0.3),
    ),
];

/// From 32 to 128 nodes basic loses 5 %, dynamic 14 %.
fn by_nodes(at: &At) -> f64 {
    let large = at.number("fabric.tree.hosts") > 100.0;
    0.3 * if large { at.with("basic", 0.95, 0.86) } else { 1.0 }
}

fn falling(at: &At) -> f64 {
    0.3 - 0.01 * at.kilobytes().log2()
}

const FLICH: &[Case] = &[
    (
        "fig1.shape.best",
        "saturation",
        |at| at.with("smart", 0.2, 0.1),
        |at| at.with("smart", 0.1, 0.2),
    ),
    ("fig1.smart_vs_ud.max", "saturation", |at| at.with("smart", 0.177, 0.1), |_| 0.1),
    (
        "fig1.smart_vs_dfs.max",
        "saturation",
        |at| at.with("smart", 0.128, 0.1),
        |at| at.with("smart", 0.2, 0.1),
    ),
    (
        "fig2.shape.itb_gain",
        "saturation",
        |at| 0.1 * if at.way().ends_with("-itb") { 1.0 + at.switches() / 32.0 } else { 1.0 },
        |at| 0.1 * if at.way().ends_with("-itb") { 1.0 + 8.0 / at.switches() } else { 1.0 },
    ),
    (
        "fig2.shape.more_itbs",
        "saturation",
        |at| at.with("up-down-mitb", 0.12, at.with("up-down-itb", 0.15, 0.1)),
        |at| at.with("up-down-mitb", 0.12, at.with("up-down-itb", 0.1, 0.15)),
    ),
    ("fig2.sw16.b_itb.worst", "saturation", |_| 0.1, |at| at.with("balanced", 0.15, 0.1)),
    ("abstract.dfs", "saturation", |at| at.with("dfs-itb", 0.154, 0.1), |_| 0.1),
    ("abstract.smart", "saturation", |at| at.with("balanced", 0.133, 0.1), |_| 0.1),
    ("sat.ud.sw32", "saturation", |_| 0.03 / 0.64, |_| 0.1),
    ("t1.uniform.sw32.ud_itb.min", "saturation", of_table, |_| 0.01),
    ("t1.uniform.sw32.ud_itb.max", "saturation", of_table, |_| 0.01),
    ("t1.uniform.sw32.ud_itb.avg", "saturation", of_table, |_| 0.01),
    (
        "t3.shape",
        "saturation",
        |at| if at.way().ends_with("itb") { 0.2 } else { 0.1 },
        |at| if at.way().ends_with("itb") { 0.1 } else { 0.2 },
    ),
    (
        "t3.shape.b_itb",
        "saturation",
        |at| at.with("balanced", 0.08, 0.1),
        |at| at.with("balanced", 0.2, 0.1),
    ),
    ("fig2.shape.ud_dfs_itb", "accepted", |_| 0.1, |at| at.with("up-down-itb", 0.2, 0.1)),
    ("fig2.sw64.ud_itb", "accepted", |at| at.with("up-down-itb", 0.275, 0.1), |_| 0.1),
    (
        "fig2.shape.latency",
        "latency_mean",
        |at| at.with("dfs-itb", 900.0, 1000.0),
        |at| at.with("dfs-itb", 1000.0, 900.0),
    ),
    (
        "latency.shape",
        "latency_mean",
        |at| 1000.0 * (1.0 + extra(at, "32 B")),
        |at| 1000.0 * (1.0 + extra(at, "512 B")),
    ),
    (
        "latency.b512.bound",
        "latency_mean",
        |at| at.with("up-down-itb", 1020.0, 1000.0),
        |at| at.with("up-down-itb", 1200.0, 1000.0),
    ),
    (
        "latency.b32.ud_itb.lo",
        "latency_mean",
        |at| at.with("up-down-itb", 1166.0, 1000.0),
        |_| 1000.0,
    ),
    (
        "latency.b32.ud_itb.hi",
        "latency_mean",
        |at| at.with("up-down-itb", 1220.0, 1000.0),
        |_| 1000.0,
    ),
    (
        "itbs.shape",
        "stops_mean",
        |at| at.with("dfs-itb", 0.2, 0.5),
        |at| at.with("dfs-itb", 0.5, 0.2),
    ),
];

/// A network of Table 1 on which UD_ITB accepts 1.7 times as much as UD.
fn of_table(at: &At) -> f64 {
    at.with("up-down-itb", 0.17, 0.1)
}

/// What stops add to the latency: most with messages of one size, less with UD_MITB.
fn extra(at: &At, most: &str) -> f64 {
    if !at.way().ends_with("itb") {
        return 0.0;
    }
    let size = at.setting("traffic.size.fixed.size").map(Setting::to_string);
    let much = if size.as_deref() == Some(most) { 0.3 } else { 0.1 };
    much * at.with("up-down-mitb", 0.5, 1.0)
}

#[test]
fn every_measure_of_coll_agrees_differs_and_does_not_tell() {
    check(&stage("coll-multirail"), COLL);
}

#[test]
fn every_measure_of_flich_agrees_differs_and_does_not_tell() {
    check(&stage("flich-itb"), FLICH);
}

/// The utilisation of channels between switches, of which there are 100.
type Busy = fn(&At, f64) -> f64;

/// How a claim about channels stands if each has carried so many packets.
fn on_channels(stage: &Stage, id: &str, busy: Busy, packets: u64) -> Agreement {
    judged(stage, id, |evidence, part, points| {
        let channels = points.iter().flat_map(|point| {
            (0..100u32).map(move |channel| {
                let share = busy(&At { part, point }, f64::from(channel));
                ChannelRow {
                    point: point.index,
                    channel,
                    rail: 0,
                    from: "s0".to_owned(),
                    to: "s1".to_owned(),
                    kind: "link".to_owned(),
                    flits: 512 * packets,
                    utilisation: share,
                    blocked: share,
                    waiting: 0.0,
                }
            })
        });
        evidence.add_channels(part, channels.collect());
        let rows = points.iter().map(|point| row(&At { part, point }, "accepted", |_| 0.1, SURE));
        evidence.add(part, rows.collect());
    })
}

const CHANNELS: &[(&str, Busy, Busy)] = &[
    ("util.shape.dfs_itb", |_, i| 0.002 * i, |at, i| at.with("dfs", 0.002, 0.004) * i),
    ("util.shape.b_itb", |_, i| 0.002 * i, |at, i| at.with("smart", 0.002, 0.004) * i),
    (
        "util.shape.balance",
        |at, i| at.with("smart", 0.001, at.with("dfs", 0.002, 0.003)) * i,
        |at, i| at.with("smart", 0.003, at.with("dfs", 0.002, 0.001)) * i,
    ),
    ("util.ud.lt10", |_, i| 0.002 * i, |_, i| 0.01 * i),
    ("util.ud.gt30", |_, i| 0.0034 * i, |_, i| 0.01 * i),
    ("util.ud.n_gt50", |_, i| 0.0051 * i, |_, i| 0.01 * i),
    ("util.smart.in15_20", |_, i| 0.145 + 0.0005 * i, |_, i| 0.01 * i),
    ("util.smart.min", |_, i| 0.08 + 0.001 * i, |_, i| 0.2 + 0.001 * i),
    ("util.smart.max", |_, i| 0.002 * i, |_, i| 0.004 * i),
    ("blocked.smart.some", |_, i| 0.002 * i, |_, i| 0.0002 * i),
    ("blocked.b_itb.max", |_, i| 0.0002 * i, |_, i| 0.002 * i),
];

#[test]
fn every_measure_of_channels_agrees_differs_and_does_not_tell() {
    let stage = stage("flich-itb");
    for &(id, agrees, differs) in CHANNELS {
        assert_eq!(on_channels(&stage, id, agrees, 1_000_000), Agreement::Agrees, "{id}");
        assert_eq!(on_channels(&stage, id, differs, 1_000_000), Agreement::Differs, "{id}");
        assert_eq!(on_channels(&stage, id, agrees, 2), Agreement::NotResolved, "{id}");
    }
}

#[test]
fn every_shape_of_a_paper_is_put_to_the_test() {
    let tested: BTreeSet<&str> = COLL.iter().chain(FLICH).map(|case| case.0).collect();
    let tested: BTreeSet<&str> = tested.into_iter().chain(CHANNELS.iter().map(|c| c.0)).collect();
    for name in ["coll-multirail", "flich-itb"] {
        for claim in stage(name).claims {
            let Target::Shape(shape) = &claim.target else { continue };
            let compared = shape != "not given";
            assert!(!compared || tested.contains(claim.id.as_str()), "{}", claim.id);
        }
    }
}
