use super::*;

fn alone(variables: &[(&str, &str)]) -> Result<Job, StartError> {
    Job::joined_by(|name| {
        let found = variables.iter().find(|(other, _)| *other == name);
        found.map(|(_, value)| value.into())
    })
}

#[test]
fn without_a_launcher_a_rank_is_alone() {
    let mut job = alone(&[]).unwrap();
    assert_eq!((job.rank(), job.size(), job.patience()), (0, 1, Duration::from_secs(60)));
    let long: Vec<u8> = (0..crate::LONGEST).map(|number| number as u8).collect();
    job.put("a", &long).unwrap();
    job.fence().unwrap();
    assert_eq!(job.get(0, "a").unwrap(), long);
    assert!(matches!(job.get(0, "b"), Err(StartError::Unknown { rank: 0, .. })));
    assert!(matches!(job.get(1, "a"), Err(StartError::Rank { rank: 1, size: 1 })));
    assert_eq!(job.exchange(b"me").unwrap(), [b"me"]);
    assert_eq!(job.exchange(b"").unwrap(), [b""]);
    let secret = job.secret().unwrap();
    assert_eq!(job.secret().unwrap(), secret);
    assert_ne!(alone(&[]).unwrap().secret().unwrap(), secret);
    job.finish().unwrap();
    alone(&[]).unwrap().abort(3, "nobody hears it").unwrap();
}

#[test]
fn a_secret_that_is_given_is_taken() {
    let text = "000102030405060708090a0b0c0d0e0f";
    let mut job = alone(&[("CROSSTIE_SECRET", text)]).unwrap();
    assert_eq!(Some(job.secret().unwrap()), Secret::from_hex(text));
}

#[cfg(unix)]
mod launched {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::os::fd::{AsRawFd, RawFd};
    use std::os::unix::net::UnixStream;
    use std::thread;

    use super::*;
    use crate::Server;

    fn join(descriptor: RawFd, rank: usize, more: &[(&str, &str)]) -> Result<Job, StartError> {
        let (descriptor, rank) = (descriptor.to_string(), rank.to_string());
        let usual = [("PMI_FD", &*descriptor), ("PMI_RANK", &*rank), ("PMI_SIZE", "2")];
        alone(&[&usual[..], more].concat())
    }

    #[test]
    fn rank_0_tells_all_and_all_count_exchanges() {
        let (ours, theirs): (Vec<_>, Vec<_>) = (0..2).map(|_| UnixStream::pair().unwrap()).unzip();
        thread::scope(|scope| {
            for (rank, stream) in theirs.into_iter().enumerate() {
                scope.spawn(move || {
                    let mut job = join(stream.as_raw_fd(), rank, &[]).unwrap();
                    let mine = format!("rank {rank}");
                    assert_eq!(job.broadcast(mine.as_bytes()).unwrap(), b"rank 0");
                    assert_eq!(job.exchanges(), 1);
                    assert_eq!(job.exchange(mine.as_bytes()).unwrap(), [b"rank 0", b"rank 1"]);
                    assert_eq!(job.exchanges(), 2);
                    assert_eq!(job.broadcast(&[]).unwrap(), b"");
                    job.finish().unwrap();
                });
            }
            Server::new(2).serve(&ours, None).unwrap();
        });
    }

    /// What two ranks say of the secret, each with some variables.
    fn secrets(variables: [&[(&str, &str)]; 2]) -> [Result<Secret, StartError>; 2] {
        let (ours, theirs): (Vec<_>, Vec<_>) = (0..2).map(|_| UnixStream::pair().unwrap()).unzip();
        thread::scope(|scope| {
            let mut ranks = Vec::new();
            for (rank, stream) in theirs.into_iter().enumerate() {
                ranks.push(scope.spawn(move || {
                    join(stream.as_raw_fd(), rank, variables[rank]).unwrap().secret()
                }));
            }
            Server::new(2).serve(&ours, None).unwrap();
            let learned: Vec<_> = ranks.into_iter().map(|rank| rank.join().unwrap()).collect();
            learned.try_into().unwrap()
        })
    }

    #[test]
    fn secrets_are_given_to_all_or_to_none() {
        let given = [("CROSSTIE_SECRET", "000102030405060708090a0b0c0d0e0f")];
        let [zero, one] = secrets([&[], &[]]);
        assert_eq!(zero.unwrap(), one.unwrap());
        let [zero, one] = secrets([&given, &given]);
        assert_eq!((zero.unwrap(), Some(one.unwrap())), {
            let secret = Secret::from_hex(given[0].1);
            (secret.unwrap(), secret)
        });
        let [_, one] = secrets([&given, &[]]);
        let error = one.unwrap_err().to_string();
        assert!(error.contains("is set for rank 0, but not for rank 1"), "{error}");
        let [_, one] = secrets([&[], &given]);
        let error = one.unwrap_err().to_string();
        assert!(error.contains("is set for rank 1, but not for rank 0"), "{error}");
    }

    #[test]
    fn descriptors_that_are_no_sockets_are_left_alone() {
        let closed = join(987_654, 0, &[]).unwrap_err().to_string();
        assert!(closed.contains("descriptor 987654 of PMI_FD is no open socket"), "{closed}");
        let file = tempfile::tempfile().unwrap();
        let refused = join(file.as_raw_fd(), 0, &[]).unwrap_err().to_string();
        assert!(refused.contains("is no open socket"), "{refused}");
        assert_eq!(File::metadata(&file).unwrap().len(), 0, "nothing was written to it");
    }

    #[test]
    fn silence_is_told_in_time() {
        let (_ours, theirs) = UnixStream::pair().unwrap();
        let begin = Instant::now();
        let error = join(theirs.as_raw_fd(), 0, &[("CROSSTIE_TIMEOUT", "50 ms")]).unwrap_err();
        assert!(begin.elapsed() >= Duration::from_millis(50));
        let error = error.to_string();
        assert!(error.contains("cannot join the job: no answer from the launcher for 0.05 s"));
    }

    #[test]
    fn launchers_that_leave_or_rave_are_told_of() {
        for (words, told) in [
            (&b""[..], "has closed the connection"),
            (b"cmd=response_to_init pmi_ver", "has closed the connection"),
            (b"hello\n", "the launcher said `hello`, expected `cmd=response_to_init`"),
            (b"\xff\n", "said `a line that is not UTF-8 text`"),
            (&[b'x'; 10_000], "said `a line of more than 8192 bytes`"),
        ] {
            let (mut ours, theirs) = UnixStream::pair().unwrap();
            let launcher = thread::spawn(move || {
                // It reads before it leaves, so that the connection is closed and not reset.
                ours.read_exact(&mut [0; 40]).unwrap();
                ours.write_all(words).unwrap();
            });
            let error = join(theirs.as_raw_fd(), 0, &[]).unwrap_err().to_string();
            assert!(error.contains(told), "{error}");
            launcher.join().unwrap();
        }
    }

    #[test]
    fn a_port_is_as_good_as_a_descriptor() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let ranks: Vec<_> = ["0", "1"]
            .into_iter()
            .map(|id| {
                let address = address.clone();
                // Streams are served in the order of ranks.
                let rank = thread::spawn(move || {
                    let mut job = alone(&[("PMI_PORT", &address), ("PMI_ID", id)]).unwrap();
                    assert_eq!(job.rank().to_string(), id);
                    let all = job.exchange(id.as_bytes()).unwrap();
                    job.finish().unwrap();
                    all
                });
                (listener.accept().unwrap().0, rank)
            })
            .collect();
        let (streams, ranks): (Vec<_>, Vec<_>) = ranks.into_iter().unzip();
        Server::new(2).serve(&streams, None).unwrap();
        for rank in ranks {
            assert_eq!(rank.join().unwrap(), [b"0", b"1"]);
        }
        drop(listener);
        let error = alone(&[("PMI_PORT", &address), ("PMI_ID", "0")]).unwrap_err().to_string();
        assert!(error.contains(&format!("cannot reach the launcher at {address}")), "{error}");
    }

    #[test]
    fn a_rank_that_leaves_keeps_nobody_waiting() {
        let (ours, mut theirs): (Vec<_>, Vec<_>) =
            (0..2).map(|_| UnixStream::pair().unwrap()).unzip();
        drop(theirs.pop());
        let waits = thread::spawn(move || {
            let mut job = join(theirs[0].as_raw_fd(), 0, &[]).unwrap();
            let error = job.fence().unwrap_err().to_string();
            (error, job.fence().unwrap_err().to_string())
        });
        Server::new(2).serve(&ours, None).unwrap();
        let (error, after) = waits.join().unwrap();
        assert!(error.contains("at a fence: the launcher refuses: rank_1_has_left"), "{error}");
        assert!(after.contains("in the middle of a request to wait"), "{after}");
    }
}
