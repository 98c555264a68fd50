//! `crosstie probe`.

#[cfg(unix)]
use crate::invocation::command;
use crate::invocation::{End, run_in};
use crosstie_lab::Preset;
use serde_json::{Value, json};
use tempfile::{TempDir, tempdir};

const MACHINE: &str = "p450-ibm-8275-416";
const FILE: &str = "p450-ibm-8275-416.model.toml";

fn probe(folder: &TempDir, arguments: &[&str]) -> End {
    run_in(folder.path(), &[&["probe"], arguments].concat())
}

fn cost<'a>(document: &'a Value, symbol: &str) -> &'a Value {
    let costs = document["costs"].as_array().unwrap();
    costs.iter().find(|cost| cost["symbol"] == *symbol).unwrap()
}

/// Table 5.2 and Table A.1 are found again.
#[test]
fn a_machine_of_the_thesis_is_measured() {
    let folder = tempdir().unwrap();
    let few = ["--sim", MACHINE, "--iterations", "20"];
    let document = probe(&folder, &[&few[..], &["--json"]].concat()).expect(0).json();
    for (symbol, truth) in
        [("O_s", 12.5), ("g_s", 123.04), ("g_r", 123.04), ("O_r", 20.0), ("U_r", 7.0)]
    {
        let cost = cost(&document, symbol);
        let found = cost["found"].as_f64().unwrap();
        assert!((found / truth - 1.0).abs() < 0.02, "{cost}");
        assert!((cost["configured"].as_f64().unwrap() / truth - 1.0).abs() < 1e-4, "{cost}");
        assert!(cost["error"].as_f64().unwrap() < 0.02, "{cost}");
        assert_eq!(cost["unresolved"], Value::Null);
    }
    // L = 0.3413 p + 264 us.
    let latency = cost(&document, "L");
    assert!((latency["line"]["node"].as_f64().unwrap() / 0.3413 - 1.0).abs() < 0.02, "{latency}");
    assert!((latency["found"].as_f64().unwrap() / 264.683 - 1.0).abs() < 0.02, "{latency}");
    assert!(latency["error"].as_f64().unwrap() < 0.02, "{latency}");
    let buffer = &document["buffer"];
    assert_eq!(buffer["found"]["architecture"], json!("output"));
    assert!((buffer["found"]["frames"].as_f64().unwrap() / 95.0 - 1.0).abs() < 0.03, "{buffer}");
    assert_eq!(buffer["bursts"].as_array().unwrap().len(), 8);
    for bursts in buffer["bursts"].as_array().unwrap() {
        let [found, expected] =
            ["intercept", "expected_intercept"].map(|key| bursts[key].as_f64().unwrap());
        assert!((found / expected - 1.0).abs() < 0.02, "{bursts}");
    }
    assert_eq!((&document["uplink"], &document["file"]), (&Value::Null, &json!(FILE)));

    let again = probe(&folder, &few).expect(2);
    assert!(again.stderr.contains(&format!("found a file `{FILE}`, expected none")), "{again:?}");
    assert!(again.stderr.contains("--force"), "{again:?}");
    let before = std::fs::read(folder.path().join(FILE)).unwrap();
    let text = probe(&folder, &[&few[..], &["--force", "--samples"]].concat()).expect(0).stdout;
    assert_eq!(before, std::fs::read(folder.path().join(FILE)).unwrap(), "it repeats itself");
    for words in [
        "# probe of p450-ibm-8275-416, 16 nodes, frame, 20 iterations\n",
        "\n  O_s  processor, to send ",
        "\n  B_L          95 frames at each output\n",
        "\n  configured   95 frames at each output, error 0.00 %\n",
        "\nO_r, processor, to receive\n  bytes  nodes ",
        "  not fitted: its frame is padded\n",
        "\n  from 2 to 1: 0.",
        "\nto use it    crosstie predict transfer --model p450-ibm-8275-416.model.toml\n",
        "model.file.path = \"p450-ibm-8275-416.model.toml\"",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_was_measured_predicts_what_is_simulated() {
    let folder = tempdir().unwrap();
    let name = "there.toml";
    probe(&folder, &["--sim", MACHINE, "--iterations", "10", "-o", name]).expect(0);
    let predict = |machine: [&str; 2]| {
        let what = ["predict", "transfer", "--sizes", "1,1492,14920", "--json"];
        run_in(folder.path(), &[&what[..], &machine].concat()).expect(0).json()["predictions"]
            .clone()
    };
    let (found, configured) = (predict(["--model", name]), predict(["--sim", MACHINE]));
    for (found, configured) in found.as_array().unwrap().iter().zip(configured.as_array().unwrap())
    {
        let [found, configured] =
            [found, configured].map(|one| one["ranking"][0]["time"].as_f64().unwrap());
        assert!((found / configured - 1.0).abs() < 0.01, "{found} and {configured}");
    }
    let machine = Preset::find(MACHINE).unwrap().text.replace("world = \"frame\"\n", "");
    let experiment = format!(
        "{machine}\n[model.file]\npath = \"{name}\"\n[work.ping]\nto = 1\niterations = 10\n[sweep.product]\n\
         work.ping.size = [\"1 B\", \"500 B\", \"1492 B\", \"15 KiB\"]\nworld = [\"frame\", \"model\"]\n"
    );
    std::fs::write(folder.path().join("ping.toml"), experiment).unwrap();
    let run = run_in(folder.path(), &["run", "ping.toml", "--json", "--no-report"]).expect(0);
    let rows = std::fs::read_to_string(folder.path().join("results/ping/rows.jsonl"));
    let rows = rows.unwrap_or_else(|error| panic!("{error}: {run:?}"));
    let latency = |row: &str| {
        let row: Value = serde_json::from_str(row).unwrap();
        row["latency"].as_f64().unwrap_or_else(|| panic!("{row}"))
    };
    let latencies: Vec<f64> = rows.lines().map(latency).collect();
    assert_eq!(latencies.len(), 8, "{rows}");
    for pair in latencies.chunks(2) {
        assert!((pair[1] / pair[0] - 1.0).abs() < 0.02, "{pair:?}: {rows}");
    }
}

#[test]
fn what_cannot_be_resolved_says_why() {
    let folder = tempdir().unwrap();
    let text = probe(&folder, &["--sim", "gedp-up", "--iterations", "5"]).expect(0).stdout;
    assert!(text.contains("  not resolved: O_r + U_r hides it; g_s stands for it"), "{text}");
    assert!(text.contains("  B_L          not resolved: too few nodes share a switch"), "{text}");
    let slow = ["--set", "node.commodity.send=200us", "-o", "slow.toml"];
    let slow = [&["--sim", "gedp-up", "--iterations", "5", "--json"], &slow[..]].concat();
    let document = probe(&folder, &slow).expect(0).json();
    let gap = &cost(&document, "g_s")["unresolved"];
    assert_eq!(gap["why"], json!("O_s hides it"), "{document}");
    assert_eq!(document["buffer"]["found"], Value::Null);
    // A network that loses nothing has costs, too.
    let ideal = ["--sim", "gedp-up", "--set", "world=ideal", "-o", "ideal.toml"];
    let end = probe(&folder, &[&ideal[..], &["--iterations", "5"]].concat()).expect(0);
    assert!(end.stderr.contains("its world is ideal, which loses no packets"), "{end:?}");
    assert!(end.stdout.contains("not resolved: this world loses no packets"), "{end:?}");
}

#[test]
fn mistakes_say_what_was_found_and_expected() {
    let folder = tempdir().unwrap();
    for (arguments, expected) in [
        (&[][..], "--sim <PRESET>"),
        (&["--sim", "p450-ibm-8275-461"], "did you mean `p450-ibm-8275-416`?"),
        (&["nosuch.toml"], "--sim: `nosuch.toml`: "),
        (&["--sim", "fedp", "--rail", "x"], "cannot be used with"),
        (&["--sim", "fedp", "--ranks", "2"], "cannot be used with"),
        (&["mine.toml", "--sim", "fedp"], "cannot be used with"),
        (&["--sim", "qsnet"], "`qsnet`: `node.commodity`: found none"),
        (&["--sim", "fedp", "--set", "world=model"], "where no packets move, expected a network"),
        (&["--sim", "fedp", "--set", "link.rat=1 B/s"], "did you mean `rate`?"),
        (&["--sim", "fedp", "--iterations", "0"], "0 is not in 1..=100000"),
        (&["--sim", "fedp", "--out", "no/such.toml"], "its folder does not exist"),
        (&["--sim", "fedp", "--force", "--out", "."], "it is a folder, expected a file"),
    ] {
        let end = probe(&folder, arguments).expect(2);
        assert!(end.stderr.contains(expected), "{arguments:?}: {}", end.stderr);
        assert_eq!(end.stdout, "");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left behind");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_without_a_file() {
    let folder = tempdir().unwrap();
    let long = ["probe", "--sim", "p733-intel-510t", "--iterations", "100000"];
    let mut child = command(&long)
        .current_dir(folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // It says nothing before it watches for signals; long enough also where others are busy.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Real ranks: numbers vary, and what is said of them does not.
#[cfg(target_os = "linux")]
#[test]
fn hosts_of_a_box_are_measured() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("small.toml");
    let text = "title = 'Three hosts'\nhosts = 3\n[[rail]]\nrate = '100 Mbit/s'\nshape.switch.buffer = '20 frames'\n";
    std::fs::write(&file, text).unwrap();
    let few = ["--box", "small.toml", "--iterations", "20"];
    if !command(&["box", "--check"]).output().is_ok_and(|output| output.status.success()) {
        let said = probe(&folder, &few).expect(2);
        assert!(said.stderr.contains("--box"), "{said:?}");
        return;
    }
    let wrong = probe(&folder, &[&few[..], &["--rail", "rail7"]].concat()).expect(2);
    assert!(wrong.stderr.contains("found `rail7`, expected a rail of the box: rail0"), "{wrong:?}");
    probe(&folder, &[&few[..], &["--set", "seed=1"]].concat()).expect(2);

    let document = probe(&folder, &[&few[..], &["--json"]].concat()).expect(0).json();
    assert_eq!(document["world"], json!("live"));
    assert_eq!(
        (&document["nodes"], &document["packet"], &document["title"]),
        (&json!(3), &json!(1448), &json!("Three hosts"))
    );
    for cost in document["costs"].as_array().unwrap() {
        assert!(cost["line"].is_object() != cost["unresolved"].is_object(), "{cost}");
        let full = cost["samples"].as_array().unwrap().last().unwrap();
        assert_eq!(full["bytes"], json!(1448));
    }
    // What a frame takes on the line.
    let gap = cost(&document, "g_s");
    assert!((gap["configured"].as_f64().unwrap() - 121.12).abs() < 1e-6, "{gap}");
    assert!(cost(&document, "O_s")["spread"][1].as_f64().unwrap() > 0.0);
    // Two sources and a sink do not tell where frames are kept, but that some are.
    let buffer = &document["buffer"];
    assert_eq!(buffer["configured"], json!({"architecture": "output", "frames": 20}));
    assert_eq!(buffer["bursts"].as_array().unwrap().len(), 1, "{buffer}");
    let model = std::fs::read_to_string(folder.path().join("small.model.toml")).unwrap();
    assert!(model.contains("# Measured on real ranks, which vary; a ring of 32 frames"), "{model}");
    toml::from_str::<toml::Table>(&model).unwrap();
}
