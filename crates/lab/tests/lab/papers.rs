//! The papers: their files are sound, and every claim finds what it is measured by.

use crosstie_lab::paper::{Evidence, Form, PAPERS, Paper, Part, Scale};
use crosstie_study::paper::{Agreement, Finding};
use crosstie_study::{ChannelRow, Point, Row, Status, Study, TimelineRow};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn study(part: &Part, form: impl Into<Form>) -> Study {
    part.study(form).unwrap_or_else(|mistake| panic!("{mistake}"))
}

/// Every form of the paper: each scale in each reading.
fn forms(paper: &Paper) -> Vec<Form> {
    let readings = || paper.readings.iter().map(Some).chain([None]);
    let scales = [Scale::Usual, Scale::Quick, Scale::Full];
    let forms =
        scales.into_iter().flat_map(|scale| readings().map(move |reading| Form { scale, reading }));
    forms.collect()
}

fn findings(paper: &Paper, evidence: &Evidence) -> Vec<Finding> {
    let published = paper.published().unwrap_or_else(|mistake| panic!("{mistake}"));
    paper.findings(&published.claims, evidence, Scale::Usual)
}

/// A row as the point could have given it: every column, with a number of its own.
fn invented(point: &Point) -> Row {
    let value = |(i, column): (usize, &crosstie_study::Column)| {
        (column.name.to_owned(), 1.0 + 0.01 * f64::from(point.index) + i as f64)
    };
    let columns = point.spec.work.kind().columns();
    let measured = columns.iter().enumerate().map(value).collect();
    Row::of(point, Status::Converged, String::new(), measured)
}

/// Channels between switches as the point could have kept them.
fn invented_channels(point: &Point) -> Vec<ChannelRow> {
    let ways =
        [("s0", "s1", "link", 0..4), ("0", "s0", "injection", 0..point.spec.cluster.rails.count())];
    let channel = |(from, to, kind, number): (&str, &str, &str, u32)| ChannelRow {
        point: point.index,
        channel: number,
        rail: if kind == "link" { 0 } else { number },
        from: from.to_owned(),
        to: to.to_owned(),
        kind: kind.to_owned(),
        flits: 1,
        utilisation: 0.1 * f64::from(number),
        blocked: 0.01 * f64::from(number),
        waiting: 0.0,
    };
    let kept = ways.into_iter().filter(|_| point.spec.measure.channels);
    kept.flat_map(|(from, to, kind, all)| all.map(move |number| channel((from, to, kind, number))))
        .collect()
}

/// Messages one after another as the point could have sent them.
fn invented_timeline(point: &Point) -> Vec<TimelineRow> {
    // Half of them come before a competitor ends.
    let ends = point.spec.competitors.first().map(|competitor| competitor.end.ps() as f64 / 1e6);
    let each = ends.map_or(5000.0, |end| end / 25.0);
    let message = |number: u32| {
        let begin = each * f64::from(number);
        let (left, end) = (begin + 0.9 * each, begin + each);
        TimelineRow {
            point: point.index,
            rank: 0,
            to: Some(1),
            bytes: Some(1000),
            begin,
            left,
            end,
        }
    };
    (0..50).map(message).collect()
}

#[test]
fn every_claim_finds_its_evidence_in_every_form() {
    for paper in PAPERS {
        for form in forms(paper) {
            let mut evidence = Evidence::default();
            for part in paper.parts {
                let study = study(part, form);
                evidence.add(part.name, study.points().iter().map(invented).collect());
                let channels = study.points().iter().flat_map(invented_channels).collect();
                evidence.add_channels(part.name, channels);
                let timeline = study.points().iter().flat_map(invented_timeline).collect();
                evidence.add_timeline(part.name, timeline);
            }
            for Finding { claim, outcome, .. } in findings(paper, &evidence) {
                assert!(outcome.is_ok(), "{}, {form:?}: {outcome:?}", claim.id);
            }
        }
    }
}

/// How a claim stands that needs no rows: it is arithmetic, or told by probes, or nothing can tell
/// it.
fn arithmetic(id: &str) -> Option<Agreement> {
    let words: Vec<&str> = id.split('.').collect();
    let of_platforms = ["lat1", "uni", "fc", "bi"];
    Some(match words[..] {
        ["static", ..] => Agreement::Agrees,
        ["intro", ..] => Agreement::NotCheckable,
        ["t4", "1", .., "predicted"] => Agreement::Agrees,
        // Of the other tables, the rows that Table 4.1 has too.
        ["t4", _, "ibm416", _, "w24", _, "predicted"] => Agreement::Agrees,
        ["t4", .., "predicted"] | ["ch4", "error", _, "halfwidth"] => Agreement::NotCheckable,
        ["eq4", ..] | ["fig4", "5", _] | ["ch4", "to" | "volume", ..] => Agreement::Agrees,
        ["ch4", "error", "t41rows" | "t42cisco" | "t44uplink"] => Agreement::Agrees,
        ["bcast", _, _] | ["p2p", ..] | ["eqA", ..] | ["tA", ..] => Agreement::Agrees,
        ["ch3", "shape", "model"] => return None,
        ["ch3", "shape", "smp_bound" | "L"] => Agreement::Agrees,
        ["ch3", "shape", _] | ["ch3", "tbp" | "pci", _] => Agreement::NotCheckable,
        ["ch3", "gedp", "gr1500" | "gr1024"] | ["ch3", .., "zerocopy" | "reliable"] => {
            Agreement::NotCheckable
        }
        ["ch3", "smp", "or", "extra"] => Agreement::Differs,
        ["ch3", what, ..] if !of_platforms.contains(&what) => Agreement::Agrees,
        // Of chapters 5 and 6, formulas, schedules and what experiments carry.
        ["t5", "2", "g_s"] => Agreement::Differs,
        ["t5", ..] | ["eq5", ..] | ["fig5", "2", ..] | ["t6", "1", _] => Agreement::Agrees,
        ["fig5", "3", "asymptote"] | ["fig5", "3", "best", "fraction"] => Agreement::Agrees,
        ["fig5", "6", "sync" | "group", "KB" | "MB"] => Agreement::Agrees,
        ["fig5", "6", "pairwise", "limit"] | ["ch5", "shape", "mpich"] => Agreement::NotCheckable,
        ["ch6", "mpi", "ratio"] | ["ch6", "shape", "mpi" | "mpichsmall"] => Agreement::NotCheckable,
        ["ch6", _, "pairmpi" | "mpich"] | ["ch6", "pairmpi" | "mpich", _] => {
            Agreement::NotCheckable
        }
        ["ch6", "backplane", _] | ["ch6", _, "bisection"] => Agreement::NotCheckable,
        ["ch6", "message", _] => Agreement::Differs,
        ["ch6", "shape", "best"] => return None,
        ["ch6", "fig6", "3", _] | ["ch6", "shape", "fig6", "3"] => Agreement::Agrees,
        ["ch6", "eta", ..] | ["ch6", _, "nu" | "crossing" | "volume"] => Agreement::Agrees,
        ["ch6", _, "Wg", _] | ["ch6", _, "best"] | ["ch6", "Wg" | "best", _] => Agreement::Agrees,
        ["ch6", "8x4", "efficiency"] => Agreement::Agrees,
        ["ch6", "8x2" | "8x3" | "6x4", "achieved"] => Agreement::Agrees,
        ["link" | "hca", ..] | ["bus", "pcie8", _] => Agreement::Agrees,
        ["app", _, "share"] | ["claim", "delay"] => Agreement::Agrees,
        ["app", "vis", _] | ["app", "is", "run"] => Agreement::NotCheckable,
        ["fig20", "sample" | "competitor"] => Agreement::NotCheckable,
        // Of QsNet, what the machine is made of, trees, and what follows from published numbers.
        ["elan" | "elite" | "net" | "pkt" | "cluster" | "map" | "bench" | "pci", _] => {
            Agreement::Agrees
        }
        ["tree5", "switches"] | ["tree", ..] | ["mdi" | "dist" | "nca" | "mdis", ..] => {
            Agreement::Agrees
        }
        ["route", _] | ["eq1", _] | ["f8", "wire_bw" | "wire_share"] => Agreement::Agrees,
        ["f9", "ratio", _] => Agreement::Agrees,
        ["f7", "slope"] => Agreement::Agrees,
        ["f13", "mpi_main" | "groups"] => Agreement::NotCheckable,
        ["f15", "mpi_drop" | "tports"] => Agreement::NotCheckable,
        _ => return None,
    })
}

#[test]
fn without_rows_only_arithmetic_and_the_uncheckable_are_told() {
    for paper in PAPERS {
        for finding in findings(paper, &Evidence::default()) {
            let id = finding.claim.id.as_str();
            let expected = match arithmetic(id) {
                Some(agreement) => agreement,
                None => Agreement::Missing,
            };
            assert_eq!(finding.agreement(), expected, "{id}: {:?}", finding.outcome);
        }
    }
}

#[test]
fn what_real_ranks_find_stands_beside_what_is_simulated() {
    for (name, count) in [("liu-multirail-mpi", 8), ("tam-congestion", 24)] {
        let paper = Paper::named(name).unwrap();
        let live = |evidence: &Evidence| -> Vec<(String, Option<Agreement>)> {
            let found = findings(paper, evidence).into_iter();
            let found = found.filter(|finding| finding.live.is_some());
            found.map(|finding| (finding.claim.id.clone(), finding.live_agreement())).collect()
        };
        let mut evidence = Evidence::default();
        let missing = live(&evidence);
        assert_eq!(missing.len(), count, "{missing:?}");
        assert!(missing.iter().all(|(_, agreement)| *agreement == Some(Agreement::Missing)));
        evidence.bar_live("there are no boxes here");
        assert!(live(&evidence).iter().all(|(_, found)| *found == Some(Agreement::NotCheckable)));
        // What was run counts, whatever can be run now.
        for part in paper.live {
            let study = study(part, Scale::Quick);
            evidence.add(part.name, study.points().iter().map(invented).collect());
            let timeline = study.points().iter().flat_map(invented_timeline).collect();
            evidence.add_timeline(part.name, timeline);
        }
        for (id, found) in live(&evidence) {
            // There is no bus in the way of real rails.
            if id == "fig19.shape" {
                assert_eq!(found, Some(Agreement::NotCheckable));
                continue;
            }
            let told = [Agreement::Agrees, Agreement::Differs, Agreement::NotResolved];
            assert!(found.is_some_and(|found| told.contains(&found)), "{id}: {found:?}");
        }
        let drawn = (paper.drawings)(&evidence);
        assert!(
            drawn.iter().any(|(figure, rows)| figure.name.ends_with("-live") && !rows.is_empty())
        );
    }
}

/// What real ranks find of a claim if runs of one setting of `overflow-live` lose so many packets,
/// and send so many again.
fn of_losses(senders: u32, window: u32, runs: [(f64, f64); 3]) -> (Agreement, String) {
    let paper = Paper::named("tam-congestion").unwrap();
    let part = paper.part("overflow-live").unwrap();
    let study = study(part, Scale::Usual);
    let is_there = |row: &Row| {
        let number = |key: &str| row.setting(key).and_then(|setting| setting.number());
        number("schedule.ranks") == Some(f64::from(senders + 1))
            && number("channel.go-back-n.window") == Some(f64::from(window))
    };
    let mut rows: Vec<Row> = study.points().iter().map(invented).collect();
    rows.retain(is_there);
    assert_eq!(rows.len(), runs.len());
    for (row, (lost, resent)) in rows.iter_mut().zip(runs) {
        row.measured = vec![
            ("bandwidth".to_owned(), 10.0),
            ("lost".to_owned(), lost),
            ("resent".to_owned(), resent),
        ];
    }
    let mut evidence = Evidence::default();
    evidence.add("overflow-live", rows);
    let found = findings(paper, &evidence);
    let found = found.iter().find(|it| it.claim.id == "ch4.shape.overflow.output").unwrap();
    (found.live_agreement().unwrap(), format!("{:?}", found.live))
}

#[test]
fn a_live_verdict_is_as_sure_as_its_runs_are_alike() {
    let (none, some, acknowledgements) = ((0.0, 0.0), (7.0, 20.0), (3.0, 0.0));
    let found = |senders, window, runs| of_losses(senders, window, runs).0;
    assert_eq!(found(8, 11, [none, none, acknowledgements]), Agreement::Agrees);
    assert_eq!(found(8, 11, [some; 3]), Agreement::Differs);
    assert_eq!(found(8, 24, [some; 3]), Agreement::Agrees);
    assert_eq!(found(8, 24, [none; 3]), Agreement::Differs);
    let (agreement, words) = of_losses(8, 24, [some, none, some]);
    assert_eq!(agreement, Agreement::NotResolved);
    assert!(words.contains("8 senders, window 24 (2 of 3 runs)"), "{words}");
    assert!(words.contains("2 of 3 runs lost packets"), "{words}");
}

#[test]
fn the_forms_of_a_part_differ_in_size_alone() {
    for part in PAPERS.iter().flat_map(|paper| paper.parts.iter().chain(paper.live)) {
        let usual = study(part, Scale::Usual);
        let keys = |study: &Study| study.keys().iter().cloned().collect::<BTreeSet<String>>();
        let [quick, full] = [Scale::Quick, Scale::Full].map(|scale| study(part, scale));
        for form in [&quick, &full] {
            assert_eq!(keys(&usual), keys(form), "{}: the same keys are swept", part.name);
            assert_eq!(usual.figures, form.figures, "{}: the same figures are drawn", part.name);
        }
        let [quick, usual, full] = [quick, usual, full].map(|study| study.points().len());
        assert!(quick <= usual && usual <= full, "{}: {quick} {usual} {full}", part.name);
    }
}

#[test]
fn a_reading_of_another_machine_is_in_every_part_that_it_does_not_spare() {
    let paper = Paper::named("coll-multirail").unwrap();
    let reading = paper.reading("elan").unwrap();
    for part in paper.parts {
        let form = Form { scale: Scale::Usual, reading: Some(reading) };
        let (changed, usual) = (study(part, form), study(part, Scale::Usual));
        let points = changed.points();
        let has_elans = |point: &Point| point.spec.node.elan.is_some();
        assert!(points.iter().all(|point| has_elans(point) != (part.name == "worms")));
        assert_eq!(points.len(), usual.points().len(), "{}", part.name);
    }
    // What is said of the machine of the files is not said of another one.
    let published = paper.published().unwrap();
    let form = Form { scale: Scale::Usual, reading: Some(reading) };
    let found = paper.findings(&published.claims, &Evidence::default(), form);
    assert!(found.iter().all(|finding| finding.remark.is_none()));
}

#[test]
fn every_file_of_a_paper_belongs_to_a_part() {
    let stems = |folder: PathBuf| -> BTreeSet<String> {
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths
            .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect()
    };
    for (folder, papers, published) in [
        ("coll", &["coll-multirail"][..], &["published"][..]),
        ("flich", &["flich-itb"], &["published"]),
        ("liu", &["liu-multirail-mpi"], &["published"]),
        ("petrini", &["petrini-qsnet"], &["published"]),
        (
            "tam",
            &["tam-congestion", "tam-exchange", "tam-model"],
            &["published-congestion", "published-exchange", "published-model"],
        ),
    ] {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(folder);
        let parts: BTreeSet<String> = papers
            .iter()
            .map(|paper| Paper::named(paper).unwrap())
            .flat_map(|paper| paper.parts.iter().chain(paper.live))
            .map(|part| part.name.into())
            .collect();
        let mut files = stems(folder.clone());
        assert!(published.iter().all(|name| files.remove(*name)));
        assert_eq!(files, parts);
        assert_eq!(stems(folder.join("quick")), parts);
        let full = folder.join("full");
        assert!(!full.exists() || stems(full).is_subset(&parts));
    }
}

#[test]
fn every_test_that_holds_a_check_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for check in PAPERS.iter().flat_map(|paper| paper.published().unwrap().checks) {
        for test in &check.tests {
            let (file, name) = test.split_once(' ').unwrap_or_else(|| panic!("{test}"));
            let text = std::fs::read_to_string(root.join(file)).unwrap_or_default();
            let head = format!("#[test]\nfn {name}(");
            let inner = format!("#[test]\n    fn {name}(");
            assert!(text.contains(&head) || text.contains(&inner), "{}: no {test}", check.id);
        }
    }
    let checks = Paper::named("tam-exchange").unwrap().published().unwrap().checks;
    assert_eq!(checks.len(), 21);
}

#[test]
fn papers_and_parts_are_found_by_name() {
    assert!(Paper::named("coll").is_none());
    let paper = Paper::named("coll-multirail").unwrap();
    assert_eq!(paper.part("fig12").unwrap().name, "fig12");
    assert!(paper.part("fig2").is_none());
}

#[test]
fn every_cell_of_a_table_is_a_claim() {
    for paper in PAPERS {
        let claims = paper.published().unwrap().claims;
        let ids: BTreeSet<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
        for grid in (paper.grids)() {
            for row in &grid.rows {
                assert_eq!(row.names.len(), grid.heads.len(), "{}", grid.title);
                assert_eq!(row.cells.len(), grid.columns.len(), "{}", grid.title);
                for id in &row.cells {
                    assert!(ids.contains(id.as_str()), "{}: no claim `{id}`", grid.title);
                }
            }
        }
    }
    let tables = (Paper::named("flich-itb").unwrap().grids)();
    assert_eq!(tables.iter().map(|grid| grid.rows.len()).collect::<Vec<_>>(), [9, 18, 36]);
}
