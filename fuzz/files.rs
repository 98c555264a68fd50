//! Files that users give: what fuzzers call, and a test runs on all seeds. Whatever is in a file,
//! there is an answer, and what was read is read again as it was meant.

use std::fs;

use crosstie_collective::goal as goals;
use crosstie_fabric::{Format, graphml};
use crosstie_study::paper::Published;
use crosstie_study::trace::TraceFolder;
use crosstie_study::{Diagnostic, Study, box_file};

/// The text that bytes begin with.
fn text(bytes: &[u8]) -> &str {
    let sound = match str::from_utf8(bytes) {
        Ok(text) => return text,
        Err(error) => error.valid_up_to(),
    };
    str::from_utf8(&bytes[..sound]).unwrap_or_default()
}

/// A mistake is told.
fn told<T>(answer: Result<T, Diagnostic>) {
    if let Err(diagnostic) = answer {
        assert!(!diagnostic.render(false).is_empty());
    }
}

/// An experiment file.
pub fn experiment(bytes: &[u8]) {
    told(Study::parse("fuzzed", text(bytes)));
}

/// A box file.
pub fn boxfile(bytes: &[u8]) {
    told(box_file::parse("fuzzed", text(bytes)));
}

/// What a paper claims.
pub fn claims(bytes: &[u8]) {
    told(Published::parse("fuzzed", text(bytes)));
}

/// A schedule in GOAL. What was understood is written, and read again.
pub fn goal(bytes: &[u8]) {
    let text = text(bytes);
    match goals::read(text) {
        // Of a million ranks that do nothing much would be written.
        Ok(read) if read.schedule.ranks() <= 1000 => {
            let written = goals::write(&read.schedule).to_string();
            assert_eq!(goals::read(&written).expect("it was written").schedule, read.schedule);
        }
        Ok(_) => {}
        Err(error) => assert!(
            error.line as usize <= text.lines().count() + 1 && !error.to_string().is_empty()
        ),
    }
}

/// A network, in the format that the first byte chooses. What was understood is written as GraphML,
/// and read again.
pub fn network(bytes: &[u8]) {
    let (&first, rest) = bytes.split_first().unwrap_or((&0, &[]));
    let format = match first % 4 {
        0 => Format::Anynet,
        1 => Format::Graphml,
        2 => Format::EdgeList,
        _ => Format::Ibnetdiscover,
    };
    match format.read("fuzzed", text(rest)) {
        Ok(fabric) => {
            // One may be too large.
            let Ok(written) = graphml::write(&fabric) else { return };
            let again = graphml::read("fuzzed", &written).expect("it was written");
            assert!(again.same_wiring(&fabric), "{written}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// What stands between the files of a trace.
const BETWEEN: &str = "\n---\n";

/// A trace: its files one after the other, as many as there are.
pub fn trace(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder for files");
    let names = ["trace.json", "box.toml", "rails.csv", "events.csv"];
    for (name, content) in names.iter().zip(text(bytes).split(BETWEEN)) {
        fs::write(folder.path().join(name), content).expect("it is a new file");
    }
    match TraceFolder::open(folder.path()) {
        Ok(trace) => assert_eq!(trace.ends.len(), trace.summary.ends.len()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
