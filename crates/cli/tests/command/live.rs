//! Real ranks behind `crosstie run` and `crosstie bench`: on this machine, in boxes, by hydra.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::invocation::{End, command, end, run, run_in};
use serde_json::json;
use tempfile::{TempDir, tempdir};

const HERE: &str = "title = 'Live'\nseed = 1\nfabric.single.hosts = 2\nworld = 'live'\n";
const BOX: &str =
    "title = 'Two'\nhosts = 2\n[[rail]]\nrate = '1 Gbit/s'\n[[rail]]\nrate = '1 Gbit/s'\n";

fn folder(text: &str) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("box.toml"), BOX).unwrap();
    fs::write(folder.path().join("live.toml"), format!("{HERE}{text}")).unwrap();
    folder
}

/// Runs the experiment of a folder.
fn live(folder: &TempDir) -> End {
    run_in(folder.path(), &["run", "live.toml", "--no-report", "--json", "--fresh"])
}

/// Whether this machine allows boxes; says so if not.
fn boxes_work() -> bool {
    let checked = run(&["box", "--check"]);
    if checked.code != 0 {
        eprintln!("skipped, because this machine allows no boxes:\n{}", checked.stdout);
    }
    checked.code == 0
}

#[test]
fn ranks_on_this_machine_do_the_work_of_points() {
    let folder = folder(
        "[sweep.product]\nwork = [{ping = {size = '64 B', iterations = 50}}, \
         {stream = {size = '4 KiB', iterations = 5}}, {all-reduce.size = '1 KiB'}]\nworld = ['live', 'ideal']\n",
    );
    let document = live(&folder).expect(0).json();
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert_eq!(row["status"], json!("completed"), "{row}");
        assert!(row["time_p50"].as_f64().unwrap() > 0.0, "{row}");
    }
    assert_eq!(
        rows[0]["iterations"].as_f64().unwrap() + rows[0]["warmup_iterations"].as_f64().unwrap(),
        50.0
    );
    let hosts = fs::read_to_string(folder.path().join("results/live/hosts.csv")).unwrap();
    let lines: Vec<&str> = hosts.lines().collect();
    // Points of other worlds ran nowhere.
    assert_eq!(lines.len(), 4, "{hosts}");
    assert!(lines[1].starts_with("0,0-1,") && lines[1].contains(",memory,"), "{hosts}");
    let meta = fs::read_to_string(folder.path().join("results/live/meta.json")).unwrap();
    assert!(meta.contains("another run gives other numbers"), "{meta}");
}

#[test]
fn ranks_on_hosts_of_a_box_use_its_rails() {
    if !boxes_work() {
        return;
    }
    let folder = folder(
        "live.box = 'box.toml'\npolicy = 'even-striping'\nchannel = 'go-back-n'\n\
         work.stream = {size = '256 KiB', window = 4, iterations = 3}\n\
         [sweep.product]\ncluster.rails = [1, 2]\n",
    );
    let document = live(&folder).expect(0).json();
    assert_eq!(document["rows"][1]["status"], json!("completed"), "{document}");
    let hosts = fs::read_to_string(folder.path().join("results/live/hosts.csv")).unwrap();
    let devices: Vec<(&str, &str)> = (hosts.lines().skip(1))
        .map(|line| {
            (
                line.split(',').next().unwrap(),
                if line.contains(",rail1,") { "rail1" } else { "rail0" },
            )
        })
        .collect();
    assert_eq!(devices, [("0", "rail0"), ("1", "rail0"), ("1", "rail1")], "{hosts}");
    assert!(hosts.contains(",125 MB/s,1500,"), "{hosts}");
}

#[test]
fn somebody_else_on_a_rail_takes_a_share_of_it() {
    if !boxes_work() {
        return;
    }
    let folder = folder(
        "live.own-box = true\nlink.rate = '50 Mbit/s'\nmeasure.channels = false\n\
         work.pairs.size = '256 KiB'\nschedule.iterations = 20\n\
         [[competitor]]\nrail = 0\nfrom = 0\nto = 1\nsize = '64 KiB'\nend = '100 s'\n",
    );
    let document = live(&folder).expect(0).json();
    let row = &document["rows"][0];
    assert_eq!(row["status"], json!("completed"), "{row}");
    let note = row["note"].as_str().unwrap();
    assert!(note.contains("competitor 0 carried ") && !note.contains(", 0 B in all"), "{note}");
    // Half of a rail of 6.25 MB/s, or about that.
    assert!(row["bandwidth"].as_f64().unwrap() < 5.5, "{row}");
    assert!(row["lost"].as_f64().is_some(), "{row}");
    // Who sent what when: each message behind the one before.
    let lines = fs::read_to_string(folder.path().join("results/live/timeline.csv")).unwrap();
    let ends: Vec<f64> = (lines.lines().skip(1))
        .map(|line| line.rsplit(',').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(ends.len(), 20, "{lines}");
    assert!(ends.is_sorted() && ends[0] > 0.0, "{lines}");
}

#[test]
fn a_rank_that_fails_tells_why() {
    let folder = folder("live.memory = false\nwork.ping.size = '8 B'\n");
    let mut command = command(&["run", "live.toml", "--no-report", "--json"]);
    let document =
        end(command.current_dir(folder.path()).env("CROSSTIE_RAILS", "nosuch0")).expect(1).json();
    assert_eq!(document["rows"][0]["status"], json!("failed"));
    let note = document["rows"][0]["note"].as_str().unwrap();
    assert!(note.contains("rank ") && note.contains("nosuch0"), "{note}");
}

#[test]
fn points_that_take_too_long_are_ended() {
    let folder = folder("live.limit = '1 s'\nwork.ping = {size = '8 B', iterations = 1000000}\n");
    let document = live(&folder).expect(1).json();
    assert_eq!(document["rows"][0]["status"], json!("failed"));
    let note = document["rows"][0]["note"].as_str().unwrap();
    assert!(note.contains("the ranks were not done after 1 s"), "{note}");
}

#[test]
fn ctrl_c_ends_ranks_and_leaves_nothing() {
    let mut places = vec![""];
    if boxes_work() {
        places.push("live.box = 'box.toml'\n");
    }
    for place in places {
        let folder =
            folder(&format!("{place}work.ping = {{size = '8 B', iterations = 1000000}}\n"));
        let mark = folder.path().join("results").display().to_string();
        let mut command = command(&["run", "live.toml", "--no-report"]);
        let command = command.current_dir(folder.path()).env("CROSSTIE_OUT", &mark);
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait(|| ranks(&mark).len() == 2);
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted: 0 of 1 points"));
        wait(|| ranks(&mark).is_empty());
    }
}

/// The ranks that have this in their environment.
fn ranks(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_rank = |folder: &std::path::PathBuf| {
        let read = |name: &str| fs::read(folder.join(name)).unwrap_or_default();
        read("cmdline").ends_with(b"crosstie\0rank\0")
            && String::from_utf8_lossy(&read("environ")).contains(mark)
    };
    processes
        .map(|entry| entry.path())
        .filter(is_rank)
        .map(|path| path.display().to_string())
        .collect()
}

#[track_caller]
fn wait(until: impl Fn() -> bool) {
    let begin = Instant::now();
    while !until() {
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing has come of it for a minute");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_familiar_columns_of_real_ranks() {
    let end = run(&["bench", "ping", "--live", "--sim", "qsnet", "--predict", "--sizes", "8,1KiB"]);
    let lines: Vec<String> = end.expect(0).stdout.lines().map(str::to_owned).collect();
    assert_eq!(lines[0], "# ping on qsnet and localhost");
    assert!(lines[2].starts_with("# This machine, "), "{lines:?}");
    assert!(lines[3].starts_with("# model: its world is wormhole"), "{lines:?}");
    let heads: Vec<&str> = lines[5].split_whitespace().collect();
    assert_eq!(heads, ["#", "size", "[B]", "wormhole", "model", "live", "live,", "p99"]);
    let values: Vec<f64> =
        lines[6].split_whitespace().map_while(|word| word.parse().ok()).collect();
    assert_eq!((values.len(), values[0]), (5, 8.0));
    assert!(values[3] > 0.0 && values[3] <= values[4], "{lines:?}");

    let document = run(&["bench", "barrier", "--live", "--ranks", "3", "--json"]).expect(0).json();
    assert_eq!((&document["ranks"], &document["live"]), (&json!(3), &json!("localhost")));
    assert_eq!(document["columns"][1]["statistic"], json!("p99"));
    assert_eq!(document["columns"][0]["world"], json!("live"));
}

#[test]
fn and_in_a_box() {
    if !boxes_work() {
        return;
    }
    let folder = folder("");
    let arguments =
        ["bench", "all-reduce", "--box", "box.toml", "--predict", "--sizes", "64", "--json"];
    let document = run_in(folder.path(), &arguments).expect(0).json();
    assert_eq!((&document["ranks"], &document["machine"]), (&json!(2), &json!("Two")));
    let worlds: Vec<_> =
        document["columns"].as_array().unwrap().iter().map(|c| &c["world"]).collect();
    assert_eq!(worlds, [&json!("model"), &json!("live"), &json!("live")]);
    // More ranks than hosts.
    let arguments = ["bench", "barrier", "--box", "box.toml", "--ranks", "4", "--json"];
    assert_eq!(run_in(folder.path(), &arguments).expect(0).json()["ranks"], json!(4));
}

#[test]
fn machines_by_name_are_reached_by_hydra() {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed =
        std::env::split_paths(&path).any(|folder| folder.join("mpiexec.hydra").is_file());
    if installed {
        let end = run(&["bench", "ping", "--live=127.0.0.1", "--sizes", "8"]).expect(0);
        assert!(end.stdout.starts_with("# ping on 127.0.0.1, live\n"), "{}", end.stdout);
    } else {
        eprintln!("`mpiexec.hydra` is not installed, so that ranks are not started by it");
    }
    let mut alone = command(&["bench", "ping", "--live=127.0.0.1", "--sizes", "8"]);
    let end = end(alone.env("PATH", "/nowhere")).expect(2);
    assert!(
        end.stderr.contains("started by `mpiexec.hydra`, which is not installed"),
        "{}",
        end.stderr
    );
}

/// A launcher that does what hydra does with a machine that ssh cannot reach: it waits, and so does
/// another ssh, in a session of its own.
#[cfg(target_os = "linux")]
#[test]
fn a_machine_that_cannot_be_reached_is_told_at_once() {
    use std::os::unix::fs::PermissionsExt;
    for said in [
        "ssh: connect to host nowhere port 22: No route to host",
        "Connection timed out during banner exchange",
        "Connection closed by 192.0.2.1 port 22",
    ] {
        let folder = tempdir().unwrap();
        let number = folder.path().join("other");
        let script = format!(
            "#!/bin/sh\nsetsid sleep 60 >&2 &\necho $! > '{}'\nprintf '{said}\\r\\n' >&2\nexec sleep 60\n",
            number.display()
        );
        let launcher = folder.path().join("mpiexec.hydra");
        fs::write(&launcher, script).unwrap();
        fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
        let path = std::env::var("PATH").unwrap_or_default();
        let path = format!("{}:{path}", folder.path().display());
        let begin = Instant::now();
        let mut asked = command(&["bench", "ping", "--live=nowhere", "--sizes", "8"]);
        let end = end(asked.env("PATH", path)).expect(2);
        assert!(begin.elapsed() < Duration::from_secs(50), "{end:?}");
        assert!(end.stderr.starts_with(&format!("{said}\n")), "as it comes: {end:?}");
        let problem = format!("`mpiexec.hydra` cannot start ranks on nowhere: {said} (");
        assert!(end.stderr.contains(&problem), "{end:?}");
        let other = fs::read_to_string(number).unwrap();
        // The new parent of the dead process may reap it late.
        let lives = || {
            let status = fs::read_to_string(format!("/proc/{}/stat", other.trim()));
            status.is_ok_and(|status| !status.contains(") Z "))
        };
        while lives() {
            assert!(begin.elapsed() < Duration::from_secs(50), "the other ssh goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn the_environment_chooses_for_real_ranks() {
    let bench = |variables: &[(&str, &str)], more: &[&str]| {
        let arguments = ["bench", "ping", "--live", "--sizes", "8"];
        let mut asked = command(&[&arguments[..], more].concat());
        end(asked.envs(variables.iter().copied()))
    };
    for (variable, value, expected) in [
        ("CROSSTIE_POLICY", "best", "expected one of round-robin"),
        ("CROSSTIE_CHANNEL", "go-back-0", "expected `selective`"),
        ("CROSSTIE_MEMORY", "maybe", "expected `on` or `off`"),
        ("CROSSTIE_PATIENCE", "soon", "expected seconds"),
        ("CROSSTIE_EAGER", "all", "expected bytes"),
    ] {
        let end = bench(&[(variable, value)], &[]).expect(2);
        assert!(end.stderr.contains(variable) && end.stderr.contains(expected), "{end:?}");
    }
    let chosen = [("CROSSTIE_POLICY", "fastest"), ("CROSSTIE_EAGER", "4")];
    let end = bench(&chosen, &[]).expect(0);
    for line in ["\n# CROSSTIE_POLICY=fastest\n", "\n# CROSSTIE_EAGER=4\n"] {
        assert!(end.stdout.contains(line), "{end:?}");
    }
    // What is said of ranks that are simulated is no word for real ones.
    let end = bench(&[], &["--sim", "qsnet", "--world", "live"]).expect(2);
    assert!(end.stderr.contains("does not say where real ranks run"), "{end:?}");
}

#[test]
fn mistakes_are_told() {
    let folder = folder("");
    for (arguments, expected) in [
        (&["ping", "--box", "nosuch.toml"][..], "nosuch.toml"),
        (&["ping", "--box", "box.toml", "--live"], "cannot be used with"),
        (&["ping", "--live", "--predict"], "nobody knows the parameters"),
        (&["ping", "--live", "--world", "ideal"], "--sim <PRESET>"),
        (&["ping", "--live", "--set", "policy=best"], "unknown choice `best`"),
    ] {
        let end = run_in(folder.path(), &[&["bench"], arguments].concat()).expect(2);
        assert!(end.stderr.contains(expected), "{arguments:?}: {}", end.stderr);
    }
    let end = run(&["rank"]).expect(2);
    assert!(end.stderr.contains("this verb is for ranks"), "{}", end.stderr);
    assert!(!run(&["--help"]).expect(0).stdout.contains("\n  rank "));
}

/// Each packet goes to another rank than the one before, and few are outstanding: the exchange of
/// every point ends, by one of these algorithms and by all that are predicted.
#[test]
fn exchanges_whose_packets_take_turns_run_in_a_box() {
    if !boxes_work() {
        return;
    }
    let folder = tempdir().unwrap();
    let text = "title = 'Turns'\nseed = 1\nfabric.single.hosts = 4\nworld = 'live'\n\
        live.own-box = true\nlink.rate = '100 Mbit/s'\nmessage = {}\n\
        frame.switch.memory.output.capacity = '64 frames'\n\
        channel.go-back-n = {window = 12, timeout = '100 ms'}\n\
        schedule.iterations = 3\nmeasure.channels = false\nwork.all-to-all.size = '50 kB'\n\
        [sweep.product]\nwork.all-to-all.algorithm = [{synchronous-shuffle = {}}, \
        {synchronous-shuffle.window = 3}, {group-shuffle.group = 2}, {modified-shuffle.buffer = 8}]\n";
    fs::write(folder.path().join("live.toml"), text).unwrap();
    let document = live(&folder).expect(0).json();
    let rows = document["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!(row["status"], json!("completed"), "{row}");
        // Three blocks at 12.5 MB/s.
        assert!(row["time_p50"].as_f64().unwrap() > 3.0 * 50e3 / 12.5, "{row}");
    }
    // The same beside what is predicted.
    let four = "hosts = 4\n[[rail]]\nrate = '100 Mbit/s'\n";
    fs::write(folder.path().join("four.toml"), four).unwrap();
    let question = ["predict", "exchange", "--sim", "p450-ibm-8275-416", "--ranks", "4"];
    let sizes = ["--sizes", "20000", "--box", "four.toml", "--json"];
    let document = run_in(folder.path(), &[&question[..], &sizes].concat()).expect(0).json();
    let trials = document["predictions"][0]["trials"].as_array().unwrap();
    assert!(trials.len() > 3, "{document}");
    for trial in trials {
        assert!(trial["measured"]["time"].as_f64().unwrap() > 0.0, "{trial}");
        assert!(trial.get("simulated").is_none(), "{trial}");
    }
}
