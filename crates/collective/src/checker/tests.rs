//! Every algorithm does what it is for, has the messages and steps that theory gives it, and what
//! is broken is refused.

mod broken;
mod edit;
mod sound;
mod theory;

use crate::algorithm::{
    AllGather, AllReduce, AllToAll, Barrier, Broadcast, Gather, Reduce, Scatter,
};
use crate::{Collective, Operation};
use crosstie_units::{Bytes, Rate};

/// Every algorithm of every operation; `combine` is how fast those combine that do.
fn operations(root: u32, bytes: u64, combine: Option<Rate>) -> Vec<Operation> {
    let bytes = Bytes::new(bytes);
    let mut all: Vec<Operation> = Vec::new();
    all.extend(Barrier::ALL.map(|algorithm| Operation::Barrier { algorithm }));
    all.extend(Broadcast::ALL.map(|algorithm| Operation::Broadcast {
        algorithm,
        root,
        size: bytes,
    }));
    all.extend(Gather::ALL.map(|algorithm| Operation::Gather { algorithm, root, size: bytes }));
    all.extend(Scatter::ALL.map(|algorithm| Operation::Scatter { algorithm, root, size: bytes }));
    all.extend(AllGather::ALL.map(|algorithm| Operation::AllGather { algorithm, size: bytes }));
    all.extend(Reduce::ALL.map(|algorithm| Operation::Reduce {
        algorithm,
        root,
        size: bytes,
        combine,
    }));
    all.extend(AllReduce::ALL.map(|algorithm| Operation::AllReduce {
        algorithm,
        size: bytes,
        combine,
    }));
    all.extend(AllToAll::ALL.map(|algorithm| Operation::AllToAll { algorithm, size: bytes }));
    all
}

/// The collective, which exists.
fn collective(operation: Operation, ranks: u32) -> Collective {
    let error = |error| panic!("{operation:?} among {ranks}: {error}");
    operation.collective(ranks).unwrap_or_else(error)
}
