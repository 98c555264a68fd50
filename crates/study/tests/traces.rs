//! Traces: what is written is read again, and what is damaged is told with its line.

use std::fs;
use std::path::Path;

use crosstie_box::{End, Happening, Sample, Spec};
use crosstie_study::box_file;
use crosstie_study::trace::{TraceError, TraceFolder, TraceWriter};
use proptest::prelude::*;
use tempfile::{TempDir, tempdir};

const BOX: &str = "title = \"Two rails\"\nhosts = 2\n[[rail]]\nname = \"slow\"\nrate = \"8 Mbit/s\"\n\
                   shape = \"switch\"\n[[rail]]\nname = \"free\"\n";

const RAILS: &str = "time_s,rail,host,end,bytes,frames,drops,queue_bytes\n";
const EVENTS: &str = "time_s,late_s,rail,host,what\n";

fn spec() -> Spec {
    box_file::parse("box.toml", BOX).unwrap()
}

fn writer(folder: &Path) -> Result<TraceWriter, TraceError> {
    TraceWriter::create(folder, BOX, &spec(), &["sleep".to_owned(), "1".to_owned()], "0.1.0")
}

/// What all ends carried, in the order in which a box tells it.
fn samples(time: f64, bytes: [u64; 6]) -> Vec<Sample> {
    let ends = [
        ("slow", "host0", End::Nic),
        ("slow", "host0", End::Switch),
        ("slow", "host1", End::Nic),
        ("slow", "host1", End::Switch),
        ("free", "host0", End::Nic),
        ("free", "host1", End::Nic),
    ];
    let sample = |((rail, host, end), bytes): ((&str, &str, End), u64)| Sample {
        time,
        rail: rail.to_owned(),
        host: host.to_owned(),
        end,
        bytes,
        frames: bytes.div_ceil(1514),
        drops: bytes / 100_000,
        queue: bytes / 2,
    };
    ends.into_iter().zip(bytes).map(sample).collect()
}

fn happening(time: f64, what: &str) -> Happening {
    let (rail, host) = ("slow".to_owned(), "host1".to_owned());
    Happening { time, late: 0.000_25, rail, host, what: what.to_owned() }
}

fn recorded() -> TempDir {
    let folder = tempdir().unwrap();
    let mut writer = writer(folder.path()).unwrap();
    writer.record(samples(0.1, [100_000, 0, 0, 90_000, 0, 7])).unwrap();
    writer.happened(&happening(0.15, "down")).unwrap();
    for time in [0.2, 0.3, 0.4, 0.5] {
        writer.record(samples(time, [0; 6])).unwrap();
    }
    writer.happened(&happening(0.55, "500 kB/s")).unwrap();
    writer.record(samples(0.600_000_4, [60_000, 0, 0, 60_000, 0, 0])).unwrap();
    writer.record(samples(0.61, [5_000, 0, 0, 5_000, 0, 0])).unwrap();
    writer.finish().unwrap();
    folder
}

#[test]
fn what_was_recorded_is_read_again() {
    let folder = recorded();
    let trace = TraceFolder::open(folder.path()).unwrap();
    assert_eq!(trace.box_file, BOX);
    assert_eq!(trace.meta.program, ["sleep", "1"]);
    assert_eq!(trace.meta.seconds, Some(0.61));
    assert_eq!(trace.happenings, [happening(0.15, "down"), happening(0.55, "500 kB/s")]);
    let [first, .., last] = trace.summary.ends.as_slice() else { panic!() };
    assert_eq!((first.bytes, first.drops, first.longest_queue), (165_000, 1, 50_000));
    assert_eq!(first.busiest_share(), Some(1.0), "100 kB in 100 ms at 1 MB/s");
    assert!((trace.summary.mean(first) - 8.0 * 165_000.0 / 0.61).abs() < 1e-3);
    assert_eq!((last.rail.as_str(), last.bytes, last.busiest_share()), ("free", 7, None));
    let meta = fs::read_to_string(folder.path().join("trace.json")).unwrap();
    assert!(meta.contains("\"name\": \"queue_bytes\"") && meta.contains("\"format\": 1"), "{meta}");
}

#[test]
fn of_an_idle_stretch_the_first_and_the_last_line_are_written() {
    let folder = recorded();
    let text = fs::read_to_string(folder.path().join("rails.csv")).unwrap();
    let times = |end: &str| -> Vec<&str> {
        let lines = text.lines().filter(|line| line.contains(end));
        lines.map(|line| line.split(',').next().unwrap()).collect()
    };
    assert_eq!(times("slow,host0,nic"), ["0.1", "0.2", "0.5", "0.6", "0.61"]);
    assert_eq!(times("slow,host0,switch"), ["0.1", "0.61"]);
    assert_eq!(times("free,host1,nic"), ["0.1", "0.2", "0.61"]);
}

#[test]
fn a_run_that_was_killed_leaves_what_was_recorded() {
    let folder = tempdir().unwrap();
    let mut writer = writer(folder.path()).unwrap();
    writer.record(samples(0.1, [1; 6])).unwrap();
    let trace = TraceFolder::open(folder.path()).unwrap();
    assert_eq!(trace.meta.seconds, None);
    assert_eq!(trace.summary.ends.iter().map(|end| end.bytes).sum::<u64>(), 6);
    assert!(matches!(self::writer(folder.path()), Err(TraceError::Busy { .. })), "still at it");
    drop(writer);
    self::writer(folder.path()).unwrap();
    assert_eq!(TraceFolder::open(folder.path()).unwrap().summary.seconds, 0.0);
}

#[test]
fn a_folder_with_anything_else_in_it_is_refused() {
    let folder = recorded();
    let other = folder.path().join("thesis.tex");
    fs::write(&other, "years of work").unwrap();
    let refused = writer(folder.path()).unwrap_err().to_string();
    assert!(refused.contains("it has `thesis.tex` in it; choose another folder"), "{refused}");
    assert!(TraceFolder::open(folder.path()).unwrap().summary.seconds > 0.0, "nothing was lost");
    fs::remove_file(&other).unwrap();
    fs::create_dir(folder.path().join("figures")).unwrap();
    fs::write(folder.path().join("report.html"), "of what was here before").unwrap();
    writer(folder.path()).unwrap();
    assert!(!folder.path().join("report.html").exists());

    // Somebody's own box file is no trace.
    let home = tempdir().unwrap();
    fs::write(home.path().join("box.toml"), "hosts = 3").unwrap();
    assert!(matches!(writer(home.path()), Err(TraceError::Occupied { .. })));
    let file = home.path().join("box.toml");
    assert!(matches!(writer(&file), Err(TraceError::Io { .. })));
}

/// What reading says of a folder with other lines in it.
#[track_caller]
fn complaint(file: &str, content: &[u8]) -> String {
    let folder = recorded();
    fs::write(folder.path().join(file), content).unwrap();
    let error = TraceFolder::open(folder.path()).unwrap_err().to_string();
    assert!(error.contains(file), "{error}");
    assert!(!error.contains(['\u{1b}', '\0']), "{error}");
    error
}

#[test]
fn every_damaged_line_is_told_with_its_number() {
    let good = "0.1,slow,host0,nic,1,1,0,0\n";
    for (line, reason) in [
        ("0.2,slow,host0,nic,1,1,0\n", "it has 7 fields, expected 8"),
        ("NaN,slow,host0,nic,1,1,0,0\n", "`time_s` is `NaN`, expected seconds"),
        ("inf,slow,host0,nic,1,1,0,0\n", "`time_s` is `inf`"),
        ("1e300,slow,host0,nic,1,1,0,0\n", "`time_s` is `1e300`"),
        ("-0.1,slow,host0,nic,1,1,0,0\n", "`time_s` is `-0.1`"),
        ("0.05,slow,host0,nic,1,1,0,0\n", "its time is 0.05, but a line above of this end has 0.1"),
        ("0.2,<script>,host0,nic,1,1,0,0\n", "there is no rail `<script>`, host `host0`"),
        ("0.2,slow,host\x1b[2J,nic,1,1,0,0\n", "host `host\\u{1b}[2J`"),
        ("0.2,slow,host0,nick,1,1,0,0\n", "`end` is `nick`, expected `nic` or `switch`"),
        ("0.2,free,host0,switch,1,1,0,0\n", "there is no rail `free`, host `host0`, end `switch`"),
        ("0.2,slow,host0,nic,18446744073709551616,1,0,0\n", "`bytes` is `18446744073709551616`"),
        ("0.2,slow,host0,nic,1,-1,0,0\n", "`frames` is `-1`, expected a whole number"),
        ("0.2,slow,host0,nic,1,1,1.5,0\n", "`drops` is `1.5`"),
        ("0.2,slow,host0,nic,1,1,0,\n", "`queue_bytes` is ``"),
        ("0.2,\"slow,host0,nic,1,1,0,0\n", "there is no rail `\\\"slow`"),
    ] {
        let text = format!("{RAILS}{good}{line}{good}");
        let said = complaint("rails.csv", text.as_bytes());
        assert!(said.contains("in line 3") && said.contains(reason), "{line}: {said}");
    }
    for (line, reason) in [
        ("1,0,fast,,down\n", "`rail` is `fast`, expected a rail of box.toml"),
        ("1,0,slow,host7,down\n", "`host` is `host7`"),
        ("1,0,slow,,sideways\n", "`what` is `sideways`, expected a rate, `down` or `up`"),
        ("1,nan,slow,,down\n", "`late_s` is `nan`"),
    ] {
        let said = complaint("events.csv", format!("{EVENTS}{line}").as_bytes());
        assert!(said.contains("in line 2") && said.contains(reason), "{line}: {said}");
    }
    let bad = "x\n".repeat(20);
    let said = complaint("rails.csv", format!("{RAILS}{good}{bad}").as_bytes());
    assert!(said.contains("in line 3") && said.contains("so are lines 4, 5, 6, 7, 8, 9, 10, 11"));
    assert!(said.contains("and 11 more"), "{said}");
}

#[test]
fn damaged_files_are_told_as_a_whole() {
    assert!(complaint("rails.csv", b"").contains("in line 1: it is empty, expected `time_s,rail"));
    assert!(complaint("rails.csv", b"time,rail\n1,2\n").contains("in line 1: expected `time_s"));
    assert!(complaint("rails.csv", &[0xff; 9000]).contains("in line 1"));
    let mut garbled = RAILS.as_bytes().to_vec();
    garbled.extend(b"0.1,slow,h\xffst0,nic,1,1,0,0\n");
    assert!(complaint("rails.csv", &garbled).contains("in line 2: it is not UTF-8"));
    assert!(complaint("trace.json", b"{\"format\": 9}").contains("its format is 9, expected 1"));
    assert!(complaint("trace.json", b"{\n\"format\": 1}").contains("in line 2"));
    assert!(complaint("box.toml", b"hosts = 251").contains("hosts = 251"));
    let folder = recorded();
    fs::remove_file(folder.path().join("events.csv")).unwrap();
    let missing = TraceFolder::open(folder.path()).unwrap_err().to_string();
    assert!(missing.contains("cannot read") && missing.contains("events.csv"), "{missing}");
    assert!(!TraceFolder::is_one(tempdir().unwrap().path()));
}

#[test]
fn a_last_line_without_its_end_counts_as_not_written() {
    let folder = recorded();
    let path = folder.path().join("rails.csv");
    let whole = fs::read_to_string(&path).unwrap();
    let before = TraceFolder::open(folder.path()).unwrap();
    for torn in ["0", "9.9,slow,host0,nic,77777", "9.9,slow,host0,nic,1,1,0,0", "\u{fffd}"] {
        fs::write(&path, format!("{whole}{torn}")).unwrap();
        assert_eq!(TraceFolder::open(folder.path()).unwrap(), before, "{torn}");
    }
}

#[test]
fn amounts_that_no_run_has_do_no_harm() {
    let folder = recorded();
    let most = u64::MAX;
    let lines = format!(
        "{RAILS}0.1,slow,host0,nic,{most},{most},{most},{most}\n0.1,slow,host0,nic,{most},1,1,1\n\
         1e9,free,host0,nic,{most},1,1,1\n"
    );
    fs::write(folder.path().join("rails.csv"), lines).unwrap();
    let trace = TraceFolder::open(folder.path()).unwrap();
    assert_eq!(trace.summary.ends[0].bytes, most);
    assert!(trace.summary.ends.iter().all(|end| end.busiest.is_finite()));
}

proptest! {
    /// Whatever is carried, a reader finds the same sums as the writer, although idle lines are missing.
    #[test]
    fn sums_survive(looks in prop::collection::vec(
        ([0..3u64, 0..3u64, 0..3u64, 0..3u64, 0..3u64, 0..3u64], 0.001..0.3f64), 0..12)
    ) {
        let folder = tempdir().unwrap();
        let mut writer = writer(folder.path()).unwrap();
        let mut time = 0.0;
        for (busy, step) in looks {
            time += step;
            writer.record(samples(time, busy.map(|busy| busy.saturating_sub(1) * 123_456))).unwrap();
        }
        writer.finish().unwrap();
        let trace = TraceFolder::open(folder.path()).unwrap();
        prop_assert_eq!(&trace.summary, writer.summary());
    }

    /// Nothing that stands in a file makes the reader panic.
    #[test]
    fn any_bytes_are_read_or_refused(
        rails in prop::collection::vec(any::<u8>(), 0..200),
        line in "[0-9.,a-z\"\n-]{0,60}",
    ) {
        let folder = recorded();
        fs::write(folder.path().join("rails.csv"), [RAILS.as_bytes(), &rails].concat()).unwrap();
        fs::write(folder.path().join("events.csv"), format!("{EVENTS}{line}")).unwrap();
        let _ = TraceFolder::open(folder.path());
    }
}
