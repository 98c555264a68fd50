//! Experiment files with mistakes: each is told with its place and exits 2, before anything runs.

use std::fs;
use std::path::Path;

use crate::invocation::{End, run_in};
use tempfile::{TempDir, tempdir};

const SOUND: &str = "\
title = \"One tree, one load\"
seed = 1
fabric.tree = { k = 4, n = 2 }
traffic.load = 0.3
traffic.size.fixed.size = \"64 B\"
";

/// A folder with one experiment file in it.
fn folder_with(text: &[u8]) -> TempDir {
    let folder = tempdir().unwrap();
    fs::write(folder.path().join("study.toml"), text).unwrap();
    folder
}

/// Both verbs that read experiments refuse the file in the same words, and write nothing.
fn refused(folder: &Path) -> End {
    let run = run_in(folder, &["run", "study.toml"]).expect(2);
    let check = run_in(folder, &["check", "study.toml"]).expect(2);
    assert_eq!(run.stderr, check.stderr);
    assert_eq!((run.stdout.as_str(), check.stdout.as_str()), ("", ""));
    assert!(!folder.join("results").exists(), "nothing is written");
    run
}

#[test]
fn mistakes_are_shown_at_their_line() {
    for (right, wrong, words) in [
        ("seed = 1", "sead = 1", &["study.toml:2:", "unknown key `sead`", "did you mean `seed`?"]),
        ("64 B", "64 kg", &["study.toml:5:", "64 kg", "KiB"]),
        ("64 B\"", "64\"", &["study.toml:5:", "unit"]),
        ("k = 4", "k = 0", &["study.toml:3:", "found `0`", "from 2 to 64"]),
        ("0.3", "1.5", &["study.toml:4:", "found `1.5`", "at most 1"]),
        ("seed = 1", "seed = ", &["study.toml:2:"]),
        ("{ k = 4, n = 2 }", "{ k = 4, n = 2, n = 3 }", &["study.toml:3:"]),
    ] as [(&str, &str, &[&str]); 7]
    {
        assert!(SOUND.contains(right));
        let folder = folder_with(SOUND.replace(right, wrong).as_bytes());
        let end = refused(folder.path());
        for word in words {
            assert!(end.stderr.contains(word), "{wrong}: {word}: {}", end.stderr);
        }
    }
}

#[test]
fn a_sweep_over_nothing() {
    let end =
        refused(folder_with(format!("{SOUND}[sweep.product]\nseed = []\n").as_bytes()).path());
    assert!(end.stderr.contains("study.toml:7:"), "{}", end.stderr);
}

#[test]
fn no_file_a_folder_and_a_file_that_must_not_be_read() {
    let folder = tempdir().unwrap();
    assert!(refused(folder.path()).stderr.contains("there is no such file"));
    fs::create_dir(folder.path().join("study.toml")).unwrap();
    assert!(refused(folder.path()).stderr.contains("it is a folder"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder_with(SOUND.as_bytes());
        let file = folder.path().join("study.toml");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
        // Root may read everything, and then the file is sound.
        if fs::read(&file).is_err() {
            assert!(refused(folder.path()).stderr.contains("permission denied"));
        }
    }
}

#[test]
fn ten_megabytes_of_garbage() {
    // A simple generator: no byte value is missing, nothing repeats.
    let mut state = 1u32;
    let garbage: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    })
    .take(10 << 20)
    .collect();
    let end = refused(folder_with(&garbage).path());
    assert!(end.stderr.contains("larger than 1 MiB"), "{}", end.stderr);
    let end = refused(folder_with(&garbage[..1 << 19]).path());
    assert!(end.stderr.contains("not UTF-8"), "{}", end.stderr);
    let text: String = garbage[..1 << 19].iter().map(|&byte| char::from(byte % 96 + 32)).collect();
    refused(folder_with(text.as_bytes()).path());
}

#[test]
fn the_mistakes_of_all_files_are_told_before_any_runs() {
    let folder = folder_with(SOUND.as_bytes());
    fs::write(folder.path().join("one.toml"), "tittle = 'x'").unwrap();
    fs::write(folder.path().join("two.toml"), SOUND.replace("0.3", "3")).unwrap();
    let end = run_in(folder.path(), &["run", "study.toml", "one.toml", "two.toml"]).expect(2);
    assert!(end.stderr.contains("one.toml:1:") && end.stderr.contains("two.toml:4:"), "{end:?}");
    assert!(!folder.path().join("results").exists());
}

#[test]
fn two_files_of_one_name_would_share_a_folder() {
    let folder = folder_with(SOUND.as_bytes());
    fs::create_dir(folder.path().join("other")).unwrap();
    fs::write(folder.path().join("other/study.toml"), SOUND).unwrap();
    let end = run_in(folder.path(), &["run", "study.toml", "other/study.toml"]).expect(2);
    assert!(end.stderr.contains("other/study.toml"), "{end:?}");
    assert!(!folder.path().join("results").exists());
}

#[test]
fn a_folder_that_cannot_hold_results() {
    let folder = folder_with(SOUND.as_bytes());
    fs::write(folder.path().join("results"), "in the way").unwrap();
    let end = run_in(folder.path(), &["run", "study.toml"]).expect(2);
    assert!(end.stderr.contains("results/study"), "{end:?}");
}

#[test]
fn a_network_file_with_a_mistake() {
    let text = SOUND.replace("fabric.tree = { k = 4, n = 2 }", "fabric.file.path = 'net.anynet'");
    let folder = folder_with(text.as_bytes());
    let end = refused(folder.path());
    assert!(end.stderr.contains("study.toml:3:") && end.stderr.contains("no such file"), "{end:?}");
    fs::write(folder.path().join("net.anynet"), "router 0 node 0\nrouter 1 knot 1\n").unwrap();
    let end = refused_when_built(folder.path());
    assert!(end.stderr.contains("study.toml:3:") && end.stderr.contains("line 2"), "{end:?}");
}

/// Both verbs refuse in the same words what shows only when the networks are built.
fn refused_when_built(folder: &Path) -> End {
    let run = run_in(folder, &["run", "--quiet", "study.toml"]).expect(2);
    let check = run_in(folder, &["check", "study.toml"]).expect(2);
    assert_eq!(run.stderr, check.stderr);
    assert!(!folder.join("results").exists(), "nothing is left behind");
    check
}

#[test]
fn what_only_shows_when_it_is_built_is_checked_too() {
    let tree = "fabric.tree = { k = 4, n = 2 }";
    let ring = "fabric.irregular = { switches = 2, ports = 3, hosts-per-switch = 2, seed = 1 }";
    let own = "traffic.destination.permutation.file = 'own.txt'";
    for (network, more, place, words) in [
        ("fabric.file.path = '/dev/null'".to_owned(), "", 3, "hosts"),
        ("fabric.file.path = 'pieces.anynet'".to_owned(), "", 3, "the network is in pieces"),
        (ring.to_owned(), "routing.up-down.root = 4000", 6, "switch 4000 cannot be the root"),
        ("fabric.single.hosts = 2".to_owned(), own, 6, "no host sends"),
        (
            tree.to_owned(),
            "cluster.rails = 8\ntraffic.arrival = 'bernoulli'\nlink.flit = '64 B'",
            7,
            "load 0.3 takes 2.400 messages per cycle",
        ),
    ] {
        let text = format!("{}{more}\n", SOUND.replace(tree, &network));
        let folder = folder_with(text.as_bytes());
        fs::write(folder.path().join("own.txt"), "0\n1\n").unwrap();
        let pieces = "router 0 node 0\nrouter 1 node 1\n";
        fs::write(folder.path().join("pieces.anynet"), pieces).unwrap();
        let end = refused_when_built(folder.path());
        let place = format!("study.toml:{place}:");
        assert!(end.stderr.contains(&place) && end.stderr.contains(words), "{words}: {end:?}");
        assert!(end.stderr.contains("help: "), "{end:?}");
    }
}

#[test]
fn a_folder_without_results_has_no_report() {
    let folder = tempdir().unwrap();
    for name in ["absent", "."] {
        let end = run_in(folder.path(), &["report", name]).expect(2);
        assert!(end.stderr.contains("meta.json"), "{end:?}");
        assert!(end.stderr.contains("expected a folder of results"), "{end:?}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}
