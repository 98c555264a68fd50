//! Memory that other processes have too.

#![allow(unsafe_code)]

use std::fmt;
use std::fs::File;
use std::io;
use std::num::NonZeroUsize;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

use nix::sys::mman::{MapFlags, ProtFlags, mmap, munmap};

/// A file in memory, as long as this lives. Whatever is in it may change at any time.
pub(super) struct Mapping {
    base: NonNull<u8>,
    length: usize,
    release: fn(NonNull<u8>, usize),
}

// SAFETY: a mapping belongs to the process and not to a thread, and everything in it is reached
// through atomics, or copied in and out by the ends of rings.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps the first bytes of a file, which must be at least as long.
    pub(super) fn of(file: &File, length: usize) -> io::Result<Mapping> {
        let bytes = NonZeroUsize::new(length).ok_or(io::ErrorKind::InvalidInput)?;
        let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: the kernel chooses a place where nothing is, so that no memory of ours changes
        // its meaning.
        let base = unsafe { mmap(None, bytes, access, MapFlags::MAP_SHARED, file, 0) }?;
        let release = |base: NonNull<u8>, length| {
            // SAFETY: this was mapped above with this length, and who is dropped has no users any
            // more. Nothing can be done about a failure, and nothing is lost by it but
            // addresses.
            let _ = unsafe { munmap(base.cast(), length) };
        };
        Ok(Mapping { base: base.cast(), length, release })
    }

    /// Ordinary memory of this process, all 0, for tests that need no kernel.
    #[cfg(any(test, feature = "bare"))]
    pub(super) fn ordinary(length: usize) -> Mapping {
        use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
        const ALIGNMENT: usize = 4096;
        let layout = Layout::from_size_align(length, ALIGNMENT).expect("a short test");
        assert!(length > 0, "some memory");
        // SAFETY: the layout is not empty.
        let base = unsafe { alloc_zeroed(layout) };
        let Some(base) = NonNull::new(base) else { handle_alloc_error(layout) };
        let release = |base: NonNull<u8>, length| {
            let layout = Layout::from_size_align(length, ALIGNMENT).expect("as above");
            // SAFETY: this was allocated above with this layout.
            unsafe { dealloc(base.as_ptr(), layout) };
        };
        Mapping { base, length, release }
    }

    /// Makes the pages of a part of it at once, to have no page faults in them later. Where the
    /// kernel does not know how, they come one by one.
    pub(super) fn touch(&self, at: usize, length: usize) {
        assert!(at <= self.length && length <= self.length - at, "a part of the mapping");
        #[cfg(target_os = "linux")]
        {
            use nix::sys::mman::{MmapAdvise, madvise};
            // SAFETY: the part is inside the mapping, and making pages changes none of their bytes.
            let part = unsafe { self.base.add(at) }.cast();
            // SAFETY: as above.
            let _ = unsafe { madvise(part, length, MmapAdvise::MADV_POPULATE_WRITE) };
        }
    }

    /// A shared word, at a multiple of 4.
    #[inline]
    pub(super) fn word(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4) && at < self.length && self.length - at >= 4, "a word");
        // SAFETY: it is inside the mapping, which lives as long as we are borrowed; mappings begin
        // at pages, so that it is aligned; and an atomic may be changed by anybody at any
        // time.
        unsafe { self.base.add(at).cast().as_ref() }
    }

    /// A shared word of twice that size, at a multiple of 8.
    pub(super) fn long(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at < self.length && self.length - at >= 8, "a long word");
        // SAFETY: as for a word.
        unsafe { self.base.add(at).cast().as_ref() }
    }

    /// Copies bytes into it.
    #[inline]
    pub(super) fn write(&self, at: usize, bytes: &[u8]) {
        assert!(at <= self.length && bytes.len() <= self.length - at, "a part of the mapping");
        // SAFETY: both are valid for these bytes, and slices of ours are not inside mappings. By
        // the rules of rings nobody else uses this part now; a process that breaks them
        // makes garbage of bytes that nobody believes, and nothing worse.
        unsafe {
            let part = self.base.add(at).as_ptr();
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), part, bytes.len());
        }
    }

    /// Copies bytes out of it.
    #[inline]
    pub(super) fn read(&self, at: usize, into: &mut [u8]) {
        assert!(at <= self.length && into.len() <= self.length - at, "a part of the mapping");
        // SAFETY: as for writing; what is read is checked in the copy only.
        unsafe {
            let part = self.base.add(at).as_ptr();
            std::ptr::copy_nonoverlapping(part, into.as_mut_ptr(), into.len());
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        (self.release)(self.base, self.length);
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mapping").field("length", &self.length).finish_non_exhaustive()
    }
}
