//! `crosstie paper`.

use std::fs;
use std::path::Path;

#[cfg(unix)]
use crate::invocation::command;
use crate::invocation::{run, run_in};
use crosstie_lab::paper::{PAPERS, Paper, Scale};
use crosstie_lab::revision;
use crosstie_study::{Row, SideTables, Status, Store, WorkKind};
use serde_json::Value;
use tempfile::tempdir;

/// A folder of results of a part, as if it had been run: every column of every point has a value.
fn pretend(out: &Path, part: &str) {
    let paper = Paper::named("coll-multirail").unwrap();
    let study = paper.part(part).unwrap().study(Scale::Quick).unwrap();
    let folder = out.join("coll-multirail-quick").join(part);
    let mut store = Store::open(folder, &study, env!("CARGO_PKG_VERSION"), &revision).unwrap();
    for point in study.points() {
        let value = |column: &crosstie_study::Column| (column.name.to_owned(), 0.3);
        let measured = WorkKind::Traffic.columns().iter().map(value).collect();
        let row = Row::of(point, Status::Converged, String::new(), measured);
        store.record(&row, &SideTables::default()).unwrap();
    }
    store.close().unwrap();
}

/// The agreement of a claim in a document.
fn agreement<'a>(document: &'a Value, id: &str) -> &'a str {
    let claims = document["claims"].as_array().unwrap();
    claims.iter().find(|claim| claim["id"] == id).unwrap()["agreement"].as_str().unwrap()
}

#[test]
fn papers_are_listed_with_their_parts() {
    let end = run(&["paper"]).expect(0);
    assert!(end.stdout.starts_with("coll-multirail: Coll, "), "{end:?}");
    assert!(end.stdout.contains("\n  fig12 "), "{end:?}");
    let sizes = "(210 points, 84 with --quick, 630 with --full)";
    assert!(end.stdout.contains(sizes), "Flich's table 1: {end:?}");
    let document = run(&["paper", "--json"]).expect(0).json();
    let paper = &document["papers"][0];
    assert_eq!(paper["name"], PAPERS[0].name);
    assert_eq!(paper["parts"].as_array().unwrap().len(), PAPERS[0].parts.len());
    assert!(paper["claims"].as_u64().unwrap() > 70, "{paper}");
}

#[test]
fn claims_stand_beside_measurements_in_terminal_report_and_json() {
    let folder = tempdir().unwrap();
    pretend(&folder.path().join("results"), "fig12");
    let arguments = ["paper", "coll-multirail", "--quick", "--only", "fig12"];
    let end = run_in(folder.path(), &arguments).expect(0);
    let words = "coll-multirail: fig12, 6 of 6 points finished already and skipped";
    assert!(end.stderr.contains(words), "{end:?}");
    assert!(end.stdout.contains("\nstatic.max_nodes.r6  "), "{end:?}");
    let report = "results/coll-multirail-quick/report.html";
    assert!(end.stdout.ends_with(&format!("\nreport: {report}\n")), "{end:?}");
    let page = fs::read_to_string(folder.path().join(report)).unwrap();
    assert!(page.contains("Figure 12: highest load carried, by nodes"), "the figure of the part");
    assert!(page.contains("fig13 has not been run to its end"), "the others are named");
    assert!(folder.path().join("results/coll-multirail-quick/fig12/report.html").is_file());

    let document = run_in(folder.path(), &[&arguments[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(document["paper"]["report"], report);
    assert_eq!(agreement(&document, "static.max_nodes.r6"), "agrees");
    assert_eq!(agreement(&document, "intro.pci_bw"), "not-checkable");
    assert_eq!(agreement(&document, "f13.dynamic_size"), "missing");
    let counts = document["counts"].as_object().unwrap();
    let counted: u64 = counts.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(counted, document["claims"].as_array().unwrap().len() as u64);
    let finished = |part: &&Value| part["finished"].as_bool().unwrap();
    let parts = document["parts"].as_array().unwrap();
    let finished: Vec<&Value> = parts.iter().filter(finished).collect();
    assert_eq!(finished.len(), 1);
    assert_eq!(finished[0]["name"], "fig12");
}

#[test]
fn parts_that_were_run_before_still_count() {
    let folder = tempdir().unwrap();
    let results = folder.path().join("here");
    pretend(&results, "fig12");
    pretend(&results, "fig14");
    let arguments = "paper coll-multirail --quick --only fig14 --out here --json";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let finished = |document: Value| -> Vec<String> {
        let parts = document["parts"].as_array().unwrap().clone();
        let finished = parts.into_iter().filter(|part| part["finished"] == true);
        finished.map(|part| part["name"].as_str().unwrap().to_owned()).collect()
    };
    let document = run_in(folder.path(), &arguments).expect(0).json();
    assert_eq!(finished(document), ["fig12", "fig14"]);
    // Another study, such as the full form, is no evidence for this one.
    let study = results.join("coll-multirail-quick/fig12/study.toml");
    let text = fs::read_to_string(&study).unwrap().replace("seed = 1", "seed = 2");
    fs::write(&study, text).unwrap();
    let document = run_in(folder.path(), &arguments).expect(0).json();
    assert_eq!(finished(document), ["fig14"]);
}

#[test]
fn mistakes_about_papers_are_told_and_exit_2() {
    for (arguments, words) in [
        ("paper coll", "there is no paper `coll`\nhelp: known are coll-multirail, flich-itb"),
        (
            "paper coll-multirail --only fig12,fig99",
            "has no part `fig99`\nhelp: its parts are fig07",
        ),
        ("paper --quick", "<NAME>"),
        ("paper flich-itb --quick --full", "cannot be used with"),
        ("paper --only fig12", "<NAME>"),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let end = run(&arguments).expect(2);
        assert!(end.stderr.contains(words), "{arguments:?}: {}", end.stderr);
        assert_eq!(end.stdout, "", "{arguments:?}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_during_a_paper_keeps_what_is_done() {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    let folder = tempdir().unwrap();
    pretend(&folder.path().join("results"), "fig14");
    // Nothing of fig12 can be finished before it is interrupted: its points take minutes.
    let child = command(&["paper", "coll-multirail", "--quick", "--only", "fig12,fig14"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let journal = folder.path().join("results/coll-multirail-quick/fig12/journal.jsonl");
    let began = Instant::now();
    while !journal.exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "fig12 does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(500));
    let kill = format!("kill -INT {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains("interrupted: 6 of 12 points are finished and kept"), "{stderr}");
    let page = folder.path().join("results/coll-multirail-quick/report.html");
    assert!(fs::read_to_string(page).unwrap().contains("Figure 14"), "with what is done");
}
