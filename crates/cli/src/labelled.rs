//! What several programs print at once, line by line, each with a label.

use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};

/// A line is cut where it gets longer than this.
const LONGEST: u64 = 1 << 16;

/// Copies lines until the last writer is gone, each with the label before it; `to` gets each whole.
pub fn copy(from: PipeReader, label: &str, mut to: impl FnMut(&[u8]) -> io::Result<()>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        line.extend_from_slice(label.as_bytes());
        let head = line.len();
        match from.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if line.len() > head && line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        // A reader that has gone away must not stop the programs.
        let _ = to(&line);
    }
}

/// Writes a line to stdout.
pub fn to_stdout(line: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(line)?;
    stdout.flush()
}

/// Writes a line to stderr.
pub fn to_stderr(line: &[u8]) -> io::Result<()> {
    io::stderr().lock().write_all(line)
}
