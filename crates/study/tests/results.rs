//! A folder of results from the first point to the report.

use std::fs;
use std::path::Path;

use crosstie_study::{
    ChannelRow, Point, ResultSet, ResultsError, Row, Setting, Status, Store, Study, Work,
};

const VERSION: &str = "0.1.0";

fn study() -> Study {
    let text = r#"
        title = "Example"
        citation = "Nobody"
        seed = 7
        fabric.tree = {k = 2, n = 2}
        traffic.size.fixed.size = "64 B"
        [sweep.product]
        routing = ["tree-adaptive", "tree-deterministic"]
        traffic.load = [0.1, 0.5]
        [[figure]]
        name = "throughput"
        x = "offered"
        y = "accepted"
        series = ["routing"]
    "#;
    Study::parse("example", text).unwrap()
}

/// Made-up results, different at each point.
fn run(point: &Point) -> (Row, Vec<ChannelRow>) {
    let Work::Traffic(traffic) = &point.spec.work else { panic!("no traffic") };
    let load = traffic.load.unwrap();
    let saturated = load > 0.4;
    let mut measured = vec![("offered".into(), load), ("accepted".into(), load / 3.0)];
    if !saturated {
        measured.extend([("latency_mean".into(), 61.25), ("packets".into(), 1e6)]);
        measured.push(("latency_ci".into(), f64::NAN));
    }
    let status = if saturated { Status::Saturated } else { Status::Converged };
    let note = if saturated { "more offered, \"much\" more" } else { "" }.into();
    let channel = ChannelRow {
        point: point.index,
        channel: 3,
        rail: 0,
        from: "0".into(),
        to: "0,1".into(),
        kind: "up".into(),
        flits: 1234,
        utilisation: load / 7.0,
        blocked: 0.0,
        waiting: 0.25,
    };
    (
        Row { point: point.index, settings: point.settings.clone(), status, note, measured },
        vec![channel],
    )
}

fn record(store: &mut Store<'_>, order: &[usize], study: &Study) {
    for &i in order {
        let (row, channels) = run(&study.points()[i]);
        store.record(&row, &channels).unwrap();
    }
}

/// All files of a folder with their content.
fn contents(folder: &Path) -> Vec<(String, String)> {
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|e| (e.file_name().into_string().unwrap(), fs::read_to_string(e.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn rows_are_flat_and_plain() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = Store::open(folder.path(), &study, VERSION).unwrap();
    record(&mut store, &[1, 0, 3], &study);
    store.close().unwrap();
    let files = contents(folder.path());
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    let expected =
        ["channels.csv", "journal.jsonl", "meta.json", "rows.csv", "rows.jsonl", "study.toml"];
    assert_eq!(names, expected);
    let nulls = r#""latency_p50":null,"latency_p99":null,"latency_p999":null,"latency_max":null,"network_mean":null,"hops_mean":null"#;
    let json = files[4].1.lines().next().unwrap();
    assert!(json.starts_with(&format!(
        r#"{{"point":0,"routing":"tree-adaptive","traffic.load":0.1,"status":"converged","note":"","offered":0.1,"accepted":0.03333333333333333,"accepted_ci":null,"latency_mean":61.25,"latency_ci":null,{nulls},"packets":1000000,"#
    )), "{json}");
    let csv: Vec<_> = files[3].1.lines().collect();
    assert_eq!(csv.len(), 4);
    assert!(csv[0].starts_with("point,routing,traffic.load,status,note,offered,accepted,"));
    assert!(csv[1].starts_with("0,tree-adaptive,0.1,converged,,0.1,0.03333333333333333,,61.25,,,"));
    assert!(
        csv[2].starts_with(r#"1,tree-adaptive,0.5,saturated,"more offered, ""much"" more",0.5,"#)
    );
    assert_eq!(
        files[0].1,
        "point,channel,rail,from,to,kind,flits,utilisation,blocked,waiting\n\
         0,3,0,0,\"0,1\",up,1234,0.014285714285714287,0.0,0.25\n\
         1,3,0,0,\"0,1\",up,1234,0.07142857142857142,0.0,0.25\n\
         3,3,0,0,\"0,1\",up,1234,0.07142857142857142,0.0,0.25\n"
    );
}

#[test]
fn bytes_do_not_depend_on_the_order_of_points_nor_on_interruptions() {
    let study = study();
    let (straight, broken) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut store = Store::open(straight.path(), &study, VERSION).unwrap();
    record(&mut store, &[0, 1, 2, 3], &study);
    store.close().unwrap();

    let mut store = Store::open(broken.path(), &study, VERSION).unwrap();
    record(&mut store, &[3, 1], &study);
    store.publish().unwrap();
    drop(store);
    let mut store = Store::open(broken.path(), &study, VERSION).unwrap();
    let pending: Vec<u32> = store.pending().iter().map(|point| point.index).collect();
    assert_eq!(pending, [0, 2]);
    record(&mut store, &[2, 0], &study);
    store.close().unwrap();
    assert_eq!(contents(straight.path()), contents(broken.path()));

    let again = Store::open(straight.path(), &study, VERSION).unwrap();
    assert!(again.pending().is_empty());
    again.close().unwrap();
    assert_eq!(contents(straight.path()), contents(broken.path()));
}

#[test]
fn a_line_cut_off_by_a_crash_counts_as_not_written() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = Store::open(folder.path(), &study, VERSION).unwrap();
    record(&mut store, &[0, 1], &study);
    drop(store);
    let journal = folder.path().join("journal.jsonl");
    let text = fs::read(&journal).unwrap();
    fs::write(&journal, &text[..text.len() - 40]).unwrap();
    let mut store = Store::open(folder.path(), &study, VERSION).unwrap();
    assert_eq!(store.rows().len(), 1);
    record(&mut store, &[2], &study);
    drop(store);
    let store = Store::open(folder.path(), &study, VERSION).unwrap();
    assert_eq!(store.rows().iter().map(|row| row.point).collect::<Vec<_>>(), [0, 2]);
    store.publish().unwrap();
}

#[test]
fn a_report_reads_back_what_was_written() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = Store::open(folder.path(), &study, VERSION).unwrap();
    record(&mut store, &[0, 1, 2, 3], &study);
    let rows = store.rows();
    store.close().unwrap();
    let set = ResultSet::open(folder.path()).unwrap();
    assert_eq!(set.rows, rows);
    assert_eq!(set.figures, study.figures);
    assert_eq!((set.meta.title.as_str(), set.meta.seed), ("Example", Some(7)));
    assert_eq!((set.meta.points, set.meta.finished), (4, 4));
    assert_eq!(set.meta.settings, ["routing", "traffic.load"]);
    assert_eq!(set.rows[3].setting("traffic.load"), Some(&Setting::Number(0.5)));
    assert_eq!(set.rows[3].measured("latency_mean"), None);
    assert_eq!(set.channels().unwrap()[2], run(&study.points()[2]).1[0]);
    assert_eq!(Study::parse("again", &set.study).unwrap().points(), study.points());
}

#[test]
fn results_of_another_version_or_of_a_changed_study_do_not_count() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = Store::open(folder.path(), &study, VERSION).unwrap();
    record(&mut store, &[0, 1, 2, 3], &study);
    store.close().unwrap();
    let store = Store::open(folder.path(), &study, "0.2.0").unwrap();
    assert_eq!(store.pending().len(), 4);
    drop(store);
    let text = study.to_toml().replace("[0.1, 0.5]", "[0.1, 0.3, 0.5]");
    let changed = Study::parse("changed", &text).unwrap();
    let store = Store::open(folder.path(), &changed, VERSION).unwrap();
    let pending: Vec<_> = store.pending().iter().map(|point| point.index).collect();
    assert_eq!(pending, [1, 4], "only the new load has to run");
}

#[test]
fn one_folder_has_one_writer() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let _first = Store::open(folder.path(), &study, VERSION).unwrap();
    let second = Store::open(folder.path(), &study, VERSION);
    assert!(matches!(second, Err(ResultsError::Busy { .. })));
}

#[test]
fn without_channels_there_is_no_file_of_channels() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = Store::open(folder.path(), &study, VERSION).unwrap();
    store.record(&run(&study.points()[0]).0, &[]).unwrap();
    store.close().unwrap();
    assert!(!folder.path().join("channels.csv").exists());
    assert_eq!(ResultSet::open(folder.path()).unwrap().channels().unwrap(), []);
}

#[test]
fn mistakes_of_the_caller_are_refused() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = Store::open(folder.path(), &study, VERSION).unwrap();
    let (row, channels) = run(&study.points()[0]);
    let mut refused =
        |row: &Row, channels: &[ChannelRow]| store.record(row, channels).unwrap_err().to_string();
    assert_eq!(
        refused(&Row { point: 4, ..row.clone() }, &[]),
        "there is no point 4: the study has 4 points, counted from 0"
    );
    assert_eq!(
        refused(&Row { measured: vec![("speed".into(), 1.0)], ..row.clone() }, &[]),
        "`speed` is not a column that results can have"
    );
    let bad = ChannelRow { waiting: f64::NAN, ..channels[0].clone() };
    assert_eq!(refused(&row, &[bad]), "channel 3 at point 0 has a counter that is not finite");
}

#[test]
fn damage_is_named() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = Store::open(folder.path(), &study, VERSION).unwrap();
    record(&mut store, &[0, 1], &study);
    store.close().unwrap();
    let rows = folder.path().join("rows.jsonl");
    let text = fs::read_to_string(&rows).unwrap();
    fs::write(&rows, text.replace("saturated", "sated")).unwrap();
    let said = ResultSet::open(folder.path()).unwrap_err().to_string();
    assert!(said.contains("rows.jsonl` is damaged in line 2: `sated` is not a status"), "{said}");
    let meta = folder.path().join("meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    fs::write(&meta, text.replace("\"format\": 1", "\"format\": 9")).unwrap();
    let said = ResultSet::open(folder.path()).unwrap_err().to_string();
    assert!(said.contains("its format is 9, expected 1"), "{said}");
    let said = ResultSet::open(folder.path().join("none")).unwrap_err().to_string();
    assert!(said.starts_with("cannot read `"), "{said}");
}
