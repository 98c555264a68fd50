//! Ranks of tests: this executable, run again with a part to play.

use std::ffi::OsString;
use std::fmt::Display;
use std::time::{Duration, Instant};

use crosstie_wire::{Comm, CommError};

/// The variable that says which part is to be played, with its arguments.
pub const PART: &str = "CROSSTIE_LIVE_PART";

/// The words that run this executable again.
pub fn words() -> Vec<OsString> {
    let executable = std::env::current_exe().unwrap().into_os_string();
    let arguments = ["--exact", "parts::player", "--nocapture", "--quiet", "--test-threads=1"];
    [executable].into_iter().chain(arguments.map(OsString::from)).collect()
}

/// What players say, apart from what the harness says: lines after a mark, in order.
pub fn lines(text: &str) -> Vec<String> {
    let said =
        text.lines().filter_map(|line| line.split_once("=> ").map(|(_, said)| said.to_owned()));
    let mut lines: Vec<String> = said.collect();
    lines.sort_unstable();
    lines
}

/// Says a line.
pub fn say(line: impl Display) {
    use std::io::Write;
    // In one piece, because others may write to the same pipe.
    let line = format!("\n=> {line}\n");
    let mut output = std::io::stdout().lock();
    output.write_all(line.as_bytes()).and_then(|()| output.flush()).unwrap();
}

type Done = Result<(), CommError>;

/// Plays the part that the environment asks for; nothing where it asks for none.
#[test]
fn player() {
    let Ok(role) = std::env::var(PART) else { return };
    let words: Vec<&str> = role.split_whitespace().collect();
    let number = |at: usize| words.get(at).map_or(0, |word| word.parse::<u64>().unwrap());
    let done = match words[0] {
        "exchange" => exchange(number(1), number(2)),
        "stream" => stream(number(1), number(2)),
        "collectives" => crate::collectives::part(),
        "every-algorithm" => crate::collectives::every_algorithm(number(1)),
        "at-odds" => crate::collectives::at_odds(number(1)),
        "many-at-once" => crate::collectives::many_at_once(),
        "late-rail" => crate::outages::late_rail(),
        "unexpected" => unexpected(),
        "overlap" => overlap(),
        "vanish" => vanish(number(1)),
        "listen" => crate::strangers::listen(),
        "cut-off" => cut_off(),
        "many-to-one" => crate::many_to_one::part(number(1), number(2) as u32),
        "requests" => crate::requests::part(words[1]),
        "workers" => crate::workers::part(words[1]),
        "leaving" => crate::leaving::part(words[1]),
        "faults" => crate::faults::part(number(1)),
        "cable" => {
            crate::relay::part(number(1) as usize, number(2) as usize);
            Ok(())
        }
        "raw" => {
            crate::raw::part(&words[1..]);
            Ok(())
        }
        unknown => panic!("there is no part `{unknown}`"),
    };
    if let Err(error) = done {
        say(format!("error: {error}"));
        std::process::exit(1);
    }
    std::process::exit(0);
}

/// Bytes that tell who sent them to whom, in which round.
pub fn content(from: usize, to: usize, round: u64, bytes: usize) -> Vec<u8> {
    let first = from as u64 * 7 + to as u64 * 31 + round * 101;
    (0..bytes as u64).map(|at| (first + at * 13 + at / 251) as u8).collect()
}

/// All ranks send to all others and to themselves, messages of many sizes up to so many bytes.
fn exchange(rounds: u64, most: u64) -> Done {
    let comm = Comm::init()?;
    let (rank, size) = (comm.rank(), comm.size());
    for round in 0..rounds {
        let bytes = (round * round * 977 % (most + 1)) as usize;
        let out: Vec<Vec<u8>> = (0..size).map(|to| content(rank, to, round, bytes)).collect();
        let mut into: Vec<Vec<u8>> = (0..size).map(|_| vec![0; bytes + 3]).collect();
        comm.scope(|scope| {
            for (to, message) in out.iter().enumerate() {
                scope.send(to, round as u32, message)?;
            }
            for (from, room) in into.iter_mut().enumerate() {
                let coming = scope.recv(from, round as u32, &mut room[..])?;
                let (status, message) = coming.wait()?;
                assert_eq!((status.source, status.bytes), (from, bytes));
                assert_eq!(message[..bytes], content(from, rank, round, bytes));
            }
            Ok(())
        })?;
    }
    let rails: Vec<String> = comm.statistics().iter().map(|rail| rail.name.clone()).collect();
    say(format!("rank {rank} of {size}, rails {rails:?}"));
    comm.finish()
}

/// Rank 0 sends messages of so many bytes to rank 1 for some milliseconds; checked, and the longest
/// pause told.
fn stream(bytes: u64, milliseconds: u64) -> Done {
    let comm = Comm::init()?;
    let (begin, mut rounds) = (Instant::now(), 0u64);
    let (mut last, mut longest) = (Instant::now(), Duration::ZERO);
    loop {
        let mut go_on = [u8::from(begin.elapsed() < Duration::from_millis(milliseconds))];
        if comm.rank() == 0 {
            comm.send(1, 1, &go_on)?;
            comm.send(1, 2, &content(0, 1, rounds, bytes as usize))?;
        } else {
            comm.recv(0, 1, &mut go_on)?;
            let mut message = vec![0; bytes as usize];
            comm.recv(0, 2, &mut message)?;
            longest = longest.max(last.elapsed());
            last = Instant::now();
            assert_eq!(message, content(0, 1, rounds, bytes as usize), "message {rounds}");
        }
        rounds += 1;
        if go_on[0] == 0 {
            break;
        }
    }
    if comm.rank() == 1 {
        let rate = 8.0 * (rounds * bytes) as f64 / begin.elapsed().as_secs_f64();
        let rails = comm.statistics();
        let received = rails.iter().map(|rail| format!(" {}", rail.count.received_bytes));
        say(format!("{rounds} {} {rate}{}", longest.as_millis(), received.collect::<String>()));
    }
    comm.finish()
}

/// Messages that nobody has asked for, of all lengths, taken in another order than they came.
fn unexpected() -> Done {
    let comm = Comm::init()?;
    if comm.rank() == 0 {
        // More than is kept for one rank: the sender waits.
        for round in 0..400 {
            comm.send(1, 5, &content(0, 1, round, 4000))?;
        }
        comm.send(1, 6, &[1u8])?;
    } else {
        std::thread::sleep(Duration::from_millis(200));
        let found = comm.probe(0, None)?;
        assert_eq!((found.source, found.tag, found.bytes), (0, 5, 4000));
        assert_eq!(comm.try_probe(0, 7)?, None);
        for round in 0..400 {
            let mut message = vec![0u8; 5000];
            let status = comm.recv(None, 5, &mut message)?;
            assert_eq!((status.source, status.bytes), (0, 4000));
            assert_eq!(message[..4000], content(0, 1, round, 4000));
        }
        let mut last = [0u8];
        comm.recv(0, None, &mut last)?;
        // Too short a room is an error, and no more.
        let mut room = [0u8; 3];
        let error = comm.recv(0, 8, &mut room).unwrap_err().to_string();
        assert!(error.contains("room for 3"), "{error}");
    }
    if comm.rank() == 0 {
        comm.send(1, 8, &[1u8; 10])?;
        assert!(comm.send(5, 0, &[0u8]).unwrap_err().to_string().contains("rank 5"));
        comm.set_timeout(Some(Duration::from_millis(50)));
        let error = comm.recv(1, 9, &mut [0u8]).unwrap_err().to_string();
        assert!(error.contains("not done"), "{error}");
        comm.set_timeout(None);
    }
    say("done");
    comm.finish()
}

/// Rank 1 computes while a long message comes: it is there when it looks.
fn overlap() -> Done {
    let comm = Comm::init()?;
    let bytes = 3 << 20;
    if comm.rank() == 0 {
        comm.barrier()?;
        let begin = Instant::now();
        comm.send(1, 0, &content(0, 1, 0, bytes))?;
        say(format!("sent {}", begin.elapsed().as_millis()));
    } else {
        let mut message = vec![0; bytes];
        comm.scope(|scope| {
            let coming = scope.recv(0, 0, &mut message)?;
            comm.barrier()?;
            // Nothing of this library is called.
            std::thread::sleep(Duration::from_millis(1500));
            let begin = Instant::now();
            coming.wait()?;
            say(format!("waited {}", begin.elapsed().as_millis()));
            Ok(())
        })?;
        assert_eq!(message, content(0, 1, 0, bytes));
    }
    comm.finish()
}

/// The last rank ends without a word in the middle of something; all others hear of it in time.
fn vanish(milliseconds: u64) -> Done {
    let comm = Comm::init()?;
    let (rank, size) = (comm.rank(), comm.size());
    comm.barrier()?;
    if rank == size - 1 {
        std::thread::sleep(Duration::from_millis(milliseconds));
        // As if it had been killed, but for what a launcher would do about that.
        std::process::exit(0);
    }
    let begin = Instant::now();
    let mut message = vec![0u8; 1 << 20];
    let error = comm.recv(size - 1, 0, &mut message).unwrap_err();
    say(format!("rank {rank} after {}: {error}", begin.elapsed().as_millis()));
    std::process::exit(0);
}

/// All rails go down: everybody hears of it.
fn cut_off() -> Done {
    let comm = Comm::init()?;
    let other = 1 - comm.rank();
    let (out, mut into) = (vec![0u8; 1 << 20], vec![0u8; 1 << 20]);
    comm.barrier()?;
    say("begin");
    let begin = Instant::now();
    let error = loop {
        let result = comm.scope(|scope| {
            scope.recv(other, 0, &mut into)?;
            scope.send(other, 0, &out)?;
            Ok(())
        });
        match result {
            Ok(()) if begin.elapsed() < Duration::from_secs(60) => {}
            Ok(()) => panic!("nothing has happened"),
            Err(error) => break error,
        }
    };
    say(format!("rank {}: {error}", comm.rank()));
    std::process::exit(0);
}
