//! Members exchange halves of what is left, until each has one part.

use crate::algorithm::fold::{Fold, Role};
use crate::program::builder::{ProgramBuilder, Side, one, run};
use crate::{Access, Run};

const FOLDED: u32 = 0;

/// The steps of a rank. In each, members whose numbers differ in one bit exchange: bit b of the
/// step that `bits` has at its place. `kept` tells which parts a member, by its number, keeps in
/// the step of a bit.
pub(super) fn steps<B: IntoIterator<Item = Run>>(
    program: &mut ProgramBuilder,
    bits: impl Iterator<Item = u32>,
    kept: impl Fn(u32, u32) -> B,
) {
    let (rank, ranks) = (program.rank, program.ranks);
    let fold = Fold::of_neighbours(ranks);
    let (number, extra) = match fold.role(rank) {
        Role::Extra { partner } => {
            program.put(Side::new(partner, FOLDED, run(0, ranks)));
            program.take(Access::Store, Side::new(partner, FOLDED, one(rank)));
            return;
        }
        Role::Member { number, extra } => (number, extra),
    };
    if let Some(extra) = extra {
        program.take(Access::Add, Side::new(extra, FOLDED, run(0, ranks)));
    }
    for (tag, bit) in (FOLDED + 1..).zip(bits) {
        let partner = number ^ (1 << bit);
        program.exchange(
            Side::new(fold.rank(partner), tag, kept(partner, bit)),
            Access::Add,
            Side::new(fold.rank(partner), tag, kept(number, bit)),
        );
    }
    if let Some(extra) = extra {
        program.put(Side::new(extra, FOLDED, one(extra)));
    }
}
