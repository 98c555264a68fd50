//! Experiment files as files: missing, unreadable, not text, too large; and the files they refer
//! to.

use std::fs;
use std::path::Path;

use crosstie_study::Study;

const SOUND: &str = "title = 'A network'\nseed = 1\nfabric.file.path = 'net.anynet'\n\
                     traffic.load = 0.3\ntraffic.size.fixed.size = '64 B'\n";

/// What is said about a path, with the folder's own name taken out.
#[track_caller]
fn refused(folder: &Path, name: &str) -> String {
    let mistake = Study::load(folder.join(name)).expect_err("a mistake");
    mistake.to_string().replace(&format!("{}/", folder.display()), "")
}

#[test]
fn what_cannot_be_read_is_said_plainly() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("dir")).unwrap();
    fs::write(folder.join("latin"), b"title = 'x'\n# caf\xe9\n").unwrap();
    fs::write(folder.join("large"), vec![b'x'; 10 << 20]).unwrap();
    for (name, first_line) in [
        ("none", "error: cannot read `none`: there is no such file"),
        ("dir", "error: cannot read `dir`: it is a folder"),
        ("large", "error: cannot read `large`: it is larger than 1 MiB"),
        ("latin", "error: `latin` is not text: line 2 is not UTF-8"),
    ] {
        let text = refused(folder, name);
        assert_eq!(text.lines().next(), Some(first_line));
        assert!(text.contains("help: expected an experiment file"), "{text}");
    }
}

#[test]
fn a_megabyte_of_anything_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    let noise: String = (0..1 << 18).map(|i: u64| char::from((i * i % 251) as u8)).collect();
    for text in ["[".repeat(1 << 20), "a.".repeat(1 << 19), "x".repeat(1 << 20), noise] {
        fs::write(&path, text).unwrap();
        let shown = Study::load(&path).unwrap_err().to_string();
        assert!(shown.starts_with("error: ") && shown.len() < 2000, "{} bytes", shown.len());
    }
}

#[test]
fn files_referred_to_must_exist_and_are_part_of_the_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.toml");
    fs::write(&path, SOUND).unwrap();
    assert_eq!(
        refused(folder.path(), "x.toml"),
        "\
error: cannot read `net.anynet`
 --> x.toml:3:20
  |
3 | fabric.file.path = 'net.anynet'
  |                    ^^^^^^^^^^^^ there is no such file
  |
  = help: paths are relative to the experiment file"
    );

    let net = folder.path().join("net.anynet");
    fs::write(&net, "router 0 node 0 node 1").unwrap();
    let first = Study::load(&path).unwrap();
    assert_eq!(first.locate("net.anynet"), net);
    fs::write(&net, "router 0 node 0 node 1 node 2").unwrap();
    let second = Study::load(&path).unwrap();
    assert_eq!(first.points()[0].spec, second.points()[0].spec);
    assert_ne!(first.points()[0].fingerprint(), second.points()[0].fingerprint());
}

#[test]
fn the_fingerprint_names_what_decides_the_result_and_nothing_else() {
    let fingerprint = |text: &str| Study::parse("x", text).unwrap().points()[0].fingerprint();
    let first = fingerprint(SOUND);
    assert_eq!(first.to_string(), "0bca3e31cfb4be1f66e5fb50de3bf262");
    assert_eq!(fingerprint(&SOUND.replace("A network", "Another title")), first);
    assert_eq!(fingerprint(&format!("{SOUND}bus.half = {{}}\n")), first);
    assert_ne!(fingerprint(&SOUND.replace("seed = 1", "seed = 2")), first);
    assert_ne!(fingerprint(&SOUND.replace("0.3", "0.4")), first);
}
