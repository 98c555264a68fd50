//! Four threads in each of two ranks, all on one worker each.

use super::*;

const ROUNDS: u64 = 60;

/// Messages are short, whole or long.
fn bytes(round: u64) -> usize {
    [0, 8, 3_000, 16_385, 100_000][round as usize % 5]
}

/// Sends and receives in turn.
fn exchange(worker: &Worker, id: u16) {
    let other = 1 - worker.rank();
    for round in 0..ROUNDS {
        let sent = worker.send(&to(id, other, 1), content(round, bytes(round))).unwrap();
        let coming = worker.receive(&from(id, other, 1), vec![0; bytes(round)]).unwrap();
        assert_eq!(worker.wait(coming).unwrap().memory, content(round, bytes(round)));
        worker.wait(sent).unwrap();
    }
}

/// Waits for any of many.
fn any(worker: &Worker, id: u16) {
    let other = 1 - worker.rank();
    let set = worker.begin_set().unwrap();
    for _ in 0..ROUNDS / 10 {
        for tag in 0..10 {
            let coming = worker.receive(&from(id, None, tag), vec![0; 100_000]).unwrap();
            worker.watch(set, coming).unwrap();
        }
        for tag in (0..10).rev() {
            let message = content(tag, bytes(tag));
            let sent = worker.send_synchronous(&to(id, other, tag as u32), message).unwrap();
            worker.watch(set, sent).unwrap();
        }
        let (mut received, mut sent) = (0, 0);
        while received + sent < 20 {
            let done = worker.wait_any(set, None).unwrap().unwrap();
            let Done { status, memory } = worker.test(done).unwrap().unwrap();
            if memory.len() == 100_000 && status.source == other {
                let tag = u64::from(status.tag);
                assert_eq!(memory[..status.bytes], content(tag, bytes(tag)));
                received += 1;
            } else {
                sent += 1;
            }
        }
        assert_eq!((received, sent), (10, 10));
    }
    worker.end_set(set).unwrap();
}

/// Looks for a message, keeps it, and receives it.
fn claim(worker: &Worker, id: u16) {
    let other = 1 - worker.rank();
    for round in 0..ROUNDS {
        let sent = worker.send(&to(id, other, round as u32), content(round, bytes(round))).unwrap();
        worker.release(sent).unwrap();
        let found = worker.probe(&from(id, None, None)).unwrap();
        assert_eq!((found.source, found.tag), (other, round as u32));
        let claim = worker.claim(&from(id, other, None)).unwrap();
        assert_eq!(claim.status(), found);
        let coming = worker.receive_claimed(claim, vec![0; found.bytes]).unwrap();
        assert_eq!(worker.wait(coming).unwrap().memory, content(round, bytes(round)));
    }
}

/// Begins what another thread waits for.
fn hand_over(worker: &Worker, id: u16) {
    let other = 1 - worker.rank();
    let (begun, waits) = channel::<(u64, Request)>();
    thread::scope(|scope| {
        scope.spawn(move || {
            for (round, request) in waits {
                assert_eq!(worker.wait(request).unwrap().memory, content(round, bytes(round)));
            }
        });
        for round in 0..ROUNDS {
            let room = vec![0; bytes(round)];
            begun.send((round, worker.receive(&from(id, None, 9), room).unwrap())).unwrap();
            let message = content(round, bytes(round));
            begun.send((round, worker.send(&to(id, other, 9), message).unwrap())).unwrap();
        }
        drop(begun);
    });
}

#[test]
fn four_threads_in_each_of_two_ranks() {
    let workers = two();
    thread::scope(|scope| {
        for worker in &workers {
            scope.spawn(|| {
                thread::scope(|scope| {
                    scope.spawn(|| exchange(worker, 1));
                    scope.spawn(|| any(worker, 2));
                    scope.spawn(|| claim(worker, 3));
                    scope.spawn(|| hand_over(worker, 4));
                });
                worker.finish().unwrap();
            });
        }
    });
}

/// All threads send and receive in the same context, each with a tag of its own.
#[test]
fn threads_share_a_context() {
    let workers = two();
    thread::scope(|scope| {
        for worker in &workers {
            for tag in 0..4u32 {
                scope.spawn(move || {
                    let other = 1 - worker.rank();
                    for round in 0..ROUNDS {
                        let coming =
                            worker.receive(&from(0, None, tag), vec![0; bytes(round)]).unwrap();
                        let message = content(round, bytes(round));
                        let sent = worker.send(&to(0, other, tag), message).unwrap();
                        worker.wait(sent).unwrap();
                        let done = worker.wait(coming).unwrap();
                        assert_eq!(done.memory, content(round, bytes(round)), "{tag}");
                    }
                });
            }
        }
    });
    thread::scope(|scope| {
        for worker in &workers {
            scope.spawn(|| worker.finish().unwrap());
        }
    });
}
