//! The papers of Tam's thesis: trees step by step, and measures on rows that agree and differ.

use crate::bench::Bench;
use crosstie_lab::Silent;
use crosstie_lab::paper::{Evidence, Paper, Part, Scale};
use crosstie_study::paper::{Agreement, Target};
use crosstie_study::{Point, ResultSet, Row, Setting, Status, Study};
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

/// Rows of `output` that carry what a function makes of the measured column of Table 4.1.
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
        let efficiency = turned(published(point).unwrap_or(0.5));
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
