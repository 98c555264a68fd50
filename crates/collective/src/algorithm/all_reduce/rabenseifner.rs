//! Halves exchanged, and given back.

use super::Declaration;
use crate::Access;
use crate::algorithm::fold::{Fold, Role};
use crate::program::builder::{ProgramBuilder, Side, run};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "rabenseifner",
    sentence: "Pairs exchange and combine half of what they have until everybody has one part of the result, \
               and double it again; ranks beyond a power of two hand their vector to another one.",
};

const FOLDED: u32 = 0;

pub(super) fn write(program: &mut ProgramBuilder) {
    let (rank, fold) = (program.rank, Fold::new(program.ranks));
    let extra = match fold.role(rank) {
        Role::Extra { partner } => {
            program.put(Side::new(partner, FOLDED, run(0, fold.core)));
            program.take(Access::Store, Side::new(partner, FOLDED, run(0, fold.core)));
            return;
        }
        Role::Member { extra, .. } => extra,
    };
    if let Some(extra) = extra {
        program.take(Access::Add, Side::new(extra, FOLDED, run(0, fold.core)));
    }
    // The parts that the members with the same upper bits end with.
    let parts = |member: u32, step: u32| {
        let first = member >> step << step;
        run(first, first + (1 << step))
    };
    for (taken, step) in (0..fold.steps()).rev().enumerate() {
        let (partner, tag) = (rank ^ (1 << step), FOLDED + 1 + taken as u32);
        program.exchange(
            Side::new(partner, tag, parts(partner, step)),
            Access::Add,
            Side::new(partner, tag, parts(rank, step)),
        );
    }
    for step in 0..fold.steps() {
        let (partner, tag) = (rank ^ (1 << step), FOLDED + 1 + fold.steps() + step);
        program.exchange(
            Side::new(partner, tag, parts(rank, step)),
            Access::Store,
            Side::new(partner, tag, parts(partner, step)),
        );
    }
    if let Some(extra) = extra {
        program.put(Side::new(extra, FOLDED, run(0, fold.core)));
    }
}
