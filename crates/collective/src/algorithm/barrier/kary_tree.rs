//! Signals up a tree and down again.

use super::Declaration;
use crate::program::builder::{ProgramBuilder, Side, one};
use crate::{Access, OpId};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "k-ary-tree",
    sentence: "Signals go up a tree in which each rank has `arity` children, and down again: rank r reports \
               to rank (r - 1) / arity.",
};

const ARRIVAL: u32 = 0;
const RELEASE: u32 = 1;

pub(super) fn write(program: &mut ProgramBuilder, arity: u32) {
    let (rank, ranks) = (program.rank, program.ranks);
    // In 64 bits, in which it does not overflow.
    let first = u64::from(rank) * u64::from(arity) + 1;
    let children = first.min(ranks.into())..(first + u64::from(arity)).min(ranks.into());
    let children = children.start as u32..children.end as u32;
    let side = |with, tag| Side::new(with, tag, one(0));
    let arrivals: Vec<OpId> = (children.clone())
        .map(|child| program.receive(Access::Merge, side(child, ARRIVAL)))
        .collect();
    // What releases the children: all have arrived, and, but at the root, the release is here.
    let mut gates = arrivals;
    if rank > 0 {
        let parent = (rank - 1) / arity;
        let arrival = program.signal(parent, ARRIVAL);
        gates.into_iter().for_each(|child| program.after(child));
        let release = program.receive(Access::Merge, side(parent, RELEASE));
        program.after(arrival);
        gates = vec![release];
    }
    let gates = program.join(gates);
    for child in children {
        program.signal(child, RELEASE);
        gates.iter().for_each(|&gate| program.after(gate));
    }
}
