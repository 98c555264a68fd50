//! Whatever is in a file: an answer, never a panic.

use crosstie_study::Study;
use proptest::prelude::*;

/// A file that uses most of what there is.
const RICH: &str = r#"
title = "Rich"
citation = "Nobody"
seed = 7
ideal = { rate = "1 GB/s", gap = "5 ns" }
cluster = { rails = 2, pes = 4 }
bus.asymmetric = { read = "200 MB/s", write = "275 MB/s" }
[fabric.tree]
k = 4
n = 3
hosts = 32
[link]
flit = "2 B"
wire = "15 ns"
[nic]
packet = "message"
control = "64 B"
response = 200
[scheme.hybrid]
timeout = "20 us"
threshold = "1 KiB"
[traffic]
arrival = "bernoulli"
size.bimodal = { small = "64 B", large = "4 KiB", small-share = 0.9 }
destination.mixture.parts = [
    { share = 0.25, destination.hot-spot = { host = 3, share = 0.5 } },
    { share = 0.75, destination = "bit-reversal" },
]
[measure]
precision = 0.05
max-cycles = 1_000_000
[sweep.product]
"routing" = [{ tree-adaptive = {} }, "tree-deterministic"]
traffic.load = [0.1, 0.2]
world = ["wormhole", "ideal"]
[sweep.zip]
switch.virtual-channels = [1, 2]
switch.buffer = [256, 128]
[[figure]]
name = "a"
x = "switch.buffer"
y = ["latency_mean", "accepted"]
series = ["routing"]
log-y = true
y-range = [1, 1e4]
[[table]]
rows = "traffic.load"
columns = "world"
value = "accepted"
"#;

/// Pieces that make a mutation likely to mean something.
const PIECES: [&str; 26] = [
    "[",
    "]",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\"",
    "'",
    "\n",
    "#",
    "-1",
    "0",
    "1e309",
    "nan",
    "true",
    "tree",
    "policy",
    "work.ping.size = '8 B'\n",
    "sweep",
    "[[figure]]\n",
    "99999999999999999999",
    "é",
    "\u{0}",
    "\r",
    "[sweep.product]\n",
];

/// Reading, rendering and writing: all that is done with a text from outside.
fn exercise(text: &str) {
    match Study::parse("x.toml", text) {
        Err(mistake) => {
            assert!(mistake.to_string().starts_with("error: "));
            mistake.render(true);
        }
        Ok(study) => {
            let written = study.to_toml();
            let again = Study::parse("again.toml", &written).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(again.points(), study.points());
            assert_eq!((again.figures, again.tables), (study.figures, study.tables));
        }
    }
}

#[test]
fn the_rich_file_is_sound() {
    assert_eq!(Study::parse("rich", RICH).unwrap().points().len(), 16);
}

proptest! {
    #[test]
    fn any_text_gets_an_answer(text in any::<String>()) {
        exercise(&text);
    }

    #[test]
    fn a_sound_file_with_random_changes_gets_an_answer(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..12usize, 0..=PIECES.len()), 1..4)
    ) {
        let mut text = RICH.to_owned();
        for (at, removed, piece) in edits {
            let boundary = |mut i: usize, text: &str| {
                while !text.is_char_boundary(i) { i += 1; }
                i
            };
            let start = boundary(at.index(text.len()), &text);
            let end = boundary((start + removed).min(text.len()), &text);
            text.replace_range(start..end, PIECES.get(piece).copied().unwrap_or(""));
        }
        exercise(&text);
    }

    #[test]
    fn a_sound_file_with_lines_missing_or_moved_gets_an_answer(
        lines in prop::sample::subsequence(RICH.lines().collect::<Vec<_>>(), 0..RICH.lines().count()).prop_shuffle()
    ) {
        exercise(&lines.join("\n"));
    }

    #[test]
    fn a_sound_file_with_one_line_missing_gets_an_answer(missing in 0..RICH.lines().count()) {
        let rest = RICH.lines().enumerate().filter(|(i, _)| *i != missing).map(|(_, line)| line);
        exercise(&rest.collect::<Vec<_>>().join("\n"));
    }
}
