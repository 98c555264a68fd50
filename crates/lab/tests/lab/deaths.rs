//! Rails that die, from the experiment file to the row.

use crate::bench::{Bench, get};
use crosstie_study::{Row, Status};

/// Rows of 16 MiB in one go over two rails of a frame network, for several policies.
fn rows(keys: &str) -> Vec<Row> {
    Bench::with(&[]).rows(&format!(
        "title = 'Deaths'\nseed = 1\nworld = 'frame'\nfabric.single.hosts = 2\ncluster.rails = 2\n\
         link = {{ rate = '1000 MB/s', wire = '1 us' }}\nswitch.virtual-channels = 8\n\
         channel.go-back-n = {{ window = 16, timeout = '200 us' }}\nmeasure.max-cycles = 100_000_000\n\
         work.stream = {{ size = '512 KiB', window = 32, iterations = 1 }}\n{keys}\n\
         [sweep.product]\npolicy = ['pull', 'adaptive-striping', 'even-striping', 'fastest', 'binding',\n\
         'round-robin', 'basic', 'local-dynamic']"
    ))
}

/// Those that use one rail at a time: binding, and basic with processing elements that wait.
const SINGLE: [u32; 2] = [4, 6];

#[test]
fn a_stream_outlives_a_rail() {
    // One rail carries 16.8 MB in 17 ms, two in 9.
    let down = "[[event]]\nat = '2 ms'\nrail = 1\ndown = true";
    let rows = rows(&format!("nic.patience = {{}}\n{down}"));
    for row in rows {
        assert_eq!(row.status, Status::Completed, "{row:?}");
        let time = get(&row, "time_mean");
        assert!((15_000.0..19_500.0).contains(&time), "{time}: {row:?}");
    }
}

#[test]
fn a_rail_that_returns_is_taken_back() {
    let down = "[[event]]\nat = '2 ms'\nrail = 1\ndown = true\nfor = '3 ms'";
    for row in &rows(&format!("nic.patience = {{}}\n{down}")) {
        assert_eq!(row.status, Status::Completed, "{row:?}");
        // At best, 2 ms of both, 3 ms of one, and both again: 10.3 ms. Some use one rail at a time.
        let bound = if SINGLE.contains(&row.point) { 19_500.0 } else { 12_500.0 };
        let time = get(row, "time_mean");
        assert!(time < bound, "{time}: {row:?}");
    }
}

#[test]
fn who_is_out_of_patience_says_so() {
    let down = "[[event]]\nat = '2 ms'\nrail = 0\ndown = true\n[[event]]\nat = '3 ms'\nrail = 1\ndown = true";
    for row in rows(&format!("nic.patience.give-up = '20 ms'\n{down}")) {
        assert_eq!(row.status, Status::Failed, "{row:?}");
        assert!(row.note.contains("rank 1 is unreachable after 0 iterations"), "{}", row.note);
    }
}

/// Where no rail dies, patience costs nothing.
#[test]
fn patience_is_free() {
    let [without, with] = ["", "nic.patience = {}"].map(rows);
    for (without, with) in without.iter().zip(&with) {
        let [a, b] = [without, with].map(|row| get(row, "time_mean"));
        assert!((a / b - 1.0).abs() < 0.03, "{without:?} {with:?}");
    }
}
