//! Verbs that want real ranks, started by a launcher: they take its ranks and start none of their
//! own.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::invocation::{End, command, end};
use serde_json::json;
use tempfile::tempdir;

/// A launcher that starts so many ranks of the command.
type Launcher = fn(&str, &[&str]) -> Command;

/// Our own.
fn launch(ranks: &str, arguments: &[&str]) -> Command {
    let own = env!("CARGO_BIN_EXE_crosstie");
    let mut command = command(&[&["launch", "-n", ranks, "--", own], arguments].concat());
    alone(&mut command);
    command
}

fn hydra(ranks: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("mpiexec.hydra");
    command.args(["-n", ranks, env!("CARGO_BIN_EXE_crosstie")]).args(arguments);
    alone(&mut command);
    command.stdin(Stdio::null());
    command
}

/// Nobody has launched the launcher.
fn alone(command: &mut Command) {
    for name in ["PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE", "CROSSTIE_RAILS"] {
        command.env_remove(name);
    }
}

/// All that there are here.
fn launchers() -> Vec<Launcher> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |folder: std::path::PathBuf| folder.join("mpiexec.hydra").is_file();
    if std::env::split_paths(&path).any(is_there) {
        return vec![launch, hydra];
    }
    eprintln!("`mpiexec.hydra` is not installed, so that only our own launcher is tried");
    vec![launch]
}

fn run_in(folder: &Path, launcher: Launcher, ranks: &str, arguments: &[&str]) -> End {
    end(launcher(ranks, arguments).current_dir(folder))
}

#[test]
fn a_benchmark_takes_the_ranks_of_its_launcher() {
    for launcher in launchers() {
        let end = end(&mut launcher("2", &["bench", "ping", "--live", "--sizes", "8,4KiB"]));
        let lines: Vec<String> = end.expect(0).stdout.lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), 5, "one table: {lines:?}");
        assert_eq!(lines[0], "# ping on a launcher's job, live");
        assert_eq!(lines[1], "# A launcher's job of 2 ranks on 1 host");
        assert!(lines[3].starts_with("8 ") && lines[4].starts_with("4096 "), "{lines:?}");
    }
}

#[test]
fn simulated_machines_stand_beside_it() {
    let what = ["bench", "all-reduce", "--live", "--sim", "qsnet", "--sizes", "8", "--json"];
    let document = end(&mut launch("3", &what)).expect(0).json();
    assert_eq!((&document["ranks"], &document["live"]), (&json!(3), &json!("a launcher's job")));
    let worlds: Vec<_> =
        document["columns"].as_array().unwrap().iter().map(|c| &c["world"]).collect();
    assert_eq!(worlds, [&json!("wormhole"), &json!("live"), &json!("live")]);
    // Fewer than there are.
    let two = ["bench", "barrier", "--live", "--ranks", "2", "--json"];
    assert_eq!(end(&mut launch("3", &two)).expect(0).json()["ranks"], json!(2));
}

#[test]
fn a_job_of_one_rank_is_none() {
    let end = end(&mut launch("1", &["bench", "ping", "--live", "--sizes", "8"])).expect(0);
    assert!(end.stdout.starts_with("# ping on localhost, live\n"), "{}", end.stdout);
}

#[test]
fn experiments_take_them_too() {
    let folder = tempdir().unwrap();
    let text = "title = 'Live'\nseed = 1\nfabric.single.hosts = 2\nworld = 'live'\n\
                [sweep.product]\nwork = [{ping = {size = '64 B', iterations = 20}}, {all-reduce.size = '1 KiB'}]\n\
                policy = ['pull', 'round-robin']\nworld = ['live', 'ideal']\n";
    fs::write(folder.path().join("live.toml"), text).unwrap();
    for launcher in launchers() {
        // One rank more than there is work for.
        let arguments = ["run", "live.toml", "--no-report", "--json", "--fresh"];
        let document = run_in(folder.path(), launcher, "3", &arguments).expect(0).json();
        let rows = document["rows"].as_array().unwrap();
        assert_eq!(rows.len(), 8);
        assert!(rows.iter().all(|row| row["status"] == json!("completed")), "{document}");
        let hosts = fs::read_to_string(folder.path().join("results/live/hosts.csv")).unwrap();
        assert!(hosts.lines().skip(1).all(|line| line.contains(",0-1,")), "{hosts}");
    }
}

#[test]
fn a_probe_takes_them_too() {
    let folder = tempdir().unwrap();
    let arguments = ["probe", "--live", "--iterations", "2", "--json"];
    let document = run_in(folder.path(), launch, "2", &arguments).expect(0).json();
    assert_eq!(document["file"], json!("live-2.model.toml"));
    assert!(folder.path().join("live-2.model.toml").is_file());
}

#[test]
fn what_is_wrong_is_told_once() {
    let folder = tempdir().unwrap();
    let text = "title = 'Live'\nseed = 1\nfabric.single.hosts = 2\nworld = 'live'\nwork.ping.size = '8 B'\n";
    fs::write(folder.path().join("box.toml"), format!("{text}live.own-box = true\n")).unwrap();
    for launcher in launchers() {
        for (arguments, expected) in [
            (
                &["bench", "ping", "--box", "x.toml"][..],
                "--box: found `x.toml`, expected none: a launcher",
            ),
            (&["bench", "ping", "--live=a,b"], "--live: found `a,b`, expected none: a launcher"),
            (
                &["bench", "barrier", "--live", "--ranks", "4"],
                "--ranks: found 4, expected at most 2",
            ),
            (&["bench", "pong", "--live"], "invalid value 'pong'"),
            (&["bench", "ping", "--live", "--set", "policy=best"], "unknown choice `best`"),
            (&["probe", "--box", "x.toml"], "--box: found `x.toml`, expected none: a launcher"),
            (&["probe", "--live", "--ranks", "3"], "--ranks: a launcher has started"),
            (&["run", "box.toml"], "found a box, expected none: a launcher"),
            (&["run", "nosuch.toml"], "nosuch.toml"),
        ] {
            let end = run_in(folder.path(), launcher, "2", arguments).expect(2);
            let times = end.stderr.matches("error").count();
            assert!(times == 1 && end.stderr.contains(expected), "{arguments:?}: {}", end.stderr);
        }
        let arguments = ["bench", "ping", "--live", "--sizes", "8", "--set", "live.memory=false"];
        let end = end(launcher("2", &arguments).env("CROSSTIE_RAILS", "nosuch0")).expect(2);
        assert_eq!(end.stderr.matches("nosuch0").count(), 1, "{}", end.stderr);
    }
}
