//! Networks that lose nothing and carry nothing else: nothing is sent again, and no rail dies.

use crate::bench::{Bench, get};
use crosstie_study::{Row, Status};

/// Rows of work that was done, without anything sent again and without a death.
fn rows(text: &str) -> Vec<Row> {
    let rows = Bench::with(&[]).rows(text);
    for row in &rows {
        assert_eq!(row.status, Status::Completed, "{row:?}");
        for column in ["lost", "resent", "deaths"] {
            assert_eq!(row.measured(column).unwrap_or(0.0), 0.0, "{column} of {row:?}");
        }
    }
    rows
}

/// The mean time of each row by that of the first.
fn times(rows: &[Row]) -> Vec<f64> {
    rows.iter().map(|row| get(row, "time_mean") / get(&rows[0], "time_mean")).collect()
}

#[test]
fn fastest_takes_the_fast_rail_wherever_it_is_listed() {
    let times = times(&rows(include_str!("idle/fast-rail-first-or-last.toml")));
    assert!(times[1..].iter().all(|time| (1.0..1.01).contains(time)), "{times:?}");
}

#[test]
fn a_channel_that_needs_order_is_refused_where_packets_overtake_each_other() {
    let text = include_str!("idle/packets-that-overtake.toml");
    let found = Bench::with(&[]).refusal(text).to_string();
    for part in [
        "`channel`: go-back-n takes a packet",
        "several virtual channels",
        "channel = go-back-n, switch.virtual-channels = 2)",
        "set `switch.virtual-channels = 1`",
        "`channel = \"selective\"`",
    ] {
        assert!(found.contains(part), "{part} in {found}");
    }
    assert!(Bench::with(&[]).check(text).is_err());
    let tree = text.replace("single.hosts = 2", "tree = { k = 2, n = 2 }");
    let found = Bench::with(&[]).refusal(&tree.replace("[1, 2]", "[1]")).to_string();
    assert!(found.contains("take a routing that is not adaptive"), "{found}");
    // In order, all of them take what nothing but packets takes, and acknowledgements.
    for text in [
        text.replace("[1, 2]", "[1]"),
        tree.replace("seed", "routing = 'tree-deterministic'\nseed").replace("[1, 2]", "[1]"),
    ] {
        let times = times(&rows(&text));
        assert!(times.iter().all(|time| (1.0..1.03).contains(time)), "{times:?}");
    }
    let reordered = text.replace("\"go-back-n\", \"simple-go-back-n\", ", "");
    for text in [&reordered, &tree.replace("\"go-back-n\", \"simple-go-back-n\", ", "")] {
        let times = times(&rows(text));
        assert!(times.iter().all(|time| (0.97..1.03).contains(time)), "{times:?}");
    }
}

#[test]
fn packets_that_take_longer_than_a_time_out_are_not_sent_again() {
    let times = times(&rows(include_str!("idle/long-packets.toml")));
    assert!(times[1..].iter().all(|time| (1.0..1.01).contains(time)), "{times:?}");
}

#[test]
fn rails_that_are_busy_for_longer_than_patience_do_not_die() {
    let text = include_str!("idle/long-packets-and-patience.toml");
    let found = rows(text);
    let patient = rows(&text.replace("nic.patience = {}", ""));
    for (row, patient) in found.iter().zip(&patient) {
        let [time, expected] = [row, patient].map(|row| get(row, "time_mean"));
        assert!((time / expected - 1.0).abs() < 0.01, "{row:?} {patient:?}");
    }
    // Nor do those whose first round trip is longer.
    rows(&text.replace("patience = {}", "patience.least = '1 ns'"));
}

#[test]
fn packets_that_share_a_link_kill_no_rail() {
    rows(include_str!("idle/virtual-channels-and-patience.toml"));
}

#[test]
fn acknowledgements_that_are_held_back_kill_no_rail() {
    let text = include_str!("idle/long-packets-and-patience.toml");
    let held = "channel.go-back-n.acknowledge.delayed = { every = 8, after = '250 ms' }";
    let text = text.replace("channel = \"selective\"", held).replace("1 MiB", "10 KiB");
    let text = text.replace("size =", "iterations = 4\nwork.ping.size =");
    rows(&text);
}
