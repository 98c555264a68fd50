//! A rail of a kind that the crate does not know, added from outside: its provider, its addresses
//! and its driver are all in `queues.rs`. Ranks are threads of this process.

#![cfg(unix)]

mod queues;

use std::ffi::OsString;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crosstie_launch::{Job, Server};
use crosstie_protocol::PolicyKind;
use crosstie_wire::rail::Providers;
use crosstie_wire::rail::udp::UdpProvider;
use crosstie_wire::{Comm, CommError, Options};

use queues::{Behaviour, Hall, Queues};

/// Options of a rank whose rails are queues of this hall, and perhaps UDP.
fn options(hall: &Arc<Hall>, behaviour: Behaviour, rails: Option<&str>) -> Options {
    let queues = Arc::new(Queues::new(hall, behaviour));
    Options {
        providers: Providers::new(vec![queues, Arc::new(UdpProvider)]),
        rails: rails.map(str::to_owned),
        // Threads of one process share memory anyhow.
        memory: false,
        ..Options::default()
    }
}

/// Has threads join a job as its ranks and connect; what they return, by rank.
fn ranks<R: Send>(
    options: &[Options],
    body: impl Fn(Result<Comm, CommError>) -> R + Sync,
) -> Vec<R> {
    let size = options.len();
    let streams = (0..size).map(|_| UnixStream::pair().unwrap());
    let (ours, theirs): (Vec<UnixStream>, Vec<UnixStream>) = streams.unzip();
    thread::scope(|scope| {
        let ranks = theirs.into_iter().zip(options).enumerate().map(|(rank, (stream, options))| {
            let body = &body;
            scope.spawn(move || {
                let variable = |name: &str| {
                    let number = match name {
                        "PMI_FD" => stream.as_raw_fd() as usize,
                        "PMI_RANK" => rank,
                        "PMI_SIZE" => size,
                        _ => return None,
                    };
                    Some(OsString::from(number.to_string()))
                };
                let job = Job::joined_by(variable).unwrap();
                drop(stream);
                body(Comm::of(job, options.clone()))
            })
        });
        let ranks: Vec<_> = ranks.collect();
        let mut server = Server::new(size);
        while matches!(server.serve(&ours, None), Ok(crosstie_launch::Served::Told(_))) {}
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Bytes that tell from where to where they went.
fn content(from: usize, to: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 7 + 31 * from + 101 * to) as u8).collect()
}

/// Passes messages round, short and long, and does a few collective operations.
fn exchange(comm: &Comm) -> Result<(), CommError> {
    comm.set_timeout(Some(Duration::from_secs(60)));
    let (rank, size) = (comm.rank(), comm.size());
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    for (tag, bytes) in [0, 8, 5_000, 60_000, 700_000].into_iter().enumerate() {
        let (out, mut into) = (content(rank, next, bytes), vec![0; bytes]);
        comm.scope(|scope| {
            scope.recv(previous, tag as u32, &mut into)?;
            scope.send(next, tag as u32, &out)?;
            Ok(())
        })?;
        assert_eq!(into, content(previous, rank, bytes));
    }
    let mut sum = vec![rank as u64; 3000];
    comm.all_reduce(&mut sum, |a, b| *a += b)?;
    assert_eq!(sum, vec![(0..size as u64).sum(); 3000]);
    let mut word = if rank == 1 { *b"crosstie" } else { [0; 8] };
    comm.broadcast(1, &mut word)?;
    assert_eq!(&word, b"crosstie");
    comm.barrier()
}

#[test]
fn messages_and_collectives_go_over_a_rail_from_outside() {
    // The last gives a rail something only once what was there has left.
    for name in ["pull", "round-robin", "local-dynamic"] {
        let policy = PolicyKind::live().find(|kind| kind.name() == name).unwrap();
        let hall = Hall::new();
        let options = Options { policy, ..options(&hall, Behaviour::Sound, Some("left,right")) };
        let carried = ranks(&vec![options; 3], |comm| {
            let comm = comm.unwrap();
            exchange(&comm).unwrap();
            let statistics = comm.statistics();
            comm.finish().unwrap();
            statistics
        });
        for rails in carried {
            let names: Vec<&str> = rails.iter().map(|rail| &rail.name[..]).collect();
            assert_eq!(names, ["left", "right"]);
            assert!(rails.iter().all(|rail| rail.count.sent_bytes > 5_000), "{rails:?}");
            let can = rails[0].capabilities;
            assert!(can.completions && can.ordered && !can.wakes && !can.segmentation, "{can:?}");
        }
        assert!(hall.kept() > 0, "drivers gave buffers back at once");
    }
}

#[test]
fn what_a_rail_from_outside_loses_is_sent_again() {
    let hall = Hall::new();
    let options = options(&hall, Behaviour::Loses { one_in: 20 }, Some("left,right"));
    let again = ranks(&[options.clone(), options], |comm| {
        let comm = comm.unwrap();
        exchange(&comm).unwrap();
        let again: u64 = comm.statistics().iter().map(|rail| rail.retransmissions).sum();
        comm.finish().unwrap();
        again
    });
    assert!(again.iter().all(|&again| again > 0), "{again:?}");
}

#[test]
fn a_rail_from_outside_stands_beside_those_of_udp() {
    let hall = Hall::new();
    let options = options(&hall, Behaviour::Sound, Some("lo,right"));
    let names = ranks(&[options.clone(), options], |comm| {
        let comm = comm.unwrap();
        exchange(&comm).unwrap();
        let rails = comm.statistics();
        comm.finish().unwrap();
        assert!(rails.iter().all(|rail| rail.count.sent > 0), "{rails:?}");
        rails.into_iter().map(|rail| rail.name).collect::<Vec<_>>()
    });
    assert_eq!(names, [["lo", "right"], ["lo", "right"]]);
}

#[test]
fn devices_from_outside_are_named_in_errors() {
    let hall = Hall::new();
    let wrong = options(&hall, Behaviour::Sound, Some("middle"));
    for error in ranks(&[wrong.clone(), wrong], |comm| comm.err().unwrap().to_string()) {
        assert!(error.contains("names `middle`") && error.contains("left (queue"), "{error}");
    }
}

#[test]
fn an_address_that_is_none_is_told_with_its_rank() {
    let hall = Hall::new();
    for behaviour in [Behaviour::Misleads, Behaviour::Babbles] {
        let options = options(&hall, behaviour, Some("left"));
        let errors = ranks(&[options.clone(), options], |comm| comm.err().unwrap().to_string());
        for (rank, error) in errors.iter().enumerate() {
            let expected = format!("rank {} tells no address for rail left", 1 - rank);
            assert!(error.starts_with(&expected), "{error}");
        }
    }
}
