//! Everything at once.

use super::{Declaration, block};
use crate::Access;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Everybody posts all receives and all sends at once; sends go to the next rank first, then to \
               the one behind it, and so on.",
};

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let (rank, ranks) = (part.rank, part.ranks());
        for distance in 1..ranks {
            let from = part.back(distance);
            part.receive(Access::Store, Side::new(from, 0, once(block(from, rank, ranks))));
        }
        for distance in 1..ranks {
            let to = part.on(distance);
            part.send(Side::new(to, 0, once(block(rank, to, ranks))));
        }
    })
}
