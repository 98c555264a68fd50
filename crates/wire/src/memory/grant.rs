//! The right to read a message out of this process, which can be taken back.

use std::sync::atomic::{AtomicU64, Ordering};

/// A word in the memory of this process that says a number for as long as somebody may read a
/// message. The reader reads the word after the message: if it says something else, what was read
/// may be anything.
#[derive(Debug)]
pub struct Grant {
    word: Box<AtomicU64>,
    number: u64,
}

impl Grant {
    /// A grant with a number that no other has; not 0.
    pub fn new(number: u64) -> Grant {
        Grant { word: Box::new(AtomicU64::new(number)), number }
    }

    /// Where it is.
    pub fn address(&self) -> u64 {
        (&raw const *self.word) as u64
    }

    /// What it says.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Takes it back. What is written to the message after this is never taken for it.
    pub fn revoke(&self) {
        self.word.store(0, Ordering::SeqCst);
        std::sync::atomic::fence(Ordering::SeqCst);
    }
}

impl Drop for Grant {
    fn drop(&mut self) {
        self.revoke();
    }
}
