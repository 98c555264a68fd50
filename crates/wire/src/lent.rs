//! Memory that a rank lends to the engine while a message is under way.
#![allow(unsafe_code)] // Messages outlive the calls that begin them, so their bytes are known by address.

use std::slice;

/// Bytes to be sent.
#[derive(Debug)]
pub(crate) struct Lent {
    bytes: *const u8,
    len: usize,
}

/// Bytes to be written.
#[derive(Debug)]
pub(crate) struct LentMut {
    bytes: *mut u8,
    len: usize,
}

// SAFETY: whoever lends promises that the bytes stay where they are and nobody writes them, on
// whatever thread they are read.
unsafe impl Send for Lent {}
// SAFETY: whoever lends promises that nobody else uses the bytes, on whatever thread they are
// written.
unsafe impl Send for LentMut {}

impl Lent {
    /// Borrows bytes for longer than a call.
    ///
    /// # Safety
    /// Until this is dropped, the bytes must stay where they are, and nobody may write them.
    pub unsafe fn new(bytes: &[u8]) -> Lent {
        Lent { bytes: bytes.as_ptr(), len: bytes.len() }
    }

    /// The bytes.
    pub fn get(&self) -> &[u8] {
        // SAFETY: promised when it was made.
        unsafe { slice::from_raw_parts(self.bytes, self.len) }
    }
}

impl LentMut {
    /// Borrows bytes for longer than a call.
    ///
    /// # Safety
    /// Until this is dropped, the bytes must stay where they are, and nobody may use them.
    pub unsafe fn new(bytes: &mut [u8]) -> LentMut {
        LentMut { bytes: bytes.as_mut_ptr(), len: bytes.len() }
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes.
    pub fn get(&mut self) -> &mut [u8] {
        // SAFETY: promised when it was made.
        unsafe { slice::from_raw_parts_mut(self.bytes, self.len) }
    }
}

/// Writes bytes at a place, as far as there is room.
#[inline]
pub(crate) fn put(room: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(room) = room.get_mut(at..) {
        let count = room.len().min(bytes.len());
        room[..count].copy_from_slice(&bytes[..count]);
    }
}
