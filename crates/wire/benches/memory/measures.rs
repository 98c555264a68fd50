//! What is measured.

use std::hint::{black_box, spin_loop};
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Instant;

use crosstie_wire::memory::Memory;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::company::Rank;

/// What comes before the bytes of a message in a record.
const ENVELOPE: [u8; 32] = [7; 32];

/// The longest pieces of a message.
const PIECE: usize = 16 << 10;

const ROUNDS: usize = 11;

/// Prints the median of some rounds and the best, if this is rank 0.
fn tell(rank: &Rank, what: &str, unit: &str, mut rounds: Vec<f64>, more_is_better: bool) {
    if rank.memory.rank() != 0 {
        return;
    }
    rounds.sort_by(f64::total_cmp);
    let best = if more_is_better { rounds.last() } else { rounds.first() };
    println!("{what:<44} {:>9.3} {unit:<8} best {:.3}", rounds[rounds.len() / 2], best.unwrap());
}

/// All that two ranks do.
pub fn two(rank: &mut Rank) {
    if rank.memory.rank() == 0 {
        let size = rank.memory.ring_size() >> 10;
        println!("two ranks, rings of {size} KiB, one copy: {}", rank.memory.can_read(1));
    }
    flag(rank);
    for bytes in [8, 64, 256, 1 << 10, 4 << 10, 16 << 10] {
        ping(rank, bytes);
    }
    waking(rank);
    for bytes in [8, 64, 256, 1 << 10, 4 << 10, 16 << 10] {
        stream(rank, bytes);
    }
    for bytes in [64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20] {
        bare_copy(rank, bytes);
        one_copy(rank, bytes);
        two_copies(rank, bytes);
    }
}

/// A word back and forth: what the processors need at least.
fn flag(rank: &mut Rank) {
    let count = rank.times(100_000);
    let [mut ours, mut theirs] = rank.flags;
    let first = rank.memory.rank() == 0;
    if !first {
        (ours, theirs) = (theirs, ours);
    }
    let mut number = 0;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..count {
            number += 1;
            if first {
                ours.store(number, Release);
            }
            while theirs.load(Acquire) != number {
                spin_loop();
            }
            if !first {
                ours.store(number, Release);
            }
        }
        rounds.push(begin.elapsed().as_secs_f64() * 1e6 / count as f64 / 2.0);
    }
    tell(rank, "bare flag, one way", "us", rounds, false);
}

/// Waits for one record, awake.
fn wait_for_record(memory: &mut Memory, into: &mut [u8]) {
    while memory.poll(&mut |_, record| into.copy_from_slice(&record[ENVELOPE.len()..])) == 0 {
        spin_loop();
    }
}

fn ping(rank: &mut Rank, bytes: usize) {
    let count = rank.times(50_000);
    let memory = &mut rank.memory;
    let other = 1 - memory.rank();
    let mut message = vec![1; bytes];
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..count {
            if other == 1 {
                assert!(memory.push(other, &[&ENVELOPE, &message]));
            }
            wait_for_record(memory, &mut message);
            if other == 0 {
                assert!(memory.push(other, &[&ENVELOPE, &message]));
            }
        }
        rounds.push(begin.elapsed().as_secs_f64() * 1e6 / count as f64 / 2.0);
    }
    tell(rank, &format!("ping of {bytes} bytes, one way"), "us", rounds, false);
}

/// A ping between ranks that sleep at once.
fn waking(rank: &mut Rank) {
    let count = rank.times(5_000);
    let memory = &mut rank.memory;
    let other = 1 - memory.rank();
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..count {
            if other == 1 {
                assert!(memory.push(other, &[&ENVELOPE]));
            }
            wait_patiently(memory, &Patience { spins: 0, yields: 0 });
            if other == 0 {
                assert!(memory.push(other, &[&ENVELOPE]));
            }
        }
        rounds.push(begin.elapsed().as_secs_f64() * 1e6 / count as f64 / 2.0);
    }
    tell(rank, "ping between ranks that sleep, one way", "us", rounds, false);
}

/// Rank 0 waits until rank 1 has come here.
fn wait_for_rank_1(memory: &mut Memory) {
    if memory.rank() == 1 {
        assert!(memory.push(0, &[&ENVELOPE]));
    } else {
        wait_for_record(memory, &mut []);
    }
}

/// Rank 1 waits until rank 0 has come here.
fn wait_for_rank_0(memory: &mut Memory) {
    if memory.rank() == 0 {
        assert!(memory.push(1, &[&ENVELOPE]));
    } else {
        wait_for_record(memory, &mut []);
    }
}

/// Records of one length, one after the other, from rank 0 to rank 1.
fn stream(rank: &mut Rank, bytes: usize) {
    const SPAN: usize = 4 << 20;
    let count = rank.times(200_000_000 / (bytes + 500));
    let memory = &mut rank.memory;
    let mut message = vec![1; SPAN];
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        let (mut done, mut at) = (0, 0);
        while done < count {
            if memory.rank() == 0 {
                while !memory.push(1, &[&ENVELOPE, &message[at..at + bytes]]) {
                    spin_loop();
                }
                done += 1;
                at = (at + bytes) % SPAN;
            } else {
                done += memory.poll(&mut |_, record| {
                    message[at..at + bytes].copy_from_slice(&record[ENVELOPE.len()..]);
                    black_box(&message);
                    at = (at + bytes) % SPAN;
                });
            }
        }
        wait_for_rank_1(memory);
        rounds.push(count as f64 / begin.elapsed().as_secs_f64());
    }
    let rate = rounds.iter().map(|rate| rate * bytes as f64 / 1e9).collect();
    let times = rounds.iter().map(|rate| 1e9 / rate).collect();
    tell(rank, &format!("records of {bytes} bytes, each"), "ns", times, false);
    tell(rank, &format!("records of {bytes} bytes, bandwidth"), "GB/s", rate, true);
}

/// Ranks copy within their own memory, in turns: what one copy takes at least.
fn bare_copy(rank: &mut Rank, bytes: usize) {
    let count = rank.times((256 << 20) / bytes);
    let memory = &mut rank.memory;
    let other = 1 - memory.rank();
    let (source, mut target) = (vec![1u8; bytes], vec![2u8; bytes]);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for turn in 0..2 * count {
            if turn % 2 == memory.rank() {
                target.copy_from_slice(black_box(&source));
                black_box(&target);
                assert!(memory.push(other, &[&ENVELOPE]));
            } else {
                wait_for_record(memory, &mut []);
            }
        }
        rounds.push(2.0 * (bytes * count) as f64 / begin.elapsed().as_secs_f64() / 1e9);
    }
    tell(rank, &format!("bare copy of {} KiB", bytes >> 10), "GB/s", rounds, true);
}

/// Messages back and forth, each read out of the memory of its sender.
fn one_copy(rank: &mut Rank, bytes: usize) {
    let count = rank.times((256 << 20) / bytes);
    let memory = &mut rank.memory;
    let other = 1 - memory.rank();
    if !memory.can_read(other) {
        return;
    }
    let (source, mut target) = (vec![1u8; bytes], vec![2u8; bytes]);
    let address = (source.as_ptr() as u64).to_le_bytes();
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for turn in 0..2 * count {
            // The next message tells the sender that this one has been read.
            if turn % 2 == memory.rank() {
                assert!(memory.push(other, &[&ENVELOPE, &address]));
            } else {
                let mut told = [0; 8];
                wait_for_record(memory, &mut told);
                memory.read(other, u64::from_le_bytes(told), &mut target).expect("a message");
            }
        }
        rounds.push(2.0 * (bytes * count) as f64 / begin.elapsed().as_secs_f64() / 1e9);
        black_box(&target);
    }
    wait_for_rank_0(memory);
    tell(rank, &format!("one copy, messages of {} KiB", bytes >> 10), "GB/s", rounds, true);
}

/// Messages back and forth in pieces through the rings.
fn two_copies(rank: &mut Rank, bytes: usize) {
    let count = rank.times((256 << 20) / bytes);
    let memory = &mut rank.memory;
    let other = 1 - memory.rank();
    let (source, mut target) = (vec![1u8; bytes], vec![2u8; bytes]);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for turn in 0..2 * count {
            if turn % 2 == memory.rank() {
                for piece in source.chunks(PIECE) {
                    while !memory.push(other, &[&ENVELOPE, piece]) {
                        spin_loop();
                    }
                }
            } else {
                let mut at = 0;
                while at < bytes {
                    memory.poll(&mut |_, record| {
                        let piece = &record[ENVELOPE.len()..];
                        target[at..at + piece.len()].copy_from_slice(piece);
                        at += piece.len();
                    });
                }
            }
        }
        rounds.push(2.0 * (bytes * count) as f64 / begin.elapsed().as_secs_f64() / 1e9);
        black_box(&target);
    }
    tell(rank, &format!("through the ring, messages of {} KiB", bytes >> 10), "GB/s", rounds, true);
}

/// How long a rank stays awake while it has nothing to do.
struct Patience {
    spins: usize,
    yields: usize,
}

/// Waits for records: awake, then yielding, then asleep. Says how many came.
fn wait_patiently(memory: &mut Memory, patience: &Patience) -> usize {
    for turn in 0..patience.spins + patience.yields {
        let found = memory.poll(&mut |_, _| ());
        if found > 0 {
            return found;
        }
        if turn < patience.spins {
            spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
    loop {
        memory.about_to_sleep();
        let found = memory.poll(&mut |_, _| ());
        if found == 0 {
            let mut list = [PollFd::new(memory.bell().fd(), PollFlags::POLLIN)];
            let _ = poll(&mut list, PollTimeout::from(1000u16));
            memory.bell().drain();
        }
        memory.awake();
        if found > 0 {
            return found;
        }
    }
}

/// A barrier of four ranks by dissemination, on as many cores as there are.
pub fn four(rank: &mut Rank) {
    for patience in [
        Patience { spins: 0, yields: 0 },
        Patience { spins: 100, yields: 0 },
        Patience { spins: 0, yields: 100 },
        Patience { spins: 20, yields: 100 },
        Patience { spins: 100, yields: 100 },
        Patience { spins: 1000, yields: 100 },
    ] {
        let Patience { spins, yields } = patience;
        let count = rank.times(1_000);
        let memory = &mut rank.memory;
        let (me, ranks) = (memory.rank(), memory.ranks());
        let mut rounds = Vec::new();
        // Those of a step may come before we have come to it.
        let mut early = vec![0usize; ranks];
        for _ in 0..ROUNDS {
            let begin = Instant::now();
            for _ in 0..count {
                let mut distance = 1;
                while distance < ranks {
                    assert!(memory.push((me + distance) % ranks, &[&ENVELOPE]));
                    let from = (me + ranks - distance) % ranks;
                    wait_from(memory, from, &mut early, &patience);
                    distance *= 2;
                }
            }
            rounds.push(begin.elapsed().as_secs_f64() * 1e6 / count as f64);
        }
        let what = format!("barrier of {ranks}, {spins} spins, {yields} yields");
        tell(rank, &what, "us", rounds, false);
    }
}

/// Waits for a record of one rank, and counts those of others.
fn wait_from(memory: &mut Memory, from: usize, early: &mut [usize], patience: &Patience) {
    let mut turn = 0;
    while early[from] == 0 {
        let awake = patience.spins + patience.yields;
        if turn >= awake {
            memory.about_to_sleep();
        }
        let found = memory.poll(&mut |peer, _| early[peer] += 1);
        if turn >= awake {
            if found == 0 {
                let mut list = [PollFd::new(memory.bell().fd(), PollFlags::POLLIN)];
                let _ = poll(&mut list, PollTimeout::from(1000u16));
                memory.bell().drain();
            }
            memory.awake();
        } else if turn < patience.spins {
            spin_loop();
        } else {
            std::thread::yield_now();
        }
        turn += 1;
    }
    early[from] -= 1;
}

/// What a look at rings costs in which nothing has come. Others do nothing meanwhile.
pub fn many(rank: &mut Rank) {
    let count = rank.times(1_000_000);
    let memory = &mut rank.memory;
    if memory.rank() != 0 {
        while memory.poll(&mut |_, _| ()) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        return;
    }
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        for _ in 0..count {
            assert_eq!(memory.poll(&mut |_, _| ()), 0);
        }
        rounds.push(begin.elapsed().as_secs_f64() * 1e9 / count as f64);
    }
    for peer in 1..memory.ranks() {
        assert!(memory.push(peer, &[&ENVELOPE]));
    }
    tell(rank, "a poll with 63 idle peers", "ns", rounds, false);
}
