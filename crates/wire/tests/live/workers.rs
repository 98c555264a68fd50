//! What is promised of a worker: contexts, threads, and how it ends.

use std::thread;
use std::time::{Duration, Instant};

use crosstie_wire::worker::{Class, Context, Destination, Done, Request, Source, Worker};
use crosstie_wire::{Comm, CommError};

use crate::parts::{content, say};
use crate::stage::{ended, here};

/// Through memory, and over a rail of this machine.
const WAYS: [&[(&str, &str)]; 2] = [&[], &[("CROSSTIE_MEMORY", "off"), ("CROSSTIE_RAILS", "lo")]];

pub fn part(name: &str) -> Result<(), CommError> {
    match name {
        "heap" => heap(1),
        "own-heap" => heap(0),
        "threads" => threads(),
        "late" => late(),
        "abort" => abort(false),
        "abort-at-the-end" => abort(true),
        other => panic!("there is no part `{other}`"),
    }
}

fn context(id: u16) -> Context {
    Context { class: Class::Application, id }
}

fn to(id: u16, rank: usize, tag: u32) -> Destination {
    Destination { context: context(id), rank, tag }
}

fn from(id: u16, rank: impl Into<Option<usize>>, tag: impl Into<Option<u32>>) -> Source {
    Source { context: context(id), rank: rank.into(), tag: tag.into() }
}

/// A heap of messages that no receive asks for yet, and behind it two that are asked for first: one
/// with another tag, one of another context.
fn heap(receiver: usize) -> Result<(), CommError> {
    let worker = Worker::init()?;
    let heap = || (0..10_000).map(|_| 8).chain((0..100).map(|_| 16 << 10));
    if worker.rank() == 0 {
        for (round, bytes) in (0..).zip(heap()) {
            let message = content(0, receiver, round, bytes);
            worker.release(worker.send(&to(0, receiver, 1), message)?)?;
        }
        worker.release(worker.send(&to(0, receiver, 2), content(0, receiver, 2, 8))?)?;
        worker.release(worker.send(&to(9, receiver, 1), content(0, receiver, 3, 8))?)?;
    }
    if worker.rank() == receiver {
        for (id, tag, round) in [(9, None, 3), (0, Some(2), 2)] {
            let coming = worker.receive(&from(id, None, tag), vec![0; 8])?;
            assert_eq!(worker.wait(coming)?.memory, content(0, receiver, round, 8));
        }
        for (round, bytes) in (0..).zip(heap()) {
            let coming = worker.receive(&from(0, 0, 1), vec![0; bytes])?;
            let message = worker.wait(coming)?.memory;
            assert_eq!(message, content(0, receiver, round, bytes), "message {round}");
        }
    }
    worker.finish()
}

#[test]
fn no_heap_of_messages_keeps_another_tag_or_context_waiting() {
    for way in WAYS {
        here(2, "workers heap", way);
        here(2, "workers own-heap", way);
    }
}

const ROUNDS: u64 = 100;

/// Messages are short, whole or long.
fn bytes(round: u64) -> usize {
    [0, 8, 3_000, 16_385, 150_000][round as usize % 5]
}

/// What one of several threads sends to the other rank and to its own, and receives.
fn exchange(worker: &Worker, thread: u16) -> Result<(), CommError> {
    let (rank, other) = (worker.rank(), 1 - worker.rank());
    let set = worker.begin_set()?;
    for round in 0..ROUNDS {
        let (id, tag) = (thread % 2, u32::from(thread));
        for (peer, room) in [(other, bytes(round)), (rank, 8)] {
            let coming = worker.receive(&from(id, peer, tag), vec![0; room])?;
            worker.watch(set, coming)?;
            let message = content(rank, peer, round, room);
            worker.watch(set, worker.send(&to(id, peer, tag), message)?)?;
        }
        let (mut received, mut left) = (0, 4);
        while left > 0 {
            let done = worker.wait_any(set, None)?.expect("four are under way");
            let Done { status, memory } = worker.test(done)?.expect("it is done");
            let whole = memory == content(status.source, rank, round, status.bytes);
            received += u32::from(whole && status.bytes == memory.len() && status.tag == tag);
            left -= 1;
        }
        // A send says nothing of tags, but for tag 0.
        assert!(received >= 2 || bytes(round) == 0, "{received} of round {round}");
        // One that is looked for, kept and received by itself.
        let tag = 1000 + tag;
        let sent = worker.send_synchronous(&to(7, other, tag), content(rank, other, round, 8))?;
        assert_eq!(worker.probe(&from(7, None, tag))?.source, other);
        let claim = worker.claim(&from(7, other, tag))?;
        let coming = worker.receive_claimed(claim, vec![0; 8])?;
        assert_eq!(worker.wait(coming)?.memory, content(other, rank, round, 8));
        worker.wait(sent)?;
    }
    worker.end_set(set)
}

/// Four threads in each of two ranks.
fn threads() -> Result<(), CommError> {
    let worker = Worker::init()?;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let worker = &worker;
                scope.spawn(move || exchange(worker, thread))
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
    })?;
    worker.finish()
}

#[test]
fn four_threads_of_two_ranks_each_send_and_receive() {
    for way in WAYS {
        here(2, "workers threads", way);
    }
}

/// Rank 1 receives, and finishes, long after the launcher's patience with rank 0 would be over.
fn late() -> Result<(), CommError> {
    let worker = Worker::init()?;
    if worker.rank() == 0 {
        worker.release(worker.send(&to(0, 1, 1), content(0, 1, 0, 100_000))?)?;
    } else {
        thread::sleep(Duration::from_secs(4));
        let coming = worker.receive(&from(0, 0, 1), vec![0; 100_000])?;
        assert_eq!(worker.wait(coming)?.memory, content(0, 1, 0, 100_000));
        thread::sleep(Duration::from_secs(4));
    }
    worker.finish()
}

#[test]
fn whoever_finishes_waits_for_as_long_as_it_takes() {
    for way in WAYS {
        here(2, "workers late", &[way, &[("CROSSTIE_TIMEOUT", "3")]].concat());
    }
}

/// A thread ends all ranks while another one waits for a message, or for all others to finish.
fn abort(at_the_end: bool) -> Result<(), CommError> {
    let comm = Comm::init()?;
    comm.barrier()?;
    if comm.rank() == 0 {
        let worker = comm.worker().clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(300));
            say("aborts");
            worker.abort(7, "nothing to be done")
        });
        if at_the_end {
            return comm.finish();
        }
    }
    // No rank sends this.
    let coming: Request = comm.worker().receive(&from(3, None, None), vec![0; 8])?;
    comm.worker().wait(coming).map(drop)
}

#[test]
fn any_thread_ends_all_ranks() {
    for part in ["abort", "abort-at-the-end"] {
        let begin = Instant::now();
        let ended = ended(3, &format!("workers {part}"), &[]);
        assert_eq!(ended.lines, ["aborts"], "{part}");
        assert!(ended.outcome.failure.is_some(), "{part}");
        assert!(begin.elapsed() < Duration::from_secs(30), "{part}: {:?}", begin.elapsed());
    }
}
