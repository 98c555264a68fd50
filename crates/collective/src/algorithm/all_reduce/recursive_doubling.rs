//! Pairs that exchange whole vectors.

use super::Declaration;
use crate::Access;
use crate::algorithm::fold::{Fold, Role};
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "recursive-doubling",
    sentence: "In step k pairs that are 2^k apart exchange and combine their vectors; ranks beyond a power of \
               two hand theirs to another one and are told the result.",
};

const FOLDED: u32 = 0;

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let (rank, fold) = (part.rank, Fold::new(part.ranks()));
        let extra = match fold.role(rank) {
            Role::Extra { partner } => {
                part.put(Side::new(partner, FOLDED, once(0)));
                part.take(Access::Store, Side::new(partner, FOLDED, once(0)));
                return;
            }
            Role::Member { extra } => extra,
        };
        if let Some(extra) = extra {
            part.take(Access::Add, Side::new(extra, FOLDED, once(0)));
        }
        for step in 0..fold.steps() {
            let side = Side::new(rank ^ (1 << step), FOLDED + 1 + step, once(0));
            part.exchange(side.clone(), Access::Add, side);
        }
        if let Some(extra) = extra {
            part.put(Side::new(extra, FOLDED, once(0)));
        }
    })
}
