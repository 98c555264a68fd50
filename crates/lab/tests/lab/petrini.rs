//! The paper of Petrini et al.: one machine for all parts, and measures on rows that agree and
//! differ.

use crosstie_lab::Preset;
use crosstie_lab::paper::{Evidence, Paper, Scale};
use crosstie_study::paper::{Agreement, Finding};
use crosstie_study::{Elan, ElanTports, Point, Row, Setting, Spec, Status, Study, TimelineRow};

fn paper() -> &'static Paper {
    Paper::named("petrini-qsnet").unwrap()
}

fn points(part: &str) -> Vec<Point> {
    let study = paper().part(part).unwrap().study(Scale::Usual);
    study.unwrap_or_else(|mistake| panic!("{mistake}")).points().to_vec()
}

/// Nothing is fitted to one figure: every part has the machine of the preset, but for the memories
/// of puts, for the keys that `path` and `tlb` are about, and for the size of the tree in `hop` and
/// `barriers`.
#[test]
fn every_part_has_the_machine_of_the_preset() {
    let text = Preset::find("qsnet-elan3").unwrap().text;
    let study = Study::parse("preset", &format!("work.ping.size = '8 B'\n{text}"));
    let study = study.unwrap_or_else(|mistake| panic!("{mistake}"));
    let preset = &study.points()[0].spec;
    let nic = |spec: &Spec, part: &str| {
        let elan = spec.node.elan.clone().unwrap();
        let usual = Elan::default();
        let elan = Elan { source: usual.source, destination: usual.destination, ..elan };
        // It matters in barriers alone.
        let barrier = if ["", "barrier", "barriers"].contains(&part) {
            elan.barrier
        } else {
            preset.node.elan.as_ref().unwrap().barrier
        };
        let elan = Elan { barrier, ..elan };
        match part {
            "path" => Elan { path: usual.path, pci: usual.pci, ..elan },
            "tlb" => Elan { tlb: usual.tlb, ..elan },
            "tports" | "tports-both" => {
                assert_eq!(elan.tports, Some(ElanTports::default()), "{part}");
                Elan { tports: None, ..elan }
            }
            _ => elan,
        }
    };
    for part in paper().parts {
        for Point { spec, .. } in points(part.name) {
            let machine = |spec: &Spec| {
                (
                    spec.world,
                    spec.link.clone(),
                    spec.nic.clone(),
                    spec.switch.clone(),
                    spec.bus.clone(),
                )
            };
            assert_eq!(machine(&spec), machine(preset), "{}", part.name);
            assert_eq!(nic(&spec, part.name), nic(preset, ""), "{}", part.name);
            assert!(
                spec.fabric == preset.fabric || ["hop", "barriers"].contains(&part.name),
                "{}",
                part.name
            );
        }
    }
}

/// A point of a part, as models ask about it.
struct At<'a> {
    part: &'a str,
    point: &'a Point,
}

impl At<'_> {
    fn setting(&self, key: &str) -> Option<&Setting> {
        let setting = self.point.settings.iter().find(|(name, _)| name.ends_with(key));
        setting.map(|(_, value)| value)
    }

    fn number(&self, key: &str) -> f64 {
        self.setting(key).and_then(Setting::number).unwrap_or(1.0)
    }

    fn size(&self) -> f64 {
        self.number(".size")
    }

    /// Returns true if data come from main memory, and true if they go there.
    fn main(&self) -> (bool, bool) {
        let is_main = |key| self.setting(key).is_none_or(|value| value.to_string() == "main");
        (is_main(".source"), is_main(".destination"))
    }

    /// The switches behind which a ping finds its host.
    fn switches(&self) -> f64 {
        match self.number(".to") {
            to if to < 4.0 => 1.0,
            to if to < 8.0 => 3.0,
            _ => 9.0,
        }
    }
}

/// Columns of a row: bandwidth, time, the first to be done and the last.
type Model = fn(&At<'_>) -> [f64; 4];

/// Half of a rate with 512 bytes.
fn rising(rate: f64, size: f64) -> f64 {
    rate * size / (size + 512.0)
}

/// What the paper says.
fn published(at: &At<'_>) -> [f64; 4] {
    let size = at.size();
    let (from_main, to_main) = at.main();
    match at.part {
        "hop" => {
            let latency = 2.0 + 0.05 * (at.switches() - 1.0);
            [0.0, latency, latency, 2.0 * latency + 0.1]
        }
        "barrier" => {
            let time = 6.2 + 0.2 * (at.number(".ranks") - 2.0);
            [0.0, time, time, time]
        }
        "barriers" => {
            let (ranks, tree) = (at.number(".ranks"), at.setting(".algorithm").unwrap());
            let tree = tree.to_string().contains("tree");
            let time = if tree { 4.2 + 2.0 * ranks.log2() } else { 5.8 + 0.2 * ranks };
            [0.0, time, time, time]
        }
        "put" | "stream" => {
            let rate = match at.main() {
                (true, _) => 200.0,
                (false, true) => 275.0,
                (false, false) => 335.0,
            };
            let read = if from_main { 0.8 } else { 0.0 };
            let time = 2.35 + read + if to_main { 0.5 } else { 0.0 };
            let time = if size == 1.0 { time + 0.1 } else { time + (size - 64.0).max(0.0) / rate };
            [rising(rate, size), time, time, time]
        }
        "both" => {
            let (rate, time) = if from_main { (140.0, 4.15) } else { (270.0, 2.85) };
            [2.0 * rising(rate, size), time, time, time]
        }
        "tports" => {
            let rate = match at.main() {
                (true, _) => 200.0,
                (false, true) => 275.0,
                (false, false) => 335.0,
            };
            let time = if size <= 64.0 { 5.0 } else { 5.5 + (size - 64.0) / rate };
            [0.0, 2.0 * time, 1.0, 1.0]
        }
        "tports-both" => {
            let (rate, _) = if from_main { (140.0, 0.0) } else { (270.0, 0.0) };
            [2.0 * rising(rate, size) / 1.3, 1.0, 1.0, 1.0]
        }
        "within" => [150.0, 1.0, 1.0, 1.0],
        "within-both" => [150.0, 5.0, 1.0, 1.0],
        "path" => [if from_main { 400.0 } else { 670.0 }, 1.0, 1.0, 1.0],
        "read" => [200.0, 1.0, 100.0, 101.0],
        "write" if at.number(".ranks") == 2.0 => [200.0, 1.0, 1.0, 1.0],
        "write" => [275.0, 1.0, 1.0, 1.0],
        _ => {
            let rate = if size > 262144.0 { 130.0 - size / 65536.0 } else { 130.0 };
            // 20 us with a barrier of 7.4.
            [1.0, (7.0 * size / rate).max(12.6), 1.0, 1.0]
        }
    }
}

/// What it does not say.
fn otherwise(at: &At<'_>) -> [f64; 4] {
    let size = at.size();
    let (from_main, to_main) = at.main();
    let time = 1.0 + size / 100.0;
    match at.part {
        "hop" => [0.0, 2.0, 2.0, 2.5],
        "barrier" => [0.0, 3.0 * at.number(".ranks").log2(), 1.0, 1.0],
        "barriers" => [0.0, at.number(".ranks"), 1.0, 1.0],
        "put" | "stream" => {
            let rate = if from_main && !to_main { 150.0 } else { 116.0 };
            [rate * size / (size + 2000.0), time, time, time]
        }
        "both" => [120.0, time, time, time],
        "path" | "within" | "within-both" => [100.0, 1.0, 1.0, 1.0],
        "tports" => [0.0, 20.0 + size / 50.0, 1.0, 1.0],
        "tports-both" => [120.0, 1.0, 1.0, 1.0],
        "read" | "write" => [300.0 / at.number(".ranks"), 1.0, 100.0, 200.0],
        _ => [1.0, 7.0 * size / 170.0, 1.0, 1.0],
    }
}

fn findings(model: Model) -> Vec<Finding> {
    let mut evidence = Evidence::default();
    for part in paper().parts {
        let row = |point: &Point| {
            let [bandwidth, time, first, last] = model(&At { part: part.name, point });
            let measured = [
                ("bandwidth", bandwidth),
                ("latency", time),
                ("time_mean", time),
                ("time_p50", time),
                ("finish_first", first),
                ("finish_last", last),
            ];
            let measured = measured.map(|(name, value)| (name.to_owned(), value)).to_vec();
            Row::of(point, Status::Completed, String::new(), measured)
        };
        evidence.add(part.name, points(part.name).iter().map(row).collect());
        // Of two readers, where there are two, one is done first and one last.
        let reads = points("read").into_iter().flat_map(|point| {
            let [_, _, first, last] = model(&At { part: "read", point: &point });
            let read = |end| TimelineRow {
                point: point.index,
                rank: 0,
                to: Some(1),
                bytes: Some(1000),
                begin: 0.0,
                left: end,
                end,
            };
            [read(first), read(last)]
        });
        if part.name == "read" {
            evidence.add_timeline("read", reads.collect());
        }
    }
    paper().findings(&paper().published().unwrap().claims, &evidence, Scale::Usual)
}

#[test]
fn what_the_paper_says_agrees_with_it() {
    for finding in findings(published) {
        let agreement = finding.agreement();
        let can_be_told = agreement != Agreement::NotCheckable;
        let id = &finding.claim.id;
        assert!(!can_be_told || agreement == Agreement::Agrees, "{id}: {:?}", finding.outcome);
    }
}

#[test]
fn what_it_does_not_say_differs() {
    let found = findings(otherwise);
    // Of numbers that are judged by an end alone, what lies at the other side.
    let holds = ["tree5.placement"];
    let measured = |id: &str| {
        let first = id.split('.').next().unwrap_or_default();
        let is_derived = ["f8.wire_bw", "f8.wire_share", "f9.ratio.elan_elan"].contains(&id);
        [
            "abs", "f6", "f7", "f8", "f9", "f10", "f11", "f12", "f13", "f14", "f15", "ours",
            "tree5", "nic",
        ]
        .contains(&first)
            && !is_derived
            && !["tree5.switches", "f7.slope"].contains(&id)
    };
    let mut count = 0;
    for finding in found.iter().filter(|finding| measured(&finding.claim.id)) {
        let (id, agreement) = (finding.claim.id.as_str(), finding.agreement());
        if agreement == Agreement::NotCheckable {
            continue;
        }
        let expected = if holds.contains(&id) { Agreement::Agrees } else { Agreement::Differs };
        assert_eq!(agreement, expected, "{id}: {:?}", finding.outcome);
        count += 1;
    }
    assert_eq!(count, 61);
}
