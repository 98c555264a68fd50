//! A ring of records between one producer and one consumer.
//!
//! A ring is a power of two of lines of 64 bytes. A record begins at a line, with its *mark*, and
//! is contiguous:
//!
//! ```text
//!    line     head                                   tail
//!      0       |                                       |
//!    [ . . . . | mark body | mark body body body | mark . . . . . . . ]
//!              the oldest record                   0: nothing yet
//! ```
//!
//! | mark | means |
//! |---|---|
//! | 0 | there is no record here yet |
//! | `u32::MAX` | the rest of the ring is skipped; the record is at line 0 |
//! | n | a record of n - 1 bytes |
//!
//! The mark publishes the record, so that a short one costs the consumer a single cache line; there
//! is no tail in shared memory. (Measured with a tail: 170 to 205 ns instead of 140 for a ping of 8
//! bytes, where a bare flag takes 130.) For that the mark at the end of a record has to be 0 before
//! the record is published. The producer sees to it, and clears the mark after that one when it is
//! done, because then the next short record needs nothing but its own line. Of a long record, the
//! line with the mark is written last: it is the one that the consumer looks at.
//!
//! Neither end believes the other. The consumer copies a record out before anybody looks at it, so
//! that nobody can change what has been checked; marks and heads that cannot be are *faults*, after
//! which an end does nothing any more.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::Fault;
use super::word::Word;

#[cfg(all(test, target_os = "linux"))]
pub(super) mod model;
#[cfg(test)]
mod tests;

/// Bytes of a line.
pub(super) const LINE: usize = 64;

/// Bytes of a line that its mark takes.
pub(super) const PREFIX: usize = 8;

/// The most bytes of a record.
pub const LONGEST: usize = (32 << 10) - PREFIX;

/// Bytes of a record that are in the line of its mark.
const FIRST: usize = LINE - PREFIX;

const NOTHING: u32 = 0;
const WRAP: u32 = u32::MAX;

/// The memory in which a ring lies.
pub(super) trait Ground {
    /// Its shared words.
    type Word: Word;

    /// How many lines it has: a power of two, and at least 4.
    fn lines(&self) -> u32;

    /// How far the consumer is: a count of lines.
    fn head(&self) -> &Self::Word;

    /// The mark of a line.
    fn mark(&self, line: u32) -> &Self::Word;

    /// Writes bytes of the record whose mark is in this line, from the given one on.
    fn write(&self, line: u32, at: usize, bytes: &[u8]);

    /// Reads the first bytes of the record whose mark is in this line.
    fn read(&self, line: u32, into: &mut [u8]);
}

/// Lines that a record takes.
fn span(length: usize) -> u32 {
    (PREFIX + length).div_ceil(LINE) as u32
}

/// The most bytes of a record in a ring of so many lines. One of half the ring finds its place
/// wherever the ring is.
fn longest(lines: u32) -> usize {
    LONGEST.min(lines as usize / 2 * LINE - PREFIX)
}

/// The end of a ring that writes.
#[derive(Debug)]
pub(super) struct Producer<G> {
    ground: G,
    /// Where the next record begins. Counts of lines wrap at 2^32.
    tail: u32,
    /// How far the consumer was when we last looked.
    head: u32,
    /// The marks from `tail` to here are 0.
    clear: u32,
    fault: Option<Fault>,
}

impl<G: Ground> Producer<G> {
    /// The end of an empty ring, whose first record begins at the given count of lines.
    pub(super) fn new(ground: G, start: u32) -> Producer<G> {
        Producer { ground, tail: start, head: start, clear: start, fault: None }
    }

    /// Why this ring is not used any more.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// Writes one record, put together from its parts; `false` if there is no room for it now.
    ///
    /// # Panics
    /// If the record is longer than a record may be.
    #[inline]
    pub(super) fn try_push(&mut self, parts: &[&[u8]]) -> bool {
        let lines = self.ground.lines();
        let length: usize = parts.iter().map(|part| part.len()).sum();
        assert!(length <= longest(lines), "a record of {length} bytes is given to a ring");
        let span = span(length);
        let left = lines - (self.tail & (lines - 1));
        let skipped = if span > left { left } else { 0 };
        // One line more, for the mark that says that nothing follows.
        if !self.has_room(skipped + span + 1) {
            return false;
        }
        let start = self.tail.wrapping_add(skipped);
        let end = start.wrapping_add(span);
        if self.clear.wrapping_sub(self.tail) < end.wrapping_sub(self.tail) {
            self.mark(end).store(NOTHING, Relaxed);
            self.clear = end;
        }
        self.write(start & (lines - 1), parts, length);
        let mark = length as u32 + 1;
        if skipped > 0 {
            self.mark(start).store(mark, Relaxed);
            self.mark(self.tail).store(WRAP, Release);
        } else {
            self.mark(start).store(mark, Release);
        }
        self.tail = end;
        if self.clear == end && end.wrapping_sub(self.head) + 1 < lines {
            self.clear = end.wrapping_add(1);
            self.mark(self.clear).store(NOTHING, Relaxed);
        }
        true
    }

    /// Whether so many lines are free.
    #[inline]
    fn has_room(&mut self, needed: u32) -> bool {
        let lines = self.ground.lines();
        if self.tail.wrapping_sub(self.head) + needed <= lines {
            return self.fault.is_none();
        }
        let head = self.ground.head().load(Acquire);
        let moved = head.wrapping_sub(self.head);
        let most = self.tail.wrapping_sub(self.head);
        if moved > most {
            self.fault.get_or_insert(Fault::Head { found: moved, most });
        }
        if self.fault.is_some() {
            return false;
        }
        self.head = head;
        self.tail.wrapping_sub(head) + needed <= lines
    }

    #[inline]
    fn write(&self, line: u32, parts: &[&[u8]], length: usize) {
        if length > FIRST {
            let mut at = 0;
            for part in parts {
                let first = FIRST.saturating_sub(at).min(part.len());
                self.ground.write(line, at + first, &part[first..]);
                at += part.len();
            }
        }
        let mut at = 0;
        for part in parts {
            let first = FIRST.saturating_sub(at).min(part.len());
            self.ground.write(line, at, &part[..first]);
            at += first;
        }
    }

    fn mark(&self, count: u32) -> &G::Word {
        self.ground.mark(count & (self.ground.lines() - 1))
    }
}

/// The end of a ring that reads.
#[derive(Debug)]
pub(super) struct Consumer<G> {
    ground: G,
    /// Where the oldest record begins. Counts of lines wrap at 2^32.
    head: u32,
    fault: Option<Fault>,
}

impl<G: Ground> Consumer<G> {
    /// The end of an empty ring, whose first record begins at the given count of lines.
    pub(super) fn new(ground: G, start: u32) -> Consumer<G> {
        ground.head().store(start, Release);
        Consumer { ground, head: start, fault: None }
    }

    /// Why this ring is not used any more.
    pub(super) fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// The memory of the ring.
    pub(super) fn ground(&self) -> &G {
        &self.ground
    }

    /// The line whose mark tells of the next record.
    pub(super) fn line(&self) -> u32 {
        self.head & (self.ground.lines() - 1)
    }

    /// Takes the oldest record, if there is one, and shows its bytes; these are a copy of our own.
    #[inline]
    pub(super) fn pop(&mut self, copy: &mut [u8; LONGEST], sink: impl FnOnce(&[u8])) -> bool {
        let Some((line, length)) = self.next() else { return false };
        let record = &mut copy[..length];
        self.ground.read(line, record);
        self.head = self.head.wrapping_add(span(length));
        self.ground.head().store(self.head, Release);
        sink(record);
        true
    }

    /// The line and the length of the oldest record.
    #[inline]
    fn next(&mut self) -> Option<(u32, usize)> {
        if self.fault.is_some() {
            return None;
        }
        let lines = self.ground.lines();
        let mut line = self.line();
        let mut mark = self.ground.mark(line).load(Acquire);
        if mark == NOTHING {
            return None;
        }
        if mark == WRAP {
            mark = self.ground.mark(0).load(Acquire);
            if line == 0 || mark == WRAP || mark == NOTHING {
                self.fault = Some(Fault::Skip);
                return None;
            }
            self.head = self.head.wrapping_add(lines - line);
            line = 0;
        }
        let length = (mark - 1) as usize;
        let most = longest(lines).min((lines - line) as usize * LINE - PREFIX);
        if length > most {
            self.fault = Some(Fault::Length { found: mark - 1, most });
            return None;
        }
        Some((line, length))
    }
}
