//! `crosstie box`: programs on hosts of a box, and what is wrong with files and machines.

use std::fs;

use crate::invocation::{End, command, end, run, run_in};
use tempfile::{TempDir, tempdir};

const TWO: &str =
    "title = 'Two'\nhosts = ['a', 'b']\n[[rail]]\nname = 'one'\n[[rail]]\nrate = '100 Mbit/s'\n";

/// A folder with a box file in it, if this machine allows boxes.
fn folder() -> Option<TempDir> {
    let checked = run(&["box", "--check"]);
    if checked.code != 0 {
        eprintln!(
            "skipped, because this machine allows no boxes:\n{}{}",
            checked.stdout, checked.stderr
        );
        return None;
    }
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("two.toml"), TWO).unwrap();
    Some(folder)
}

fn boxed(folder: &TempDir, arguments: &[&str]) -> End {
    let all: Vec<&str> = ["box", "two.toml"].iter().chain(arguments).copied().collect();
    run_in(folder.path(), &all)
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn a_program_runs_on_every_host_and_its_lines_are_labelled() {
    let Some(folder) = folder() else { return };
    let script = "echo I am $CROSSTIE_HOST of $CROSSTIE_HOSTS on $CROSSTIE_RAILS; hostname; \
                  printf 'no end' >&2";
    let end = boxed(&folder, &["--", "sh", "-c", script]).expect(0);
    assert_eq!(
        sorted(&end.stdout),
        ["a: I am a of a,b on one,rail1", "a: a", "b: I am b of a,b on one,rail1", "b: b"]
    );
    assert_eq!(sorted(&end.stderr), ["a: no end", "b: no end"]);
}

#[test]
fn what_is_printed_last_by_what_is_left_running_is_printed() {
    let Some(folder) = folder() else { return };
    // The background process has the pipe open when the program ends, and goes with the box.
    let end = boxed(&folder, &["--", "sh", "-c", "sleep 100 & echo done"]).expect(0);
    assert_eq!(sorted(&end.stdout), ["a: done", "b: done"]);
}

/// As `crosstie box two.toml -- yes | head -1`.
#[test]
fn programs_end_when_nobody_reads_what_they_print() {
    use std::io::{BufRead, BufReader};
    let Some(folder) = folder() else { return };
    let mut child = command(&["box", "two.toml", "--", "yes"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut String::new()).unwrap();
    drop(output);
    let left = child.wait_with_output().unwrap();
    assert_eq!(left.status.code(), Some(141), "{left:?}");
    assert!(left.stderr.is_empty(), "{left:?}");
}

#[test]
fn exit_codes_are_passed_on() {
    let Some(folder) = folder() else { return };
    let end = boxed(&folder, &["--", "sh", "-c", "[ $CROSSTIE_HOST = a ] || exit 7"]).expect(7);
    assert_eq!(end.stderr, "b: ended with code 7\n");
    boxed(&folder, &["--on", "b", "--", "sh", "-c", "exit 3"]).expect(3);
    let end = boxed(&folder, &["--", "sh", "-c", "kill -TERM $$"]).expect(143);
    assert_eq!(sorted(&end.stderr), ["a: ended by signal 15", "b: ended by signal 15"]);
    let quiet = boxed(&folder, &["--quiet", "--", "false"]).expect(1);
    assert_eq!(quiet.stderr, "");
}

#[test]
fn on_one_host_standard_files_are_as_they_are() {
    let Some(folder) = folder() else { return };
    let file = folder.path().join("input");
    fs::write(&file, "from outside\n").unwrap();
    let mut command =
        command(&["box", "two.toml", "--on", "b", "--", "sh", "-c", "cat; hostname; pwd"]);
    let end =
        end(command.current_dir(folder.path()).stdin(fs::File::open(file).unwrap())).expect(0);
    let here = folder.path().canonicalize().unwrap();
    assert_eq!(end.stdout, format!("from outside\nb\n{}\n", here.display()));
}

#[test]
fn signals_are_passed_on() {
    let Some(folder) = folder() else { return };
    let script = "trap 'echo asked; exit 9' TERM; echo ready; while :; do sleep 0.05; done";
    let mut child = command(&["box", "two.toml", "--", "sh", "-c", script])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    for _ in 0..2 {
        assert!(lines.next().unwrap().unwrap().ends_with("ready"));
    }
    let killed = std::process::Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(rest.iter().filter(|line| line.ends_with("asked")).count(), 2, "{rest:?}");
    assert_eq!(child.wait().unwrap().code(), Some(9));
}

#[test]
fn hosts_reach_each_other() {
    let Some(folder) = folder() else { return };
    let crosstie = env!("CARGO_BIN_EXE_crosstie");
    let script = format!(
        "ssh -x -o A=b -p 22 -qTl me you@b 'hostname; exit 4'; echo $?; ssh b echo 'x  y' z; \
         '{crosstie}' box enter b -- sh -c 'echo $CROSSTIE_HOST \"$1\"' - 'x  y'; \
         '{crosstie}' box enter b 'cd / && pwd'; ssh b ssh a hostname; \
         '{crosstie}' box enter c -- true; echo $?; rsh a hostname"
    );
    let end = boxed(&folder, &["--on", "a", "--", "sh", "-c", &script]).expect(0);
    assert_eq!(end.stdout, "b\n4\nx y z\nb x  y\n/\na\n2\na\n", "{}", end.stderr);
    assert!(end.stderr.contains("the box has no such host"), "{}", end.stderr);
    assert!(end.stderr.contains("the hosts are a, b"), "{}", end.stderr);
}

#[test]
fn what_cannot_be_run_is_said() {
    let Some(folder) = folder() else { return };
    for (arguments, words) in [
        (&["--", "there-is-no-such-program"][..], "there is no program `there-is-no-such-program`"),
        (&["--on", "b"], "nothing to run"),
        (&[], "nothing to run"),
        (&["--on", "c", "--", "true"], "there is no host `c`: the hosts are a, b"),
        (&["--shell", "c"], "there is no host `c`"),
    ] {
        let end = boxed(&folder, arguments).expect(2);
        assert!(end.stderr.contains(words), "{end:#?}");
    }
}

#[test]
fn outside_of_a_box_there_are_no_hosts() {
    let end = run(&["box", "enter", "a", "--", "true"]).expect(2);
    let words =
        if cfg!(target_os = "linux") { "this is not a host of a box" } else { "only Linux has" };
    assert!(end.stderr.contains(words), "{end:#?}");
}

#[test]
fn mistakes_in_the_file_are_shown_at_their_line() {
    let folder = tempdir().unwrap();
    for (text, words) in [
        ("hosts = 2\n[[rail]]\nrat = '1 Gbit/s'\n", ["two.toml:3:1", "did you mean `rate`?"]),
        ("host = 2\n[[rail]]\n", ["a box has no such key", "did you mean `hosts`?"]),
        ("hosts = 2\n", ["missing key `rail`", "a box needs `rail`"]),
        ("hosts = 3\n[[rail]]\nshape = 'cable'\n", ["two.toml:3:9", "there are 3 hosts"]),
        ("[[rail]]\nshape = 'cabel'\n", ["unknown choice `cabel`", "did you mean `cable`?"]),
        ("[[rail]]\nqueue = '95'\nrate='1 MB/s'\n", ["two.toml:2:9", "such as \"95 frames\""]),
        (
            "[[rail]]\n[[event]]\nat = '1 s'\nrail = 'x'\nup = true",
            ["two.toml:4:8", "one of rail0"],
        ),
        (
            "[[rail]]\n[[event]]\nat = '1 s'\nrail = 0\ndown = true\ntimes = 3",
            ["two.toml:6:9", "every"],
        ),
        ("rail = 3", ["two.toml:1:8", "a list of tables"]),
    ] {
        fs::write(folder.path().join("two.toml"), text).unwrap();
        for verb in [&["box", "two.toml", "--", "true"][..], &["check", "two.toml"]] {
            // Without a key of boxes, `check` takes it for an experiment.
            if verb[0] == "check" && text.starts_with("host ") {
                continue;
            }
            let end = run_in(folder.path(), verb).expect(2);
            assert!(words.iter().all(|words| end.stderr.contains(words)), "{text}: {end:#?}");
        }
    }
    let end = run_in(folder.path(), &["box", "none.toml", "--", "true"]).expect(2);
    assert!(end.stderr.contains("expected a box file"), "{end:#?}");
}

#[test]
fn check_tells_of_boxes_beside_experiments() {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("two.toml"), TWO).unwrap();
    let end = run_in(folder.path(), &["check", "two.toml"]).expect(0);
    assert_eq!(end.stdout, "two.toml: Two, a box of 2 hosts and 2 rails, 0 changes in time\n");
    let document = run_in(folder.path(), &["check", "--json", "two.toml"]).expect(0).json();
    assert_eq!(document["boxes"][0]["hosts"], serde_json::json!(["a", "b"]));
    assert_eq!(document["boxes"][0]["rails"], serde_json::json!(["one", "rail1"]));
}

#[test]
fn what_the_machine_allows_is_told() {
    let document = run(&["box", "--check", "--json"]).json();
    let needs = document["needs"].as_array().unwrap();
    assert_eq!(needs.len(), 5);
    let all = needs.iter().all(|need| need["works"] == true);
    assert_eq!(document["allowed"], all);
    for need in needs.iter().filter(|need| need["works"] == false) {
        assert!(need["problem"].as_str().is_some_and(|text| text.starts_with("cannot ")), "{need}");
    }
}
