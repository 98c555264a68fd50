//! What is promised of sends and receives that are many, late, too short or given up.

use std::time::{Duration, Instant};

use crosstie_wire::{Comm, CommError};
use nix::time::{ClockId, clock_gettime};

use crate::parts::{content, say};
use crate::stage::{ended, here};

/// Through memory, and over a rail of this machine.
pub const WAYS: [&[(&str, &str)]; 2] =
    [&[], &[("CROSSTIE_MEMORY", "off"), ("CROSSTIE_RAILS", "lo")]];

/// Long enough for a message that is already there, also on a machine that is busy.
pub const SOON: Duration = Duration::from_millis(300);

pub fn part(name: &str) -> Result<(), CommError> {
    let comm = Comm::init()?;
    match name {
        "out-of-order" => out_of_order(&comm)?,
        "late-receive" => late_receive(&comm)?,
        "left-scope" => left_scope(&comm)?,
        "late-send" => late_send(&comm)?,
        "short-room" => short_room(&comm)?,
        "many" => many(&comm)?,
        "wait-any" => wait_any(&comm)?,
        "synchronous" => synchronous(&comm)?,
        "claims" => claims(&comm)?,
        "unequal" => return unequal(&comm),
        "broken-ring" => return broken_ring(&comm),
        "stopped" => return stopped(&comm),
        other => panic!("there is no part `{other}`"),
    }
    comm.finish()
}

/// Receives that own their memory are done in the order in which messages come; those that are
/// dropped take no message away, and one that fails does no harm to others.
fn wait_any(comm: &Comm) -> Result<(), CommError> {
    comm.set_timeout(Some(Duration::from_secs(60)));
    let tags = [1u32, 2, 3];
    if comm.rank() == 1 {
        for tag in [2, 1] {
            comm.recv(0, 10 + tag, &mut [0u8; 0])?;
            comm.send(0, tag, &content(1, 0, tag.into(), 50_000))?;
        }
        let mut requests = comm.requests();
        comm.recv(0, 13, &mut [0u8; 0])?;
        requests.send('s', 0, 3, content(1, 0, 3, 60_000), 50_000)?;
        let done = requests.wait_any(None)?.expect("it is under way");
        assert_eq!((done.token, done.memory.len()), ('s', 60_000));
        comm.send(0, 4, &content(1, 0, 4, 50_000))?;
        comm.recv(0, 15, &mut [0u8; 0])?;
        return comm.send(0, 5, &content(1, 0, 5, 50_000));
    }
    let mut requests = comm.requests();
    assert!(requests.wait_any(None)?.is_none(), "nothing is under way");
    for tag in tags {
        requests.recv(tag, 1, tag, vec![0; 70_000], 60_000)?;
    }
    let soon = Instant::now() + Duration::from_millis(20);
    assert!(requests.wait_any(Some(soon))?.is_none() && soon <= Instant::now());
    for expected in [2, 1] {
        comm.send(1, 10 + expected, &[0u8; 0])?;
        let done = requests.wait_any(None)?.expect("two are under way");
        assert_eq!((done.token, done.status.tag, done.status.bytes), (expected, expected, 50_000));
        assert_eq!(done.memory[..50_000], content(1, 0, expected.into(), 50_000));
        assert_eq!(done.memory[50_000..], [0; 20_000]);
    }
    drop(requests);
    comm.send(1, 13, &[0u8; 0])?;
    let mut message = vec![0; 50_000];
    comm.recv(1, 3, &mut message)?;
    assert_eq!(message, content(1, 0, 3, 50_000), "the receive that was dropped has not taken it");
    // One that fails leaves the set, which goes on.
    let mut requests = comm.requests();
    for (tag, room) in [(4, 10), (5, 50_000)] {
        requests.recv(tag, 1, tag, vec![0; room], room)?;
    }
    let failed = requests.wait_any(None);
    assert!(matches!(failed, Err(CommError::Truncated { tag: 4, room: 10, .. })), "{failed:?}");
    comm.send(1, 15, &[0u8; 0])?;
    let done = requests.wait_any(None)?.expect("it is under way");
    assert_eq!((done.token, done.memory), (5, content(1, 0, 5, 50_000)));
    assert!(requests.wait_any(None)?.is_none(), "nothing is under way");
    Ok(())
}

/// Runs two ranks both ways.
fn both(name: &str) {
    for way in WAYS {
        here(2, &format!("requests {name}"), way);
    }
}

/// A synchronous send is done when its message is received, and not before: the other rank says so
/// first.
fn synchronous(comm: &Comm) -> Result<(), CommError> {
    for (round, bytes) in (0..).zip([0, 8, 5_000, 100_000]) {
        let (mine, mut room) = (content(0, 1, round, bytes), vec![0; bytes]);
        if comm.rank() == 0 {
            comm.scope(|scope| {
                let send = scope.recv(1, 2, &mut room)?;
                comm.send_synchronous(1, 1, &mine)?;
                assert!(send.is_done(), "what was sent before the receive has come before");
                Ok(())
            })?;
        } else {
            comm.send(0, 2, &content(1, 0, round, bytes)[..bytes.min(8)])?;
            std::thread::sleep(Duration::from_millis(5));
            comm.recv(0, 1, &mut room)?;
            assert_eq!(room, mine);
        }
    }
    Ok(())
}

#[test]
fn a_synchronous_send_waits_for_its_receive() {
    both("synchronous");
}

/// A claimed message is found by no probe and taken by no receive but its own.
fn claims(comm: &Comm) -> Result<(), CommError> {
    for bytes in [8, 100_000] {
        if comm.rank() == 0 {
            let messages: Vec<Vec<u8>> = (0..3).map(|round| content(0, 1, round, bytes)).collect();
            comm.scope(|scope| {
                for (tag, message) in (0..).zip(&messages) {
                    scope.send(1, tag, message)?;
                }
                Ok(())
            })?;
            continue;
        }
        let first = comm.claim(0, None)?;
        assert_eq!((first.status().tag, first.status().bytes), (0, bytes));
        assert_eq!(comm.probe(0, None)?.tag, 1);
        let mut room = vec![0; bytes];
        for (round, claim) in [(1, None), (2, None), (0, Some(first))] {
            match claim {
                None => comm.recv(0, None, &mut room)?,
                Some(claim) => comm.recv_claimed(claim, &mut room)?,
            };
            assert_eq!(room, content(0, 1, round, bytes), "message {round} of {bytes}");
        }
    }
    Ok(())
}

#[test]
fn a_claimed_message_is_for_one_receive() {
    both("claims");
}

/// More than is kept for a rank, and behind it what is asked for first.
fn out_of_order(comm: &Comm) -> Result<(), CommError> {
    const COUNT: u64 = 2000;
    const BYTES: usize = 16 << 10;
    if comm.rank() == 0 {
        let messages: Vec<Vec<u8>> = (0..COUNT).map(|round| content(0, 1, round, BYTES)).collect();
        return comm.scope(|scope| {
            for message in &messages {
                scope.send(1, 1, message)?;
            }
            scope.send(1, 2, &[7u64])?;
            Ok(())
        });
    }
    comm.set_timeout(Some(Duration::from_secs(60)));
    let mut first = [0u64];
    comm.recv(0, 2, &mut first)?;
    assert_eq!(first, [7]);
    for round in 0..COUNT {
        let mut message = vec![0; BYTES];
        comm.recv(0, 1, &mut message)?;
        assert_eq!(message, content(0, 1, round, BYTES), "message {round}");
    }
    Ok(())
}

#[test]
fn whatever_is_done_first_is_waited_for_first() {
    both("wait-any");
}

#[test]
fn what_is_asked_for_first_comes_first_whatever_was_sent_before() {
    both("out-of-order");
}

/// A receive that timed out takes no message.
fn late_receive(comm: &Comm) -> Result<(), CommError> {
    for bytes in [8, 1 << 20] {
        if comm.rank() == 1 {
            comm.set_timeout(Some(SOON));
            let error = comm.recv(0, 3, &mut vec![0u8; bytes]).unwrap_err().to_string();
            assert!(error.contains("not done after") && error.contains("no message"), "{error}");
            comm.set_timeout(None);
        }
        comm.barrier()?;
        for round in 0..2 {
            if comm.rank() == 0 {
                comm.send(1, 3, &content(0, 1, round, bytes))?;
            } else {
                let mut message = vec![0; bytes];
                comm.recv(0, 3, &mut message)?;
                assert_eq!(message, content(0, 1, round, bytes), "message {round} of {bytes}");
            }
        }
    }
    Ok(())
}

#[test]
fn a_receive_that_timed_out_takes_no_message() {
    both("late-receive");
}

/// Receives of a scope that was left early take no message.
fn left_scope(comm: &Comm) -> Result<(), CommError> {
    for bytes in [8, 1 << 20] {
        if comm.rank() == 1 {
            let mut rooms = [vec![0u8; bytes], vec![0u8; bytes]];
            let [one, other] = &mut rooms;
            let left = comm.scope(|scope| {
                scope.recv(0, 3, &mut one[..])?;
                scope.recv(None, None, &mut other[..])?;
                scope.send(5, 0, &[0u8])?;
                Ok(())
            });
            assert!(matches!(left, Err(CommError::NoSuchRank { found: 5, .. })), "{left:?}");
        }
        comm.barrier()?;
        for round in 0..2 {
            if comm.rank() == 0 {
                comm.send(1, 3, &content(0, 1, round, bytes))?;
            } else {
                let mut message = vec![0; bytes];
                comm.recv(0, 3, &mut message)?;
                assert_eq!(message, content(0, 1, round, bytes), "message {round} of {bytes}");
            }
        }
    }
    Ok(())
}

#[test]
fn receives_of_a_scope_that_was_left_take_no_message() {
    both("left-scope");
}

/// A send that timed out says whether it is still delivered, and is delivered once.
fn late_send(comm: &Comm) -> Result<(), CommError> {
    const BYTES: usize = 1 << 20;
    if comm.rank() == 0 {
        comm.set_timeout(Some(SOON));
        let mut message = content(0, 1, 0, BYTES);
        let error = comm.send(1, 3, &message).unwrap_err().to_string();
        assert!(error.contains("still be delivered"), "{error}");
        comm.set_timeout(None);
        // It is ours again.
        message.fill(0);
        comm.barrier()?;
        comm.send(1, 3, &content(0, 1, 1, BYTES))?;
    } else {
        comm.barrier()?;
        for round in 0..2 {
            let mut message = vec![0; BYTES];
            comm.recv(0, 3, &mut message)?;
            assert_eq!(message, content(0, 1, round, BYTES), "message {round}");
        }
    }
    comm.barrier()?;
    assert_eq!(comm.try_probe(None, None)?, None, "each came once");
    Ok(())
}

#[test]
fn a_send_that_timed_out_says_what_becomes_of_it() {
    both("late-send");
}

/// A message that is too long for its room is an error, whatever waits for it.
fn short_room(comm: &Comm) -> Result<(), CommError> {
    for bytes in [8, 1 << 20] {
        if comm.rank() == 0 {
            (0..3).try_for_each(|_| comm.send(1, 4, &vec![1u8; bytes]))?;
            continue;
        }
        let is_short = |error: CommError| {
            let whole = matches!(
                error,
                CommError::Truncated { from: 0, tag: 4, bytes: found, room } if (found, room) == (bytes, bytes - 1)
            );
            assert!(whole, "{error}");
        };
        is_short(comm.recv(0, 4, &mut vec![0u8; bytes - 1]).unwrap_err());
        let mut room = vec![0u8; bytes - 1];
        is_short(comm.scope(|scope| scope.recv(0, 4, &mut room).map(drop)).unwrap_err());
        let mut room = vec![0u8; bytes - 1];
        let waited = comm.scope(|scope| scope.recv(0, 4, &mut room)?.wait().map(drop));
        is_short(waited.unwrap_err());
    }
    Ok(())
}

#[test]
fn a_message_that_does_not_fit_is_an_error_also_at_the_end_of_a_scope() {
    both("short-room");
}

/// Sends of one scope take a time that grows with their number, not with its square.
fn many(comm: &Comm) -> Result<(), CommError> {
    let value = [1u8; 8];
    // Each waits for the one before, as what is waited for one by one does.
    let takes = |count: usize| -> Result<Duration, CommError> {
        comm.barrier()?;
        // Time of the processor: others may be on it.
        let used = || Duration::from(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).unwrap());
        let begin = used();
        let mut rooms = vec![[0u8; 8]; count];
        comm.scope(|scope| {
            if comm.rank() == 0 {
                for _ in 0..count {
                    scope.send(1, 5, &value)?;
                }
            } else {
                let coming: Vec<_> = rooms
                    .iter_mut()
                    .map(|room| scope.recv(0, 5, room))
                    .collect::<Result<_, _>>()?;
                coming.into_iter().try_for_each(|coming| coming.wait().map(drop))?;
            }
            Ok(())
        })?;
        comm.barrier()?;
        Ok(used() - begin)
    };
    takes(1000)?;
    // Neither fits into caches. In squares, eight times as many would take 64 times as long.
    let (few, all) = (takes(50_000)?, takes(400_000)?);
    assert!(all < 32 * few, "50,000 take {few:?}, 400,000 take {all:?}");
    Ok(())
}

#[test]
fn a_scope_of_many_messages_takes_no_time_squared() {
    both("many");
}

/// Ranks that disagree about the length of a collective operation are told, or have what was meant.
fn unequal(comm: &Comm) -> Result<(), CommError> {
    comm.set_timeout(Some(Duration::from_secs(20)));
    let case: usize = std::env::var("CROSSTIE_LIVE_CASE").unwrap().parse().unwrap();
    let (rank, long) = (comm.rank(), 20_000);
    let count = |counts: [usize; 2]| counts[usize::from(rank != 0)];
    let result = match case {
        0 => comm.broadcast(0, &mut vec![1u64; count([4, 3])]),
        1 => comm.broadcast(0, &mut vec![1u64; count([3, 4])]),
        2 => comm.broadcast(0, &mut vec![1u64; count([0, 4])]),
        3 => comm.broadcast(0, &mut vec![1u64; count([4, 0])]),
        4 => comm.all_reduce(&mut vec![1u64; count([3, 4])], |a, b| *a += b),
        5 => comm.all_reduce(&mut vec![1u64; count([4, 3])], |a, b| *a += b),
        6 => comm.all_reduce(&mut vec![1u64; count([0, 3])], |a, b| *a += b),
        7 => comm.all_reduce(&mut vec![1u64; count([4, long])], |a, b| *a += b),
        8 => comm.all_reduce(&mut vec![1u64; count([long, 2 * long])], |a, b| *a += b),
        _ => return comm.barrier(),
    };
    match result {
        Ok(()) => say(format!("rank {rank}: done")),
        Err(error) => say(format!("rank {rank}: {error}")),
    }
    // Nobody leaves before all are told.
    std::thread::sleep(SOON);
    std::process::exit(0);
}

#[test]
fn ranks_that_disagree_about_a_length_are_told() {
    for way in WAYS {
        for case in 0..9 {
            let number = case.to_string();
            let variables = [way, &[("CROSSTIE_LIVE_CASE", &number[..])]].concat();
            let begin = Instant::now();
            let lines = here(3, "requests unequal", &variables);
            let told = lines.iter().filter(|line| line.contains("do not agree")).count();
            assert!(told > 0 && lines.len() == 3, "{case}: {lines:?}");
            assert!(!lines.iter().any(|line| line.contains("not done")), "{case}: {lines:?}");
            assert!(begin.elapsed() < Duration::from_secs(15), "{case}: {:?}", begin.elapsed());
        }
    }
}

/// Rank 1 writes what cannot be all over the memory that it shares.
fn broken_ring(comm: &Comm) -> Result<(), CommError> {
    use std::os::unix::fs::FileExt;

    comm.barrier()?;
    if comm.rank() == 1 {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let memory = std::fs::File::options().write(true).open("/proc/self/mem").unwrap();
        for line in maps.lines().filter(|line| line.contains("/crosstie-")) {
            let (begin, rest) = line.split_once('-').unwrap();
            let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
            let (begin, end) = (number(begin), number(rest.split(' ').next().unwrap()));
            memory.write_all_at(&vec![0xff; (end - begin) as usize], begin).unwrap();
        }
        // It lives, and says nothing.
        std::thread::sleep(Duration::from_secs(600));
    }
    let begin = Instant::now();
    let error = comm.recv(1, 1, &mut [0u8; 8]).unwrap_err();
    say(format!("after {} ms: {error}", begin.elapsed().as_millis()));
    std::process::exit(1);
}

#[test]
fn a_rank_that_breaks_its_ring_is_named_at_once() {
    let ended = ended(2, "requests broken-ring", &[]);
    let line = ended.lines.first().expect("rank 0 is told");
    assert!(line.contains("rank 1") && line.contains("shared memory is broken"), "{line}");
    assert!(ended.after < Duration::from_secs(30), "{:?}", ended.after);
}

/// Rank 1 is stopped while it reads the memory of rank 0: that has its memory back in time.
fn stopped(comm: &Comm) -> Result<(), CommError> {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;

    const BYTES: usize = 64 << 20;
    const ROUNDS: u64 = 5;
    if comm.rank() == 1 {
        comm.send(0, 1, &[std::process::id()])?;
        let mut message = vec![0u8; BYTES];
        for round in 0..ROUNDS {
            comm.recv(0, 2, &mut message)?;
            assert!(message.iter().all(|&byte| byte == round as u8 + 1), "round {round}");
            comm.send(0, 3, &[0u8])?;
        }
        std::process::exit(0);
    }
    let mut process = [0u32];
    comm.recv(1, 1, &mut process)?;
    let process = Pid::from_raw(process[0] as i32);
    for round in 0..ROUNDS {
        let mut message = vec![round as u8 + 1; BYTES];
        let begin = Instant::now();
        comm.set_timeout(Some(Duration::from_millis(1 + 3 * round)));
        let sent = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_micros(500 + 1500 * round));
                kill(process, Signal::SIGSTOP).unwrap();
            });
            comm.send(1, 2, &message)
        });
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        // It is ours again, however far the other is.
        message.fill(0xee);
        kill(process, Signal::SIGCONT).unwrap();
        comm.set_timeout(None);
        if let Err(error) = sent {
            assert!(error.to_string().contains("still be delivered"), "{error}");
        }
        comm.recv(1, 3, &mut [0u8])?;
    }
    say("done");
    std::process::exit(0);
}

#[test]
fn memory_that_a_stopped_rank_may_read_is_given_back_in_time() {
    assert_eq!(here(2, "requests stopped", &[]), ["done"]);
}
