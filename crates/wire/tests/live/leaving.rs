//! How ranks leave: after an error, and with messages that nobody has received.

use std::time::{Duration, Instant};

use crosstie_box::Timetable;
use crosstie_wire::{Comm, CommError};

use crate::parts::say;
use crate::stage::{ended, live, ranks};

pub fn part(name: &str) -> Result<(), CommError> {
    match name {
        "after-an-error" => after_an_error(),
        "not-received" => not_received(false),
        "long-not-received" => not_received(true),
        "not-delivered" => not_delivered(),
        other => panic!("there is no part `{other}`"),
    }
}

/// Rank 0 ends with an error; all others wait for it.
fn after_an_error() -> Result<(), CommError> {
    let comm = Comm::init()?;
    let rank = comm.rank();
    comm.barrier()?;
    let begin = Instant::now();
    let result = if rank == 0 {
        comm.set_timeout(Some(Duration::from_millis(300)));
        comm.recv(1, 1, &mut [0u8]).map(drop)
    } else {
        comm.recv(0, 2, &mut [0u8]).map(drop)
    };
    let error = result.unwrap_err();
    drop(comm);
    say(format!("rank {rank} after {}: {error}", begin.elapsed().as_millis()));
    // Long enough for all to say so before they are asked to end.
    std::thread::sleep(Duration::from_secs(2));
    Err(error)
}

#[test]
fn a_rank_that_leaves_after_an_error_keeps_nobody() {
    for way in [&[][..], &[("CROSSTIE_MEMORY", "off"), ("CROSSTIE_RAILS", "lo")]] {
        let ended = ended(3, "leaving after-an-error", way);
        let lines: Vec<_> = ended.lines.iter().filter(|line| line.starts_with("rank")).collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        assert!(lines[0].contains("not done after"), "{lines:?}");
        for line in &lines[1..] {
            assert!(line.contains("rank 0 cannot be reached"), "{line}");
            assert!(line.contains("left after an error"), "{line}");
        }
        for line in lines {
            let after: u64 = line.split(' ').nth(3).unwrap().trim_end_matches(':').parse().unwrap();
            assert!(after < 4000, "{line}: before its patience ends");
        }
        assert!(ended.outcome.failure.is_some());
        assert!(ended.after < Duration::from_secs(30), "{:?}", ended.after);
    }
}

/// Rank 0 sends what rank 1 does not ask for, and both leave in peace.
fn not_received(long: bool) -> Result<(), CommError> {
    let comm = Comm::init()?;
    let rank = comm.rank();
    if rank == 0 {
        let bytes = vec![1u8; if long { 100_000 } else { 10 }];
        comm.set_timeout(Some(Duration::from_millis(100)));
        let sent = comm.send(1, 5, &bytes);
        assert_eq!(sent.is_ok(), !long, "{sent:?}");
        comm.set_timeout(None);
    }
    let end = comm.finish().map_or_else(|error| error.to_string(), |()| "in peace".to_owned());
    say(format!("rank {rank}: {end}"));
    Ok(())
}

#[test]
fn a_message_that_nobody_has_received_is_told_of() {
    for way in [&[][..], &[("CROSSTIE_MEMORY", "off"), ("CROSSTIE_RAILS", "lo")]] {
        for (part, bytes) in [("not-received", "10 bytes"), ("long-not-received", "100000 bytes")] {
            let ended = ended(2, &format!("leaving {part}"), way);
            let line = &ended.lines[1];
            let named = line.contains("rank 0") && line.contains("tag 5") && line.contains(bytes);
            assert!(named, "{:?}", ended.lines);
            if part == "long-not-received" {
                assert!(ended.lines[0].contains("rank 1"), "{:?}", ended.lines);
            }
            assert!(ended.after < Duration::from_secs(20), "{:?}", ended.after);
        }
    }
}

/// Rank 0 sends a short message when all rails are down.
fn not_delivered() -> Result<(), CommError> {
    let comm = Comm::init()?;
    let rank = comm.rank();
    comm.barrier()?;
    say(format!("rank {rank} is there"));
    std::thread::sleep(Duration::from_millis(1500));
    if rank == 0 {
        comm.send(1, 5, &[1u8; 10])?;
    }
    let end = comm.finish().map_or_else(|error| error.to_string(), |()| "in peace".to_owned());
    say(format!("rank {rank}: {end}"));
    Ok(())
}

#[test]
fn a_message_that_never_arrived_is_told_of() {
    let text = "hosts = 2\n[[rail]]\n[[event]]\nat = '0.7 s'\nrail = 0\ndown = true";
    let Some(cluster) = live(text) else { return };
    let timetable = Timetable::new();
    let (lines, _) = std::thread::scope(|scope| {
        let player = scope.spawn(|| timetable.play(&cluster, |_| ()));
        let patience = [("CROSSTIE_PATIENCE", "1")];
        let result = ranks(&cluster, &[0, 1], "leaving not-delivered", &patience);
        timetable.stop();
        player.join().unwrap().unwrap();
        result
    });
    let line = lines.iter().find(|line| line.starts_with("rank 0:")).expect("it says how it ended");
    assert!(line.contains("1 message") && line.contains("rank 1"), "{line}");
}
