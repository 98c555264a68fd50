//! `crosstie box --trace`: what is kept of a run, and what is said about it.
//!
//! Where this machine allows no box, these tests say so and do nothing.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::invocation::{End, end, run, run_in};
use tempfile::{TempDir, tempdir};

const BOX: &str = "title = \"Two hosts\"\nhosts = 2\n[[rail]]\nname = \"slow\"\nrate = \"80 Mbit/s\"\n\
                   shape = \"switch\"\noffloads = false\n[[rail]]\nname = \"free\"\n\
                   [[event]]\nat = \"200 ms\"\nrail = \"slow\"\nrate = \"40 Mbit/s\"\n\
                   [[event]]\nat = \"1000 s\"\nrail = \"slow\"\ndown = true\n";

/// A folder with a box file, if there can be boxes here.
fn folder() -> Option<TempDir> {
    let check = run(&["box", "--check"]);
    if check.code != 0 {
        eprintln!("skipped, because this machine allows no box:\n{}", check.stdout);
        return None;
    }
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("two.toml"), BOX).unwrap();
    Some(folder)
}

fn boxed(folder: &Path, flags: &[&str], program: &[&str]) -> End {
    run_in(folder, &[&["box", "two.toml", "--trace", "out"], flags, &["--"], program].concat())
}

/// The sum of bytes of an end in `rails.csv`.
fn carried(folder: &Path, end: &str) -> u64 {
    let text = fs::read_to_string(folder.join("out/rails.csv")).unwrap();
    let lines = text.lines().filter(|line| line.contains(end));
    lines.map(|line| line.split(',').nth(4).unwrap().parse::<u64>().unwrap()).sum()
}

/// Sends 500 datagrams of 1,000 bytes from host0 to host1, which is more than one look long. A file
/// tells when host1 is there to receive them.
const SEND: &str = "
import os, socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if os.environ['CROSSTIE_HOST'] == 'host0':
    while not os.path.exists('ready'): time.sleep(0.01)
    time.sleep(0.15)
    for i in range(500):
        s.sendto(bytes(1000), ('host1', 9))
        if i % 10 == 9: time.sleep(0.01)
    print('sent')
else:
    s.bind(('', 9)); s.settimeout(10)
    open('ready', 'w').close()
    for i in range(500): s.recv(2000)
";

#[test]
fn what_rails_carried_is_kept_summed_up_and_drawn() {
    let Some(folder) = folder() else { return };
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped, because there is no python3");
        return;
    }
    let home = folder.path();
    let end = boxed(home, &[], &["python3", "-c", SEND]).expect(0);
    assert_eq!(end.stdout, "host0: sent\n", "stdout is the programs'");
    let lines: Vec<&str> = end.stderr.lines().collect();
    assert!(lines[1].starts_with("rail  host   end     carried ["), "{end:?}");
    assert!(lines[2].starts_with("slow  host0  nic "), "{end:?}");
    assert!(end.stderr.contains(" s, 1 of 2 events; the others would have come later"), "{end:?}");
    assert_eq!(*lines.last().unwrap(), "trace: out; `crosstie report out` draws it");

    // A datagram of 1,000 bytes is a frame of 1,042. There may be others, of hosts that come up.
    for end in ["slow,host0,nic", "slow,host1,switch"] {
        let bytes = carried(home, end);
        assert!((521_000..525_000).contains(&bytes), "{end}: {bytes}");
    }
    assert_eq!(fs::read_to_string(home.join("out/box.toml")).unwrap(), BOX);
    let events = fs::read_to_string(home.join("out/events.csv")).unwrap();
    let events: Vec<&str> = events.lines().collect();
    assert_eq!(events.len(), 2, "{events:?}");
    assert!(events[1].starts_with("0.2,0.") && events[1].ends_with(",slow,,5 MB/s"), "{events:?}");

    let report = run_in(home, &["report", "out"]).expect(0);
    let files: Vec<&str> = report.stdout.lines().filter(|file| !file.ends_with(".png")).collect();
    let expected = ["out/figures/rail-slow.svg", "out/figures/rail-free.svg", "out/report.html"];
    assert_eq!(files, expected);
    let drawn = fs::read_to_string(home.join(files[0])).unwrap();
    assert!(drawn.contains(">from host0<") && drawn.contains(">40 Mbit/s<"), "{drawn}");
    let listed = run_in(home, &["report", "--json", "out"]).expect(0).json();
    assert_eq!(listed["reports"][0]["events"], 1);
    assert!(listed["reports"][0]["seconds"].as_f64().unwrap() > 0.5, "{listed}");
}

#[test]
fn as_json_the_sum_is_data_and_the_programs_are_not() {
    let Some(folder) = folder() else { return };
    let home = folder.path();
    let script = "echo said; [ $CROSSTIE_HOST = host0 ] || exit 3";
    let end = boxed(home, &["--json"], &["sh", "-c", script]).expect(3);
    let document = end.json();
    assert_eq!(document["programs"][0]["code"], 0, "{document}");
    assert_eq!(document["programs"][1]["host"], "host1");
    assert_eq!(document["programs"][1]["code"], 3);
    let trace = &document["trace"];
    assert_eq!((&trace["folder"], &trace["planned_events"]), (&"out".into(), &2.into()));
    let rails = trace["rails"].as_array().unwrap();
    assert_eq!(rails.len(), 6, "{rails:?}");
    assert_eq!(rails[1]["end"], "switch");
    assert_eq!(rails[1]["line_rate_bit_s"], 80_000_000);
    assert!(rails[5]["line_rate_bit_s"].is_null() && rails[5]["busiest_share"].is_null());
    assert!(
        end.stderr.contains("host0: said\n") && end.stderr.contains("host1: said\n"),
        "{end:?}"
    );

    let one =
        ["box", "two.toml", "--json", "--on", "host1", "--", "sh", "-c", "echo one; kill -9 $$"];
    let end = run_in(home, &one).expect(137);
    let document = end.json();
    assert_eq!(document["programs"][0]["host"], "host1");
    assert_eq!(document["programs"][0]["signal"], 9);
    assert!(document["trace"].is_null() && end.stderr.contains("one\n"), "{end:?}");
}

#[test]
fn programs_that_end_at_once_have_a_trace() {
    let Some(folder) = folder() else { return };
    boxed(folder.path(), &[], &["true"]).expect(0);
    run_in(folder.path(), &["report", "out"]).expect(0);
    let quiet = boxed(folder.path(), &["-q"], &["true"]).expect(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    assert!(!folder.path().join("out/report.html").exists(), "it was of the run before");
}

#[test]
fn a_folder_of_others_is_refused_before_anything_runs() {
    let Some(folder) = folder() else { return };
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    fs::write(out.join("thesis.tex"), "years").unwrap();
    let end = boxed(folder.path(), &[], &["echo", "ran"]).expect(2);
    assert!(end.stderr.contains("`out` is not a trace that could be replaced"), "{end:?}");
    assert_eq!(end.stdout, "");
    let end = run_in(folder.path(), &["report", "out"]).expect(2);
    assert!(end.stderr.contains("or a trace, as `crosstie box --trace` does"), "{end:?}");
}

#[test]
fn where_nothing_can_be_written_the_run_goes_on_and_says_so() {
    let Some(folder) = folder() else { return };
    // A limit on the size of files is as a full disk, without need for one.
    let program = "import os, socket, time\nfor i in range(60):\n    s = socket.socket(socket.AF_INET, \
                   socket.SOCK_DGRAM)\n    s.sendto(b'x', ('host0' if os.environ['CROSSTIE_HOST'] != \
                   'host0' else 'host1', 9))\n    time.sleep(0.05)\nprint('done')\n";
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("skipped, because there is no python3");
        return;
    }
    let mut shell = Command::new("sh");
    // What a program is started with is in a file too, and must fit.
    shell.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let line = "trap '' XFSZ; ulimit -f 6; exec \"$@\"";
    let crosstie = env!("CARGO_BIN_EXE_crosstie");
    shell.args(["-c", line, "sh", crosstie, "box", "two.toml", "--trace", "out", "--"]);
    let end = end(shell.args(["python3", "-c", program]).current_dir(folder.path())).expect(0);
    assert!(end.stdout.contains("host0: done\n"), "{end:?}");
    assert!(end.stderr.contains("trace: cannot write `out/rails.csv`: "), "{end:?}");
    assert!(end.stderr.contains("is kept, and the programs run on"), "{end:?}");
    assert!(end.stderr.contains("trace: out is not whole: cannot write"), "{end:?}");
    let text = fs::read_to_string(folder.path().join("out/rails.csv")).unwrap();
    assert!(text.ends_with('\n') && text.lines().count() > 5, "whole lines: {text}");
    let report = run_in(folder.path(), &["report", "out"]).expect(0);
    assert!(report.stderr.contains("the recording has no end"), "{report:?}");
}
