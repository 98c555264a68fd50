//! The lines of a ring in a mapping.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use super::mapping::Mapping;
use super::ring::{Ground, LINE, PREFIX};

/// A part of a mapping in which a ring lies, and the word of its head elsewhere in it.
#[derive(Debug)]
pub(super) struct Lines {
    mapping: Arc<Mapping>,
    head: usize,
    at: usize,
    lines: u32,
}

impl Lines {
    /// The lines that begin at `at`, whose head is the word at `head`.
    pub(super) fn new(mapping: Arc<Mapping>, head: usize, at: usize, lines: u32) -> Lines {
        Lines { mapping, head, at, lines }
    }

    /// Where in the mapping a line is.
    #[inline]
    pub(super) fn place(&self, line: u32) -> usize {
        debug_assert!(line < self.lines, "line {line} of {}", self.lines);
        self.at + line as usize * LINE
    }
}

impl Ground for Lines {
    type Word = AtomicU32;

    #[inline]
    fn lines(&self) -> u32 {
        self.lines
    }

    #[inline]
    fn head(&self) -> &AtomicU32 {
        self.mapping.word(self.head)
    }

    #[inline]
    fn mark(&self, line: u32) -> &AtomicU32 {
        self.mapping.word(self.place(line))
    }

    #[inline]
    fn write(&self, line: u32, at: usize, bytes: &[u8]) {
        self.mapping.write(self.place(line) + PREFIX + at, bytes);
    }

    #[inline]
    fn read(&self, line: u32, into: &mut [u8]) {
        self.mapping.read(self.place(line) + PREFIX, into);
    }
}
