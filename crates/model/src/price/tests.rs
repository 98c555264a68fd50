//! Prices against closed forms, against the longest path, and what must hold for all.

mod congestion;
mod exchange;
mod forms;
mod rails;
mod random;
mod reference;
mod trees;

use super::*;
use crate::Architecture;
use crosstie_collective::algorithm::{AllToAll, Broadcast, Gather};
use crosstie_collective::{Builder, Op, Operation, Tag};
use crosstie_units::Bytes;

/// The price, which exists.
fn priced(schedule: &Schedule, on: &Parameters) -> Price {
    price(schedule, on, schedule.ranks()).unwrap_or_else(|error| panic!("{error}"))
}

/// A message, and one in the opposite direction if it is an exchange.
fn messages(bytes: u32, exchange: bool) -> Schedule {
    let mut builder = Builder::new(2);
    for (from, to) in [(0, 1), (1, 0)].into_iter().take(1 + usize::from(exchange)) {
        builder.send(Rank(from), Rank(to), Tag(0), bytes);
        builder.receive(Rank(to), Rank(from), Tag(0), bytes);
    }
    builder.finish().unwrap()
}

fn scheduled(operation: Operation, ranks: u32) -> Schedule {
    operation.collective(ranks).unwrap().schedule
}

fn broadcast(algorithm: Broadcast, bytes: u64, ranks: u32) -> Schedule {
    scheduled(Operation::Broadcast { algorithm, root: 0, size: Bytes::new(bytes) }, ranks)
}

fn gather(bytes: u64, ranks: u32) -> Schedule {
    let (algorithm, size) = (Gather::Linear {}, Bytes::new(bytes));
    scheduled(Operation::Gather { algorithm, root: 0, size }, ranks)
}

fn all_to_all(algorithm: AllToAll, bytes: u64, ranks: u32) -> Schedule {
    scheduled(Operation::AllToAll { algorithm, size: Bytes::new(bytes) }, ranks)
}
