//! A synchronous shuffle that knows the switches [tam, 6.1].

use super::permutation::Permutation;
use super::{Declaration, synchronous_shuffle};
use crate::global_window::{Reading, global_window};
use crate::program::builder::ProgramBuilder;
use crate::{Counting, OperationError, Window};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "modified-shuffle",
    sentence: "A synchronous shuffle for two levels of switches: consecutive steps lead to different \
               switches, and a global window keeps what meets at an uplink within its buffer (Tam).",
};

pub(super) fn write(
    program: &mut ProgramBuilder,
    permutation: Option<Permutation>,
    hosts_per_switch: Option<u32>,
    (buffer, reading): (u32, Reading),
    counts: Counting,
) -> Result<(), OperationError> {
    let ranks = program.ranks;
    let here = hosts_per_switch.unwrap_or(ranks);
    let window = (ranks > 1 && here > 0)
        .then(|| Window { packets: global_window(ranks, here, buffer, reading), counts });
    synchronous_shuffle::write(program, permutation, hosts_per_switch, window)
}
