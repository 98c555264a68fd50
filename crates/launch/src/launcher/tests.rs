use super::*;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// What is wrong with a program.
fn error(words: &[&str]) -> String {
    Launcher::new(1, words).start(|_| Ok([None, None, None])).map(drop).unwrap_err().to_string()
}

#[test]
fn programs_are_found_as_by_a_shell() {
    assert!(find(OsStr::new("sh")).unwrap().ends_with("sh"));
    assert_eq!(find(OsStr::new("/bin/sh")).unwrap(), Path::new("/bin/sh"));
}

#[test]
fn programs_that_cannot_be_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    fs::write(&file, "x").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let (file, folder) = (file.to_str().unwrap(), folder.path().to_str().unwrap());
    for (words, told) in [
        (
            &["crosstie-no-such-program"][..],
            "there is no such program on the PATH\nhelp: for one in this folder, write `./crosstie-no-such-program`",
        ),
        (&["./crosstie-no-such-program"], "there is no such file"),
        (&[file], "may not be executed\nhelp: `chmod +x`"),
        (&[folder], "is a folder"),
        (&[""], "nothing to run"),
        (&[], "nothing to run"),
        (&["true", "a\0b"], "found a zero byte in `a\\0b`"),
    ] {
        let error = error(words);
        assert!(error.contains(told), "{error}");
    }
}

#[test]
fn there_is_at_least_one_rank() {
    for found in [0, MOST_RANKS + 1] {
        let refused = Launcher::new(found, ["true"]).start(|_| unreachable!());
        let error = refused.map(drop).unwrap_err().to_string();
        assert_eq!(error, format!("found {found} ranks, expected 1 to 65536"));
    }
}

#[test]
fn variables_replace_those_of_this_process() {
    let launcher = Launcher::new(1, ["true"]).env("PATH", "/nowhere").env("EMPTY", "");
    let environment = launcher.environment().unwrap();
    let starting = |start: &str| {
        let text = environment.iter().map(|text| text.to_str().unwrap_or(""));
        text.filter(|text| text.starts_with(start)).collect::<Vec<_>>()
    };
    assert_eq!(starting("PATH="), ["PATH=/nowhere"]);
    assert_eq!(starting("EMPTY="), ["EMPTY="]);
    assert_eq!(starting("GFORTRAN_UNBUFFERED_PRECONNECTED=").len(), 1);
    assert_eq!(starting("PMI_"), [""; 0]);
}
