//! Every algorithm does what it is for, has the messages and steps that theory gives it, and what
//! is broken is refused.

mod broken;
mod edit;
mod sound;
mod theory;

use crate::{Collective, Operation};
use crosstie_units::{Bytes, Rate};

/// Every algorithm of every operation; `combine` is how fast those combine that do.
fn operations(root: u32, bytes: u64, combine: Option<Rate>) -> Vec<Operation> {
    Operation::by_every_algorithm(root, Bytes::new(bytes), combine)
}

/// The collective, which exists.
fn collective(operation: Operation, ranks: u32) -> Collective {
    let error = |error| panic!("{operation:?} among {ranks}: {error}");
    operation.collective(ranks).unwrap_or_else(error)
}
