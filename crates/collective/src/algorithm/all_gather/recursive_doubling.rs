//! Pairs that exchange all they have.

use super::Declaration;
use crate::Access;
use crate::algorithm::fold::{Fold, Role};
use crate::program::builder::{ProgramBuilder, Side, all_but, one, run};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "recursive-doubling",
    sentence: "In step k pairs that are 2^k apart exchange all they have; ranks beyond a power of two hand \
               their block to another one and are told the result.",
};

const FOLDED: u32 = 0;

pub(super) fn write(program: &mut ProgramBuilder) {
    let (rank, ranks, fold) = (program.rank, program.ranks, Fold::new(program.ranks));
    let extra = match fold.role(rank) {
        Role::Extra { partner } => {
            program.put(Side::new(partner, FOLDED, one(rank)));
            program.take(Access::Store, Side::new(partner, FOLDED, all_but(rank, ranks)));
            return;
        }
        Role::Member { extra, .. } => extra,
    };
    if let Some(extra) = extra {
        program.take(Access::Store, Side::new(extra, FOLDED, one(extra)));
    }
    for step in 0..fold.steps() {
        let partner = rank ^ (1 << step);
        // The members that have exchanged so far, and the ranks that are folded into them.
        let had = |member: u32| {
            let first = member >> step << step;
            let end = first + (1 << step);
            let extra = |member| ranks.min(member + fold.core);
            [run(first, end), run(extra(first), extra(end))].into_iter().flatten()
        };
        program.exchange(
            Side::new(partner, FOLDED + 1 + step, had(rank)),
            Access::Store,
            Side::new(partner, FOLDED + 1 + step, had(partner)),
        );
    }
    if let Some(extra) = extra {
        program.put(Side::new(extra, FOLDED, all_but(extra, ranks)));
    }
}
