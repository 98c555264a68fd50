//! Where the blocks of a collective operation lie in the memory of a rank.
#![allow(unsafe_code)] // Parts of lent memory are sent and received while others are written.

use std::collections::BTreeMap;
use std::ops::Range;
use std::slice;

use crosstie_collective::{Buffer, Buffers, Run};

/// Combines elements with others of the same number of bytes; true if the others go in front.
pub(super) type Combine<'a> = Box<dyn Fn(&mut [u8], &[u8], bool) + 'a>;

/// The memory of one rank in a collective operation.
///
/// It is lent by the caller, which promises that no other code uses it, or its own. Blocks have no
/// byte in common, and a schedule writes none while it is sent: that is checked of every algorithm.
pub(super) struct Memory {
    buffers: Buffers,
    /// Bytes of an element, in which buffers count.
    element: u64,
    sent: Part,
    received: Part,
    /// What `received` is if the caller has no memory for it.
    _own: Vec<u8>,
    /// Blocks that are only passed on.
    passing: BTreeMap<u32, Vec<u8>>,
    /// What of `received` the caller gets in the end, and where.
    result: Option<(Range<usize>, Part)>,
}

/// Some bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    first: *mut u8,
    length: usize,
}

impl Part {
    pub const NONE: Part = Part { first: std::ptr::NonNull::dangling().as_ptr(), length: 0 };

    /// Bytes that are never written.
    pub fn shared(bytes: &[u8]) -> Part {
        Part { first: bytes.as_ptr().cast_mut(), length: bytes.len() }
    }

    pub fn own(bytes: &mut [u8]) -> Part {
        Part { first: bytes.as_mut_ptr(), length: bytes.len() }
    }

    /// Some of the bytes.
    fn at(self, range: Range<usize>) -> Part {
        assert!(range.start <= range.end && range.end <= self.length, "blocks lie in their buffer");
        // SAFETY: it is within.
        Part { first: unsafe { self.first.add(range.start) }, length: range.len() }
    }

    /// # Safety
    /// No code may write them meanwhile.
    unsafe fn get<'a>(self) -> &'a [u8] {
        // SAFETY: as the caller promises.
        unsafe { slice::from_raw_parts(self.first, self.length) }
    }

    /// # Safety
    /// No other code may use them meanwhile, and they must not be shared.
    unsafe fn get_mut<'a>(self) -> &'a mut [u8] {
        // SAFETY: as the caller promises.
        unsafe { slice::from_raw_parts_mut(self.first, self.length) }
    }
}

impl Memory {
    /// Buffers in memory that the caller lends.
    pub fn lent(buffers: Buffers, element: usize, sent: Part, received: Part) -> Memory {
        let (own, passing) = (Vec::new(), BTreeMap::new());
        let element = element as u64;
        Memory { buffers, element, sent, received, _own: own, passing, result: None }
    }

    /// A buffer of its own. A part of it goes to the caller in the end.
    pub fn own(
        buffers: Buffers,
        element: usize,
        mut own: Vec<u8>,
        result: Option<(Range<usize>, Part)>,
    ) -> Memory {
        let received = Part::own(&mut own);
        Memory { _own: own, result, ..Memory::lent(buffers, element, Part::NONE, received) }
    }

    /// Where blocks lie, in bytes.
    fn places(&self, blocks: &[Run], mut each: impl FnMut(Buffer, Range<usize>)) {
        self.buffers.places(blocks, |buffer, Range { start, end }| {
            each(buffer, (start * self.element) as usize..(end * self.element) as usize);
        });
    }

    /// The length of the message that carries blocks.
    pub fn length(&self, blocks: &[Run]) -> usize {
        (self.buffers.length(blocks) * self.element) as usize
    }

    /// The bytes of blocks, if they lie one behind the other in a buffer.
    pub fn whole(&self, blocks: &[Run]) -> Option<Part> {
        let mut whole: Option<(Buffer, Range<usize>)> = None;
        let mut is_one = true;
        self.places(blocks, |buffer, range| match &mut whole {
            _ if range.is_empty() => {}
            None => whole = Some((buffer, range)),
            Some((of, all)) if *of == buffer && all.end == range.start => all.end = range.end,
            Some(_) => is_one = false,
        });
        let (buffer, range) = whole.filter(|_| is_one)?;
        match buffer {
            Buffer::Sent => Some(self.sent.at(range)),
            Buffer::Received => Some(self.received.at(range)),
            Buffer::Passing(_) => None,
        }
    }

    /// Adds the bytes of blocks to a message.
    pub fn collect(&self, blocks: &[Run], message: &mut Vec<u8>) {
        self.places(blocks, |buffer, range| {
            let part = match buffer {
                Buffer::Sent => self.sent.at(range),
                Buffer::Received => self.received.at(range),
                Buffer::Passing(block) => {
                    return message.extend_from_slice(&self.passing[&block][range]);
                }
            };
            // SAFETY: no code writes blocks while they are sent.
            message.extend_from_slice(unsafe { part.get() });
        });
    }

    /// Puts the bytes of a message where its blocks lie, or combines them with what is there.
    pub fn settle(&mut self, blocks: &[Run], message: &[u8], combine: Option<(&Combine, bool)>) {
        let (mut rest, mut passed) = (message, Vec::new());
        self.places(blocks, |buffer, range| {
            let (bytes, behind) = rest.split_at(range.len());
            rest = behind;
            match (buffer, combine) {
                (Buffer::Passing(block), _) => passed.push((block, bytes.to_vec())),
                (Buffer::Sent, _) => panic!("nothing is received there"),
                (Buffer::Received, combine) => {
                    // SAFETY: no other code uses blocks while they are written, and a rank receives
                    // nothing in memory that it shares.
                    let here = unsafe { self.received.at(range).get_mut() };
                    match combine {
                        Some((combine, in_front)) => combine(here, bytes, in_front),
                        None => here.copy_from_slice(bytes),
                    }
                }
            }
        });
        self.passing.extend(passed);
    }

    /// Gives the caller what it asked for, when all is done.
    pub fn finish(&mut self) {
        if let Some((range, into)) = self.result.take() {
            // SAFETY: no other code uses either any more.
            unsafe { into.get_mut().copy_from_slice(self.received.at(range).get()) };
        }
    }
}

impl Part {
    /// The elements that they are; none if they are no whole number.
    pub fn elements<T>(self) -> *mut [T] {
        let count = self.length.checked_div(size_of::<T>()).unwrap_or(0);
        std::ptr::slice_from_raw_parts_mut(self.first.cast(), count)
    }

    /// The bytes, for a message that is sent from here.
    ///
    /// # Safety
    /// No code may write them until the message has been sent or taken back.
    pub unsafe fn lend(self) -> crate::lent::Lent {
        // SAFETY: as the caller promises.
        unsafe { crate::lent::Lent::new(self.get()) }
    }

    /// Room for a message that is received here.
    ///
    /// # Safety
    /// No other code may use it until the message is there or its receive is taken back.
    pub unsafe fn lend_mut(self) -> crate::lent::LentMut {
        // SAFETY: as the caller promises.
        unsafe { crate::lent::LentMut::new(self.get_mut()) }
    }
}
