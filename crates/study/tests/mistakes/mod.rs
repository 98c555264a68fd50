//! A file without mistakes, and what is said of one with.

use crosstie_study::Study;

/// An experiment file in which nothing is wrong.
pub const SOUND: &str = r#"title = "A tree"
seed = 1

[fabric.tree]
k = 4
n = 3

[traffic]
load = 0.3
size.fixed.size = "64 B"
"#;

/// Holds what is said of a file to an expected text.
#[track_caller]
pub fn complains(text: &str, expected: &str) {
    let mistake = Study::parse("x.toml", text).expect_err("a mistake");
    assert_eq!(mistake.to_string(), expected.trim_matches('\n'), "\n{mistake}");
}
