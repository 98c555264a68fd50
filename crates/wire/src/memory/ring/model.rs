//! Every order in which two processors can see what a ring does, explored by loom.

#![allow(unsafe_code)]

use super::*;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering, fence};
use loom::thread;

/// A word of a modelled memory. A weak one forgets what it publishes.
pub(in crate::memory) struct ModelWord<const WEAK: bool>(AtomicU32);

impl<const WEAK: bool> ModelWord<WEAK> {
    pub(in crate::memory) fn new() -> ModelWord<WEAK> {
        ModelWord(AtomicU32::new(0))
    }

    fn order(order: Ordering) -> Ordering {
        if WEAK { Relaxed } else { order }
    }
}

impl<const WEAK: bool> Word for ModelWord<WEAK> {
    fn load(&self, order: Ordering) -> u32 {
        self.0.load(Self::order(order))
    }

    fn store(&self, value: u32, order: Ordering) {
        self.0.store(value, Self::order(order));
    }

    fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.0.swap(value, Self::order(order))
    }

    fn fence() {
        if !WEAK {
            fence(Ordering::SeqCst);
        }
    }
}

/// A line: its mark, and what follows it. The latter is watched by loom: no two threads may use it
/// at once.
struct ModelLine<const WEAK: bool> {
    mark: ModelWord<WEAK>,
    body: UnsafeCell<u8>,
}

/// A ring in modelled memory. A byte stands for all bytes of a line.
pub(in crate::memory) struct ModelGround<const WEAK: bool> {
    head: ModelWord<WEAK>,
    lines: Vec<ModelLine<WEAK>>,
}

// SAFETY: that bodies are not used by two threads at once is what the model checks.
unsafe impl<const WEAK: bool> Sync for ModelGround<WEAK> {}
// SAFETY: as above.
unsafe impl<const WEAK: bool> Send for ModelGround<WEAK> {}

impl<const WEAK: bool> ModelGround<WEAK> {
    pub(in crate::memory) fn new(lines: usize) -> Arc<ModelGround<WEAK>> {
        let line = || ModelLine { mark: ModelWord::new(), body: UnsafeCell::new(0) };
        let lines = (0..lines).map(|_| line()).collect();
        Arc::new(ModelGround { head: ModelWord::new(), lines })
    }

    fn bodies(&self, line: u32, at: usize, length: usize) -> &[ModelLine<WEAK>] {
        let place = line as usize * LINE + PREFIX + at;
        &self.lines[place / LINE..(place + length).div_ceil(LINE)]
    }
}

impl<const WEAK: bool> Ground for Arc<ModelGround<WEAK>> {
    type Word = ModelWord<WEAK>;

    fn lines(&self) -> u32 {
        self.lines.len() as u32
    }

    fn head(&self) -> &ModelWord<WEAK> {
        &self.head
    }

    fn mark(&self, line: u32) -> &ModelWord<WEAK> {
        &self.lines[line as usize].mark
    }

    fn write(&self, line: u32, at: usize, bytes: &[u8]) {
        if let Some(byte) = bytes.first() {
            for line in self.bodies(line, at, bytes.len()) {
                // A payload also lies where marks were, which is why marks are cleared.
                // SAFETY: loom fails if another thread uses it.
                line.body.with_mut(|body| unsafe { *body = *byte });
            }
            for line in self.bodies(line, at, bytes.len()).iter().skip(1) {
                line.mark.0.store(0xbad, Relaxed);
            }
        }
    }

    fn read(&self, line: u32, into: &mut [u8]) {
        for (at, line) in self.bodies(line, 0, into.len()).iter().enumerate() {
            // SAFETY: loom fails if another thread writes it.
            let byte = line.body.with(|body| unsafe { *body });
            let begin = (at * LINE).saturating_sub(PREFIX);
            let end = into.len().min((at + 1) * LINE - PREFIX);
            into[begin..end].fill(byte);
        }
    }
}

/// Room for the copies of a consumer. The stacks of modelled threads are too small for it.
pub(in crate::memory) fn copy() -> Box<[u8; LONGEST]> {
    vec![0; LONGEST].into_boxed_slice().try_into().expect("as long as that")
}

/// Sends records of these lengths through a ring of four lines.
fn explore<const WEAK: bool>(start: u32, lengths: &'static [usize]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let ground = ModelGround::<WEAK>::new(4);
        let mut consumer = Consumer::new(Arc::clone(&ground), start);
        let mut producer = Producer::new(ground, start);
        let writer = thread::spawn(move || {
            for (number, length) in lengths.iter().enumerate() {
                while !producer.try_push(&[&[1 + number as u8; 128][..*length]]) {
                    assert_eq!(producer.fault(), None);
                    thread::yield_now();
                }
            }
        });
        let mut copy = copy();
        let copy = &mut *copy;
        for (number, length) in lengths.iter().enumerate() {
            let expected = vec![1 + number as u8; *length];
            while !consumer.pop(copy, |record| assert_eq!(record, expected)) {
                assert_eq!(consumer.fault(), None);
                thread::yield_now();
            }
        }
        assert!(!consumer.pop(copy, |_| ()));
        assert_eq!(consumer.fault(), None);
        writer.join().unwrap();
    });
}

#[test]
fn short_records_in_every_order() {
    explore::<false>(u32::MAX, &[8, 8, 8, 8]);
}

#[test]
fn long_records_and_skips_in_every_order() {
    explore::<false>(3, &[100, 8, 100]);
}

#[test]
fn a_ring_that_is_full_in_every_order() {
    explore::<false>(0, &[8, 100, 8, 8]);
}

/// The model sees what goes wrong without release and acquire.
#[test]
#[should_panic(expected = "Causality violation")]
fn memory_that_publishes_nothing_is_found_out() {
    explore::<true>(0, &[8, 8]);
}
