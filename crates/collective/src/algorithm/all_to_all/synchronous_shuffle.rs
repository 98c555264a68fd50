//! A packet for everybody in turn [tam, 5.2].

use super::permutation::{Permutation, Steps};
use super::{Declaration, block};
use crate::program::builder::{ProgramBuilder, Side, one};
use crate::{Access, Injection, OperationError, Window};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "synchronous-shuffle",
    sentence: "Everybody sends a packet to each of the others, in the order of a permutation, then the next \
               packet to each: no two meet at a rank, and no rank waits for another (Tam).",
};

/// The default permutation: an edge colouring for even p. For odd p, shift: it takes p - 1 steps,
/// an edge colouring p.
pub(super) fn usual(ranks: u32) -> Permutation {
    if ranks.is_multiple_of(2) { Permutation::EdgeColour } else { Permutation::Shift }
}

pub(super) fn write(
    program: &mut ProgramBuilder,
    permutation: Option<Permutation>,
    hosts_per_switch: Option<u32>,
    window: Option<Window>,
) -> Result<(), OperationError> {
    let permutation = permutation.unwrap_or(usual(program.ranks));
    let steps = Steps::new(permutation, program.ranks, hosts_per_switch)?;
    if steps.rests() {
        return Err(OperationError::Resting { ranks: program.ranks });
    }
    program.inject(Injection { interleaved: true, window });
    let (rank, ranks) = (program.rank, program.ranks);
    for from in (1..=steps.count()).filter_map(|step| steps.from(rank, step)) {
        program.receive(Access::Store, Side::new(from, 0, one(block(from, rank, ranks))));
    }
    for to in (1..=steps.count()).filter_map(|step| steps.to(rank, step)) {
        program.send(Side::new(to, 0, one(block(rank, to, ranks))));
    }
    Ok(())
}
