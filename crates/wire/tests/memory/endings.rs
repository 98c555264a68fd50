//! Peers that are killed, and memory that is read while they live.

use std::time::{Duration, Instant};

use crosstie_wire::memory::Memory;

use crate::parts::{pair, sleep};

/// Does nothing until it is killed.
pub fn wait(mut memory: Memory) {
    memory.about_to_sleep();
    assert!(memory.push(0, &[b"here"]));
    std::thread::sleep(Duration::from_secs(600));
}

/// Waits for records, asleep.
fn receive(memory: &mut Memory) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while found.is_empty() {
        memory.about_to_sleep();
        if memory.poll(&mut |_, record| found.push(record.to_vec())) == 0 {
            sleep(memory);
            memory.bell().drain();
        }
        memory.awake();
    }
    found
}

#[test]
fn a_killed_peer_is_noticed_and_harms_nobody() {
    let (mut memory, mut peer) = pair("wait", 0);
    assert_eq!(receive(&mut memory), [b"here"]);
    assert!(memory.lives(1));
    peer.process.kill().unwrap();
    peer.process.wait().unwrap();
    let begin = Instant::now();
    while memory.lives(1) {
        assert!(begin.elapsed() < Duration::from_secs(60), "nobody notices");
        std::thread::yield_now();
    }
    // It said that it sleeps, so that its bell is rung, which must not end us.
    while memory.push(1, &[b"are you there?"]) {}
    let error = memory.read(1, 4096, &mut [0; 8]).unwrap_err();
    assert!(error.raw_os_error() == Some(libc::ESRCH) || !memory.can_read(1), "{error}");
}

fn byte(at: usize) -> u8 {
    (at % 251) as u8
}

/// Says where there are so many bytes, and holds them until it is told.
pub fn offer(mut memory: Memory, length: usize) {
    let bytes: Vec<u8> = (0..length).map(byte).collect();
    assert!(memory.push(0, &[&(bytes.as_ptr() as u64).to_le_bytes()]));
    receive(&mut memory);
    drop(bytes);
}

#[test]
fn a_long_message_is_read_out_of_another_process() {
    const LENGTH: usize = 40_000_003;
    let (mut memory, peer) = pair("offer", LENGTH as u64);
    let told = receive(&mut memory);
    let address = u64::from_le_bytes(told[0][..].try_into().unwrap());
    let mut copy = vec![0; LENGTH];
    if memory.can_read(1) {
        memory.read(1, address, &mut copy).unwrap();
        assert!(copy.iter().enumerate().all(|(at, found)| *found == byte(at)));
        memory.read(1, address + 1000, &mut copy[..8]).unwrap();
        assert_eq!(copy[..8], [1000, 1001, 1002, 1003, 1004, 1005, 1006, 1007].map(byte));
        assert!(memory.read(1, 8, &mut copy[..8]).is_err());
    } else {
        eprintln!("skipped: this machine does not let processes read each other");
        assert!(memory.read(1, address, &mut copy).is_err());
    }
    assert!(memory.push(1, &[b"thanks"]));
    peer.end();
}
