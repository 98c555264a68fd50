//! Verbs that want real ranks, started by Slurm: a cluster of two nodes, which are hosts of a box,
//! so that nothing outside of it is used or changed.
//!
//! Where Slurm is not installed, or boxes are forbidden, the test passes after it has said so.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use crate::invocation::{End, command, end, run};
use tempfile::tempdir;

/// Two hosts with two rails.
const BOX: &str = "hosts = 2\n[[rail]]\nrate = '1 Gbit/s'\n[[rail]]\nrate = '1 Gbit/s'\n";

/// What the script ends with if no cluster came up.
const NO_CLUSTER: i32 = 77;

/// Starts the daemons on both hosts, waits until both nodes are idle, and runs the words that come
/// after the command and the folder as `srun` would. The daemons end with the box.
const SCRIPT: &str = r#"
crosstie=$1 folder=$2
shift 2
slurmctld -D -c >"$folder/slurmctld.log" 2>&1 &
slurmd -D -c -N host0 >"$folder/host0.log" 2>&1 &
"$crosstie" box enter host1 -- slurmd -D -c -N host1 >"$folder/host1.log" 2>&1 &
tries=0
until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = 2 ]; do
    tries=$((tries + 1))
    if [ $tries -gt 300 ]; then
        tail -n 3 "$folder"/*.log >&2
        exit 77
    fi
    sleep 0.1
done
srun --overcommit "$@"
"#;

/// How the cluster is described to its daemons; who can reach them is in the box, and trusted.
fn description(folder: &str, user: &str) -> String {
    format!(
        "ClusterName=box\nSlurmctldHost=host0\nSlurmUser={user}\nSlurmdUser={user}\n\
         AuthType=auth/none\nCredType=cred/none\n\
         StateSaveLocation={folder}/state\nSlurmdSpoolDir={folder}/spool-%n\n\
         SlurmctldPidFile={folder}/slurmctld.pid\nSlurmdPidFile={folder}/%n.pid\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\n\
         NodeName=host0,host1 CPUs=2 State=UNKNOWN\nPartitionName=all Nodes=ALL Default=YES State=UP\n"
    )
}

/// The folders of programs; daemons are in those of the system.
fn path() -> OsString {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::join_paths(std::env::split_paths(&path).chain(system)).unwrap()
}

/// Says why nothing was tried. Not `eprintln!`, which the harness shows of failed tests only.
fn skip(why: &str) {
    let thread = std::thread::current();
    let line = format!("skipped {}: {why}\n", thread.name().unwrap_or("a test"));
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Whether there can be a cluster here; says so if not.
fn is_there() -> bool {
    for program in ["srun", "sinfo", "slurmctld", "slurmd"] {
        if !std::env::split_paths(&path()).any(|folder| folder.join(program).is_file()) {
            skip(&format!("Slurm is not installed: there is no `{program}`"));
            return false;
        }
    }
    let checked = run(&["box", "--check"]);
    if checked.code != 0 {
        skip("Slurm is tried in a box, and this machine allows none");
    }
    checked.code == 0
}

/// Has a new cluster run the command as so many ranks; `None`, after it has been said why, if there
/// can be none.
fn srun(ranks: &str, arguments: &[&str]) -> Option<End> {
    srun_with("pmi2", ranks, arguments)
}

/// The same with a plugin for MPI.
fn srun_with(plugin: &str, ranks: &str, arguments: &[&str]) -> Option<End> {
    if !is_there() {
        return None;
    }
    let folder = tempdir().unwrap();
    let folder = folder.path();
    let user = fs::metadata(folder).unwrap().uid().to_string();
    let text = folder.to_str().unwrap();
    fs::create_dir(folder.join("state")).unwrap();
    fs::write(folder.join("slurm.conf"), description(text, &user)).unwrap();
    fs::write(folder.join("box.toml"), BOX).unwrap();
    let own = env!("CARGO_BIN_EXE_crosstie");
    let mut launcher = command(&["box", "box.toml", "--on", "host0", "--"]);
    let plugin = format!("--mpi={plugin}");
    launcher.args(["sh", "-c", SCRIPT, "sh", own, text, &plugin, "-N", "2", "-n", ranks, own]);
    launcher.args(arguments).current_dir(folder);
    // Whoever tests may do so under Slurm.
    let others = std::env::vars_os().map(|(name, _)| name);
    let is_foreign = |name: &OsString| {
        let name = name.to_string_lossy();
        ["SLURM", "PMI", "SBATCH"].iter().any(|start| name.starts_with(start))
    };
    others.filter(is_foreign).for_each(|name| _ = launcher.env_remove(name));
    launcher.env("PATH", path()).env("SLURM_CONF", folder.join("slurm.conf"));
    let end = end(&mut launcher);
    if end.code == NO_CLUSTER {
        skip(&format!("no cluster of Slurm came up:\n{}", end.stderr));
        return None;
    }
    Some(end)
}

#[test]
fn a_benchmark_takes_the_ranks_of_slurm() {
    let arguments = ["bench", "ping", "--live", "--sizes", "8,4KiB"];
    let Some(end) = srun("2", &arguments) else { return };
    let lines: Vec<String> = end.expect(0).stdout.lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 5, "one table: {lines:?}");
    assert_eq!(lines[0], "# ping on a launcher's job, live");
    assert_eq!(lines[1], "# A launcher's job of 2 ranks on 2 hosts");
    assert!(lines[3].starts_with("8 ") && lines[4].starts_with("4096 "), "{lines:?}");
}

#[test]
fn several_ranks_to_a_node_of_slurm() {
    let arguments = ["bench", "all-reduce", "--live", "--sizes", "8", "--json"];
    let Some(end) = srun("4", &arguments) else { return };
    let document = end.expect(0).json();
    assert_eq!((&document["ranks"], &document["live"]), (&4.into(), &"a launcher's job".into()));
}

#[test]
fn what_is_wrong_is_told_once_under_slurm() {
    let arguments = ["bench", "barrier", "--live", "--ranks", "4"];
    let Some(end) = srun("2", &arguments) else { return };
    let end = end.expect(2);
    let told = end.stderr.matches("--ranks: found 4, expected at most 2").count();
    assert_eq!(told, 1, "{}", end.stderr);
}

#[test]
fn ranks_that_cannot_find_each_other_say_how_they_can() {
    let Some(end) = srun_with("none", "2", &["bench", "ping", "--live"]) else { return };
    let end = end.expect(2);
    assert!(end.stderr.contains("SLURM_STEP_NUM_TASKS=2"), "{}", end.stderr);
    assert!(end.stderr.contains("start them by `srun --mpi=pmi2`"), "{}", end.stderr);
    assert_eq!(end.stdout, "");
}
