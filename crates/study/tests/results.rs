//! A folder of results from the first point to the report.

use std::fs;
use std::path::Path;

use crosstie_study::{
    ChannelRow, Point, RankRow, ResultSet, ResultsError, Row, Setting, SideTables, Spec, Status,
    Store, Study, Work, World,
};

const VERSION: &str = "0.1.0";

/// The first revision of every engine.
fn revision(spec: &Spec) -> String {
    format!("{} 1", spec.world.name())
}

fn open<'a>(folder: &Path, study: &'a Study) -> Store<'a> {
    Store::open(folder, study, VERSION, &revision).unwrap()
}

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
fn run(point: &Point) -> (Row, SideTables) {
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
    let side = SideTables { channels: vec![channel], ..SideTables::default() };
    (Row::of(point, status, note, measured), side)
}

fn record(store: &mut Store<'_>, order: &[usize], study: &Study) {
    for &i in order {
        let (row, side) = run(&study.points()[i]);
        store.record(&row, &side).unwrap();
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
    let mut store = open(folder.path(), &study);
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
    let mut store = open(straight.path(), &study);
    record(&mut store, &[0, 1, 2, 3], &study);
    store.close().unwrap();

    let mut store = open(broken.path(), &study);
    record(&mut store, &[3, 1], &study);
    store.publish().unwrap();
    drop(store);
    let mut store = open(broken.path(), &study);
    let pending: Vec<u32> = store.pending().iter().map(|point| point.index).collect();
    assert_eq!(pending, [0, 2]);
    record(&mut store, &[2, 0], &study);
    store.close().unwrap();
    assert_eq!(contents(straight.path()), contents(broken.path()));

    let again = open(straight.path(), &study);
    assert!(again.pending().is_empty());
    again.close().unwrap();
    assert_eq!(contents(straight.path()), contents(broken.path()));
}

#[test]
fn a_line_cut_off_by_a_crash_counts_as_not_written() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = open(folder.path(), &study);
    record(&mut store, &[0, 1], &study);
    drop(store);
    let journal = folder.path().join("journal.jsonl");
    let text = fs::read(&journal).unwrap();
    fs::write(&journal, &text[..text.len() - 40]).unwrap();
    let mut store = open(folder.path(), &study);
    assert_eq!(store.rows().len(), 1);
    record(&mut store, &[2], &study);
    drop(store);
    let store = open(folder.path(), &study);
    assert_eq!(store.rows().iter().map(|row| row.point).collect::<Vec<_>>(), [0, 2]);
    store.publish().unwrap();
}

#[test]
fn a_report_reads_back_what_was_written() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = open(folder.path(), &study);
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
    assert_eq!(set.side_tables().unwrap().channels[2], run(&study.points()[2]).1.channels[0]);
    assert_eq!(
        (set.meta.crosstie.as_str(), set.meta.revisions),
        (VERSION, ["wormhole 1".into()].into())
    );
    assert_eq!(Study::parse("again", &set.study).unwrap().points(), study.points());
}

#[test]
fn results_of_another_revision_or_of_a_changed_study_do_not_count() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = open(folder.path(), &study);
    record(&mut store, &[0, 1, 2, 3], &study);
    store.close().unwrap();
    // Another version that computes the same is welcome to them.
    let store = Store::open(folder.path(), &study, "0.2.0", &revision).unwrap();
    assert_eq!((store.pending().len(), store.stale()), (0, 0));
    drop(store);
    let later = |_: &Spec| "wormhole 2".to_owned();
    let store = Store::open(folder.path(), &study, VERSION, &later).unwrap();
    assert_eq!((store.pending().len(), store.stale()), (4, 4));
    drop(store);
    let text = study.to_toml().replace("[0.1, 0.5]", "[0.1, 0.3, 0.5]");
    let changed = Study::parse("changed", &text).unwrap();
    let store = open(folder.path(), &changed);
    assert_eq!(store.stale(), 0);
    let pending: Vec<_> = store.pending().iter().map(|point| point.index).collect();
    assert_eq!(pending, [1, 4], "only the new load has to run");
}

#[test]
fn one_folder_has_one_writer() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let _first = open(folder.path(), &study);
    let second = Store::open(folder.path(), &study, VERSION, &revision);
    assert!(matches!(second, Err(ResultsError::Busy { .. })));
}

#[test]
fn without_channels_there_is_no_file_of_channels() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = open(folder.path(), &study);
    store.record(&run(&study.points()[0]).0, &SideTables::default()).unwrap();
    store.close().unwrap();
    assert!(!folder.path().join("channels.csv").exists());
    let side = ResultSet::open(folder.path()).unwrap().side_tables();
    assert_eq!(side.unwrap(), SideTables::default());
}

#[test]
fn mistakes_of_the_caller_are_refused() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = open(folder.path(), &study);
    let (row, mut side) = run(&study.points()[0]);
    let mut refused =
        |row: &Row, side: &SideTables| store.record(row, side).unwrap_err().to_string();
    let none = SideTables::default();
    assert_eq!(
        refused(&Row { point: 4, ..row.clone() }, &none),
        "there is no point 4: the study has 4 points, counted from 0"
    );
    assert_eq!(
        refused(&Row { measured: vec![("time_mean".into(), 1.0)], ..row.clone() }, &none),
        "`time_mean` is not what results of `traffic` can have"
    );
    assert_eq!(
        refused(&Row { status: Status::Completed, ..row.clone() }, &none),
        "`completed` is not what results of `traffic` can have"
    );
    side.channels[0].waiting = f64::NAN;
    assert_eq!(
        refused(&row, &side),
        "line 1 of point 0 in `channels.csv` has a number that is not finite"
    );
    let ranks = vec![RankRow { point: 0, rank: 1, finish: f64::INFINITY }];
    assert_eq!(
        refused(&row, &SideTables { ranks, ..none }),
        "line 1 of point 0 in `ranks.csv` has a number that is not finite"
    );
}

#[test]
fn folders_of_the_first_format_can_be_read() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = open(folder.path(), &study);
    record(&mut store, &[0, 1, 2, 3], &study);
    let rows = store.rows();
    store.close().unwrap();
    let path = folder.path().join("meta.json");
    let mut meta: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let fields = meta.as_object_mut().unwrap();
    let columns = fields.remove("side_tables").unwrap()["channels.csv"].clone();
    fields.insert("channel_columns".into(), columns);
    fields.insert("format".into(), 1.into());
    fields.remove("revisions");
    fs::write(&path, meta.to_string()).unwrap();
    let set = ResultSet::open(folder.path()).unwrap();
    assert_eq!(set.rows, rows);
    assert_eq!(set.side_tables().unwrap().channels.len(), 4);
}

#[test]
fn damage_is_named() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = open(folder.path(), &study);
    record(&mut store, &[0, 1], &study);
    store.close().unwrap();
    let rows = folder.path().join("rows.jsonl");
    let text = fs::read_to_string(&rows).unwrap();
    fs::write(&rows, text.replace("saturated", "sated")).unwrap();
    let said = ResultSet::open(folder.path()).unwrap_err().to_string();
    assert!(said.contains("rows.jsonl` is damaged in line 2: `sated` is not a status"), "{said}");
    let meta = folder.path().join("meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    fs::write(&meta, text.replace("\"format\": 2", "\"format\": 9")).unwrap();
    let said = ResultSet::open(folder.path()).unwrap_err().to_string();
    assert!(said.contains("its format is 9, expected at most 2"), "{said}");
    let said = ResultSet::open(folder.path().join("none")).unwrap_err().to_string();
    assert!(said.starts_with("cannot read `"), "{said}");
}

/// Closed-loop work of two kinds in two worlds.
fn closed_loop() -> Study {
    let text = r#"
        title = "To and fro"
        seed = 7
        fabric.single.hosts = 2
        measure.channels = false
        [sweep.product]
        world = ["wormhole", "ideal"]
        work = [{ping.size = "8 B"}, {stream.size = "1 MiB"}]
        [[figure]]
        name = "bandwidth"
        x = "world"
        y = ["bandwidth", "latency"]
    "#;
    Study::parse("closed", text).unwrap_or_else(|mistake| panic!("{mistake}"))
}

#[test]
fn every_kind_of_work_has_rows_of_its_own() {
    let (folder, study) = (tempfile::tempdir().unwrap(), closed_loop());
    let mut store = open(folder.path(), &study);
    for point in study.points() {
        let mut measured = vec![("time_mean".into(), 2.5), ("iterations".into(), 90.0)];
        if matches!(point.spec.work, Work::Ping(_)) {
            measured.push(("latency".into(), 1.25));
        }
        let rank = |rank| RankRow { point: point.index, rank, finish: 250.5 + f64::from(rank) };
        let side = SideTables { ranks: vec![rank(0), rank(1)], ..SideTables::default() };
        let (status, note) = match point.index {
            3 => (Status::Failed, "nothing came back"),
            _ => (Status::Completed, ""),
        };
        store.record(&Row::of(point, status, note.into(), measured), &side).unwrap();
    }
    let rows = store.rows();
    store.close().unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let json = read("rows.jsonl");
    let json: Vec<&str> = json.lines().collect();
    assert_eq!(
        json[0],
        r#"{"point":0,"world":"wormhole","work":"ping","status":"completed","note":"","time_mean":2.5,"time_ci":null,"time_min":null,"time_p50":null,"time_p99":null,"latency":1.25,"latency_cycles":null,"bandwidth":null,"iterations":90,"warmup_iterations":null,"finish_first":null,"finish_last":null}"#
    );
    assert!(json[1].contains("\"time_p99\":null,\"bandwidth\":null"), "{}", json[1]);
    let csv = read("rows.csv");
    let csv: Vec<&str> = csv.lines().collect();
    assert_eq!(
        csv[0],
        "point,world,work,status,note,time_mean,time_ci,time_min,time_p50,time_p99,latency,latency_cycles,bandwidth,iterations,warmup_iterations,finish_first,finish_last"
    );
    assert_eq!(csv[1], "0,wormhole,ping,completed,,2.5,,,,,1.25,,,90,,,");
    assert_eq!(csv[4], "3,ideal,stream,failed,nothing came back,2.5,,,,,,,,90,,,");
    assert!(read("ranks.csv").starts_with("point,rank,finish\n0,0,250.5\n0,1,251.5\n1,0,250.5\n"));
    assert!(!folder.path().join("channels.csv").exists());
    let set = ResultSet::open(folder.path()).unwrap();
    assert_eq!(set.rows, rows);
    assert_eq!(set.side_tables().unwrap().ranks.len(), 8);
    let meta = &set.meta;
    let names: Vec<&str> = meta.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names.join(","), csv[0]);
    assert_eq!(meta.columns[3].meaning, "how the run ended: completed, failed");
    assert_eq!(meta.side_tables.keys().collect::<Vec<_>>(), ["channels.csv", "ranks.csv"]);
    assert_eq!(meta.revisions, ["ideal 1".into(), "wormhole 1".into()].into());
}

#[test]
fn a_new_revision_of_one_engine_leaves_the_rows_of_the_other() {
    let (folder, study) = (tempfile::tempdir().unwrap(), closed_loop());
    let finish = |store: &mut Store<'_>| {
        for point in store.pending() {
            let row = Row::of(point, Status::Completed, String::new(), Vec::new());
            store.record(&row, &SideTables::default()).unwrap();
        }
    };
    let mut store = open(folder.path(), &study);
    finish(&mut store);
    store.close().unwrap();
    let later = |spec: &Spec| match spec.world {
        World::Ideal => "ideal 2".to_owned(),
        _ => revision(spec),
    };
    let again = || Store::open(folder.path(), &study, VERSION, &later).unwrap();
    let mut store = again();
    assert_eq!((store.pending().len(), store.stale()), (2, 2));
    assert!(store.pending().iter().all(|point| point.spec.world == World::Ideal));
    finish(&mut store);
    store.close().unwrap();
    let store = again();
    assert_eq!((store.pending().len(), store.stale()), (0, 0));
    let journal = fs::read_to_string(folder.path().join("journal.jsonl")).unwrap();
    assert_eq!(journal.lines().count(), 4, "what was replaced is gone: {journal}");
}

#[test]
fn journals_from_before_there_were_revisions_are_stale() {
    let (folder, study) = (tempfile::tempdir().unwrap(), study());
    let mut store = open(folder.path(), &study);
    record(&mut store, &[0, 1, 2, 3], &study);
    store.close().unwrap();
    let journal = folder.path().join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    fs::write(&journal, text.replace("\"revision\":\"wormhole 1\"", "\"crosstie\":\"0.1.0\""))
        .unwrap();
    let store = open(folder.path(), &study);
    assert_eq!((store.pending().len(), store.stale()), (4, 4));
}
