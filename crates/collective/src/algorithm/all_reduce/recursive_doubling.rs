//! Pairs that exchange whole vectors.

use super::Declaration;
use crate::Access;
use crate::algorithm::fold::{Fold, Role};
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "recursive-doubling",
    sentence: "In step k pairs that are 2^k apart exchange and combine their vectors; ranks beyond a power of \
               two hand theirs to another one and are told the result.",
};

const FOLDED: u32 = 0;

pub(super) fn write(program: &mut ProgramBuilder) {
    steps(program, Fold::new(program.ranks));
}

/// The steps of a rank, for any way to fold.
pub(super) fn steps(program: &mut ProgramBuilder, fold: Fold) {
    let (number, extra) = match fold.role(program.rank) {
        Role::Extra { partner } => {
            program.put(Side::new(partner, FOLDED, one(0)));
            program.take(Access::Store, Side::new(partner, FOLDED, one(0)));
            return;
        }
        Role::Member { number, extra } => (number, extra),
    };
    if let Some(extra) = extra {
        program.take(Access::Add, Side::new(extra, FOLDED, one(0)));
    }
    for step in 0..fold.steps() {
        let side = Side::new(fold.rank(number ^ (1 << step)), FOLDED + 1 + step, one(0));
        program.exchange(side.clone(), Access::Add, side);
    }
    if let Some(extra) = extra {
        program.put(Side::new(extra, FOLDED, one(0)));
    }
}
