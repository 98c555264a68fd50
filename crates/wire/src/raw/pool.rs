//! A fixed number of frames that wait to be read, in the order in which they came.

use std::collections::VecDeque;
use std::ops::Range;

use super::Frame;

/// Of what a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// Who sent it.
    pub from: u16,
    /// Its label.
    pub label: u32,
}

/// A frame in the pool.
#[derive(Debug, Clone)]
struct Kept {
    of: Origin,
    slot: usize,
    load: Range<usize>,
}

/// The pool.
#[derive(Debug)]
pub(super) struct Pool {
    /// All slots, and one more for what comes next.
    bytes: Vec<u8>,
    /// Bytes of a slot.
    slot: usize,
    /// Slots that nothing waits in; the last is where the next frame goes.
    free: Vec<usize>,
    waiting: VecDeque<Kept>,
}

impl Pool {
    /// Room for so many frames of so many bytes.
    pub fn new(frames: usize, slot: usize) -> Pool {
        Pool {
            bytes: vec![0; (frames + 1) * slot],
            slot,
            free: (0..=frames).rev().collect(),
            waiting: VecDeque::with_capacity(frames),
        }
    }

    /// Where the next datagram goes, whether it is kept or not.
    pub fn vacancy(&mut self) -> &mut [u8] {
        let slot = *self.free.last().expect("one slot is always free");
        &mut self.bytes[slot * self.slot..][..self.slot]
    }

    /// Keeps what lies in the vacancy; `false` if the pool is full, and nothing is kept.
    pub fn keep(&mut self, of: Origin, load: Range<usize>) -> bool {
        if self.free.len() == 1 {
            return false;
        }
        let slot = self.free.pop().expect("more than one is free");
        self.waiting.push_back(Kept { of, slot, load });
        true
    }

    /// The place of the first frame that is wanted.
    pub fn find(&self, is_wanted: impl Fn(&Origin) -> bool) -> Option<usize> {
        self.waiting.iter().position(|kept| is_wanted(&kept.of))
    }

    /// Takes a frame out of its place.
    ///
    /// # Panics
    /// If there is none.
    pub fn take(&mut self, place: usize) -> Frame<'_> {
        let Kept { of, slot, load } = self.waiting.remove(place).expect("a place that was found");
        // Below the vacancy, so that it stays as it is until the next but one.
        let last = self.free.len() - 1;
        self.free.insert(last, slot);
        let bytes = &self.bytes[slot * self.slot..][..self.slot][load];
        Frame { from: usize::from(of.from), label: of.label, bytes }
    }

    /// Takes out the frame that came last.
    pub fn take_last(&mut self) -> Option<Frame<'_>> {
        let last = self.waiting.len().checked_sub(1)?;
        Some(self.take(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain list of frames.
        #[test]
        fn frames_wait_in_order_and_what_is_too_much_is_not_kept(
            frames in 1..6usize, steps in prop::collection::vec((0..5u16, 0..3u8), 0..200),
        ) {
            let mut pool = Pool::new(frames, 8);
            let mut list: Vec<(u16, u8)> = Vec::new();
            for (number, &(from, step)) in steps.iter().enumerate() {
                let content = number as u8;
                if step == 0 {
                    let place = pool.find(|of| of.from == from);
                    prop_assert_eq!(place, list.iter().position(|&(of, _)| of == from));
                    if let Some(place) = place {
                        let frame = pool.take(place);
                        let (from, content) = list.remove(place);
                        let bytes = &[content, content][..];
                        prop_assert_eq!(frame, Frame { from: from.into(), label: 9, bytes });
                    }
                } else {
                    pool.vacancy()[2..4].fill(content);
                    let kept = pool.keep(Origin { from, label: 9 }, 2..4);
                    prop_assert_eq!(kept, list.len() < frames);
                    if kept {
                        list.push((from, content));
                    }
                }
            }
            if let Some((from, content)) = list.pop() {
                let bytes = &[content, content][..];
                prop_assert_eq!(pool.take_last(), Some(Frame { from: from.into(), label: 9, bytes }));
            } else {
                prop_assert_eq!(pool.take_last(), None);
            }
        }
    }
}
