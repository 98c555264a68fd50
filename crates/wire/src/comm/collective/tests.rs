//! Headers, scripts, and what ranks say to each other when they do not agree.

use crosstie_collective::{Layout, Operation, OperationError, Rank as Number};
use crosstie_units::Bytes;

use super::header::{GREETING, HEADER, Header, SHORT, parts};
use super::script::Scripts;
use super::*;

fn header(operation: &Operation, length: u64, number: u32) -> Header {
    let layout = Layout::Parts { whole: length, parts: 1 };
    Header { signature: Signature::new(operation, Some(&layout), 0), number }
}

/// What a rank is told that receives a message of a rank that calls something else.
fn told(mine: Header, other: Header, behind: usize, expected: usize) -> Option<String> {
    let mut message = other.write().to_vec();
    message.resize(HEADER + behind, 7);
    mine.contradiction(&message, message.len(), expected).map(|what| what.to_string())
}

#[test]
fn a_header_tells_what_ranks_do_not_agree_on() {
    let size = Bytes::new(8);
    let all = Operation::by_every_algorithm(0, size, None);
    let named = |name: &str, by: &str| {
        let found = |known: &&Operation| known.name() == name && known.algorithm().name == by;
        *all.iter().find(found).unwrap()
    };
    let (broadcast, ring) = (named("broadcast", "binomial"), named("all-reduce", "ring"));
    let mine = header(&broadcast, 4, 70_000);
    assert_eq!(told(mine, mine, 32, 32), None);
    let cases = [
        (header(&ring, 4, 70_000), 32, "it calls all-reduce, this rank calls broadcast"),
        (header(&broadcast.asked(3, size), 4, 70_000), 32, "its root of broadcast is rank 3"),
        (header(&broadcast, 5, 70_000), 40, "it calls broadcast with other lengths"),
        (header(&broadcast, 4, 70_000 - 65_536), 32, "an earlier operation"),
        (mine, 40, "it sent a message of 40 bytes, this rank expected 32"),
    ];
    for (other, behind, expected) in cases {
        let told = told(mine, other, behind, 32).unwrap();
        assert!(told.contains(expected), "{told}");
    }
    // A long message has no header.
    let long = mine.contradiction(&[7; HEADER], SHORT + 1, 32).unwrap().to_string();
    assert_eq!(long, "it sent a message of 8193 bytes, this rank expected 32");
    // Nor has one that is too short for it.
    assert!(mine.contradiction(&[], 0, 32).is_some());
}

#[test]
fn tags_have_room_for_every_program() {
    for ranks in [1, 2, 3, 7, 16, 100] {
        for operation in Operation::by_every_algorithm(ranks / 2, Bytes::new(1 << 28), None) {
            let mut scripts = Scripts::default();
            for rank in 0..ranks {
                match scripts.get(operation, ranks, Number(rank)) {
                    Ok(script) => assert!(script.receives.iter().all(|&(_, tag)| tag < GREETING)),
                    // Some permutations do not fit some numbers of ranks.
                    Err(error) => {
                        assert!(matches!(error, OperationError::Resting { .. }), "{error}")
                    }
                }
            }
        }
    }
    let mine = header(&Operation::all()[0], 0, 0x0003_0002);
    assert_eq!(mine.tag(5), Tag(0x0002_0005));
    assert_eq!(parts(mine.tag(5)), (2, 5));
}

/// A rank that is alone has its results at once, and the memory is the caller's again.
#[test]
fn one_rank_needs_nobody() {
    let job = crosstie_launch::Job::joined_by(|_| None).unwrap();
    let comm = Comm::of(job, crate::Options::default()).unwrap();
    let mut all = [0u32; 2];
    comm.gather_v(0, &[4, 5], &mut all, &[2]).unwrap();
    assert_eq!(all, [4, 5]);
    let mut mine = [0u32; 2];
    comm.reduce_scatter(&[8, 9], &mut mine, |a, b| *a += b).unwrap();
    assert_eq!(mine, [8, 9]);
    let result = comm.scope(|scope| {
        let playing = scope.collective(Collective::all_reduce(&mut mine, |a, b| *a += b))?;
        assert!(playing.is_done());
        Ok(playing.wait()?[0])
    });
    assert_eq!(result.unwrap(), 8);
    for (found, error) in [
        (comm.gather_v(0, &[4u8], &mut [0; 2], &[2]), "as many as the lengths say"),
        (comm.scatter_v(0, &[4u8], &[1, 1], &mut [0]), "a length for each rank"),
        (comm.all_to_all_v(&[4u8], &[1], &mut [0; 2], &[2]), "as many as the lengths say"),
        (comm.broadcast(1, &mut [4u8]), "rank 1"),
    ] {
        let found = found.unwrap_err().to_string();
        assert!(found.contains(error), "{found}");
    }
}
