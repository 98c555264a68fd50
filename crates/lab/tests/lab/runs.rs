//! Running a study: rows, resumption, cancellation, and the same bytes on any number of threads.

use crate::bench::Bench;
use crosstie_lab::{Progress, RunOptions, Silent, check};
use crosstie_study::{Point, ResultSet, Row, Status, WorkKind};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The quickstart in small: 8 hosts, two routings, three loads.
const TINY: &str = r#"
    title = "Tiny"
    seed = 1
    fabric.tree = { k = 2, n = 3 }
    bus = "full"
    traffic.size.fixed.size = "32 B"
    measure = { precision = 0.1, min-cycles = 2000, max-cycles = 20_000 }
    [sweep.product]
    routing = ["tree-adaptive", "tree-deterministic"]
    traffic.load = [0.1, 0.3, 1.0]
"#;

#[test]
fn a_study_gives_a_row_for_every_point() {
    let bench = Bench::with(&[]);
    let rows = bench.rows(TINY);
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let load = row.setting("traffic.load").unwrap().number().unwrap();
        let offered = row.measured("offered").unwrap();
        // As near as so many messages, each a packet, can be expected to come.
        let chance = 4.0 / row.measured("packets").unwrap().sqrt();
        assert!((offered / load - 1.0).abs() < chance, "{row:?}");
        let saturated = load == 1.0;
        assert_eq!(row.status == Status::Saturated, saturated, "{row:?}");
        for column in WorkKind::Traffic.columns() {
            let expected = match column.name {
                name if name.starts_with("latency") => !saturated,
                // Of irregular networks, and of NICs that pass packets on.
                "minimal_share" | "stops_mean" | "pool_peak" => false,
                name => !name.starts_with("saturation"),
            };
            assert_eq!(row.measured(column.name).is_some(), expected, "{}", column.name);
        }
    }
    let latency = |i: usize| rows[i].measured("latency_mean").unwrap();
    assert!(latency(0) < latency(1) && latency(3) < latency(4));
}

#[test]
fn the_folder_has_the_counters_of_every_channel() {
    let bench = Bench::with(&[]);
    bench.rows(&TINY.replace("bus = \"full\"", "bus = \"half\""));
    let results = ResultSet::open(bench.path("results")).unwrap();
    let channels = results.side_tables().unwrap().channels;
    // 3 x 8 links are 48 channels, and 8 buses have two directions.
    assert_eq!(channels.len(), 6 * (48 + 16));
    let first: Vec<_> = channels.iter().filter(|channel| channel.point == 0).collect();
    let count = |kind: &str| first.iter().filter(|channel| channel.kind == kind).count();
    assert_eq!(["injection", "ejection", "up", "down", "bus"].map(count), [8, 8, 16, 16, 16]);
    assert!(first.iter().all(|c| c.utilisation > 0.0 && c.utilisation < 0.5), "{first:?}");
    // What goes in comes out.
    let flits = |kind: &str| -> f64 {
        first.iter().filter(|c| c.kind == kind).map(|c| c.flits as f64).sum()
    };
    assert!((2.0 * flits("injection") / flits("bus") - 1.0).abs() < 0.05);
    let busiest = first
        .iter()
        .filter(|c| c.kind == "up" || c.kind == "down")
        .map(|c| c.utilisation)
        .fold(0.0, f64::max);
    assert_eq!(results.rows[0].measured("utilisation_max"), Some(busiest));
}

#[test]
fn one_thread_and_two_write_the_same_bytes() {
    let bench = Bench::with(&[]);
    let study = bench.study(TINY);
    for (results, threads) in [("one", 1), ("two", 2)] {
        bench.run(&study, results, threads, &AtomicBool::new(false), &Silent).unwrap();
    }
    let (one, two) = (bench.bytes("one"), bench.bytes("two"));
    assert!(one.len() >= 6 && one["rows.csv"].len() > 500 && one["channels.csv"].len() > 500);
    assert!(one == two, "a file differs");
}

/// Counts what it is told, and cancels when a point is done.
#[derive(Default)]
struct Diary {
    built: Mutex<Vec<(usize, usize)>>,
    begun: Mutex<Vec<(usize, usize)>>,
    started: Mutex<Vec<u32>>,
    cycles: Mutex<u64>,
    done: Mutex<Vec<(u32, usize, usize)>>,
    cancel: AtomicBool,
    cancel_at: Option<usize>,
}

impl Progress for Diary {
    fn networks_built(&self, done: usize, total: usize) {
        self.built.lock().unwrap().push((done, total));
    }

    fn begin(&self, done: usize, total: usize) {
        self.begun.lock().unwrap().push((done, total));
    }

    fn point_started(&self, point: &Point) {
        self.started.lock().unwrap().push(point.index);
    }

    fn advanced(&self, _: &Point, cycles: u64) {
        assert!(cycles > 0);
        *self.cycles.lock().unwrap() += 1;
    }

    fn point_done(&self, row: &Row, done: usize, total: usize) {
        self.done.lock().unwrap().push((row.point, done, total));
        if self.cancel_at == Some(done) {
            self.cancel.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_cancelled_run_keeps_what_is_done_and_a_rerun_does_the_rest() {
    let bench = Bench::with(&[]);
    let study = bench.study(TINY);
    let first = Diary { cancel_at: Some(2), ..Diary::default() };
    let summary = bench.run(&study, "results", 1, &first.cancel, &first).unwrap();
    assert!(summary.cancelled && summary.rows.len() == 2 && summary.skipped == 0);
    let published = ResultSet::open(bench.path("results")).unwrap();
    assert_eq!((published.rows.len(), published.meta.finished), (2, 2));

    let second = Diary::default();
    let summary = bench.run(&study, "results", 1, &second.cancel, &second).unwrap();
    assert!(!summary.cancelled && summary.rows.len() == 6 && summary.skipped == 2);
    assert_eq!(*second.begun.lock().unwrap(), [(2, 6)]);
    assert_eq!(second.started.lock().unwrap().len(), 4);
    assert!(*second.cycles.lock().unwrap() > 100);
    let done: Vec<_> = second.done.lock().unwrap().iter().map(|&(_, done, _)| done).collect();
    assert_eq!(done, [3, 4, 5, 6]);

    // Interrupted or not, the folder is the same.
    bench.run(&study, "whole", 2, &AtomicBool::new(false), &Silent).unwrap();
    assert!(bench.bytes("results") == bench.bytes("whole"));
    let third = Diary::default();
    bench.run(&study, "results", 2, &third.cancel, &third).unwrap();
    assert!(third.started.lock().unwrap().is_empty(), "nothing is left to do");
}

#[test]
fn every_network_is_told_once_it_is_built() {
    let bench = Bench::with(&[]);
    let study = bench.study(TINY);
    let diary = Diary::default();
    let options = RunOptions {
        threads: NonZeroUsize::MIN,
        cancel: &diary.cancel,
        executable: None,
        lead: None,
    };
    assert!(check(&study, options, &diary).unwrap());
    assert_eq!(*diary.built.lock().unwrap(), [(1, 2), (2, 2)], "one for each routing");
    assert!(diary.begun.lock().unwrap().is_empty(), "nothing runs");
}

#[test]
fn heavy_points_go_first() {
    let bench = Bench::with(&[]);
    let study = bench.study(TINY);
    let diary = Diary::default();
    bench.run(&study, "results", 1, &diary.cancel, &diary).unwrap();
    assert_eq!(*diary.started.lock().unwrap(), [2, 5, 1, 4, 0, 3]);
}

#[test]
fn a_cancelled_point_is_given_up_at_once() {
    struct Impatient(AtomicBool);
    impl Progress for Impatient {
        fn advanced(&self, _: &Point, _: u64) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let bench = Bench::with(&[]);
    // 10^12 cycles to the precision asked for: a year of work.
    let endless = TINY
        .replace("precision = 0.1", "precision = 0.0001")
        .replace("20_000", "1_000_000_000_000");
    let study = bench.study(&endless);
    let impatient = Impatient(AtomicBool::new(false));
    let summary = bench.run(&study, "results", 2, &impatient.0, &impatient).unwrap();
    assert!(summary.cancelled && summary.rows.is_empty());
}
