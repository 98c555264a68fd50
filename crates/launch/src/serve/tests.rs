use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;

use super::super::Job;
use super::*;

/// A job of threads, each with its end of a stream.
fn streams(size: usize) -> (Vec<UnixStream>, Vec<UnixStream>) {
    (0..size).map(|_| UnixStream::pair().unwrap()).unzip()
}

/// Joins as a rank does, through a stream in place of what a process inherits.
fn join(stream: &UnixStream, rank: usize, size: usize) -> Job {
    let variable = |name: &str| match name {
        "PMI_FD" => Some(stream.as_raw_fd().to_string()),
        "PMI_RANK" => Some(rank.to_string()),
        "PMI_SIZE" => Some(size.to_string()),
        _ => None,
    };
    Job::joined_by(|name| variable(name).map(Into::into)).unwrap()
}

#[test]
fn ranks_of_somebody_else_are_served() {
    const SIZE: usize = 5;
    let (ours, theirs) = streams(SIZE);
    let ranks: Vec<_> = (theirs.into_iter().enumerate())
        .map(|(rank, stream)| {
            thread::spawn(move || {
                let mut job = join(&stream, rank, SIZE);
                let secret = job.secret().unwrap();
                let mine = vec![rank as u8; 1500 * rank];
                let all = job.exchange(&mine).unwrap();
                assert_eq!(job.exchange(b"again").unwrap(), vec![b"again"; SIZE]);
                job.finish().unwrap();
                (secret, all)
            })
        })
        .collect();
    let mut server = Server::new(SIZE);
    assert_eq!(server.serve(&ours, None).unwrap(), Served::Over);
    let learned: Vec<_> = ranks.into_iter().map(|rank| rank.join().unwrap()).collect();
    let all: Vec<Vec<u8>> = (0..SIZE).map(|rank| vec![rank as u8; 1500 * rank]).collect();
    for (secret, contributions) in &learned {
        assert_eq!(contributions, &all);
        assert_eq!(secret, &learned[0].0);
    }
}

#[test]
fn serving_can_be_taken_up_again() {
    let (ours, mut theirs) = streams(2);
    let mut server = Server::new(2);
    let soon = || Some(Instant::now() + Duration::from_millis(20));
    theirs[0].write_all(b"cmd=get_ap").unwrap();
    assert_eq!(server.serve(&ours, soon()).unwrap(), Served::Late);
    theirs[0].write_all(b"pnum\n").unwrap();
    assert_eq!(server.serve(&ours, soon()).unwrap(), Served::Late);
    let mut answer = [0; 20];
    theirs[0].read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"cmd=appnum appnum=0\n");
    theirs[1].write_all(b"cmd=abort exitcode=3\n").unwrap();
    let event = Event::Aborted { rank: 1, code: 3, message: String::new() };
    assert_eq!(server.serve(&ours, None).unwrap(), Served::Told(event));
    theirs.clear();
    assert_eq!(server.serve(&ours, None).unwrap(), Served::Over);
}

#[test]
fn a_rank_that_does_not_read_is_not_read_either() {
    let (ours, theirs) = streams(1);
    theirs[0].set_nonblocking(true).unwrap();
    let mut server = Server::new(1);
    let mut asked = 0;
    // Far more answers than a socket holds, if all were given.
    for _ in 0..3000 {
        asked += (&theirs[0]).write(&b"cmd=get_maxes\n".repeat(100)).unwrap_or(0);
        server.turn(&ours, &[], Some(Duration::ZERO)).unwrap();
    }
    assert_eq!(server.next_event(), None);
    assert!(server.to_say(0).len() < 1 << 16, "{}", server.to_say(0).len());
    assert!(asked < 3000 * 1400, "it was stopped at {asked} bytes");
}

#[test]
fn streams_have_to_be_as_many_as_ranks() {
    let (ours, _theirs) = streams(2);
    let error = Server::new(3).serve(&ours, None).unwrap_err();
    assert_eq!(error.to_string(), "2 streams for 3 ranks");
}

#[test]
fn time_is_rounded_up() {
    assert_eq!(milliseconds(Some(Duration::from_micros(1))), PollTimeout::from(1u16));
    assert_eq!(milliseconds(Some(Duration::ZERO)), PollTimeout::ZERO);
    assert_eq!(milliseconds(Some(Duration::MAX)), PollTimeout::MAX);
    assert_eq!(milliseconds(None), PollTimeout::NONE);
}
