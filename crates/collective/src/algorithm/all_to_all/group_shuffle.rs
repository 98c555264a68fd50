//! A few partners at a time [tam, 5.2].

use super::permutation::Steps;
use super::{Declaration, Pairs, block};
use crate::score::{Score, Side};
use crate::{Access, Injection, OpId, OperationError};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "group-shuffle",
    sentence: "Ranks exchange with a group of partners at a time, one packet for each in turn: few packets \
               meet at the inputs of switches, and few rounds drain the pipeline (Tam).",
};

pub(super) fn write(
    mut score: Score,
    group: u32,
    pairs: Pairs,
    hosts_per_switch: Option<u32>,
) -> Result<Score, OperationError> {
    let steps = Steps::new(pairs.into(), score.ranks(), hosts_per_switch)?;
    if group == 0 {
        return Err(OperationError::NoGroup);
    }
    score.inject(Injection { interleaved: true, window: None });
    Ok(score.each(|part| {
        let (rank, ranks) = (part.rank, part.ranks());
        let mut before: Vec<OpId> = Vec::new();
        // A round is a range of colours, so that both ends of a pair find it in the same round.
        for first in (1..=steps.count()).step_by(group as usize) {
            let colours = first..=steps.count().min(first.saturating_add(group - 1));
            let partners: Vec<u32> = colours.filter_map(|colour| steps.to(rank, colour)).collect();
            if partners.is_empty() {
                continue;
            }
            let gates = part.join(std::mem::take(&mut before));
            for &from in &partners {
                let side = Side::new(from, 0, once(block(from, rank, ranks)));
                before.push(part.receive(Access::Store, side));
            }
            for &to in &partners {
                before.push(part.send(Side::new(to, 0, once(block(rank, to, ranks)))));
            }
            for &op in &before {
                gates.iter().for_each(|&gate| part.after(op, gate));
            }
        }
    }))
}
