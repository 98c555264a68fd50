//! Step after step.

use super::{Declaration, block};
use crate::Access;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "shift",
    sentence: "In step k = 1, 2, ..., p - 1 everybody sends k further on and receives from k before.",
};

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let (rank, ranks) = (part.rank, part.ranks());
        for step in 1..ranks {
            let (to, from) = (part.on(step), part.back(step));
            part.exchange(
                Side::new(to, step, once(block(rank, to, ranks))),
                Access::Store,
                Side::new(from, step, once(block(from, rank, ranks))),
            );
        }
    })
}
