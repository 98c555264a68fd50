//! A tournament.

use super::permutation::Steps;
use super::{Declaration, Pairs, block};
use crate::score::{Score, Side};
use crate::{Access, OperationError};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "pairwise",
    sentence: "Pairs exchange their blocks, round after round: in round k with rank xor k among a power of \
               two, else as in a round-robin tournament, in which one rests if their number is odd.",
};

pub(super) fn write(
    score: Score,
    pairs: Option<Pairs>,
    hosts_per_switch: Option<u32>,
) -> Result<Score, OperationError> {
    let pairs = pairs.unwrap_or(match score.ranks() {
        ranks if ranks.is_power_of_two() => Pairs::Xor,
        _ => Pairs::EdgeColour,
    });
    let rounds = Steps::new(pairs.into(), score.ranks(), hosts_per_switch)?;
    Ok(score.each(|part| {
        let (rank, ranks) = (part.rank, part.ranks());
        for round in 1..=rounds.count() {
            let Some(partner) = rounds.to(rank, round) else { continue };
            part.exchange(
                Side::new(partner, round, once(block(rank, partner, ranks))),
                Access::Store,
                Side::new(partner, round, once(block(partner, rank, ranks))),
            );
        }
    }))
}
