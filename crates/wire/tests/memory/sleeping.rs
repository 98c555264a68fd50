//! No ring is lost, however two processes fall asleep.

use crosstie_units::{Seed, Stream};
use crosstie_wire::memory::Memory;

use crate::parts::{pair, sleep};

/// How often two processes wake each other; more with `CROSSTIE_HANDSHAKES`.
fn count() -> u64 {
    std::env::var("CROSSTIE_HANDSHAKES").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000)
}

/// Waits for records, awake for a random while and then asleep. Tells of each.
fn receive(memory: &mut Memory, random: &mut Stream, sink: &mut dyn FnMut(&[u8])) {
    for _ in 0..random.below(200) {
        if memory.poll(&mut |_, record| sink(record)) > 0 {
            return;
        }
        std::hint::spin_loop();
    }
    loop {
        memory.about_to_sleep();
        let found = memory.poll(&mut |_, record| sink(record)) > 0;
        if !found {
            sleep(memory);
            memory.bell().drain();
        }
        memory.awake();
        if found {
            return;
        }
    }
}

/// Sends numbers back and forth; the one of rank 0 begins.
pub fn handshakes(mut memory: Memory, count: u64) {
    let rank = memory.rank();
    let mut random = Seed(1).stream("sleep", rank as u64);
    let mut expected = 0u64;
    if rank == 0 {
        assert!(memory.push(1, &[&0u64.to_le_bytes()]));
    }
    while expected < count {
        let mut found = Vec::new();
        receive(&mut memory, &mut random, &mut |record| found.push(record.to_vec()));
        assert_eq!(found, [expected.to_le_bytes()]);
        let answer = if rank == 0 { expected + 1 } else { expected };
        expected += 1;
        if rank == 1 || answer < count {
            for _ in 0..random.below(300) {
                std::hint::spin_loop();
            }
            assert!(memory.push(1 - rank, &[&answer.to_le_bytes()]));
        }
    }
}

/// Two processes wake each other, after random times awake.
#[test]
fn two_processes_wake_each_other() {
    let (memory, peer) = pair("handshakes", count());
    handshakes(memory, count());
    peer.end();
}

const LENGTH: usize = 3000;

/// Sends as much as there is room for, and sleeps when there is none.
pub fn flood(mut memory: Memory, count: u64) {
    for number in 0..count {
        let body = [number as u8; LENGTH];
        let parts: [&[u8]; 2] = [&number.to_le_bytes(), &body];
        while !memory.push(0, &parts) {
            memory.about_to_sleep();
            if memory.push(0, &parts) {
                memory.awake();
                break;
            }
            sleep(&memory);
            memory.bell().drain();
            memory.awake();
        }
    }
}

/// One writes more than there is room for, and sleeps; the other reads, and sleeps as well.
#[test]
fn a_flood_without_room_comes_through() {
    let count = count() / 2;
    let (mut memory, peer) = pair("flood", count);
    let mut random = Seed(2).stream("sleep", 0);
    let mut expected = 0u64;
    while expected < count {
        receive(&mut memory, &mut random, &mut |record| {
            assert_eq!(record.len(), 8 + LENGTH);
            assert_eq!(record[..8], expected.to_le_bytes());
            assert!(record[8..].iter().all(|byte| *byte == expected as u8));
            expected += 1;
        });
        if random.below(10) == 0 {
            std::thread::yield_now();
        }
    }
    peer.end();
    assert_eq!(memory.broken(), None);
}
