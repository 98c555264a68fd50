//! Workers in one process: alone, and two that share memory.

use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

use crosstie_protocol::{PolicyKind, Profile};

use super::*;
use crate::key::Key;
use crate::memory::Memory;
use crate::rank::RankSpec;

#[cfg(target_os = "linux")]
mod panics;
#[cfg(target_os = "linux")]
mod threads;

const SECRET: [u8; 16] = [9; 16];

/// The number of a context of programs.
fn context(id: u16) -> Context {
    Context { class: Class::Application, id }
}

fn to(id: u16, rank: usize, tag: u32) -> Destination {
    Destination { context: context(id), rank, tag }
}

fn from(id: u16, rank: impl Into<Option<usize>>, tag: impl Into<Option<u32>>) -> Source {
    Source { context: context(id), rank: rank.into(), tag: tag.into() }
}

fn nobody() -> Job {
    Job::joined_by(|_| None).unwrap()
}

/// A worker of one rank.
fn alone() -> Worker {
    Worker::of(nobody(), &Options::default()).unwrap()
}

/// A rank of two on a machine.
fn engine(rank: u16, memory: Memory) -> Rank {
    let policies = PolicyKind::Pull {}.policies(2, 1).unwrap();
    let (key, profile) = (Key::new(SECRET), Profile::live());
    let spec = RankSpec { rank, size: 2, key, profile, injection: Default::default() };
    let places = (0..2).map(|other| (other != rank).then_some(usize::from(other))).collect();
    Rank::new(spec, &policies, Vec::new(), Some((memory, places))).unwrap()
}

/// The memory of two ranks.
fn memories() -> [Memory; 2] {
    let mut memory = [0, 1].map(|rank| Memory::create(rank, 2).unwrap());
    let names = [0, 1].map(|rank| memory[rank].name().to_owned());
    memory[0].connect(1, &names[1]).unwrap();
    memory[1].connect(0, &names[0]).unwrap();
    memory
}

/// Bytes that tell of what they are.
fn content(of: u64, bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|at| (of * 101 + at * 13 + at / 251) as u8).collect()
}

#[test]
fn a_request_is_a_number_with_one_outcome() {
    assert!(Request::DONE.key().is_null() && Request::of(RequestKey::null()) == Request::DONE);
    let worker = alone();
    assert!(worker.wait(Request::DONE).is_ok(), "it may be waited for");
    for bytes in [0, 8, 100_000] {
        let coming = worker.receive(&from(0, 0, 1), vec![0; bytes + 1]).unwrap();
        assert_eq!(worker.test(coming).unwrap(), None);
        let sent = worker.send(&to(0, 0, 1), content(7, bytes)).unwrap();
        let sent = Request::from_number(sent.number());
        assert_eq!(worker.wait(sent).unwrap().memory, content(7, bytes), "it is given back");
        let Done { status, memory } = worker.wait(coming).unwrap();
        assert_eq!(status, Status { source: 0, tag: 1, bytes });
        assert_eq!(memory[..bytes], content(7, bytes));
        for again in [sent, coming, Request::from_number(77)] {
            assert!(matches!(worker.test(again), Err(CommError::NoSuchRequest)));
            assert!(matches!(worker.wait(again), Err(CommError::NoSuchRequest)));
            assert!(matches!(worker.cancel(again), Err(CommError::NoSuchRequest)));
            assert!(matches!(worker.release(again), Err(CommError::NoSuchRequest)));
        }
    }
    worker.finish().unwrap();
    assert!(matches!(worker.finish(), Err(CommError::Finished)));
    assert!(matches!(worker.send(&to(0, 0, 1), Vec::new()), Err(CommError::Finished)));
}

#[test]
fn a_request_is_cancelled_before_it_has_an_effect() {
    let worker = alone();
    let [first, second] =
        [(); 2].map(|()| worker.receive(&from(0, None, None), vec![0; 8]).unwrap());
    assert!(worker.cancel(first).unwrap() && !worker.cancel(first).unwrap(), "once");
    let sent = worker.send(&to(0, 0, 5), content(1, 8)).unwrap();
    assert!(!worker.cancel(second).unwrap() && !worker.cancel(sent).unwrap(), "they are done");
    assert!(matches!(worker.wait(first), Err(CommError::Cancelled)));
    assert_eq!(worker.wait(second).unwrap().memory, content(1, 8));
    // A long send of which its receiver knows goes on.
    let long = worker.send(&to(0, 0, 6), content(2, 100_000)).unwrap();
    assert!(!worker.cancel(long).unwrap());
    let coming = worker.receive(&from(0, 0, 6), vec![0; 100_000]).unwrap();
    assert_eq!(worker.wait(coming).unwrap().memory, content(2, 100_000));
    worker.wait(long).unwrap();
    worker.wait(sent).unwrap();
    worker.finish().unwrap();
}

#[test]
fn contexts_are_apart_for_receives_probes_and_claims() {
    let worker = alone();
    for id in [1, 65_535] {
        let sent = worker.send(&to(id, 0, 3), content(id.into(), 8)).unwrap();
        worker.release(sent).unwrap();
    }
    let other = Context { class: Class::Remote, id: 1 };
    assert_eq!(worker.try_probe(&from(0, None, None)).unwrap(), None);
    let remote = Source { context: other, rank: None, tag: None };
    assert!(worker.try_claim(&remote).unwrap().is_none());
    for id in [65_535, 1] {
        assert_eq!(worker.probe(&from(id, None, None)).unwrap().bytes, 8);
        let coming = worker.receive(&from(id, None, None), vec![0; 8]).unwrap();
        assert_eq!(worker.wait(coming).unwrap().memory, content(id.into(), 8));
    }
    worker.finish().unwrap();
}

#[test]
fn a_claim_that_is_dropped_gives_its_message_back_where_it_stood() {
    let worker = alone();
    for number in 0..3 {
        let sent = worker.send(&to(0, 0, 3), content(number, 8)).unwrap();
        worker.release(sent).unwrap();
    }
    let [first, second] = [(); 2].map(|()| worker.claim(&from(0, None, None)).unwrap());
    drop(first);
    let coming = worker.receive(&from(0, 0, 3), vec![0; 8]).unwrap();
    assert_eq!(worker.wait(coming).unwrap().memory, content(0, 8));
    // One for which a receive waits meanwhile goes there.
    let third = worker.claim(&from(0, None, None)).unwrap();
    let waiting = worker.receive(&from(0, 0, 3), vec![0; 8]).unwrap();
    assert_eq!(worker.test(waiting).unwrap(), None);
    drop(third);
    assert_eq!(worker.wait(waiting).unwrap().memory, content(2, 8));
    let claimed = worker.receive_claimed(second, vec![0; 8]).unwrap();
    assert_eq!(worker.wait(claimed).unwrap().memory, content(1, 8));
    // One that is kept to the end was not received.
    let sent = worker.send(&to(0, 0, 3), content(3, 8)).unwrap();
    worker.release(sent).unwrap();
    let kept = worker.claim(&from(0, None, None)).unwrap();
    assert!(matches!(worker.finish(), Err(CommError::Unreceived { messages: 1, tag: 3, .. })));
    drop(kept);
}

#[test]
fn a_synchronous_send_is_not_done_before_it_is_received() {
    let worker = alone();
    for bytes in [0, 8, 100_000] {
        let sent = worker.send_synchronous(&to(0, 0, 3), content(3, bytes)).unwrap();
        assert_eq!(worker.wait_for(sent, Duration::from_millis(2)).unwrap(), None);
        let coming = worker.receive(&from(0, 0, 3), vec![0; bytes]).unwrap();
        assert_eq!(worker.wait(coming).unwrap().memory, content(3, bytes));
        worker.wait(sent).unwrap();
    }
    worker.finish().unwrap();
}

#[test]
fn a_set_tells_each_request_once_when_it_is_done() {
    let worker = alone();
    let set = worker.begin_set().unwrap();
    let receives: Vec<Request> = (0..50)
        .map(|tag| {
            let coming = worker.receive(&from(0, 0, tag), vec![0; 8]).unwrap();
            worker.watch(set, coming).unwrap();
            coming
        })
        .collect();
    assert_eq!(worker.wait_any(set, Some(Duration::from_millis(2))).unwrap(), None);
    for tag in (0..50).rev() {
        let sent = worker.send(&to(0, 0, tag), content(tag.into(), 8)).unwrap();
        worker.release(sent).unwrap();
        assert_eq!(worker.wait_any(set, None).unwrap(), Some(receives[tag as usize]));
        let done = worker.test(receives[tag as usize]).unwrap().unwrap();
        assert_eq!(done.memory, content(tag.into(), 8));
    }
    worker.end_set(set).unwrap();
    assert!(matches!(worker.wait_any(set, None), Err(CommError::NoSuchRequest)));
    worker.finish().unwrap();
}

#[test]
fn finishing_waits_for_what_was_released_and_refuses_what_nobody_asks_for() {
    let [one, other] = two();
    let long = content(4, 200_000);
    let sent = one.send(&to(0, 1, 3), long.clone()).unwrap();
    one.release(sent).unwrap();
    let coming = other.receive(&from(0, 0, 4), vec![0; 8]).unwrap();
    other.release(coming).unwrap();
    thread::scope(|scope| {
        let ends = scope.spawn(|| (one.finish(), Instant::now()));
        thread::sleep(Duration::from_millis(100));
        let begin = Instant::now();
        let coming = other.receive(&from(0, 0, 3), vec![0; 200_000]).unwrap();
        assert_eq!(other.wait(coming).unwrap().memory, long);
        let (finished, at) = ends.join().unwrap();
        finished.unwrap();
        assert!(begin < at, "it has waited");
    });
    let [one, other] = two();
    // No receive asks for these.
    for message in [content(1, 200_000), content(1, 0)] {
        let sent = one.send_synchronous(&to(0, 1, 3), message).unwrap();
        one.release(sent).unwrap();
    }
    thread::scope(|scope| {
        let ends = scope.spawn(|| one.finish());
        thread::sleep(Duration::from_millis(20));
        assert!(matches!(other.finish(), Err(CommError::Unreceived { messages: 2, .. })));
        let ended = ends.join().unwrap();
        assert!(matches!(ended, Err(CommError::Undelivered { rank: 1, messages: 2 })), "{ended:?}");
    });
}

#[test]
fn nobody_waits_for_a_thread_that_sleeps() {
    let worker = alone();
    let (waits, is_waited) = channel();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| {
            let coming = worker.receive(&from(0, 0, 1), vec![0; 8]).unwrap();
            waits.send(()).unwrap();
            worker.wait(coming).unwrap().memory
        });
        is_waited.recv().unwrap();
        // By now it sleeps.
        thread::sleep(Duration::from_millis(30));
        let begin = Instant::now();
        for _ in 0..100 {
            assert_eq!(worker.try_probe(&from(9, None, None)).unwrap(), None);
        }
        let took = begin.elapsed();
        // It sleeps for 20 ms at a time: 100 turns behind it would take seconds.
        assert!(took < Duration::from_millis(500), "{took:?}");
        let begin = Instant::now();
        let sent = worker.send(&to(0, 0, 1), content(1, 8)).unwrap();
        worker.release(sent).unwrap();
        assert_eq!(waiter.join().unwrap(), content(1, 8));
        assert!(begin.elapsed() < Duration::from_secs(5));
    });
    worker.finish().unwrap();
}

/// Two ranks that share memory, with progress threads.
fn two() -> [Worker; 2] {
    let mut rank = 0;
    memories().map(|memory| {
        let worker = Worker::new(engine(rank as u16, memory), nobody(), (rank, 2), 1).unwrap();
        worker.begin_to_care().unwrap();
        rank += 1;
        worker
    })
}
