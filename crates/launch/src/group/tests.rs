use super::*;
use crate::Launcher;
use std::os::fd::OwnedFd;
use std::thread;

/// Ranks of a shell, each with the same line, and all that they print.
fn shell(size: usize, line: &str) -> (ProcessGroup, PipeReader) {
    started(Launcher::new(size, ["/bin/sh", "-c", line]).grace(Duration::from_millis(300)))
}

fn started(launcher: Launcher) -> (ProcessGroup, PipeReader) {
    let (output, input) = io::pipe().unwrap();
    let group = launcher
        .start(|_| {
            let input = || input.try_clone().map(|input| Some(OwnedFd::from(input)));
            Ok([None, input()?, input()?])
        })
        .unwrap();
    (group, output)
}

/// The lines of a text in order.
fn sorted(mut output: PipeReader) -> Vec<String> {
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn endings(outcome: &Outcome) -> Vec<Ending> {
    outcome.ranks.iter().map(|rank| rank.ending).collect()
}

#[test]
fn ranks_know_who_they_are() {
    let line =
        "echo $PMI_RANK $PMI_SIZE $MPI_LOCALRANKID $MPI_LOCALNRANKS; cat; [ -S /dev/fd/$PMI_FD ]";
    let (group, output) = shell(3, &format!("exec < /dev/null; {line}"));
    let outcome = group.wait().unwrap();
    assert_eq!(endings(&outcome), [Ending::Exited(0); 3]);
    assert_eq!((&outcome.failure, outcome.interrupted), (&None, false));
    assert_eq!(sorted(output), ["0 3 0 3", "1 3 1 3", "2 3 2 3"]);
}

#[test]
fn ranks_have_no_files_of_others() {
    let (group, output) = shell(2, "ls /dev/fd | while read f; do echo $f; done");
    group.wait().unwrap();
    let mut files = sorted(output);
    files.dedup();
    // The standard ones, the socket, and what `ls` has opened itself.
    assert_eq!(files, ["0", "1", "2", "3", "4"]);
}

#[test]
fn the_first_failure_ends_the_others() {
    let line = "[ $PMI_RANK = 1 ] && exit 7; exec sleep 100";
    let (group, _output) = shell(3, line);
    let begin = Instant::now();
    let outcome = group.wait().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(60));
    let term = Ending::Killed(libc::SIGTERM);
    assert_eq!(endings(&outcome), [term, Ending::Exited(7), term]);
    let failure = outcome.failure.unwrap();
    assert_eq!((failure.rank(), failure.code()), (1, 7));
    assert_eq!(failure.to_string(), "rank 1 ended with code 7");
}

#[test]
fn who_does_not_listen_is_killed() {
    let line =
        "[ $PMI_RANK = 0 ] && sleep 0.2 && kill -9 $$; trap '' TERM; while :; do sleep 0.1; done";
    let (group, _output) = shell(2, line);
    let outcome = group.wait().unwrap();
    assert_eq!(endings(&outcome), [Ending::Killed(9); 2]);
    assert_eq!(outcome.failure.unwrap().to_string(), "rank 0 was ended by signal 9, SIGKILL");
}

#[test]
fn aborts_have_their_code_and_message() {
    let line =
        "[ $PMI_RANK = 2 ] && echo cmd=abort exitcode=42 message=no way out >&3; exec sleep 100";
    let (group, _output) = shell(3, line);
    let failure = group.wait().unwrap().failure.unwrap();
    assert_eq!((failure.rank(), failure.code()), (2, 42));
    assert_eq!(failure.to_string(), "rank 2 aborted with code 42: no way out");
}

#[test]
fn nonsense_is_a_failure() {
    let (group, _output) = shell(2, "[ $PMI_RANK = 1 ] && echo hello >&3; exec sleep 100");
    let failure = group.wait().unwrap().failure.unwrap();
    assert_eq!(failure.code(), 1);
    let told = "rank 1 said `hello` to its launcher, expected a request of PMI-1";
    assert_eq!(failure.to_string(), told);
}

#[test]
fn codes_of_failures_are_never_zero() {
    let failure = Failure::Aborted { rank: 0, code: 256, message: String::new() };
    assert_eq!((failure.code(), failure.to_string().as_str()), (1, "rank 0 aborted with code 256"));
}

#[test]
fn ranks_are_asked_before_they_are_killed() {
    let line = "exec 2> /dev/null; trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.02; done";
    let (group, mut output) =
        started(Launcher::new(2, ["/bin/sh", "-c", line]).grace(Duration::from_secs(60)));
    let ender = group.ender().unwrap();
    let waits = thread::spawn(move || group.wait());
    output.read_exact(&mut [0; 12]).unwrap();
    ender.end();
    let outcome = waits.join().unwrap().unwrap();
    assert!(outcome.interrupted);
    assert_eq!(endings(&outcome), [Ending::Exited(3); 2]);
    assert_eq!(sorted(output), ["asked", "asked"]);
}

#[test]
fn the_second_wish_is_an_order() {
    let line =
        "exec 2> /dev/null; trap 'echo asked' TERM; echo ready; while :; do sleep 0.02; done";
    let (group, mut output) =
        started(Launcher::new(1, ["/bin/sh", "-c", line]).grace(Duration::from_secs(600)));
    let ender = group.ender().unwrap();
    let waits = thread::spawn(move || group.wait());
    output.read_exact(&mut [0; 6]).unwrap();
    ender.end();
    output.read_exact(&mut [0; 6]).unwrap();
    ender.end();
    let outcome = waits.join().unwrap().unwrap();
    assert_eq!(endings(&outcome), [Ending::Killed(9)]);
}

#[test]
fn what_the_kernel_cannot_start_is_told() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("garbage");
    std::fs::write(&file, b"\x7fELF, but not really").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let group = Launcher::new(2, [&file]).start(|_| Ok([None, None, None])).unwrap();
    let error = group.wait().unwrap_err();
    assert!(matches!(error, LaunchError::Start { .. }), "{error}");
    assert!(error.to_string().contains("garbage`: Exec format error"), "{error}");
}

#[test]
fn a_group_that_is_dropped_is_gone() {
    // What has left its parents, and its session, is gone too: the output closes.
    let line = "trap '' TERM HUP; setsid sh -c 'sleep 100 & sleep 100' & echo ready; sleep 100";
    let (group, mut output) = shell(2, line);
    output.read_exact(&mut [0; 12]).unwrap();
    drop(group);
    if cfg!(target_os = "linux") {
        assert_eq!(sorted(output), [""; 0]);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn what_ranks_leave_behind_ends_with_them() {
    let (group, output) = shell(3, "setsid sleep 100 & echo $!");
    let outcome = group.wait().unwrap();
    assert_eq!(endings(&outcome), [Ending::Exited(0); 3]);
    for process in sorted(output) {
        assert!(!std::fs::exists(format!("/proc/{process}")).unwrap(), "{process} is left");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_supervisor_that_is_killed_takes_ranks_along_and_is_missed() {
    let (group, mut output) = shell(2, "echo $$; exec sleep 100");
    let mut said = String::new();
    while said.lines().count() < 2 || !said.ends_with('\n') {
        let mut byte = [0];
        output.read_exact(&mut byte).unwrap();
        said.push(char::from(byte[0]));
    }
    nix::sys::signal::kill(group.supervisor, nix::sys::signal::SIGKILL).unwrap();
    assert!(matches!(group.wait(), Err(LaunchError::Lost)));
    assert_eq!(sorted(output), [""; 0], "nobody has the output open any more");
}

#[test]
#[cfg(target_os = "linux")]
fn groups_leave_no_files_open() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let run = || shell(2, "true").0.wait().unwrap();
    run();
    // Other tests open and close files meanwhile; a leak would be as many as there are groups.
    let before = open();
    for _ in 0..100 {
        run();
    }
    assert!(open() < before + 100, "{before} files before, {} behind", open());
}
