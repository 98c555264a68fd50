//! What fuzzers do to rings.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::lines::Lines;
use super::mapping::Mapping;
use super::ring::{Consumer, LINE, LONGEST, Producer};
use super::{Memory, MemoryError};
use crate::fuzz::Decisions;

/// Where lines begin, behind the head.
const AT: usize = 128;

/// A ring into which records are pushed and out of which they are popped; now and then a peer
/// writes what it must not. Until then they come out as they went in, and after that nothing worse
/// happens than nonsense or a fault.
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

/// How much of a file is written anew: its head, with the words by which ranks wake each other.
const HEAD: usize = 512;

/// The file of a peer: made as it should be, then changed by the bytes, and opened. What is opened
/// can be written to, and read from, without harm. It has the right length from then on: whoever
/// can change that may as well kill us.
pub fn segment(bytes: &[u8]) {
    let mut decisions = Decisions::new(bytes);
    let ranks = 2 + decisions.one_of(3);
    let make = |rank| Memory::with_rings(rank, ranks, super::layout::SMALLEST_RING);
    // There may be no room, which is not what is looked for.
    let (Ok(mut own), Ok(mut peer)) = (make(0), make(1)) else { return };
    let changed = change(&peer, &mut decisions).expect("the file is there");
    match own.connect(1, peer.name()) {
        Ok(()) => {
            for _ in 0..4 {
                own.push(1, &[b"rail"]);
                own.about_to_sleep();
                own.poll(&mut |_, _| {});
                own.awake();
                assert!(own.can_read(1) || own.read(1, 0, &mut [0; 8]).is_err());
            }
            own.lives(1);
        }
        Err(error) => {
            assert!(changed, "{error}");
            assert!(!matches!(error, MemoryError::Name { .. } | MemoryError::Rank { .. }));
        }
    }
    peer.poll(&mut |_, record| assert!(record.len() <= LONGEST));
}

/// Writes into the file of a peer what it must not; whether it is another one now.
fn change(peer: &Memory, decisions: &mut Decisions<'_>) -> std::io::Result<bool> {
    use std::os::unix::fs::FileExt;
    let path = super::folder::folder().join(peer.name());
    let file = std::fs::OpenOptions::new().write(true).open(path)?;
    let mut changed = false;
    while !decisions.is_empty() {
        changed = true;
        match decisions.byte() {
            // Its pages are mapped already, so that it only becomes longer.
            255 => file.set_len(file.metadata()?.len() + u64::from(decisions.byte()))?,
            at => {
                let at = usize::from(at) * 4 % HEAD;
                file.write_all_at(&decisions.number().to_le_bytes(), at as u64)?;
            }
        }
    }
    Ok(changed)
}
