//! Two ranks that send to each other, as benchmarks do.

use crosstie_collective::{Builder, OpId, Rank, Schedule, Tag};

/// A message and an answer of the same length: a round trip.
pub fn ping(bytes: u32) -> Schedule {
    stream(bytes, 1, bytes)
}

/// So many messages one way, begun together, and an answer when all are there.
pub fn stream(bytes: u32, messages: u32, answer: u32) -> Schedule {
    answered(&[(Rank(0), Rank(1))], bytes, messages, answer)
}

/// The same both ways at once.
pub fn both_ways(bytes: u32, messages: u32, answer: u32) -> Schedule {
    answered(&[(Rank(0), Rank(1)), (Rank(1), Rank(0))], bytes, messages, answer)
}

fn answered(ways: &[(Rank, Rank)], bytes: u32, messages: u32, answer: u32) -> Schedule {
    let (data, answers) = (Tag(0), Tag(1));
    let mut builder = Builder::new(2);
    for &(here, there) in ways {
        let mut received: Vec<OpId> = Vec::new();
        for _ in 0..messages {
            builder.send(here, there, data, bytes);
            received.push(builder.receive(there, here, data, bytes));
        }
        let answered = builder.send(there, here, answers, answer);
        received.into_iter().for_each(|received| builder.after(there, answered, received));
        builder.receive(here, there, answers, answer);
    }
    builder.finish().expect("an answer waits for earlier operations only")
}
