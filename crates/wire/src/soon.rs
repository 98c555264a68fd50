//! Memory that is used soon: processors fetch it while they do something else.
#![allow(unsafe_code)] // Hints to the processor are made of addresses.

/// Bytes of a line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// These bytes will be written.
#[inline]
pub(crate) fn written(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(LINE) {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a hint changes nothing, and the address is that of a byte.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}
