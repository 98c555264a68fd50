//! Programs on hosts: how they begin and end, and what they have of their own.

use std::io::Write;
use std::net::ToSocketAddrs;
use std::time::{Duration, Instant};

use crosstie_box::{Cluster, Command, Ending, here};
use nix::mqueue::{MQ_OFlag, MqAttr, mq_open};
use nix::sys::stat::Mode;

use crate::parts::{self, part, say};
use crate::stage::{company, live, run, shell, spec, start, try_start};

fn two() -> Option<Cluster> {
    live(&spec("hosts = ['left', 'right']\n[[rail]]\n[[rail]]\nname = 'second'"))
}

#[test]
fn codes_and_signals_come_through() {
    let _company = company();
    let Some(cluster) = two() else { return };
    for code in [0, 1, 3, 127, 255] {
        assert_eq!(shell(&cluster, 0, &format!("exit {code}")).ending, Ending::Exited(code));
    }
    // The last two are signals in real time, for which C has no names.
    for signal in [1, 2, 6, 9, 11, 15, 34, 64] {
        let ending = shell(&cluster, 0, &format!("kill -{signal} $$; sleep 9")).ending;
        assert_eq!(ending, Ending::Killed(signal));
    }
}

#[test]
fn signals_from_outside_arrive() {
    let _company = company();
    let Some(cluster) = two() else { return };
    for signal in [2, 9, 10, 15, 34] {
        let running = start(&cluster, 1, Command::new(["/bin/sleep", "30"]));
        running.program.signal(signal).unwrap();
        assert_eq!(running.end().ending, Ending::Killed(signal));
    }
    // The output is open until the last of the group has ended.
    let line = "sleep 30 & sleep 30 & echo '=> up'; wait";
    let mut running = start(&cluster, 1, Command::new(["/bin/sh", "-c", line]));
    running.until("up");
    running.program.signal(15).unwrap();
    let begin = Instant::now();
    assert_eq!(running.end().ending, Ending::Killed(15));
    assert!(begin.elapsed() < Duration::from_secs(20));
}

#[test]
fn a_program_that_nobody_waits_for_ends() {
    let _company = company();
    let Some(cluster) = two() else { return };
    let running = start(&cluster, 0, Command::new(["/bin/sleep", "30"]));
    drop(running);
    let begin = Instant::now();
    while shell(&cluster, 0, "cat /proc/[0-9]*/comm").text.contains("sleep") {
        assert!(begin.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn the_environment_says_where_a_program_is() {
    let _company = company();
    let Some(cluster) = live(&spec(
        "hosts = ['left', 'right', 'far']\n[[rail]]\nname = 'all-of-us'\nshape.switch = {}\n\
         [[rail]]\nname = 'two'\nshape.cable.between = ['left', 'far']",
    )) else {
        return;
    };
    let say = "echo $CROSSTIE_HOST $CROSSTIE_HOSTS $CROSSTIE_RAILS $(hostname 2>/dev/null || cat /proc/sys/kernel/hostname)";
    let said = [0, 1, 2].map(|host| shell(&cluster, host, say).well());
    assert_eq!(
        said.each_ref().map(|line| line.trim()),
        [
            "left left,right,far all-of-us,two left",
            "right left,right,far all-of-us right",
            "far left,right,far all-of-us,two far"
        ]
    );
    let devices = [0, 1, 2].map(|host| shell(&cluster, host, "ls /sys/class/net").well());
    assert_eq!(
        devices.each_ref().map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")),
        ["all-of-us lo two", "all-of-us lo", "all-of-us lo two"]
    );
    // What a program is given itself wins.
    let command = Command::new(["/bin/sh", "-c", "echo $ONE-$CROSSTIE_HOST; pwd"])
        .env("ONE", "1")
        .env("CROSSTIE_HOST", "mine")
        .current_dir("/usr");
    assert_eq!(start(&cluster, 1, command).end().well(), "1-mine\n/usr\n");
}

/// A part: says the addresses of a name.
pub fn resolve(words: &[&str]) -> i32 {
    let found = (words[0], 0).to_socket_addrs().map(|all| {
        let mut all: Vec<String> = all.map(|address| address.ip().to_string()).collect();
        all.dedup();
        all.join(",")
    });
    say(found.unwrap_or_else(|error| error.to_string()));
    0
}

#[test]
fn hosts_know_each_other_by_name() {
    let _company = company();
    let Some(cluster) = two() else { return };
    for (name, address) in [
        ("right", "10.0.0.2"),
        ("right-rail0", "10.0.0.2"),
        ("right-second", "10.1.0.2"),
        ("left", "10.0.0.1"),
        ("left-second", "10.1.0.1"),
    ] {
        for host in [0, 1] {
            let text = start(&cluster, host, part("resolve", &[&name])).end().well();
            assert_eq!(parts::line(&text), address, "{name} on host {host}");
        }
    }
}

#[test]
fn hosts_share_no_memory_and_no_processes() {
    let _company = company();
    let Some(cluster) = two() else { return };
    let name = format!("live-{}", std::process::id());
    shell(&cluster, 0, &format!("echo here > /dev/shm/{name}")).well();
    assert_eq!(shell(&cluster, 0, &format!("cat /dev/shm/{name}")).well(), "here\n");
    assert_eq!(shell(&cluster, 1, "ls /dev/shm").well(), "");
    assert!(!std::path::Path::new("/dev/shm").join(&name).exists());
    // The first process of a host, the shell and its child.
    let pids = shell(&cluster, 0, "echo $$; exec ls /proc").well();
    let numbers: Vec<u32> = pids.lines().filter_map(|line| line.parse().ok()).collect();
    assert!(numbers.iter().all(|pid| *pid < 100) && numbers.len() <= 4, "{numbers:?}");
    assert_eq!(
        shell(&cluster, 1, &format!("kill -0 {0} 2>/dev/null", std::process::id())).ending,
        Ending::Exited(1)
    );
    // Message queues belong to one host.
    let text = start(&cluster, 0, part("queue", &[&"make"])).end().well();
    if parts::line(&text) != "ENOSYS" {
        assert_eq!(parts::line(&text), "made");
        let look = |host: usize| start(&cluster, host, part("queue", &[&"open"])).end().well();
        assert_eq!(parts::line(&look(0)), "made");
        assert_eq!(parts::line(&look(1)), "ENOENT");
    }
    let host = shell(&cluster, 0, "readlink /proc/self/ns/ipc").well();
    let other = shell(&cluster, 1, "readlink /proc/self/ns/ipc").well();
    let own = std::fs::read_link("/proc/self/ns/ipc").unwrap();
    assert!(host != other && host.trim() != own.to_str().unwrap());
}

/// A part: makes a POSIX message queue, or opens one that is there.
pub fn queue(words: &[&str]) -> i32 {
    let create = if words[0] == "make" { MQ_OFlag::O_CREAT } else { MQ_OFlag::empty() };
    let attributes = MqAttr::new(0, 4, 64, 0);
    match mq_open("/live", create | MQ_OFlag::O_RDWR, Mode::S_IRWXU, Some(&attributes)) {
        Ok(_) => say("made"),
        Err(error) => say(format!("{error:?}")),
    }
    0
}

#[test]
fn long_arguments_and_environments_arrive() {
    let _company = company();
    let Some(cluster) = two() else { return };
    // One argument may have 128 KiB, all of them and the environment together 2 MiB.
    let long = "x".repeat(100_000);
    let mut words = vec!["/bin/sh".to_owned(), "-c".to_owned()];
    words.push("echo $# ${#1} ${#9} ${#LONG0} ${#LONG4}".to_owned());
    words.push("sh".to_owned());
    words.extend((0..10).map(|_| long.clone()));
    let command = (0..5).fold(Command::new(words), |command, number| {
        command.env(format!("LONG{number}"), long.clone())
    });
    let said = start(&cluster, 0, command).end().well();
    assert_eq!(said, "10 100000 100000 100000 100000\n");
    // More than a machine takes is refused in words.
    let words = ["/bin/true".to_owned()].into_iter().chain((0..40).map(|_| long.clone()));
    let error = try_start(&cluster, 0, Command::new(words)).err().unwrap().to_string();
    assert!(error.contains("Argument list too long"), "{error}");
}

#[test]
fn programs_that_cannot_run_are_told() {
    let _company = company();
    let Some(cluster) = two() else { return };
    let told = |words: &[&str]| {
        let error = try_start(&cluster, 1, Command::new(words.to_vec())).err().unwrap();
        error.to_string()
    };
    let missing = told(&["no-such-program"]);
    assert!(missing.contains("run `no-such-program` on `right`"), "{missing}");
    assert!(missing.contains("no program `no-such-program` on the PATH"), "{missing}");
    assert!(told(&["/no/such/file"]).contains("No such file"));
    assert!(told(&["/etc/hosts"]).contains("may not be executed"));
    assert!(told(&["/etc"]).contains("may not be executed"));
    told(&[""]);
    told(&[]);
    told(&["a\0b"]);
    // The host goes on.
    assert!(shell(&cluster, 1, "true").ending.success());
}

#[test]
fn what_programs_leave_behind_ends_with_the_box() {
    let _company = company();
    let Some(cluster) = two() else { return };
    let (mut end, held) = std::io::pipe().unwrap();
    // Daemons hold the pipe open, in sessions of their own, and heed no signal.
    let line = "trap '' HUP TERM; for i in 1 2 3; do setsid sleep 300 & done; echo done";
    let command = Command::new(["/bin/sh", "-c", line]).stderr(held);
    let text = start_and_read_line(&cluster, command);
    assert_eq!(text, "done");
    let alive = || shell(&cluster, 0, "cat /proc/[0-9]*/comm").text.matches("sleep").count();
    assert!((0..200).any(|_| alive() == 3), "{} sleep", alive());
    let begin = Instant::now();
    drop(cluster);
    // Reading ends when nobody holds the pipe any more.
    let mut rest = Vec::new();
    std::io::Read::read_to_end(&mut end, &mut rest).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(5));
}

fn start_and_read_line(cluster: &Cluster, command: Command) -> String {
    let mut running = start(cluster, 0, command);
    let line = running.line();
    assert_eq!(running.program.wait().unwrap(), Ending::Exited(0));
    line
}

/// A part: runs a program on another host, from inside.
pub fn visit(words: &[&str]) -> i32 {
    match here(
        words[0],
        &Command::new(["/bin/sh", "-c", "echo \"=> $(cat /proc/sys/kernel/hostname)\"; exit 7"]),
    ) {
        Ok(program) => i32::from(program.wait().unwrap().code()),
        Err(error) => {
            say(error.to_string().replace('\n', " / "));
            1
        }
    }
}

#[test]
fn programs_start_programs_on_other_hosts() {
    let _company = company();
    let Some(cluster) = two() else { return };
    for (from, to) in [(0, "right"), (1, "left"), (0, "left")] {
        let said = start(&cluster, from, part("visit", &[&to])).end();
        assert_eq!(parts::line(&said.text), to);
        assert_eq!(said.ending, Ending::Exited(7));
    }
    let said = start(&cluster, 0, part("visit", &[&"elsewhere"])).end();
    let line = parts::line(&said.text);
    assert!(line.contains("no such host") && line.contains("left, right"), "{line}");
    let error = here("left", &Command::new(["true"])).unwrap_err().to_string();
    assert!(error.contains("not a host of a box"), "{error}");
}

#[test]
fn many_programs_run_at_once() {
    let _company = company();
    let Some(cluster) = two() else { return };
    let (ready, gate) = std::io::pipe().unwrap();
    let all: Vec<_> = (0..200)
        .map(|number| {
            let line = format!("read x; exit {}", number % 100);
            let command = Command::new(["/bin/sh", "-c", &line]).stdin(ready.try_clone().unwrap());
            start(&cluster, number % 2, command)
        })
        .collect();
    let mut gate = gate;
    gate.write_all(&b"go\n".repeat(200)).unwrap();
    drop(gate);
    for (number, running) in all.into_iter().enumerate() {
        assert!(matches!(running.end().ending, Ending::Exited(_)), "{number}");
    }
    // From several threads too.
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let cluster = &cluster;
            scope.spawn(move || {
                for code in 0..12 {
                    let said = shell(cluster, thread % 2, &format!("exit {code}"));
                    assert_eq!(said.ending, Ending::Exited(code));
                }
            });
        }
    });
}

#[test]
fn input_and_output_are_those_that_were_given() {
    let _company = company();
    let Some(cluster) = two() else { return };
    let (input, mut feed) = std::io::pipe().unwrap();
    let (errors, told) = std::io::pipe().unwrap();
    let command = Command::new(["/bin/sh", "-c", "cat; echo lost >&2"]).stdin(input).stderr(told);
    let running = start(&cluster, 0, command);
    feed.write_all(b"through").unwrap();
    drop(feed);
    assert_eq!(running.end().well(), "through");
    let mut text = String::new();
    std::io::Read::read_to_string(&mut { errors }, &mut text).unwrap();
    assert_eq!(text, "lost\n");
    // Nothing else of the maker is open: the three, and the folder that is listed.
    let open = run(&cluster, 1, ["ls", "/proc/self/fd"]).well();
    assert_eq!(open.split_whitespace().collect::<Vec<_>>().join(" "), "0 1 2 3");
}
