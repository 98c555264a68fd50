//! Nothing is left of ranks, however their launcher ends.
//!
//! Launchers are processes of their own here. A mark in their environment is inherited by all below
//! them, so that others do not matter.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::parts;
use crate::stage::command;

/// The variable that marks a launcher and its ranks.
const MARK: &str = "CROSSTIE_START_MARK";

/// A launcher with its mark.
struct Marked {
    child: Child,
    output: BufReader<ChildStdout>,
    mark: String,
}

impl Marked {
    fn start(part: &str) -> Marked {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("{}-{}-", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let words = parts::words();
        let (name, value) = parts::role(part);
        let mut child = command(words[0].to_str().unwrap())
            .args(&words[1..])
            .env(name, value)
            .env(MARK, &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Marked { child, output, mark }
    }

    /// Waits until all ranks have said that they are up.
    fn up(&mut self) {
        let mut line = String::new();
        for _ in 0..3 {
            while !line.contains("=> up") {
                line.clear();
                assert!(self.output.read_line(&mut line).unwrap() > 0, "it ended before");
            }
            line.clear();
        }
    }

    /// The processes that have its mark, and are not just waiting to be taken note of.
    fn processes(&self) -> Vec<i32> {
        let needle = format!("{MARK}={}", self.mark);
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers
            .filter(|number: &i32| {
                let environment = fs::read(format!("/proc/{number}/environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|part| part == needle.as_bytes())
            })
            .collect()
    }

    /// Waits until so many processes have its mark; ranks say that they are up before they have
    /// started all.
    fn number(&self, least: usize) {
        let begin = Instant::now();
        while self.processes().len() < least {
            assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", self.processes());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The children of one of these.
    fn children(&self, parent: i32) -> Vec<i32> {
        let mut all = self.processes();
        all.retain(|number| {
            let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap_or_default();
            status.lines().any(|line| {
                line.strip_prefix("PPid:").is_some_and(|text| text.trim() == parent.to_string())
            })
        });
        all
    }

    /// The process between launcher and ranks.
    fn supervisor(&self) -> i32 {
        *self.children(self.child.id() as i32).first().expect("there is a supervisor")
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until nobody has the mark; that somebody keeps it is a failure.
    fn vanish(&self) {
        let begin = Instant::now();
        loop {
            let left = self.processes();
            if left.is_empty() {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "processes {left:?} are left");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Marked {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn ranks_end_with_a_launcher_that_is_killed() {
    let mut launcher = Marked::start("launch said");
    launcher.up();
    // A launcher, its supervisor, and for each rank a shell, what it waits for, and what it has
    // left behind.
    launcher.number(2 + 3 * 2);
    launcher.kill();
    launcher.vanish();
}

#[test]
fn launchers_that_are_killed_at_any_moment_leave_nothing() {
    for moment in 0..25 {
        let mut launcher = Marked::start("launch silent");
        std::thread::sleep(Duration::from_millis(2 * moment));
        launcher.kill();
        launcher.vanish();
    }
}

#[test]
fn ranks_end_with_a_group_that_is_killed() {
    use std::os::unix::process::CommandExt;
    let words = parts::words();
    let (name, value) = parts::role("launch said");
    let mark = format!("group-{}-", std::process::id());
    let mut group = command(words[0].to_str().unwrap());
    let group = group.args(&words[1..]).env(name, value).env(MARK, &mark).process_group(0);
    let mut child = group.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut launcher = Marked { child, output, mark };
    launcher.up();
    // What has left the group is below the supervisor, which is not in it either.
    kill(Pid::from_raw(-(launcher.child.id() as i32)), Signal::SIGKILL).unwrap();
    launcher.child.wait().unwrap();
    launcher.vanish();
}

#[test]
fn a_launcher_whose_supervisor_is_killed_ends_and_so_do_ranks() {
    let mut launcher = Marked::start("launch said");
    launcher.up();
    let ranks = launcher.children(launcher.supervisor());
    assert!(ranks.len() >= 3, "{ranks:?}");
    kill(Pid::from_raw(launcher.supervisor()), Signal::SIGKILL).unwrap();
    assert!(!launcher.child.wait().unwrap().success());
    let begin = Instant::now();
    while ranks.iter().any(|rank| launcher.processes().contains(rank)) {
        assert!(begin.elapsed() < Duration::from_secs(20), "ranks {ranks:?} are left");
    }
    // What ranks had started has lost the one whom all were below, and may survive this.
    let begin = Instant::now();
    while !launcher.processes().is_empty() && begin.elapsed() < Duration::from_secs(20) {
        for process in launcher.processes() {
            let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
        }
    }
    launcher.vanish();
}
