//! What several programs print at once, line by line, each with a label.

use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};

/// A line is cut where it gets longer than this.
const LONGEST: u64 = 1 << 16;

/// Copies lines until the last writer is gone, each with the label before it; `to` gets each whole.
/// If its own reader is gone, such as `head`, programs are to know: their pipe breaks with it.
/// Returns true then.
pub fn copy(from: PipeReader, label: &str, mut to: impl FnMut(&[u8]) -> io::Result<()>) -> bool {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        line.extend_from_slice(label.as_bytes());
        let head = line.len();
        match from.by_ref().take(LONGEST).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return false,
            Ok(_) => {}
        }
        if line.len() > head && line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        if to(&line).is_err_and(|error| error.kind() == io::ErrorKind::BrokenPipe) {
            return true;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_breaks_with_the_reader_of_what_is_copied() {
        let (from, mut program) = io::pipe().unwrap();
        writeln!(program, "one\ntwo").unwrap();
        let mut lines = Vec::new();
        let gone = copy(from, "x: ", |line| {
            lines.push(String::from_utf8_lossy(line).into_owned());
            Err(io::ErrorKind::BrokenPipe.into())
        });
        assert!(gone);
        assert_eq!(lines, ["x: one\n"]);
        let error = writeln!(program, "three").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
