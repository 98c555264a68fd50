//! `crosstie run` and `crosstie report`, from experiment file to results.

use std::fs;
use std::path::Path;

#[cfg(unix)]
use crate::invocation::command;
use crate::invocation::{End, repository, run_in};
use serde_json::json;
use tempfile::{TempDir, tempdir};

const SMALL: &str = "\
title = \"Two routings on 16 hosts\"
seed = 1
fabric.tree = { k = 4, n = 2 }
bus = \"full\"
traffic.size.fixed.size = \"64 B\"
measure = { precision = 0.1, min-cycles = 2000, max-cycles = 20000 }

[sweep.product]
routing = [\"tree-adaptive\", \"tree-deterministic\"]
traffic.load = [0.1, 0.3]

[[figure]]
name = \"latency\"
x = \"accepted\"
y = \"latency_mean\"
series = [\"routing\"]

[[table]]
title = \"Accepted load\"
rows = \"traffic.load\"
columns = \"routing\"
value = \"accepted\"
";

fn folder_with_small() -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("small.toml"), SMALL).unwrap();
    folder
}

#[track_caller]
fn run_small(folder: &TempDir, flags: &[&str]) -> End {
    run_in(folder.path(), &[&["run", "small.toml"], flags].concat()).expect(0)
}

/// Every file of a folder with its content, figures included.
fn content(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => files.extend(content(&entry.path())),
            false => files.push((name, fs::read(entry.path()).unwrap())),
        }
    }
    files.sort();
    files
}

#[test]
fn the_quickstart_runs_and_a_rerun_skips() {
    let folder = tempdir().unwrap();
    let file = repository("experiments/quickstart.toml");
    let arguments = ["run", file.to_str().unwrap()];
    let first = run_in(folder.path(), &arguments).expect(0);
    let lines: Vec<&str> = first.stdout.lines().collect();
    assert_eq!(lines[0], "Adaptive against deterministic routing on a 4-ary 3-tree");
    assert!(lines[2].starts_with("routing  "), "{}", lines[2]);
    let checked = run_in(folder.path(), &["check", "--json", arguments[1]]).expect(0).json();
    let points = checked["experiments"][0]["points"].as_array().unwrap().len();
    let ended = |word: &str| lines.iter().filter(|line| line.ends_with(word)).count();
    assert_eq!(ended("converged") + ended("saturated"), points, "{first:?}");
    assert!(ended("  converged") > points / 2 && ended("saturated") > 0, "{first:?}");
    assert!(first.stdout.contains("mean latency [cycles] against"), "{first:?}");
    assert_eq!(*lines.last().unwrap(), "report: results/quickstart/report.html");
    let results = folder.path().join("results/quickstart");
    for name in ["report.html", "figures/latency.svg", "figures/throughput.svg", "rows.csv"] {
        assert!(results.join(name).is_file(), "{name}");
    }
    let again = run_in(folder.path(), &arguments).expect(0);
    let skipped = format!("{points} of {points} points finished already and skipped");
    assert!(again.stderr.contains(&skipped), "{again:?}");
    assert_eq!(again.stdout, first.stdout);
}

#[test]
fn rows_as_json_and_nothing_else() {
    let folder = folder_with_small();
    let end = run_small(&folder, &["--json"]);
    let document = end.json();
    assert_eq!(document["experiment"]["title"], "Two routings on 16 hosts");
    assert_eq!(document["experiment"]["folder"], "results/small");
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[3]["routing"], "tree-deterministic");
    let accepted = rows[3]["accepted"].as_f64().unwrap();
    assert!((0.27..0.33).contains(&accepted), "{accepted}");
    assert_eq!(end.stdout.lines().count(), 1);
    let table = &document["tables"][0];
    assert_eq!((&table["rows"], &table["columns"]), (&"traffic.load".into(), &"routing".into()));
    let sheet = &table["sheets"][0];
    assert_eq!(sheet["columns"], serde_json::json!(["tree-adaptive", "tree-deterministic"]));
    assert_eq!(sheet["rows"][1]["row"], 0.3);
    let cell = serde_json::json!({"point": 3, "status": "converged", "value": accepted});
    assert_eq!(sheet["rows"][1]["cells"][1], cell);
    // The stored rows are the printed ones.
    let stored = fs::read_to_string(folder.path().join("results/small/rows.jsonl")).unwrap();
    let stored: Vec<serde_json::Value> =
        stored.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(&stored, rows);
}

#[test]
fn tables_of_the_experiment_are_shown_and_drawn_again() {
    let folder = folder_with_small();
    let end = run_small(&folder, &[]);
    let table = end
        .stdout
        .split("\n\n")
        .find(|part| part.starts_with("Accepted load [flits/cycle/host]\n"));
    let table = table.unwrap_or_else(|| panic!("{}", end.stdout));
    let lines: Vec<Vec<&str>> =
        table.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[1], ["load", "tree-adaptive", "tree-deterministic"]);
    assert_eq!((lines[2][0], lines[3][0], lines.len()), ("0.1", "0.3", 4), "{table}");
    let page = fs::read_to_string(folder.path().join("results/small/report.html")).unwrap();
    assert!(page.contains("<h3>Accepted load [flits/cycle/host]</h3>"));
    run_in(folder.path(), &["report", "results/small"]).expect(0);
    let again = fs::read_to_string(folder.path().join("results/small/report.html")).unwrap();
    assert_eq!(again, page);
}

#[test]
fn several_files_each_have_their_folder_and_their_document() {
    let folder = folder_with_small();
    fs::write(folder.path().join("other.toml"), SMALL.replace("16 hosts", "a tree")).unwrap();
    let end = run_in(
        folder.path(),
        &["run", "small.toml", "other.toml", "--json", "--quiet", "--out", "here"],
    )
    .expect(0);
    assert_eq!(end.stderr, "");
    let titles: Vec<serde_json::Value> = end
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .map(|document| document["experiment"]["title"].clone())
        .collect();
    assert_eq!(titles, ["Two routings on 16 hosts", "Two routings on a tree"]);
    assert!(folder.path().join("here/small/report.html").is_file());
    assert!(folder.path().join("here/other/report.html").is_file());
}

#[test]
fn the_number_of_threads_does_not_show_in_the_results() {
    let folder = folder_with_small();
    run_small(&folder, &["--threads", "1", "--out", "one"]);
    run_small(&folder, &["--threads", "2", "--out", "two"]);
    let (one, two) = (folder.path().join("one/small"), folder.path().join("two/small"));
    assert!(content(&one) == content(&two), "the folders differ");
}

#[test]
fn only_points_that_changed_run_again() {
    let folder = folder_with_small();
    assert!(run_small(&folder, &[]).stderr.contains("small: 4 points"));
    fs::write(folder.path().join("small.toml"), SMALL.replace("[0.1, 0.3]", "[0.1, 0.2]")).unwrap();
    let changed = run_small(&folder, &[]);
    assert!(changed.stderr.contains("2 of 4 points finished already"), "{changed:?}");
    let fresh = run_small(&folder, &["--fresh"]);
    assert!(fresh.stderr.contains("small: 4 points"), "{fresh:?}");
    assert_eq!(fresh.stdout, changed.stdout);
}

#[test]
fn rows_of_another_revision_are_not_kept() {
    let folder = folder_with_small();
    let first = run_small(&folder, &[]);
    let journal = folder.path().join("results/small/journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let (_, rest) = text.split_once("\"revision\":\"").unwrap();
    let (revision, _) = rest.split_once('"').unwrap();
    assert!(revision.starts_with("wormhole ") && revision != "wormhole 0", "{text}");
    assert_eq!(text.matches(revision).count(), 4, "{text}");
    fs::write(&journal, text.replacen(revision, "wormhole 0", 3)).unwrap();
    let again = run_small(&folder, &[]);
    let told = "small: 3 points computed by another revision of the simulator are run again\n\
                small: 1 of 4 points finished already and skipped";
    assert!(again.stderr.contains(told), "{again:?}");
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(fs::read_to_string(&journal).unwrap(), text);
}

#[test]
fn a_report_is_drawn_again_from_its_folder() {
    let folder = folder_with_small();
    let end = run_small(&folder, &["--no-report"]);
    assert!(end.stdout.ends_with("results: results/small\n"), "{end:?}");
    let results = folder.path().join("results/small");
    assert!(!results.join("report.html").exists() && !results.join("figures").exists());
    let before = content(&results);
    let end = run_in(folder.path(), &["report", "results/small"]).expect(0);
    let files = ["results/small/figures/latency.svg", "results/small/report.html"];
    assert_eq!(end.stdout.lines().collect::<Vec<_>>(), files);
    let page = fs::read(results.join("report.html")).unwrap();
    // Only the report was added, and it is the same the second time.
    let document = run_in(folder.path(), &["report", "results/small", "--json"]).expect(0).json();
    assert_eq!(document["reports"][0]["files"], serde_json::json!(files));
    assert_eq!(fs::read(results.join("report.html")).unwrap(), page);
    let mut after = content(&results);
    after.retain(|(name, _)| name != "report.html" && name != "latency.svg");
    assert!(after == before, "the results changed");
}

#[test]
fn a_deadlock_is_a_result_and_its_channels_are_named() {
    // Three hosts on each switch, everyone to the second next switch.
    let switch = |s: u32| {
        let (a, b, c, next) = (3 * s, 3 * s + 1, 3 * s + 2, (s + 1) % 5);
        format!("router {s} node {a} node {b} node {c} router {next}\n")
    };
    let folder = tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write("ring.anynet", (0..5).map(switch).collect());
    write("second.txt", (0..15).map(|host| format!("{}\n", (host + 6) % 15)).collect());
    let text = "title = 'Round and round'\nseed = 1\nfabric.file.path = 'ring.anynet'\n\
                routing = 'shortest'\nbus = 'full'\nswitch = { virtual-channels = 1, buffer = 4 }\n\
                traffic = { load = 0.9, size.fixed.size = '128 B', \
                destination.permutation.file = 'second.txt' }\n";
    write("ring.toml", text.to_owned());
    let end = run_in(folder.path(), &["run", "ring.toml"]).expect(0);
    assert!(end.stdout.contains("0.9000  deadlocked\n"), "{}", end.stdout);
    assert!(end.stdout.contains("\npoint 0: deadlock found at cycle "), "{}", end.stdout);
    let document = run_in(folder.path(), &["run", "ring.toml", "--json"]).expect(0).json();
    assert_eq!(document["rows"][0]["status"], "deadlocked");
}

#[test]
fn a_folder_of_results_runs_again_on_its_own() {
    let folder = tempdir().unwrap();
    let nets = folder.path().join("nets");
    fs::create_dir(&nets).unwrap();
    fs::write(nets.join("pair.edges"), "a s\nb s\n").unwrap();
    let text = SMALL
        .replace("fabric.tree = { k = 4, n = 2 }", "fabric.file.path = 'nets/pair.edges'")
        .replace("routing = [\"tree-adaptive\", \"tree-deterministic\"]", "routing = ['shortest']");
    fs::write(folder.path().join("small.toml"), text).unwrap();
    run_small(&folder, &[]);
    let again = run_small(&folder, &[]);
    assert!(again.stderr.contains("2 of 2 points finished already and skipped"), "{again:?}");
    fs::remove_dir_all(nets).unwrap();
    fs::remove_file(folder.path().join("small.toml")).unwrap();
    let results = folder.path().join("results/small");
    run_in(&results, &["run", "study.toml", "--out", "."]).expect(0);
    for name in ["rows.jsonl", "rows.csv", "study.toml", "meta.json", "journal.jsonl"] {
        let file = |folder: &Path| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(file(&results), file(&results.join("study")), "{name}");
    }
}

#[test]
fn another_experiment_of_the_same_name_does_not_replace_the_first() {
    let folder = folder_with_small();
    run_small(&folder, &[]);
    let before = content(&folder.path().join("results"));
    fs::create_dir(folder.path().join("other")).unwrap();
    let other = SMALL.replace("16 hosts", "a tree").replace("seed = 1", "seed = 2");
    fs::write(folder.path().join("other/small.toml"), other).unwrap();
    let refused = run_in(folder.path(), &["run", "other/small.toml"]).expect(2);
    assert!(refused.stderr.contains("holds the results of another experiment"), "{refused:?}");
    assert!(
        refused.stderr.contains("small.toml") && refused.stderr.contains("--out"),
        "{refused:?}"
    );
    assert!(content(&folder.path().join("results")) == before, "something changed");
    run_in(folder.path(), &["run", "other/small.toml", "--fresh"]).expect(0);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_is_done() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = folder_with_small();
    // One point ends at once; the other would run for days.
    let endless = "measure = { precision = 0.0001, max-cycles = 1_000_000_000_000 }";
    let text = SMALL
        .replace("measure = { precision = 0.1, min-cycles = 2000, max-cycles = 20000 }", endless)
        .replace("routing = [\"tree-adaptive\", \"tree-deterministic\"]\n", "")
        .replace("traffic.load = [0.1, 0.3]", "measure.max-cycles = [20000, 1_000_000_000_000]\n")
        .replace("seed = 1", "seed = 1\ntraffic.load = 0.1")
        .replace("series = [\"routing\"]\n", "");
    let text = text.split("[[table]]").next().unwrap();
    fs::write(folder.path().join("small.toml"), text).unwrap();
    let child = command(&["run", "small.toml", "--threads", "2"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let journal = folder.path().join("results/small/journal.jsonl");
    let began = Instant::now();
    while fs::metadata(&journal).map_or(0, |journal| journal.len()) == 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "the short point does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    for flags in [&[][..], &["--fresh"]] {
        let other = run_in(folder.path(), &[&["run", "small.toml"], flags].concat()).expect(2);
        assert!(other.stderr.contains("is being written by another run"), "{other:?}");
    }
    // What is there can be looked at meanwhile.
    let report = run_in(folder.path(), &["report", "results/small"]).expect(0);
    assert!(report.stderr.contains("1 of 2 points are finished, 1 is missing"), "{report:?}");
    let report = run_in(folder.path(), &["report", "results/small", "--json"]).expect(0).json();
    assert_eq!(
        (&report["reports"][0]["finished"], &report["reports"][0]["points"]),
        (&1.into(), &2.into())
    );
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted: 1 of 2 points are finished and kept"), "{stderr}");
    let rows = fs::read_to_string(folder.path().join("results/small/rows.csv")).unwrap();
    assert_eq!(rows.lines().count(), 2, "a head and one row: {rows}");
    run_in(folder.path(), &["report", "results/small"]).expect(0);
}

#[test]
fn keys_that_the_world_does_not_use_are_told() {
    let folder = tempdir().unwrap();
    let text = "title = 'Uplinks'\nseed = 1\nfabric.two-level = { leaves = 2, hosts-per-leaf = 2 }\n\
                frame.uplink.rate = '10 MB/s'\nwork.ping = { size = '1 KiB', to = 3 }\n";
    std::fs::write(folder.path().join("up.toml"), text).unwrap();
    let told = "not used by the wormhole network: frame.uplink.rate";
    let end = run_in(folder.path(), &["check", "up.toml"]).expect(0);
    assert_eq!(end.stderr, format!("warning: up.toml: {told}\n"));
    let document = run_in(folder.path(), &["check", "up.toml", "--json"]).expect(0).json();
    let unused = &document["experiments"][0]["points"][0]["unused"];
    assert_eq!(*unused, json!(["frame.uplink.rate"]));
    let document =
        run_in(folder.path(), &["run", "up.toml", "--no-report", "--json"]).expect(0).json();
    assert!(document.to_string().contains(told), "{document}");
    // A sweep over worlds has keys for each of them.
    let swept = format!("{text}[sweep.product]\nworld = ['wormhole', 'frame']\n");
    std::fs::write(folder.path().join("up.toml"), swept).unwrap();
    assert_eq!(run_in(folder.path(), &["check", "up.toml"]).expect(0).stderr, "");
}

#[test]
fn an_experiment_whose_points_all_fail_answers_no() {
    let folder = tempdir().unwrap();
    let text =
        "title = 'Too short'\nseed = 1\nfabric.single.hosts = 4\nwork.ping.size = '64 KiB'\n";
    let too_short = format!("{text}measure = {{ min-cycles = 100, max-cycles = 10000 }}\n");
    let one_of_two = format!("{too_short}sweep.product.work.ping.size = ['8 B', '64 KiB']\n");
    fs::write(folder.path().join("none.toml"), too_short).unwrap();
    fs::write(folder.path().join("some.toml"), one_of_two).unwrap();
    let files = ["run", "none.toml", "some.toml", "--no-report"];
    let end = run_in(folder.path(), &files).expect(1);
    let told = "none.toml: every point failed (1 point); the first: not done at the limit of";
    assert!(end.stderr.contains(told) && end.stdout.contains("results/some"), "{end:?}");
    // Also where nothing is left to do.
    run_in(folder.path(), &files).expect(1);
    run_in(folder.path(), &["run", "some.toml", "--no-report"]).expect(0);
}
