//! A few partners at a time [tam, 5.2].

use super::permutation::Steps;
use super::{Declaration, Pairs, block};
use crate::program::builder::{ProgramBuilder, Side, one};
use crate::{Access, Injection, OpId, OperationError};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "group-shuffle",
    sentence: "Ranks exchange with a group of partners at a time, one packet for each in turn: few packets \
               meet at the inputs of switches, and few rounds drain the pipeline (Tam).",
};

pub(super) fn write(
    program: &mut ProgramBuilder,
    group: u32,
    pairs: Pairs,
    hosts_per_switch: Option<u32>,
) -> Result<(), OperationError> {
    let steps = Steps::new(pairs.into(), program.ranks, hosts_per_switch)?;
    if group == 0 {
        return Err(OperationError::NoGroup);
    }
    program.inject(Injection { interleaved: true, window: None });
    let (rank, ranks) = (program.rank, program.ranks);
    let mut before: Vec<OpId> = Vec::new();
    // A round is a range of colours, so that both ends of a pair find it in the same round.
    for first in (1..=steps.count()).step_by(group as usize) {
        let colours = first..=steps.count().min(first.saturating_add(group - 1));
        let partners: Vec<u32> = colours.filter_map(|colour| steps.to(rank, colour)).collect();
        if partners.is_empty() {
            continue;
        }
        let gates = program.join(std::mem::take(&mut before));
        for &from in &partners {
            let side = Side::new(from, 0, one(block(from, rank, ranks)));
            before.push(program.receive(Access::Store, side));
            gates.iter().for_each(|&gate| program.after(gate));
        }
        for &to in &partners {
            before.push(program.send(Side::new(to, 0, one(block(rank, to, ranks)))));
            gates.iter().for_each(|&gate| program.after(gate));
        }
    }
    Ok(())
}
