//! Two ranks that send to each other, as benchmarks do.

use super::{Price, price};
use crate::Parameters;
use crosstie_collective::{Builder, OpId, Rank, Tag};

/// A message and an answer of the same length: a round trip.
pub fn ping(parameters: &Parameters, bytes: u32, nodes: u32) -> Price {
    stream(parameters, bytes, 1, bytes, nodes)
}

/// So many messages one way, begun together, and an answer when all are there.
pub fn stream(
    parameters: &Parameters,
    bytes: u32,
    messages: u32,
    answer: u32,
    nodes: u32,
) -> Price {
    answered(&[(Rank(0), Rank(1))], parameters, bytes, messages, answer, nodes)
}

/// The same both ways at once.
pub fn both_ways(
    parameters: &Parameters,
    bytes: u32,
    messages: u32,
    answer: u32,
    nodes: u32,
) -> Price {
    let ways = [(Rank(0), Rank(1)), (Rank(1), Rank(0))];
    answered(&ways, parameters, bytes, messages, answer, nodes)
}

fn answered(
    ways: &[(Rank, Rank)],
    parameters: &Parameters,
    bytes: u32,
    messages: u32,
    answer: u32,
    nodes: u32,
) -> Price {
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
    let schedule = builder.finish().expect("an answer waits for earlier operations only");
    price(&schedule, parameters, nodes).expect("every receive has its send")
}
