//! `crosstie bench`.

use crate::invocation::{run, run_in};
use serde_json::json;
use tempfile::tempdir;

#[test]
fn a_ping_takes_what_the_formula_says() {
    let end = run(&["bench", "ping", "--sim", "qsnet", "--sizes", "64,1KiB", "--set", "bus=full"]);
    let end = end.expect(0);
    let lines: Vec<&str> = end.stdout.lines().collect();
    assert_eq!(lines[0], "# ping on qsnet, wormhole");
    assert_eq!(lines[2], "# size [B]  latency [us]");
    // docs/simulator.md: 85 cycles of 5 ns.
    assert_eq!(lines[3], "64                 0.425");
    assert_eq!(lines.len(), 5);
}

#[test]
fn collective_operations_have_a_column_for_each_algorithm_and_world() {
    let arguments = ["bench", "bcast", "--sim", "loggops", "--ranks", "8", "--sizes", "1024"];
    let more = ["--algorithm", "all", "--world", "wormhole,ideal", "--json"];
    let document = run(&[&arguments[..], &more].concat()).expect(0).json();
    assert_eq!(document["benchmark"], json!("broadcast"));
    assert_eq!((&document["ranks"], &document["unit"]), (&json!(8), &json!("us")));
    assert_eq!(document["columns"].as_array().unwrap().len(), 8);
    assert_eq!(document["columns"][1], json!({"algorithm": "binomial", "world": "ideal"}));
    assert_eq!(document["rows"][0]["size"], json!(1024));
    // What LogGOPSim says of a binomial broadcast.
    assert_eq!(document["rows"][0]["values"][1], json!(34.914));
    let one = run(&["bench", "barrier", "--sim", "loggops"]).expect(0).stdout;
    assert!(one.starts_with("# barrier, dissemination, 64 ranks on loggops, ideal\n"), "{one}");
}

/// 256 MiB are 179,916 frames of 1492 B, each of which occupies Fast Ethernet for 123.04 us, and a
/// rest.
#[test]
fn a_long_message_takes_what_its_frames_take() {
    let arguments = ["bench", "ping", "--sim", "fedp", "--sizes", "256MiB", "--json"];
    let latency = run(&arguments).expect(0).json()["rows"][0]["values"][0].as_f64().unwrap();
    let frames = 179_916.0 * 123.04;
    assert!((frames..frames + 500.0).contains(&latency), "{latency} us, frames take {frames} us");
    let too_long = run(&["bench", "ping", "--sim", "qsnet", "--sizes", "512MiB"]).expect(2);
    assert!(too_long.stderr.contains("expected at most 1048576"), "{}", too_long.stderr);
}

#[test]
fn everything_there_is_is_listed() {
    let listed = run(&["bench", "--list"]).expect(0).stdout;
    for word in [
        "ping",
        "bibw",
        "hotspot",
        "exchange",
        "all-to-all",
        "rabenseifner",
        "qsnet",
        "myrinet",
        "qsnet-elan3",
        "infiniband-4x-pcix",
        "loggops",
    ] {
        assert!(listed.contains(word), "{word}");
    }
    let document = run(&["bench", "--list", "--json"]).expect(0).json();
    assert_eq!(document["benchmarks"].as_array().unwrap().len(), 16);
    assert_eq!(document["presets"].as_array().unwrap().len(), 20);
    assert_eq!(document["presets"][0]["name"], json!("qsnet"));
    assert!(listed.contains("\n  p450-ibm-8275-416  "), "{listed}");
    assert!(listed.contains("Pentium III of 450 MHz on Fast Ethernet, IBM 8275-416"), "{listed}");
}

#[test]
fn a_file_is_a_preset_too() {
    let folder = tempdir().unwrap();
    let text = "title = 'Mine'\nseed = 1\nfabric.single.hosts = 4\n";
    std::fs::write(folder.path().join("mine.toml"), text).unwrap();
    let end = run_in(folder.path(), &["bench", "bw", "--sim", "mine.toml", "--sizes", "8"]);
    assert!(end.expect(0).stdout.contains("\n# Mine\n"));
    std::fs::write(folder.path().join("mine.toml"), format!("{text}work.ping.size = '1 B'"))
        .unwrap();
    let end = run_in(folder.path(), &["bench", "bw", "--sim", "mine.toml"]).expect(2);
    assert!(end.stderr.contains("found `work`, but the command says what is to be done"));
}

#[test]
fn the_fastest_algorithm_is_named() {
    let arguments = ["bench", "all-reduce", "--sim", "loggops", "--sizes", "8,256KiB"];
    let more = ["--algorithm", "all", "--ranks", "16"];
    let end = run(&[&arguments[..], &more].concat()).expect(0);
    let lines: Vec<&str> = end.stdout.lines().collect();
    assert!(lines[3].ends_with("  fastest"), "{}", end.stdout);
    assert!(lines[4].ends_with("  recursive-doubling"), "{}", end.stdout);
    let document = run(&[&arguments[..], &more, &["--json"]].concat()).expect(0).json();
    let fastest = json!([{"world": "ideal", "algorithm": "recursive-doubling"}]);
    assert_eq!(document["rows"][0]["fastest"], fastest);
    let one = run(&[&arguments[..], &["--ranks", "16"]].concat()).expect(0).stdout;
    assert!(!one.contains("fastest"), "{one}");
}

/// What Petrini et al. measured: one writer is limited by what it reads, several by what the target
/// writes, readers by what it reads.
#[test]
fn a_hot_spot_carries_what_one_bus_does() {
    let rates = |ranks: &str| {
        let arguments = ["bench", "hotspot", "--sim", "qsnet-elan3", "--sizes", "1MiB", "--json"];
        let document = run(&[&arguments[..], &["--ranks", ranks]].concat()).expect(0).json();
        let values = document["rows"][0]["values"].as_array().unwrap().clone();
        assert!(document["rows"][0].get("fastest").is_none(), "{document}");
        [0, 1].map(|column: usize| values[column].as_f64().unwrap())
    };
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
    let [write, read] = rates("2");
    assert!(near(write, 200.0) && near(read, 200.0), "{write} {read}");
    let [write, read] = rates("4");
    assert!(near(write, 275.0) && near(read, 200.0), "{write} {read}");
}

/// Both ways together, between main memories and between memories of NICs: what the bus carries,
/// and what passes through a NIC.
#[test]
fn both_ways_carry_what_bus_and_nic_do() {
    let both = |memory: &str| {
        let arguments = ["bench", "bibw", "--sim", "qsnet-elan3", "--sizes", "64,1MiB", "--json"];
        let set = ["source", "destination"].map(|end| format!("node.elan.{end}=\"{memory}\""));
        let sets = ["--set", &set[0], "--set", &set[1]];
        let document = run(&[&arguments[..], &sets].concat()).expect(0).json();
        let values = |row: usize| document["rows"][row]["values"][0].as_f64().unwrap();
        assert!(values(0) < values(1), "{document}");
        values(1)
    };
    let near = |found: f64, expected: f64| (found / expected - 1.0).abs() < 0.01;
    let (main, elan) = (both("main"), both("elan"));
    assert!(near(main, 275.0) && near(elan, 540.0), "{main} {elan}");
}

/// An Elan is handed messages, and a NIC without `nic.packet` gets packets that are messages: no
/// packets can take turns there.
#[test]
fn packets_that_cannot_take_turns_are_told() {
    let bench = |more: &[&str]| {
        let arguments = ["bench", "exchange", "--ranks", "4", "--sizes", "1KiB"];
        run(&[&arguments[..], more].concat()).expect(0).stdout
    };
    let told = |name: &str, why: &str| format!("# packets of {name} take no turns: {why}");
    for name in ["synchronous-shuffle", "group-shuffle", "modified-shuffle"] {
        let elans = bench(&["--sim", "qsnet-elan3", "--algorithm", name]);
        let told = told(name, "an Elan is handed whole messages");
        assert_eq!(elans.matches(&told).count(), 1, "{elans}");
    }
    let elans = bench(&["--sim", "qsnet-elan3", "--algorithm", "pairwise"]);
    assert!(!elans.contains("take no turns"), "{elans}");
    let cut = ["--sim", "qsnet", "--algorithm", "group-shuffle"];
    let whole = [&cut[..], &["--set", "nic.packet=\"message\""]].concat();
    let text = bench(&whole);
    let why = "a packet is a whole message, as `nic.packet` says";
    assert!(text.contains(&told("group-shuffle", why)), "{text}");
    assert!(!bench(&cut).contains("take no turns"), "short packets take turns");
}

/// The same work as `all-to-all`, by what it carries; then the fastest has the most.
#[test]
fn an_exchange_is_told_by_its_bandwidth() {
    let bench = |name: &str, column: usize| {
        let arguments = ["bench", name, "--sim", "qsnet-elan3", "--sizes", "64KiB", "--json"];
        let more = ["--ranks", "8", "--algorithm", "all"];
        let document = run(&[&arguments[..], &more].concat()).expect(0).json();
        let row = document["rows"][0].clone();
        let fastest = row["fastest"][0]["algorithm"].clone();
        (row["values"][column].as_f64().unwrap(), fastest)
    };
    let (bandwidth, most) = bench("exchange", 0);
    let (time, least) = bench("all-to-all", 0);
    assert_eq!(most, least);
    assert!((bandwidth * time - 7.0 * 65_536.0).abs() < 1.0, "{bandwidth} {time}");
}

#[test]
fn rails_that_a_message_leaves_unused_are_told() {
    let bench = |set: &str| {
        let arguments = ["bench", "ping", "--sim", "qsnet", "--sizes", "64KiB", "--set", set];
        run(&[&arguments[..], &["--set", "cluster.rails=2"]].concat()).expect(0).stdout
    };
    let told =
        "\n# policy round-robin: each message takes one of the 2 rails; pull takes all of them\n";
    assert!(bench("policy=round-robin").contains(told));
    assert!(!bench("policy=pull").contains("each message"));
}

#[test]
fn a_key_that_the_world_does_not_use_is_told_unless_worlds_are_compared() {
    let bench = |more: &[&str]| {
        let arguments = ["bench", "ping", "--sim", "loggops", "--sizes", "8"];
        run(&[&arguments[..], more].concat()).expect(0).stdout
    };
    // The preset has keys of other worlds too: it is a machine for all of them.
    assert!(!bench(&[]).contains("not used"), "{}", bench(&[]));
    let told = "\n# not used by the ideal network: frame.uplink.rate\n";
    let set = bench(&["--set", "frame.uplink.rate=1 MB/s"]);
    assert!(set.contains(told), "{set}");
    // A file of one's own is written for its world, unless others are asked for.
    let folder = tempdir().unwrap();
    let text = "title = 'Mine'\nseed = 1\nfabric.single.hosts = 2\nframe.uplink.rate = '1 MB/s'\n";
    std::fs::write(folder.path().join("mine.toml"), text).unwrap();
    let own = |more: &[&str]| {
        let arguments = ["bench", "ping", "--sim", "mine.toml", "--sizes", "8"];
        run_in(folder.path(), &[&arguments[..], more].concat()).expect(0).stdout
    };
    let told = "\n# not used by the wormhole network: frame.uplink.rate\n";
    assert!(own(&[]).contains(told), "{}", own(&[]));
    assert!(!own(&["--world", "wormhole,frame"]).contains("not used"));
}

#[test]
fn mistakes_say_what_was_expected() {
    for (arguments, expected) in [
        (&["ping"][..], "--sim <PRESET>"),
        (&["ping", "--sim", "nosuch"], "expected a file, or a preset: qsnet, qsnet-elan3, myrinet"),
        (&["ping", "--preset", "qsnet"], "a similar argument exists: '--sim'"),
        (&["ping", "--preset=qsnet"], "a similar argument exists: '--sim'"),
        (&["ping", "--sim", "qsnte"], "did you mean `qsnet`?"),
        (&["pong", "--sim", "qsnet"], "tip: a similar value exists: 'ping'"),
        (&["gather", "--sim", "qsnet", "--algorithm", "ring"], "expected all, linear, binomial"),
        (&["ping", "--sim", "qsnet", "--algorithm", "ring"], "has no algorithms"),
        (&["ping", "--sim", "qsnet", "--ranks", "3"], "between two ranks"),
        (&["barrier", "--sim", "qsnet", "--sizes", "8"], "sends nothing of any size"),
        (&["ping", "--sim", "qsnet", "--sizes", "8..x"], "`x`"),
        (&["ping", "--sim", "qsnet", "--set", "rails"], "expected KEY=VALUE"),
        (&["ping", "--sim", "qsnet", "--set", "cluster.rials=2"], "did you mean `rails`?"),
        // Nothing is shown of a text that nobody has written.
        (
            &["ping", "--sim", "qsnet", "--set", "cluster.rails=99"],
            "error: --sim: `qsnet`: wrong value for `cluster.rails`: found `99`, expected",
        ),
        (&["barrier", "--sim", "qsnet", "--ranks", "65"], "expected at most 64"),
        (&["ping", "--sim", "qsnet", "--world", "real"], "wormhole, frame, ideal, model, live"),
    ] {
        let end = run(&[&["bench"], arguments].concat()).expect(2);
        assert!(end.stderr.contains(expected), "{arguments:?}: {}", end.stderr);
        assert_eq!(end.stdout, "");
    }
}

#[test]
fn a_ping_may_be_empty_and_nothing_else() {
    let values = |arguments: &[&str]| {
        let all = [&["bench", "ping", "--sizes", "0,8", "--json"], arguments].concat();
        let document = run(&all).expect(0).json();
        let rows = document["rows"].as_array().unwrap().clone();
        assert_eq!(rows[0]["size"], json!(0));
        rows.iter().map(|row| row["values"][0].as_f64().unwrap()).collect::<Vec<_>>()
    };
    for machine in [
        &["--sim", "qsnet", "--world", "wormhole"][..],
        &["--sim", "qsnet", "--world", "wormhole", "--set", "nic.overhead=0 B"],
        &["--sim", "qsnet", "--world", "ideal"],
        &["--sim", "p450-ibm-8275-416"],
        &["--sim", "loggops", "--world", "model"],
    ] {
        let values = values(machine);
        assert!(0.0 < values[0] && values[0] <= values[1], "{machine:?}: {values:?}");
    }
    for name in ["bw", "all-reduce"] {
        let end = run(&["bench", name, "--sim", "qsnet", "--sizes", "0,8"]).expect(2);
        assert!(end.stderr.contains("only ping sends empty messages"), "{}", end.stderr);
    }
    if cfg!(target_os = "linux") {
        assert!(values(&["--live"])[0] > 0.0);
    }
}
