//! What ranks print, within bounds.

use std::io::Read;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

/// The most that rank 0 may report.
const MOST_FOUND: usize = 1 << 30;

/// The most of other words that is kept.
const MOST_SAID: usize = 1 << 14;

/// How many lines of these are told.
const LINES: usize = 4;

/// Reads what ranks print until all have ended.
pub(super) struct Listening {
    found: JoinHandle<Vec<u8>>,
    said: JoinHandle<Vec<u8>>,
    /// Lines of what is said, as they come.
    lines: Receiver<String>,
}

impl Listening {
    /// Of what rank 0 reports, and of what all ranks say beside that.
    pub fn new(found: impl Read + Send + 'static, said: impl Read + Send + 'static) -> Listening {
        let (sender, lines) = mpsc::sync_channel(MOST_LINES);
        let found = thread::spawn(|| first(found, MOST_FOUND));
        let said =
            thread::spawn(|| first(Lines { from: said, line: Vec::new(), sender }, MOST_SAID));
        Listening { found, said, lines }
    }

    /// What has been said since this was asked before, line by line.
    pub fn news(&self) -> Vec<String> {
        self.lines.try_iter().collect()
    }

    /// The report, the first of everything else in a line, and the last news. Ranks have ended.
    pub fn finish(self) -> (Vec<u8>, String, Vec<String>) {
        let found = self.found.join().unwrap_or_default();
        let said = self.said.join().unwrap_or_default();
        (found, summary(&String::from_utf8_lossy(&said)), self.lines.try_iter().collect())
    }
}

/// The most lines of what is said that are told as they come, and the longest of them.
const MOST_LINES: usize = 1000;
const LONGEST_LINE: usize = 1000;

/// Hands on lines of what is read through it.
struct Lines<R> {
    from: R,
    line: Vec<u8>,
    sender: SyncSender<String>,
}

impl<R: Read> Read for Lines<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = self.from.read(bytes)?;
        for &byte in &bytes[..count] {
            match byte {
                b'\n' => {
                    let mut line = std::mem::take(&mut self.line);
                    // So end the lines of ssh.
                    line.pop_if(|byte| *byte == b'\r');
                    // A rank that says too much at once is not waited for.
                    let _ = self.sender.try_send(String::from_utf8_lossy(&line).into_owned());
                }
                byte if self.line.len() < LONGEST_LINE => self.line.push(byte),
                _ => {}
            }
        }
        Ok(count)
    }
}

/// The first bytes of all that there are; the rest is read as well, so that nobody waits for that.
fn first(mut from: impl Read, most: usize) -> Vec<u8> {
    let mut kept = Vec::new();
    let mut bytes = vec![0; 1 << 16];
    loop {
        match from.read(&mut bytes) {
            Ok(0) => return kept,
            Ok(count) => kept.extend_from_slice(&bytes[..count.min(most - kept.len())]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return kept,
        }
    }
}

/// The first lines of a text that say something, in one.
fn summary(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let plain = lines.map(|line| line.strip_prefix("error: ").unwrap_or(line));
    plain.take(LINES).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_is_read_and_little_is_kept() {
        let text = "x".repeat(1 << 20);
        assert_eq!(first(text.as_bytes(), 10), b"xxxxxxxxxx");
        assert_eq!(first(&b"few"[..], 10), b"few");
    }

    #[test]
    fn lines_lose_their_ends() {
        let (sender, lines) = mpsc::sync_channel(MOST_LINES);
        let from = &b"a\r\nb\r\r\n\nc"[..];
        first(Lines { from, line: Vec::new(), sender }, MOST_SAID);
        assert_eq!(lines.try_iter().collect::<Vec<_>>(), ["a", "b\r", ""]);
    }

    #[test]
    fn a_summary_is_the_first_lines() {
        assert_eq!(
            summary("\nerror: rank 1: no rail\n  help: none\n"),
            "rank 1: no rail; help: none"
        );
        assert_eq!(summary("a\nb\nc\nd\ne"), "a; b; c; d");
        assert_eq!(summary(""), "");
    }
}
