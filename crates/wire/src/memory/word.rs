//! A word that two processes share.

use std::sync::atomic::{AtomicU32, Ordering, fence};

/// What rings and sleepers do with shared words. Models of the memory have words of their own.
pub(super) trait Word {
    /// Reads it.
    fn load(&self, order: Ordering) -> u32;
    /// Writes it.
    fn store(&self, value: u32, order: Ordering);
    /// Writes it and says what was there.
    fn swap(&self, value: u32, order: Ordering) -> u32;
    /// What was written to other words before is seen by whoever comes to a fence later.
    fn fence();
}

impl Word for AtomicU32 {
    #[inline]
    fn load(&self, order: Ordering) -> u32 {
        AtomicU32::load(self, order)
    }

    #[inline]
    fn store(&self, value: u32, order: Ordering) {
        AtomicU32::store(self, value, order);
    }

    #[inline]
    fn swap(&self, value: u32, order: Ordering) -> u32 {
        AtomicU32::swap(self, value, order)
    }

    #[inline]
    fn fence() {
        fence(Ordering::SeqCst);
    }
}
