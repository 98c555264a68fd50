use super::*;
use crate::memory::lines::Lines;
use crate::memory::mapping::Mapping;
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::{Duration, Instant};

/// A ring in ordinary memory: its head, and after it its lines.
struct Stage {
    mapping: Arc<Mapping>,
    producer: Producer<Lines>,
    consumer: Consumer<Lines>,
    copy: Box<[u8; LONGEST]>,
}

const AT: usize = 128;

fn stage(lines: u32, start: u32) -> Stage {
    let mapping = Arc::new(Mapping::ordinary(AT + lines as usize * LINE));
    let ground = || Lines::new(Arc::clone(&mapping), 0, AT, lines);
    let consumer = Consumer::new(ground(), start);
    let producer = Producer::new(ground(), start);
    Stage { mapping, producer, consumer, copy: Box::new([0; LONGEST]) }
}

impl Stage {
    fn push(&mut self, record: &[u8]) -> bool {
        self.producer.try_push(&[record])
    }

    fn pop(&mut self) -> Option<Vec<u8>> {
        let mut found = None;
        self.consumer.pop(&mut self.copy, |record| found = Some(record.to_vec()));
        found
    }

    fn mark(&self, line: usize) -> u32 {
        self.mapping.word(AT + line * LINE).load(Relaxed)
    }

    fn set_mark(&self, line: usize, mark: u32) {
        self.mapping.word(AT + line * LINE).store(mark, Relaxed);
    }
}

#[test]
fn records_come_out_as_they_went_in() {
    let mut stage = stage(16, 0);
    assert_eq!(stage.pop(), None);
    assert!(stage.producer.try_push(&[b"one", b"", b" record"]));
    assert!(stage.push(b""));
    assert!(stage.push(&[7; 300]));
    assert_eq!(stage.pop().unwrap(), b"one record");
    assert_eq!(stage.pop().unwrap(), b"");
    assert_eq!(stage.pop().unwrap(), [7; 300]);
    assert_eq!(stage.pop(), None);
}

#[test]
fn a_record_is_where_the_picture_shows_it() {
    let mut stage = stage(8, 0);
    assert!(stage.producer.try_push(&[&[1; 32], &[2; 24]]));
    assert!(stage.push(&[3; 57]));
    // The third line holds the last byte of the second record, and the end has been cleared.
    assert_eq!([0, 1, 2, 3].map(|line| stage.mark(line)), [57, 58, 3, 0]);
    let mut bytes = [0; 64];
    stage.mapping.read(AT, &mut bytes);
    assert_eq!(bytes[..8], [57, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!((&bytes[8..40], &bytes[40..]), (&[1; 32][..], &[2; 24][..]));
}

#[test]
fn what_does_not_fit_before_the_end_goes_to_the_beginning() {
    let mut stage = stage(8, 0);
    for _ in 0..3 {
        assert!(stage.push(&[1; 100]));
        stage.pop().unwrap();
    }
    // Two lines are left, and three are needed.
    assert!(stage.push(&[9; 150]));
    assert_eq!((stage.mark(6), stage.mark(0), stage.mark(3)), (WRAP, 151, 0));
    assert_eq!(stage.pop().unwrap(), [9; 150]);
    assert_eq!(stage.pop(), None);
}

#[test]
fn one_line_stays_free_for_the_end() {
    let mut stage = stage(4, 0);
    assert_eq!((0..5).filter(|_| stage.push(&[1; 8])).count(), 3);
    assert_eq!(stage.mark(3), 0);
    stage.pop().unwrap();
    assert!(stage.push(&[2; 8]));
    assert!(!stage.push(&[3; 8]));
    assert_eq!([stage.pop(), stage.pop(), stage.pop()].map(|found| found.unwrap()[0]), [1, 1, 2]);
}

#[test]
fn the_longest_record_fits_wherever_an_empty_ring_is() {
    for lines in [4, 8, 1024] {
        let record: Vec<u8> = (0..longest(lines)).map(|at| at as u8).collect();
        for start in 0..lines.min(64) {
            let mut stage = stage(lines, start.wrapping_sub(2));
            assert!(stage.push(&record), "{lines} lines from {start}");
            assert!(stage.pop().unwrap() == record);
        }
    }
    assert_eq!(longest(1024), LONGEST);
    assert_eq!(longest(4096), LONGEST);
}

#[test]
#[should_panic(expected = "a record of 121 bytes is given to a ring")]
fn a_longer_one_is_a_mistake_of_ours() {
    stage(4, 0).push(&[0; 121]);
}

#[test]
fn marks_that_cannot_be_are_faults() {
    for (line, mark, expected) in [
        (0, 250, Fault::Length { found: 249, most: 248 }),
        (5, 186, Fault::Length { found: 185, most: 184 }),
        (7, u32::MAX - 1, Fault::Length { found: u32::MAX - 2, most: 56 }),
        (0, WRAP, Fault::Skip),
        (3, WRAP, Fault::Skip),
    ] {
        let mut stage = stage(8, line as u32);
        stage.set_mark(line, mark);
        assert_eq!(stage.pop(), None);
        assert_eq!(stage.consumer.fault(), Some(expected));
        // It stays so, whatever is there now.
        stage.set_mark(line, 1);
        assert_eq!(stage.pop(), None);
        assert_eq!(stage.consumer.fault(), Some(expected));
    }
}

#[test]
fn a_skip_to_another_skip_is_a_fault() {
    let mut stage = stage(8, 3);
    stage.set_mark(3, WRAP);
    stage.set_mark(0, WRAP);
    assert_eq!(stage.pop(), None);
    assert_eq!(stage.consumer.fault(), Some(Fault::Skip));
}

#[test]
fn heads_that_cannot_be_are_faults() {
    for head in [4, 1000, u32::MAX, 1 << 31] {
        let mut stage = stage(4, 0);
        while stage.push(&[1; 8]) {}
        stage.mapping.word(0).store(head, Relaxed);
        assert!(!stage.push(&[1; 8]));
        assert_eq!(stage.producer.fault(), Some(Fault::Head { found: head, most: 3 }));
        stage.mapping.word(0).store(3, Relaxed);
        assert!(!stage.push(&[1; 8]));
    }
}

#[derive(Debug, Clone)]
enum Step {
    Push(Vec<usize>),
    Pop,
    /// Somebody else writes a word.
    Scribble(usize, u32),
}

fn steps(hostile: bool) -> impl Strategy<Value = (u32, u32, Vec<Step>)> {
    let parts = prop::collection::vec(
        prop_oneof![Just(0usize), 1usize..20, 40usize..80, 100usize..400],
        0..4,
    );
    let mark = prop_oneof![Just(WRAP), 0u32..600, any::<u32>()];
    let scribble = (any::<usize>(), mark).prop_map(|(at, mark)| Step::Scribble(at, mark));
    let step = prop_oneof![
        4 => parts.prop_map(Step::Push),
        4 => Just(Step::Pop),
        u32::from(hostile) => scribble,
    ];
    let lines = prop_oneof![Just(4u32), Just(8), Just(16), Just(64)];
    let start = prop_oneof![0u32..100, u32::MAX - 40..=u32::MAX];
    (lines, start, prop::collection::vec(step, 1..200))
}

const CASES: u32 = if cfg!(miri) { 8 } else { 512 };

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    /// A ring is a queue that is full now and then.
    #[test]
    fn a_ring_is_a_queue((lines, start, steps) in steps(false)) {
        let mut stage = stage(lines, start);
        let mut queue: VecDeque<Vec<u8>> = VecDeque::new();
        let mut number = 0u8;
        for step in steps {
            match step {
                Step::Push(lengths) => {
                    let mut parts: Vec<Vec<u8>> = Vec::new();
                    for length in lengths {
                        number = number.wrapping_add(1);
                        parts.push((0..length).map(|at| number ^ at as u8).collect());
                    }
                    let record = parts.concat();
                    if record.len() > longest(lines) {
                        continue;
                    }
                    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
                    let taken: u32 = queue.iter().map(|record| span(record.len())).sum();
                    let pushed = stage.producer.try_push(&parts);
                    if pushed {
                        prop_assert!(taken + span(record.len()) < lines);
                        queue.push_back(record);
                    } else {
                        prop_assert!(!queue.is_empty(), "an empty ring has room");
                    }
                }
                _ => prop_assert_eq!(stage.pop(), queue.pop_front()),
            }
        }
        for record in queue {
            prop_assert_eq!(stage.pop(), Some(record));
        }
        prop_assert_eq!(stage.pop(), None);
        prop_assert_eq!((stage.consumer.fault(), stage.producer.fault()), (None, None));
    }

    /// Whatever others write into a ring, its ends stay inside it.
    #[test]
    fn nothing_that_others_write_leads_out_of_a_ring((lines, start, steps) in steps(true)) {
        let mut stage = stage(lines, start);
        for step in steps {
            match step {
                Step::Push(lengths) => {
                    let length = lengths.iter().sum::<usize>().min(longest(lines));
                    stage.push(&vec![0xff; length]);
                }
                Step::Pop => {
                    let found = stage.pop();
                    prop_assert!(found.is_none_or(|record| record.len() <= longest(lines)));
                }
                Step::Scribble(at, mark) => {
                    let words = (AT + lines as usize * LINE) / 4;
                    stage.mapping.word(at % words * 4).store(mark, Relaxed);
                }
            }
        }
    }
}

/// Records of all lengths from one thread to another: none is lost, changed or out of order.
#[test]
fn two_threads() {
    let most: u32 = if cfg!(miri) { 300 } else { 300_000 };
    for (lines, start) in [(16, 0), (1024, u32::MAX - 5000)] {
        let begin = Instant::now();
        // If one of them fails, the other must not wait for ever.
        let pause = || {
            assert!(begin.elapsed() < Duration::from_secs(120), "it takes too long");
            std::thread::yield_now();
        };
        // A busy machine, where who waits for room gives a whole slice of time away, may do with
        // fewer.
        let count = &AtomicU32::new(most);
        let is_late = || begin.elapsed() > Duration::from_secs(10);
        let Stage { mut producer, mut consumer, mut copy, .. } = stage(lines, start);
        let length = move |number: u32| {
            let spread = number.wrapping_mul(0x9e37_79b9) >> 16;
            4 + spread as usize
                % (longest(lines).min(if number.is_multiple_of(8) { 2000 } else { 90 }) - 3)
        };
        std::thread::scope(|scope| {
            let writer = scope.spawn(move || {
                let mut bytes = vec![0; 2000];
                'all: for number in 0..most {
                    let length = length(number);
                    bytes[..length].fill(number as u8);
                    bytes[..4].copy_from_slice(&number.to_le_bytes());
                    let (head, body) = bytes[..length].split_at(length.min(32));
                    while !producer.try_push(&[head, body]) {
                        if is_late() {
                            count.store(number, Relaxed);
                            break 'all;
                        }
                        pause();
                    }
                }
                assert_eq!(producer.fault(), None);
            });
            let mut number = 0u32;
            while number < count.load(Relaxed) {
                let popped = consumer.pop(&mut copy, |record| {
                    assert_eq!(record.len(), length(number));
                    assert_eq!(record[..4], number.to_le_bytes());
                    assert!(record[4..].iter().all(|byte| *byte == number as u8));
                });
                number += u32::from(popped);
                if !popped {
                    assert_eq!(consumer.fault(), None);
                    pause();
                }
            }
            // Sanitizers see this, and not what a scope waits for.
            writer.join().unwrap();
        });
    }
}
