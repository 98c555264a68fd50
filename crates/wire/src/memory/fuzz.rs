//! What fuzzers do to rings.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::lines::Lines;
use super::mapping::Mapping;
use super::ring::{Consumer, LINE, LONGEST, Producer};
use crate::fuzz::Decisions;

/// Where lines begin, behind the head.
const AT: usize = 128;

/// A ring into which records are pushed and out of which they are popped; now and then a peer writes what it must not. Until then they come out
/// as they went in, and after that nothing worse happens than nonsense or a fault.
pub fn ring(bytes: &[u8]) {
    let mut decisions = Decisions::new(bytes);
    let lines = 4 << decisions.one_of(5);
    let start = decisions.number();
    let mapping = Arc::new(Mapping::ordinary(AT + lines as usize * LINE));
    let ground = || Lines::new(Arc::clone(&mapping), 0, AT, lines);
    let mut consumer = Consumer::new(ground(), start);
    let mut producer = Producer::new(ground(), start);
    let mut copy = Box::new([0; LONGEST]);
    let longest = LONGEST.min(lines as usize / 2 * LINE - 8);
    let mut expected: VecDeque<Vec<u8>> = VecDeque::new();
    let (mut honest, mut number) = (true, 0u8);
    while !decisions.is_empty() {
        match decisions.byte() {
            0..96 => {
                number = number.wrapping_add(1);
                let record = vec![number; usize::from(decisions.short()) % (longest + 1)];
                let (front, rest) = record.split_at(record.len() / 3);
                if producer.try_push(&[front, rest]) {
                    expected.push_back(record);
                }
            }
            96..224 => {
                let mut came = None;
                let popped = consumer.pop(&mut copy, |record| came = Some(record.to_vec()));
                assert_eq!(popped, came.is_some());
                if honest {
                    assert_eq!(came, expected.pop_front());
                    assert_eq!((producer.fault(), consumer.fault()), (None, None));
                } else {
                    assert!(came.is_none_or(|record| record.len() <= longest));
                }
            }
            // Whatever a peer can write: marks, lines, the head.
            224..248 => {
                honest = false;
                let line = decisions.number() % lines;
                mapping.word(AT + line as usize * LINE).store(decisions.number(), Relaxed);
            }
            _ => {
                honest = false;
                mapping.word(0).store(decisions.number(), Relaxed);
            }
        }
    }
}
