//! `crosstie rails`.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use crate::invocation::{command, end, run, run_in};
use serde_json::json;
use tempfile::tempdir;

/// Figure 4 of Coll: 6 rails, 20 nodes.
const FIGURE_4: [&str; 6] = [
    "11111111110000000000",
    "11110000001111110000",
    "10001110001110001110",
    "01001001101001101101",
    "00100101010101011011",
    "00010010110010110111",
];

#[test]
fn twenty_nodes_need_six_rails_and_get_figure_4() {
    let end = run(&["rails", "--nodes", "20"]).expect(0);
    assert_eq!(
        end.stdout,
        format!(
            "20 nodes\n  optimum      6 rails\n  Algorithm 1  10 rails\n  \
             bound        5 rails join at most C(5,2) = 10 nodes, 6 rails join at most C(6,3) = 20 nodes\n\n\
             matrix of Algorithm 2, 6 rails by 20 nodes: 1 transmits, 0 receives\n  {}\n",
            FIGURE_4.join("\n  ")
        )
    );
    assert_eq!(end.stderr, "");
    let document = run(&["rails", "--nodes", "20", "--json"]).expect(0).json();
    assert_eq!(document["matrix"], json!(FIGURE_4));
    assert_eq!((&document["optimal_rails"], &document["most_nodes"]), (&json!(6), &json!(20)));
    assert_eq!((&document["algorithm_1_rails"], &document["fits"]), (&json!(10), &json!(true)));
    assert!(document.get("rails").is_none(), "{document}");
}

#[test]
fn algorithm_1_gives_the_rows_of_figure_3() {
    let document = run(&["rails", "--nodes", "8", "--algorithm", "1", "--json"]).expect(0).json();
    assert_eq!(document["algorithm"], 1);
    assert_eq!(
        document["matrix"],
        json!(["10101010", "01010101", "11001100", "00110011", "11110000", "00001111"])
    );
}

#[test]
fn rails_tell_how_many_nodes_fit() {
    let end = run(&["rails", "--rails", "6"]).expect(0);
    assert!(end.stdout.contains("C(6,3) = 20 nodes\n"), "{end:?}");
    assert!(end.stdout.contains("2^3 = 8 nodes\n"), "{end:?}");
    let document = run(&["rails", "--rails", "6", "--json"]).expect(0).json();
    let sizes = (&document["most_nodes"], &document["algorithm_1_nodes"]);
    assert_eq!(sizes, (&json!(20), &json!(8)));
    let document = run(&["rails", "--rails", "4096", "--json"]).expect(0).json();
    assert!(document["most_nodes"].is_null(), "beyond any cluster: {document}");
}

#[test]
fn nodes_fit_on_rails_or_the_exit_code_is_1() {
    let yes = run(&["rails", "--nodes", "6", "--rails", "4"]).expect(0);
    assert!(yes.stdout.starts_with("6 nodes on 4 rails: yes\n"), "{yes:?}");
    assert!(yes.stdout.ends_with("  001011\n"), "{yes:?}");
    let no = run(&["rails", "--nodes", "7", "--rails", "4"]).expect(1);
    assert!(no.stdout.starts_with("7 nodes on 4 rails: no\n"), "{no:?}");
    assert!(!no.stdout.contains("matrix"), "{no:?}");
    let no = run(&["rails", "--nodes", "7", "--rails", "4", "--json"]).expect(1).json();
    assert_eq!((&no["fits"], &no["most_nodes"]), (&json!(false), &json!(6)));
    assert!(no["matrix"].is_null(), "{no}");
    run(&["rails", "--nodes", "6", "--rails", "4", "--algorithm", "1"]).expect(1);
}

#[test]
fn a_wide_matrix_is_printed_or_written_when_asked_for() {
    let folder = tempdir().unwrap();
    let start = Instant::now();
    let end = run_in(folder.path(), &["rails", "--nodes", "12870", "--out", "m.txt"]).expect(0);
    assert!(end.stdout.ends_with("--matrix prints it, --out FILE keeps it\n"), "{end:?}");
    assert_eq!(end.stderr, "wrote m.txt\n");
    let end = run_in(folder.path(), &["rails", "--check", "m.txt"]).expect(0);
    assert!(end.stdout.starts_with("m.txt: 16 rails by 12870 nodes\n  connected: "), "{end:?}");
    assert!(end.stdout.ends_with("no fewer rails could join so many\n"), "{end:?}");
    assert!(start.elapsed() < Duration::from_secs(5), "at once, even where tests are slow");
    let end = run(&["rails", "--nodes", "200", "--matrix"]).expect(0);
    assert_eq!(end.stdout.lines().filter(|line| line.len() == 202).count(), 10);
    let full = ["rails", "--nodes", "7", "--rails", "4", "--out", "none.txt"];
    run_in(folder.path(), &full).expect(1);
    assert!(!folder.path().join("none.txt").exists(), "there is no such matrix");
}

#[test]
fn a_matrix_is_checked_from_a_file_and_from_stdin() {
    let folder = tempdir().unwrap();
    let file = folder.path().join("m.txt");
    fs::write(&file, "1100 / 0011 / 1011 / 0101  # row 2 spoilt\n").unwrap();
    let words = "node 2 cannot reach node 3: on every rail on which 2 transmits, 3 transmits too";
    let no = run_in(folder.path(), &["rails", "--check", "m.txt"]).expect(1);
    assert_eq!(no.stdout, format!("m.txt: 4 rails by 4 nodes\n  not connected: {words}\n"));
    let stdin = |arguments: &[&str]| end(command(arguments).stdin(File::open(&file).unwrap()));
    let no = stdin(&["rails", "--check", "-", "--json"]).expect(1).json();
    assert_eq!((&no["source"], &no["connected"]), (&json!("stdin"), &json!(false)));
    assert_eq!(no["unconnected"], json!({"from": 2, "to": 3, "reason": words}));
    fs::write(&file, FIGURE_4.join("\n")).unwrap();
    let yes = stdin(&["rails", "--check", "-"]).expect(0);
    assert!(yes.stdout.starts_with("stdin: 6 rails by 20 nodes\n  connected: "), "{yes:?}");
    let yes = stdin(&["rails", "--check", "-", "--json"]).expect(0).json();
    assert_eq!((&yes["connected"], yes.get("unconnected")), (&json!(true), None));
}

#[test]
fn figure_2_as_table_and_as_figure() {
    let document = run(&["rails", "--table", "--json"]).expect(0).json();
    let table = document["table"].as_array().unwrap();
    let column = |name: &str| -> Vec<u64> {
        table.iter().map(|line| line[name].as_u64().unwrap()).collect()
    };
    assert_eq!(column("nodes"), [2, 3, 4, 8, 16, 20, 21, 32, 64, 128, 256, 1024, 4096]);
    assert_eq!(column("optimal_rails"), [2, 3, 4, 5, 6, 6, 7, 7, 8, 10, 11, 13, 15]);
    assert_eq!(column("algorithm_1_rails"), [2, 4, 4, 6, 8, 10, 10, 10, 12, 14, 16, 20, 24]);

    let folder = tempdir().unwrap();
    let end = run_in(folder.path(), &["rails", "--figure", "two.svg"]).expect(0);
    assert_eq!(end.stderr, "wrote two.svg\n");
    assert_eq!(end.stdout, run(&["rails", "--table"]).expect(0).stdout, "with the numbers");
    let svg = fs::read_to_string(folder.path().join("two.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("Algorithm 1"), "{svg}");
}

#[test]
fn mistakes_about_rails_are_told_and_exit_2() {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    write("word.txt", b"10\n0one\n");
    write("uneven.txt", b"10\n011\n");
    write("lone.txt", b"1\n0\n");
    write("binary.txt", &[0xff; 100]);
    for (arguments, words) in [
        ("rails", "required arguments were not provided"),
        ("rails --nodes 1", "1 is not in 2..=65536"),
        ("rails --nodes 65537", "65537 is not in 2..=65536"),
        ("rails --nodes many", "invalid value 'many'"),
        ("rails --rails 0", "0 is not in 1..=4096"),
        ("rails --nodes 8 --algorithm 3", "invalid value '3'"),
        ("rails --rails 8 --algorithm 1", "--nodes <N>"),
        ("rails --rails 8 --matrix", "--nodes <N>"),
        ("rails --table --nodes 8", "cannot be used with"),
        ("rails --check word.txt --rails 4", "cannot be used with"),
        ("rails --check absent.txt", "from `absent.txt`: No such file"),
        ("rails --check word.txt", "line 2, column 2: found `o`, expected 0 or 1"),
        ("rails --check uneven.txt", "line 2: the row of rail 1 has 3 nodes, expected 2"),
        ("rails --check lone.txt", "at least 2 nodes, not 1"),
        ("rails --check binary.txt", "not text in UTF-8"),
        ("rails --check -", "from `stdin`: found no rows"),
        ("rails --nodes 4 --out absent/m.txt", "cannot write `absent/m.txt`"),
        ("rails --figure two.pdf", "`two.pdf`: a figure is written as .svg"),
        ("rails --figure absent/two.svg", "cannot write `absent/two.svg`"),
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let end = run_in(folder.path(), &arguments).expect(2);
        assert!(end.stderr.contains(words), "{arguments:?}: {}", end.stderr);
        assert_eq!(end.stdout, "", "{arguments:?}");
    }
}
