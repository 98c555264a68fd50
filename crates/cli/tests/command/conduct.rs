//! What all verbs share: help, colours, pipes, variables, completions, manual pages.

use std::process::Stdio;

use crate::invocation::{command, end, repository, run};
use tempfile::tempdir;

const VERBS: [&str; 14] = [
    "run",
    "report",
    "check",
    "paper",
    "bench",
    "predict",
    "probe",
    "box",
    "launch",
    "fabric",
    "routes",
    "rails",
    "completions",
    "man",
];

#[test]
fn help_names_every_verb_with_examples_and_exit_codes() {
    let help = run(&["--help"]).expect(0).stdout;
    for verb in VERBS {
        assert!(help.contains(&format!("\n  {verb} ")), "{verb}: {help}");
    }
    assert!(help.contains("Examples:\n  crosstie run experiments/quickstart.toml"), "{help}");
    assert!(help.contains("\n  1    the answer is no\n  2    a mistake in the input\n"), "{help}");
    assert!(help.contains("[env: CROSSTIE_THREADS]"), "{help}");
    for verb in VERBS {
        let help = run(&[verb, "--help"]).expect(0).stdout;
        assert!(help.contains(&format!("Usage: crosstie {verb}")), "{help}");
        assert!(help.contains(&format!("Examples:\n  crosstie {verb}")), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }
}

#[test]
fn without_arguments_the_help_is_shown() {
    let end = run(&[]).expect(2);
    assert!(end.stderr.contains("Usage: crosstie"), "{end:?}");
    let end = run(&["fabrik"]).expect(2);
    assert!(end.stderr.contains("fabric"), "the nearest verb is named: {end:?}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let mut child = command(&["fabric", "--tree", "4,4", "--format", "dot"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The text is longer than any pipe buffer, so the command is still writing.
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn variables_stand_for_flags_and_flags_win() {
    let json = end(command(&["fabric", "--tree", "2,2"]).env("CROSSTIE_JSON", "1")).expect(0);
    assert_eq!(json.json()["networks"][0]["hosts"], 4);
    let text = end(command(&["fabric", "--tree", "2,2"]).env("CROSSTIE_JSON", "0")).expect(0);
    assert!(text.stdout.starts_with("2-ary 2-tree"), "{text:?}");
    let format = ["fabric", "--tree", "2,2", "--format", "dot"];
    let format = end(command(&format).env("CROSSTIE_JSON", "1")).expect(0);
    let dot = format.json()["network"]["dot"].as_str().unwrap().to_owned();
    assert!(dot.starts_with("graph "), "{format:?}");
    let wrong = end(command(&["check", "x.toml"]).env("CROSSTIE_COLOR", "blue")).expect(2);
    assert!(wrong.stderr.contains("invalid value 'blue'"), "{wrong:?}");
    let flag = ["check", "x.toml", "--color", "never"];
    let flag = end(command(&flag).env("CROSSTIE_COLOR", "always")).expect(2);
    assert!(!flag.stderr.contains('\x1b'), "{flag:?}");
    assert!(run(&["fabric", "--single", "2", "--threads", "0"]).expect(2).stderr.contains("'0'"));
}

#[test]
fn colours_only_where_they_are_wanted() {
    assert!(!run(&["check", "absent.toml"]).expect(2).stderr.contains('\x1b'));
    let always = run(&["check", "absent.toml", "--color", "always"]).expect(2);
    assert!(always.stderr.contains('\x1b'), "{always:?}");
}

#[test]
fn quiet_leaves_the_data() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("net.dot");
    let end = run(&["fabric", "--tree", "2,2", "-q", "--out", file.to_str().unwrap()]).expect(0);
    assert_eq!(end.stderr, "");
    assert!(end.stdout.starts_with("2-ary 2-tree"), "{end:?}");
}

#[test]
fn completions_and_manual_pages_know_the_verbs() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = run(&["completions", shell]).expect(0).stdout;
        assert!(VERBS.iter().all(|verb| script.contains(verb)), "{shell}");
    }
    assert!(run(&["completions", "bash"]).stdout.contains("tree-deterministic"), "values too");
    let page = run(&["man"]).expect(0).stdout;
    assert!(page.contains(".TH crosstie 1") && page.contains("Examples:"), "{page}");
    assert!(page.contains("CROSSTIE_THREADS"), "{page}");
    let folder = tempdir().unwrap();
    run(&["man", "--out", folder.path().join("man1").to_str().unwrap()]).expect(0);
    for verb in VERBS {
        let page = folder.path().join(format!("man1/crosstie-{verb}.1"));
        assert!(std::fs::read_to_string(page).unwrap().contains("Examples:"), "{verb}");
    }
}

#[test]
fn an_experiment_is_checked_and_listed() {
    let file = repository("experiments/quickstart.toml");
    let document = run(&["check", "--json", file.to_str().unwrap()]).expect(0).json();
    let points = document["experiments"][0]["points"].as_array().unwrap();
    let last = points.last().unwrap();
    assert_eq!(last["point"], points.len() - 1);
    assert_eq!(last["settings"]["routing"], "tree-deterministic");
    assert!(last["settings"]["traffic.load"].is_number(), "{last}");
    let end = run(&["check", file.to_str().unwrap()]).expect(0);
    let lines: Vec<&str> = end.stdout.lines().collect();
    let said = format!(", {} points of traffic on wormhole", points.len());
    assert!(lines[0].ends_with(&said), "{}", lines[0]);
    assert_eq!((&last["world"], &last["work"]), (&"wormhole".into(), &"traffic".into()));
    assert!(lines[1].starts_with("  point  routing  "), "{}", lines[1]);
    assert_eq!(lines.len(), points.len() + 2);
}
