//! Ranks learn from each other under every launcher.

use std::io::{PipeReader, Read, pipe};
use std::os::fd::OwnedFd;
use std::process::Command;

use crosstie_launch::{LONGEST, Launcher, Outcome};

use crate::parts;
use crate::stage::{command, installed, skip, well};

/// What ranks say that have learned all there is to learn.
fn learned(size: usize) -> Vec<String> {
    let all: Vec<String> = (0..size).map(|rank| rank.to_string()).collect();
    let line = |rank| format!("rank {rank} of {size}: true {} true", all.join(","));
    (0..size).map(line).collect()
}

/// The ranks of a part under our own launcher, and what they print.
fn launched(size: usize, part: &str) -> (Outcome, String) {
    let (mut output, input) = pipe().unwrap();
    let (name, value) = parts::role(part);
    let launcher = Launcher::new(size, parts::words()).env(name, value);
    let group = launcher.start(|_| {
        let input = || input.try_clone().map(|input| Some(OwnedFd::from(input)));
        Ok([None, input()?, None])
    });
    drop(input);
    let reader = std::thread::spawn(move || read(&mut output));
    (group.unwrap().wait().unwrap(), reader.join().unwrap())
}

fn read(output: &mut PipeReader) -> String {
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    text
}

/// The ranks of a part under another launcher.
fn under(launcher: &str, arguments: &[&str], part: &str) -> Command {
    let mut command = command(launcher);
    let (name, value) = parts::role(part);
    command.args(arguments).args(parts::words()).env(name, value);
    command
}

#[test]
fn alone() {
    let words = parts::words();
    let (name, value) = parts::role("exchange 5000");
    let mut command = command(words[0].to_str().unwrap());
    let text = well(command.args(&words[1..]).env(name, value));
    assert_eq!(parts::lines(&text), learned(1));
}

#[test]
fn under_our_own() {
    for (size, part) in [(1, "exchange 10"), (4, "exchange 5000"), (12, "exchange 0")] {
        let (outcome, text) = launched(size, part);
        assert_eq!(outcome.failure, None);
        let mut expected = learned(size);
        expected.sort();
        assert_eq!(parts::lines(&text), expected);
    }
}

#[test]
fn the_longest_contributions_arrive() {
    let (_, text) = launched(3, &format!("exchange {}", LONGEST - 2));
    assert_eq!(parts::lines(&text), learned(3));
}

#[test]
fn aborts_reach_our_own() {
    let (outcome, _) = launched(3, "abort 1");
    let failure = outcome.failure.unwrap();
    assert_eq!(failure.to_string(), "rank 1 aborted with code 42: cannot_go_on");
    assert_eq!(failure.code(), 42);
}

#[test]
fn who_waits_in_vain_is_told_by_our_own() {
    let (outcome, text) = launched(3, "leave");
    assert_eq!(outcome.failure, None);
    let told = "cannot wait for all ranks at a fence: the launcher refuses: rank_2_has_left";
    assert_eq!(parts::lines(&text), [told; 2]);
}

#[test]
fn under_hydra() {
    if !installed("mpiexec.hydra") {
        return;
    }
    for part in ["exchange 10", "exchange 5000"] {
        let text = well(&mut under("mpiexec.hydra", &["-n", "4"], part));
        assert_eq!(parts::lines(&text), learned(4));
    }
    let longest = format!("exchange {}", LONGEST - 1);
    let text = well(&mut under("mpiexec.hydra", &["-n", "2"], &longest));
    assert_eq!(parts::lines(&text), learned(2));
}

#[test]
fn under_hydra_at_a_port() {
    if !installed("mpiexec.hydra") {
        return;
    }
    let text = well(&mut under("mpiexec.hydra", &["-pmi-port", "-n", "3"], "exchange 3000"));
    assert_eq!(parts::lines(&text), learned(3));
}

#[test]
fn aborts_reach_hydra() {
    if !installed("mpiexec.hydra") {
        return;
    }
    let status = under("mpiexec.hydra", &["-n", "3"], "abort 1").output().unwrap().status;
    assert_eq!(status.code(), Some(42));
}

#[test]
fn under_slurm() {
    if !installed("srun") {
        return;
    }
    // How many nodes are idle, partition by partition; nothing where no cluster runs.
    let idle = command("sinfo").args(["-h", "-t", "idle", "-o", "%D"]).output();
    let idle = idle.map(|idle| String::from_utf8_lossy(&idle.stdout).into_owned());
    let idle = idle.unwrap_or_default();
    if !idle.lines().any(|count| count.trim().parse::<u32>().is_ok_and(|count| count > 0)) {
        return skip("no cluster of Slurm has an idle node");
    }
    let arguments = ["--mpi=pmi2", "--overcommit", "-n", "4", "--immediate=20"];
    for part in ["exchange 10", "exchange 5000"] {
        let text = well(&mut under("srun", &arguments, part));
        assert_eq!(parts::lines(&text), learned(4));
    }
}

#[test]
fn programs_of_mpich_under_our_own() {
    if !installed("mpicc.mpich") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (source, program) = (folder.path().join("sum.c"), folder.path().join("sum"));
    std::fs::write(&source, SUM).unwrap();
    let compiled = command("mpicc.mpich").arg("-o").arg(&program).arg(&source).output().unwrap();
    if String::from_utf8_lossy(&compiled.stderr).contains("mpi.h: No such file") {
        return skip("MPICH is installed without its headers");
    }
    assert!(compiled.status.success(), "{compiled:?}");
    let (mut output, input) = pipe().unwrap();
    let group = Launcher::new(4, [&program]).start(|_| {
        let input = input.try_clone().map(OwnedFd::from)?;
        Ok([None, Some(input), None])
    });
    drop(input);
    let reader = std::thread::spawn(move || read(&mut output));
    let outcome = group.unwrap().wait().unwrap();
    assert_eq!(outcome.failure, None);
    assert_eq!(parts::lines(&reader.join().unwrap()), ["6 of 4"; 4]);
}

/// Every rank prints the sum of all.
const SUM: &str = r#"
#include <mpi.h>
#include <stdio.h>
int main(int count, char **words) {
    int rank, size, sum;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("=> %d of %d\n", sum, size);
    return MPI_Finalize();
}
"#;
