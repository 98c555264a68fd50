use std::sync::atomic::Ordering::Relaxed;

use super::*;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::path::Path;

/// All ranks of a machine, in one process.
fn machine_of(ranks: usize, ring: usize) -> Vec<Memory> {
    let make = |rank| Memory::with_rings(rank, ranks, ring).unwrap();
    let mut all: Vec<Memory> = (0..ranks).map(make).collect();
    let names: Vec<String> = all.iter().map(|memory| memory.name().to_owned()).collect();
    for (rank, memory) in all.iter_mut().enumerate() {
        for (peer, name) in names.iter().enumerate().filter(|(peer, _)| *peer != rank) {
            assert!(!memory.is_connected(peer));
            memory.connect(peer, name).unwrap();
            assert!(memory.is_connected(peer) && !memory.is_connected(rank));
        }
    }
    all.iter_mut().for_each(Memory::unlink);
    all
}

fn pair() -> [Memory; 2] {
    machine_of(2, 64 << 10).try_into().unwrap()
}

fn records(memory: &mut Memory) -> Vec<(usize, Vec<u8>)> {
    let mut found = Vec::new();
    let count = memory.poll(&mut |peer, record| found.push((peer, record.to_vec())));
    assert_eq!(count, found.len());
    found
}

fn rung(memory: &Memory) -> bool {
    let mut list = [PollFd::new(memory.bell().fd(), PollFlags::POLLIN)];
    poll(&mut list, PollTimeout::ZERO).unwrap() == 1
}

#[test]
fn everybody_hears_everybody() {
    let mut all = machine_of(5, 64 << 10);
    for round in 0..3u8 {
        for (rank, memory) in all.iter_mut().enumerate() {
            for peer in (0..5).filter(|peer| *peer != rank) {
                assert!(memory.push(peer, &[&[rank as u8], &[peer as u8, round]]));
            }
        }
        for (rank, memory) in all.iter_mut().enumerate() {
            let expected = (0..5).filter(|peer| *peer != rank);
            let expected = expected.map(|peer| (peer, vec![peer as u8, rank as u8, round]));
            assert_eq!(records(memory), expected.collect::<Vec<_>>());
            assert_eq!(memory.poll(&mut |_, _| panic!("all has been seen")), 0);
        }
    }
}

#[test]
fn who_writes_without_end_does_not_keep_others_waiting() {
    let mut all = machine_of(3, 64 << 10);
    while all[0].push(2, &[&[0; 8]]) {}
    assert!(all[1].push(2, &[b"in turn"]));
    let first = records(&mut all[2]);
    assert_eq!(first.len(), TURN + 1);
    assert_eq!(first[TURN], (1, b"in turn".to_vec()));
    let mut rest = 0;
    while all[2].poll(&mut |_, _| rest += 1) > 0 {}
    assert_eq!(TURN + rest, 1023);
}

#[test]
fn the_longest_record_passes_through_the_smallest_ring() {
    let [mut one, mut other] = pair();
    let record: Vec<u8> = (0..Memory::LONGEST).map(|at| (at % 251) as u8).collect();
    for _ in 0..10 {
        assert!(one.push(1, &[&record[..32], &record[32..]]));
        assert!(records(&mut other) == [(0, record.clone())]);
    }
}

#[test]
fn a_bell_rings_for_who_sleeps_and_for_nobody_else() {
    let [mut one, mut other] = pair();
    assert!(one.push(1, &[b"awake"]));
    assert!(!rung(&other));
    records(&mut other);
    other.about_to_sleep();
    assert!(records(&mut other).is_empty());
    assert!(one.push(1, &[b"wake up"]) && rung(&other));
    assert!(other.bell().drain());
    // It has been woken already, even if it does not know yet.
    assert!(one.push(1, &[b"once more"]) && !rung(&other));
    other.awake();
    assert_eq!(records(&mut other).len(), 2);
    other.about_to_sleep();
    other.awake();
    assert!(one.push(1, &[b"awake"]) && !rung(&other));
}

#[test]
fn who_sleeps_for_want_of_room_is_woken_when_there_is_some() {
    let [mut one, mut other] = pair();
    while one.push(1, &[&[1; 1000]]) {}
    one.about_to_sleep();
    assert!(!one.push(1, &[&[1; 1000]]) && !rung(&one));
    assert!(other.poll(&mut |_, _| ()) > 0);
    assert!(rung(&one) && one.bell().drain());
    one.awake();
    assert!(one.push(1, &[&[1; 1000]]));
    // Who finds room after all is not woken for it, having taken its word back.
    while one.push(1, &[&[1; 1000]]) {}
    one.about_to_sleep();
    one.awake();
    while other.poll(&mut |_, _| ()) > 0 {}
    assert!(!rung(&one));
}

#[test]
fn a_peer_that_writes_nonsense_is_reported_and_others_go_on() {
    let mut all = machine_of(3, 64 << 10);
    assert_eq!(all[2].broken(), None);
    let mark = all[2].watched[0];
    all[2].segment.word(mark).store(1_000_000, Relaxed);
    assert!(all[1].push(2, &[b"sound"]));
    assert_eq!(records(&mut all[2]), [(1, b"sound".to_vec())]);
    let expected = Fault::Length { found: 999_999, most: Memory::LONGEST };
    assert_eq!(all[2].broken(), Some((0, expected)));
    assert!(records(&mut all[2]).is_empty());
    // A consumer that says that it has consumed what there was not.
    while all[1].push(0, &[&[1; 1000]]) {}
    let slot = all[0].segment.layout().slot(1);
    all[0].segment.word(Layout::head(slot)).store(77_777, Relaxed);
    assert!(!all[1].push(0, &[&[1; 1000]]));
    assert!(matches!(all[1].broken(), Some((0, Fault::Head { .. }))));
}

#[test]
fn nonsense_in_any_word_harms_nobody() {
    let [mut one, mut other] = pair();
    for at in (Layout::asleep()..Layout::head(2)).step_by(4) {
        for value in [1, 2, u32::MAX, 1 << 31] {
            one.segment.word(at).store(value, Relaxed);
            other.push(0, &[&[3; 500]]);
            one.push(1, &[&[3; 500]]);
            one.about_to_sleep();
            other.about_to_sleep();
            records(&mut one);
            records(&mut other);
        }
    }
}

#[test]
fn memory_of_peers_is_read_where_it_can_be() {
    let [one, other] = pair();
    let source: Vec<u8> = (0..100_000u32).map(|at| (at % 251) as u8).collect();
    let mut copy = vec![0; source.len()];
    let address = source.as_ptr() as u64;
    if cfg!(target_os = "linux") && one.can_read(1) {
        one.read(1, address, &mut copy).unwrap();
        assert!(copy == source);
        assert!(one.read(1, 8, &mut copy).is_err());
    } else {
        let error = one.read(1, address, &mut copy).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }
    let ourselves = one.read(0, address, &mut copy).unwrap_err();
    assert_eq!(ourselves.kind(), io::ErrorKind::Unsupported);
    assert!(!one.can_read(0) && !one.can_read(9));
    drop(other);
}

#[test]
fn who_has_ended_does_not_live() {
    let [mut one, other] = pair();
    assert!(one.lives(1));
    drop(other);
    assert!(!one.lives(1));
    // Nothing happens when something is written for it all the same.
    while one.push(1, &[b"are you there?"]) {}
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    let [mut one, other] = [0, 1].map(|rank| Memory::create(rank, 2).unwrap());
    for name in ["", "../../etc/passwd", "crosstie-0123", &"x".repeat(1 << 20)] {
        let error = one.connect(1, name).unwrap_err();
        assert!(matches!(&error, MemoryError::Name { found } if found.len() <= 64), "{error}");
    }
    let nobody = Name::random().unwrap();
    assert!(matches!(one.connect(1, nobody.as_str()), Err(MemoryError::Open { .. })));
    let ourselves = one.name().to_owned();
    assert!(matches!(one.connect(1, &ourselves), Err(MemoryError::Foreign { .. })));
    assert!(matches!(one.connect(0, other.name()), Err(MemoryError::Rank { found: 0, .. })));
    assert!(matches!(one.connect(2, other.name()), Err(MemoryError::Rank { found: 2, .. })));
    one.connect(1, other.name()).unwrap();
    assert!(matches!(one.connect(1, other.name()), Err(MemoryError::Claimed { .. })));
}

#[test]
fn nothing_is_left_behind() {
    let files = |name: &str| {
        let entries = std::fs::read_dir(folder()).unwrap().flatten();
        entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(name)).count()
    };
    let memory = Memory::create(0, 2).unwrap();
    let name = memory.name().to_owned();
    assert_eq!(files(&name), 2);
    drop(memory);
    assert_eq!(files(&name), 0);
    let mut memory = Memory::create(0, 2).unwrap();
    let name = memory.name().to_owned();
    memory.unlink();
    memory.unlink();
    assert_eq!(files(&name), 0);
    assert!(Path::new(&folder()).is_dir());
}
