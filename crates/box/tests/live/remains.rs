//! Nothing is left of a box, however it ends.
//!
//! Makers of boxes are processes of their own here. A mark in their environment is inherited by all
//! processes of their boxes, so that others do not matter.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use crosstie_box::{Cluster, Command, Spec};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::parts::{self, say};
use crate::stage::{company, forbidden, patiently, quiet, run, skip, spec};

/// The variable that marks a maker and its boxes.
const MARK: &str = "CROSSTIE_LIVE_MARK";

fn boxed() -> Spec {
    spec("hosts = 3\n[[rail]]\nrate = '1 Gbit/s'\n[[rail]]\nshape.cable.between = [0, 1]")
}

/// A part: makes a box with programs that ignore signals and leave children behind, and waits for
/// the end of that on one host; says how it ended and whether the box stands, and leaves it.
pub fn make_one(words: &[&str]) -> i32 {
    let cluster = match Cluster::start(&boxed()) {
        Ok(cluster) => cluster,
        Err(error) => {
            say(error.to_string().replace('\n', " / "));
            return 1;
        }
    };
    let line = "trap '' HUP TERM; setsid sleep 300 & sleep 300; sleep 300";
    let programs =
        [0, 1, 2].map(|host| cluster.spawn(host, &Command::new(["/bin/sh", "-c", line])));
    say("up");
    let host: usize = words[0].parse().unwrap();
    if let Ok(program) = &programs[host] {
        say(format!("{:?} {}", program.wait().unwrap(), cluster.stands()));
    }
    if cluster.stands() {
        assert_eq!(run(&cluster, (host + 1) % 3, ["/bin/echo", "on"]).well(), "on\n");
    }
    drop(cluster);
    say("left");
    0
}

/// A part: makes boxes in a row; says how many files it has open after the first and after the
/// last.
pub fn make_many(words: &[&str]) -> i32 {
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    let mut files = Vec::new();
    for number in 0..words[0].parse().unwrap() {
        let cluster = Cluster::start(&boxed()).unwrap();
        let line = "echo > /dev/shm/left; setsid sleep 300 > /dev/null 2>&1 &";
        let program = cluster.spawn(number % 3, &Command::new(["/bin/sh", "-c", line])).unwrap();
        assert!(program.wait().unwrap().success());
        drop((program, cluster));
        files.push(open());
    }
    assert_eq!(mounts(), before);
    say(format!("{} {}", files[0], files.last().unwrap()));
    0
}

/// A maker of boxes, with its mark and a folder for what it may leave.
struct Maker {
    child: Child,
    output: BufReader<ChildStdout>,
    mark: String,
    folder: tempfile::TempDir,
}

impl Maker {
    fn start(part: &str, argument: usize) -> Maker {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("{}-{}-", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = tempfile::tempdir().unwrap();
        let (name, role) = parts::role(part, &[&argument]);
        let words = parts::words();
        let mut child = std::process::Command::new(&words[0])
            .args(&words[1..])
            .env(name, role)
            .env(MARK, &mark)
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Maker { child, output, mark, folder }
    }

    /// The next line that it says; `None` after the last.
    fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.output.buffer().is_empty() {
                let mut files = [PollFd::new(self.output.get_ref().as_fd(), PollFlags::POLLIN)];
                let ready = poll(&mut files, PollTimeout::from(20_000u16)).unwrap();
                assert!(ready > 0, "the maker of a box says nothing and does not end");
            }
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some((_, said)) = line.trim_end().split_once("=> ") {
                return Some(said.to_owned());
            }
        }
    }

    fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// The processes that have its mark.
    fn processes(&self) -> Vec<i32> {
        let needle = format!("{MARK}={}", self.mark);
        all_processes()
            .filter(|pid| {
                let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|part| part == needle.as_bytes())
            })
            .collect()
    }

    /// The children of one of these.
    fn children(&self, parent: i32) -> Vec<i32> {
        let mut all = self.processes();
        all.retain(|pid| {
            let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            status.lines().any(|line| {
                line.strip_prefix("PPid:").is_some_and(|text| text.trim() == parent.to_string())
            })
        });
        all
    }

    /// The process that holds the box, when there is one.
    fn keeper(&self) -> i32 {
        let begin = Instant::now();
        loop {
            if let Some(keeper) = self.children(self.pid()).first() {
                return *keeper;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "there is no keeper");
        }
    }

    /// The namespaces of its boxes.
    fn namespaces(&self) -> BTreeSet<String> {
        let mut own = BTreeSet::new();
        namespaces_of(std::process::id() as i32, &mut own);
        let mut all = BTreeSet::new();
        for pid in self.processes() {
            namespaces_of(pid, &mut all);
        }
        all.difference(&own).cloned().collect()
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// How long it takes until all of its boxes is gone; that it does not go is a failure.
    fn vanish(&mut self, namespaces: &BTreeSet<String>) -> Duration {
        let begin = Instant::now();
        loop {
            let processes = self.processes();
            let held: Vec<String> = held(namespaces);
            if processes.is_empty() && held.is_empty() {
                break;
            }
            let left = format!("processes {processes:?}, namespaces {held:?} are left");
            assert!(begin.elapsed() < Duration::from_secs(10), "{left}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let took = begin.elapsed();
        assert_eq!(fs::read_dir(self.folder.path()).unwrap().count(), 0);
        for name in ["hosts", "host0", "bin", "left"] {
            assert!(!fs::exists(format!("/dev/shm/{name}")).unwrap(), "{name} is left");
        }
        took
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All processes but those that have ended, which the first process of a machine need not notice at
/// once.
fn all_processes() -> impl Iterator<Item = i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let all = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    all.filter(|pid| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        !status.lines().any(|line| line.starts_with("State:\tZ"))
    })
}

fn namespaces_of(pid: i32, into: &mut BTreeSet<String>) {
    for kind in ["net", "mnt", "pid", "pid_for_children", "uts", "ipc", "user"] {
        if let Ok(link) = fs::read_link(format!("/proc/{pid}/ns/{kind}")) {
            into.insert(link.to_string_lossy().into_owned());
        }
    }
}

/// Those of some namespaces that a process of this machine is in, or holds open. Their numbers are
/// given again to those of other boxes, so nobody may make any meanwhile.
fn held(namespaces: &BTreeSet<String>) -> Vec<String> {
    if namespaces.is_empty() {
        return Vec::new();
    }
    let mut found = BTreeSet::new();
    for pid in all_processes() {
        namespaces_of(pid, &mut found);
        let Ok(files) = fs::read_dir(format!("/proc/{pid}/fd")) else { continue };
        let links = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
        found.extend(links.map(|link| link.to_string_lossy().into_owned()));
    }
    namespaces.intersection(&found).cloned().collect()
}

/// Moments that are spread over a time.
fn moments(count: u64, most: Duration) -> impl Iterator<Item = Duration> {
    (0..count).map(move |number| most.mul_f64((number as f64 * 0.618_034).fract()))
}

fn soon(took: Duration) -> Result<(), String> {
    match took < Duration::from_secs(1) {
        true => Ok(()),
        false => Err(format!("it took {took:?}")),
    }
}

fn no_boxes() -> bool {
    let none = forbidden();
    if none {
        skip("this machine forbids namespaces");
    }
    none
}

#[test]
fn a_hundred_boxes_in_a_row_leave_nothing() {
    let _company = company();
    if no_boxes() {
        return;
    }
    let mut maker = Maker::start("make-many", 100);
    let files = maker.line().expect("it makes all of them");
    let (first, last) = files.split_once(' ').unwrap();
    assert_eq!(first, last, "files stay open");
    // It ends by itself.
    assert!(maker.child.wait().unwrap().success());
    maker.vanish(&BTreeSet::new());
}

#[test]
fn a_box_ends_with_its_maker() {
    let _quiet = quiet();
    if no_boxes() {
        return;
    }
    patiently(3, || {
        let mut maker = Maker::start("make-one", 0);
        assert_eq!(maker.line().as_deref(), Some("up"));
        let namespaces = maker.namespaces();
        // Those of the keeper and of three hosts: what they are in, and one of users.
        assert!(namespaces.len() >= 4 * 4, "{namespaces:?}");
        maker.kill();
        soon(maker.vanish(&namespaces))
    });
}

#[test]
fn makers_that_are_killed_at_any_moment_leave_nothing() {
    let _company = company();
    if no_boxes() {
        return;
    }
    for moment in moments(40, Duration::from_millis(80)) {
        patiently(3, || {
            let mut maker = Maker::start("make-one", 0);
            std::thread::sleep(moment);
            maker.kill();
            soon(maker.vanish(&BTreeSet::new()))
        });
    }
}

#[test]
fn a_box_ends_with_its_keeper() {
    let _quiet = quiet();
    if no_boxes() {
        return;
    }
    patiently(3, || {
        let mut maker = Maker::start("make-one", 1);
        assert_eq!(maker.line().as_deref(), Some("up"));
        let namespaces = maker.namespaces();
        kill(Pid::from_raw(maker.keeper()), Signal::SIGKILL).unwrap();
        assert_eq!(maker.line().as_deref(), Some("Lost false"));
        assert_eq!(maker.line().as_deref(), Some("left"));
        assert!(maker.child.wait().unwrap().success());
        soon(maker.vanish(&namespaces))
    });
}

#[test]
fn keepers_that_are_killed_at_any_moment_leave_nothing() {
    let _company = company();
    if no_boxes() {
        return;
    }
    let count = std::env::var("CROSSTIE_LIVE_KEEPERS").ok().and_then(|text| text.parse().ok());
    for moment in moments(count.unwrap_or(30), Duration::from_millis(15)) {
        patiently(3, || {
            let mut maker = Maker::start("make-one", 1);
            let keeper = maker.keeper();
            std::thread::sleep(moment);
            kill(Pid::from_raw(keeper), Signal::SIGKILL).unwrap();
            // The maker is told, whether its box stands already or not.
            while maker.line().is_some() {}
            maker.child.wait().unwrap();
            soon(maker.vanish(&BTreeSet::new()))
        });
    }
}

#[test]
fn a_host_that_is_killed_takes_nobody_along() {
    let _quiet = quiet();
    if no_boxes() {
        return;
    }
    patiently(3, || {
        let mut maker = Maker::start("make-one", 2);
        assert_eq!(maker.line().as_deref(), Some("up"));
        // Processes are numbered in the order of the hosts.
        let mut firsts = maker.children(maker.keeper());
        firsts.sort_unstable();
        let namespaces = maker.namespaces();
        kill(Pid::from_raw(firsts[2]), Signal::SIGKILL).unwrap();
        assert_eq!(maker.line().as_deref(), Some("Lost true"));
        assert_eq!(maker.line().as_deref(), Some("left"));
        assert!(maker.child.wait().unwrap().success());
        soon(maker.vanish(&namespaces))
    });
}
