//! `crosstie launch`: ranks on this machine, how they end, and what is left of them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::invocation::{End, command, end, run, run_in};
use signal_hook::consts::{SIGINT, SIGKILL, SIGTERM};
use tempfile::tempdir;

/// The command in an environment in which nobody has launched anything.
fn launch(arguments: &[&str]) -> Command {
    let all: Vec<&str> = ["launch"].iter().chain(arguments).copied().collect();
    let mut command = command(&all);
    for name in ["PMI_FD", "PMI_PORT", "PMI_ID", "PMI_RANK", "PMI_SIZE", "CROSSTIE_RAILS"] {
        command.env_remove(name);
    }
    command
}

/// Ranks of a shell, each with the same line.
fn shell(arguments: &[&str], line: &str) -> End {
    let all: Vec<&str> = arguments.iter().copied().chain(["--", "sh", "-c", line]).collect();
    end(&mut launch(&all))
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn ranks_know_who_they_are_and_their_lines_are_labelled() {
    let line =
        "echo $PMI_RANK of $PMI_SIZE, here $MPI_LOCALRANKID of $MPI_LOCALNRANKS; printf end >&2";
    let plain = shell(&["-n", "3"], line).expect(0);
    let expected = ["0 of 3, here 0 of 3", "1 of 3, here 1 of 3", "2 of 3, here 2 of 3"];
    assert_eq!(sorted(&plain.stdout), expected);
    assert_eq!(sorted(&plain.stderr), ["end"; 3], "lines are whole");
    let labelled = shell(&["-n", "2", "--label"], line).expect(0);
    assert_eq!(sorted(&labelled.stdout), ["0: 0 of 2, here 0 of 2", "1: 1 of 2, here 1 of 2"]);
    assert_eq!(sorted(&labelled.stderr), ["0: end", "1: end"]);
}

#[test]
fn dashes_before_the_program_are_not_a_must() {
    let end = end(&mut launch(&["-n", "2", "sh", "-c", "echo $0", "--label"])).expect(0);
    assert_eq!(sorted(&end.stdout), ["--label"; 2], "what stands behind a program is for it");
}

#[test]
fn variables_pass_through_and_rails_are_chosen() {
    let line = "echo $CROSSTIE_ANY $CROSSTIE_RAILS $PMI_JOBID; exit 0";
    let words = ["-n", "1", "--rails", "eth0,eth1", "--", "sh", "-c", line];
    let mut command = launch(&words);
    // What another launcher has told this one is not for its ranks.
    command.env("CROSSTIE_ANY", "any").env("CROSSTIE_RAILS", "eth7").env("PMI_JOBID", "17");
    assert_eq!(end(&mut command).expect(0).stdout, "any eth0,eth1\n");
}

#[test]
fn standard_input_is_for_rank_0() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("input");
    File::create(&path).unwrap().write_all(b"from outside\n").unwrap();
    let mut command = launch(&["-n", "3", "--label", "--", "cat"]);
    let end = end(command.stdin(File::open(path).unwrap())).expect(0);
    assert_eq!(end.stdout, "0: from outside\n");
}

#[test]
fn the_first_failure_is_told_and_its_code_passed_on() {
    let end = shell(&["-n", "3"], "[ $PMI_RANK = 1 ] && exit 7; exec sleep 100").expect(7);
    assert_eq!(end.stderr, "rank 1 ended with code 7; the others were told to end\n");
    let end = shell(&["-n", "1"], "kill -SEGV $$").expect(139);
    assert_eq!(end.stderr, "rank 0 was ended by signal 11, SIGSEGV\n");
    let abort = "[ $PMI_RANK = 2 ] && echo cmd=abort exitcode=5 message=no way >&3; exec sleep 100";
    let end = shell(&["-n", "3"], abort).expect(5);
    let told = "rank 2 aborted with code 5: no way; the others were told to end\n";
    assert_eq!(end.stderr, told);
    assert_eq!(shell(&["-n", "2", "-q"], "exit 3").expect(3).stderr, "");
}

#[test]
fn endings_are_data() {
    // Rank 1 fails once both have printed: its failure ends rank 0.
    let folder = tempdir().unwrap();
    let both = folder.path().join("both");
    let line = format!(
        "echo printed; [ $PMI_RANK = 0 ] && touch {both} && exec sleep 100; \
         until [ -e {both} ]; do sleep 0.01; done; exit 7",
        both = both.display()
    );
    let end = shell(&["-n", "2", "--json"], &line).expect(7);
    let document = end.json();
    let ranks = document["ranks"].as_array().unwrap();
    assert_eq!(
        (&ranks[1]["rank"], &ranks[1]["code"], ranks[1]["signal"].is_null()),
        (&1.into(), &7.into(), true)
    );
    assert_eq!((ranks[0]["code"].is_null(), &ranks[0]["signal"]), (true, &SIGTERM.into()));
    assert!(ranks.iter().all(|rank| rank["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0)));
    assert_eq!(document["failure"]["rank"], 1);
    assert_eq!(document["failure"]["what"], "rank 1 ended with code 7");
    assert_eq!(document["interrupted"], false);
    assert_eq!(end.stderr.matches("printed\n").count(), 2, "{end:#?}");
    let well = shell(&["-n", "1", "--json"], "true").expect(0).json();
    assert!(well["failure"].is_null() && well["ranks"][0]["code"] == 0, "{well}");
}

#[test]
fn mistakes_are_the_users() {
    let folder = tempdir().unwrap();
    File::create(folder.path().join("data")).unwrap();
    for (words, told) in [
        (&["-n", "0", "--", "true"][..], "0 is not in 1..=4096"),
        (&["-n", "x", "--", "true"], "invalid value 'x'"),
        (&["-n", "2"], "<PROGRAM>"),
        (&["--", "true"], "--ranks <N>"),
        (&["-n", "2", "--labl", "--", "true"], "a similar argument exists: '--label'"),
        (&["-n", "2", "--", "crosstie-no-such-program"], "no such program on the PATH"),
        (&["-n", "2", "--", "./absent"], "cannot run `./absent`: there is no such file"),
        (&["-n", "2", "--", "./data"], "./data may not be executed"),
        (&["-n", "2", "--", "./"], "is a folder"),
    ] {
        let all: Vec<&str> = ["launch"].iter().chain(words).copied().collect();
        let end = run_in(folder.path(), &all).expect(2);
        assert!(end.stderr.contains(told), "{end:#?}");
    }
}

/// A launcher that runs, and the processes of its ranks: those who have its mark in their
/// environment.
struct Running {
    child: Child,
    mark: String,
}

impl Running {
    /// Starts ranks that say `up`, and waits until all have.
    fn start(ranks: usize, line: &str) -> Running {
        let mark = format!("CROSSTIE_LAUNCH_MARK={}-{line}", std::process::id());
        let (name, value) = mark.split_once('=').unwrap();
        let count = ranks.to_string();
        let words = ["-n", &count, "--", "sh", "-c", line];
        let mut command = launch(&words);
        let mut child =
            command.env(name, value).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.as_mut().unwrap());
        for _ in 0..ranks {
            let mut said = String::new();
            output.read_line(&mut said).unwrap();
            assert_eq!(said, "up\n");
        }
        Running { child, mark }
    }

    fn signal(&self, number: i32) {
        let sent =
            Command::new("kill").args([format!("-{number}"), self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for its end; the exit code, or the signal below zero, and what it said last.
    fn end(&mut self) -> (i32, String) {
        use std::os::unix::process::ExitStatusExt;
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let status = self.child.wait().unwrap();
        (status.code().unwrap_or_else(|| -status.signal().unwrap()), said)
    }

    /// Waits until nobody has the mark; that somebody keeps it is a failure.
    #[cfg(target_os = "linux")]
    fn vanish(&self) {
        let begin = Instant::now();
        loop {
            let entries = std::fs::read_dir("/proc").unwrap().flatten();
            let left: Vec<_> = entries
                .filter(|entry| {
                    let environment =
                        std::fs::read(entry.path().join("environ")).unwrap_or_default();
                    environment.split(|byte| *byte == 0).any(|part| part == self.mark.as_bytes())
                })
                .map(|entry| entry.file_name())
                .collect();
            if left.is_empty() {
                return;
            }
            assert!(begin.elapsed() < Duration::from_secs(20), "processes {left:?} are left");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn vanish(&self) {
        let _ = (&self.mark, Duration::ZERO, Instant::now());
    }
}

/// What ranks leave behind that does not listen, and has a session of its own.
const LEFT: &str =
    "trap '' HUP; setsid sh -c 'trap \"\" TERM HUP; sleep 300; sleep 300' > /dev/null 2>&1 &";

#[test]
fn ctrl_c_ends_all() {
    for signal in [SIGINT, SIGTERM] {
        let mut running = Running::start(3, &format!("{LEFT} echo up; exec sleep 300; # {signal}"));
        running.signal(signal);
        assert_eq!(running.end(), (130, "interrupted: all ranks have been ended\n".to_owned()));
        running.vanish();
    }
}

#[test]
fn ranks_that_do_not_listen_are_killed_in_the_end() {
    let line = format!("trap '' TERM; {LEFT} echo up; while :; do sleep 0.1; done 2> /dev/null");
    let mut running = Running::start(2, &line);
    running.signal(SIGINT);
    assert_eq!(running.end().0, 130);
    running.vanish();
}

#[test]
fn a_launcher_that_is_killed_leaves_nothing() {
    let line = format!("trap '' TERM; {LEFT} echo up; while :; do sleep 0.1; done 2> /dev/null");
    let mut running = Running::start(3, &line);
    running.signal(SIGKILL);
    // Its end is seen at once, because nobody else has its stderr.
    assert_eq!(running.end(), (-SIGKILL, String::new()));
    running.vanish();
}

#[test]
fn what_ranks_leave_running_ends_with_them() {
    let mut running = Running::start(2, &format!("{LEFT} echo up"));
    assert_eq!(running.end(), (0, String::new()));
    running.vanish();
}

#[test]
fn help_tells_how_ranks_end() {
    let help = run(&["launch", "--help"]).expect(0).stdout;
    for words in ["SIGTERM", "PMI_FD", "130 after Ctrl-C", "srun --mpi=pmi2"] {
        assert!(help.contains(words), "{words}: {help}");
    }
}

/// As `crosstie launch -- yes | head -1`.
#[test]
fn ranks_end_when_nobody_reads_what_they_print() {
    let mut child = launch(&["-n", "2", "--", "yes"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "y\n");
    drop(output);
    let left = child.wait_with_output().unwrap();
    assert_eq!(left.status.code(), Some(141), "{left:?}");
    assert!(left.stderr.is_empty(), "{left:?}");
}
