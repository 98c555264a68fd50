//! A packet for everybody in turn [tam, 5.2].

use super::permutation::{Permutation, Steps};
use super::{Declaration, block};
use crate::score::{Score, Side};
use crate::{Access, Injection, OperationError, Window};
use std::iter::once;

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
    mut score: Score,
    permutation: Option<Permutation>,
    hosts_per_switch: Option<u32>,
    window: Option<Window>,
) -> Result<Score, OperationError> {
    let permutation = permutation.unwrap_or(usual(score.ranks()));
    let steps = Steps::new(permutation, score.ranks(), hosts_per_switch)?;
    if steps.rests() {
        return Err(OperationError::Resting { ranks: score.ranks() });
    }
    score.inject(Injection { interleaved: true, window });
    Ok(score.each(|part| {
        let (rank, ranks) = (part.rank, part.ranks());
        for from in (1..=steps.count()).filter_map(|step| steps.from(rank, step)) {
            part.receive(Access::Store, Side::new(from, 0, once(block(from, rank, ranks))));
        }
        for to in (1..=steps.count()).filter_map(|step| steps.to(rank, step)) {
            part.send(Side::new(to, 0, once(block(rank, to, ranks))));
        }
    }))
}
