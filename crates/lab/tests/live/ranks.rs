//! Ranks with an assignment: this executable, run again on the hosts of a box.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write, pipe};
use std::time::Duration;

use crosstie_box::{Cluster, Command, Spec};
use crosstie_lab::live::Assignment;
use serde::de::DeserializeOwned;

/// The variable by which ranks get their assignment.
const ASSIGNMENT: &str = "CROSSTIE_ASSIGNMENT";

/// How long ranks may take, also on a machine that is busy.
const LIMIT: Duration = Duration::from_secs(100);

/// The box, or `None` where this machine forbids it, after saying so.
pub fn live(text: &str) -> Option<Cluster> {
    let spec: Spec = toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    if let Some(why) = crosstie_lab::live::why_no_box() {
        let thread = std::thread::current();
        // Not `eprintln!`, which the harness shows of failed tests only.
        let line = format!("skipped {}: {why}\n", thread.name().unwrap_or("a test"));
        let _ = std::io::stderr().write_all(line.as_bytes());
        return None;
    }
    Some(Cluster::start(&spec).unwrap_or_else(|error| panic!("{error}")))
}

/// Has ranks on these hosts do what an assignment says, and returns the report of each.
pub fn run<F: DeserializeOwned>(
    cluster: &Cluster,
    hosts: &[usize],
    assignment: &Assignment,
) -> Vec<F> {
    let text = serde_json::to_string(assignment).unwrap();
    let (mut output, input) = pipe().unwrap();
    let nowhere = || File::options().write(true).open("/dev/null").unwrap();
    let command = |rank| {
        let command = Command::new(words()).env(ASSIGNMENT, &text);
        match rank {
            0 => command.stdout(input.try_clone().unwrap()),
            _ => command.stdout(nowhere()),
        }
    };
    let ended = cluster.run_ranks(hosts, command, LIMIT);
    drop(input);
    ended.unwrap_or_else(|error| panic!("{error}"));
    let mut said = String::new();
    output.read_to_string(&mut said).unwrap();
    // What the harness says comes first.
    let report = said.find("[{").map(|at| &said[at..]);
    let report = report.unwrap_or_else(|| panic!("rank 0 has reported nothing: {said}"));
    serde_json::from_str(report).unwrap_or_else(|error| panic!("{error}: {said}"))
}

/// The words that run this executable again.
fn words() -> Vec<OsString> {
    let executable = std::env::current_exe().unwrap().into_os_string();
    let arguments = ["--exact", "ranks::rank", "--nocapture", "--quiet", "--test-threads=1"];
    [executable].into_iter().chain(arguments.map(OsString::from)).collect()
}

/// Does what the environment asks for; nothing where it asks for nothing.
#[test]
fn rank() {
    if std::env::var_os(ASSIGNMENT).is_none() {
        return;
    }
    let done = crosstie_lab::live::rank().inspect_err(|error| eprintln!("{error}"));
    std::process::exit(i32::from(done.is_err()));
}
