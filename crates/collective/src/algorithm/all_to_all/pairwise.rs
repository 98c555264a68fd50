//! A tournament.

use super::permutation::Steps;
use super::{Declaration, Pairs, block};
use crate::program::builder::{ProgramBuilder, Side, one};
use crate::{Access, OperationError};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "pairwise",
    sentence: "Pairs exchange their blocks, round after round: in round k with rank xor k among a power of \
               two, else as in a round-robin tournament, in which one rests if their number is odd.",
};

pub(super) fn write(
    program: &mut ProgramBuilder,
    pairs: Option<Pairs>,
    hosts_per_switch: Option<u32>,
) -> Result<(), OperationError> {
    let pairs = pairs.unwrap_or(match program.ranks {
        ranks if ranks.is_power_of_two() => Pairs::Xor,
        _ => Pairs::EdgeColour,
    });
    let rounds = Steps::new(pairs.into(), program.ranks, hosts_per_switch)?;
    let (rank, ranks) = (program.rank, program.ranks);
    for round in 1..=rounds.count() {
        let Some(partner) = rounds.to(rank, round) else { continue };
        program.exchange(
            Side::new(partner, round, one(block(rank, partner, ranks))),
            Access::Store,
            Side::new(partner, round, one(block(partner, rank, ranks))),
        );
    }
    Ok(())
}
