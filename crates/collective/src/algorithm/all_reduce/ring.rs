//! Twice round a ring.

use super::Declaration;
use crate::Access;
use crate::algorithm::ring::{self, Place};
use crate::score::Score;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "ring",
    sentence: "Every part of the vector goes round a ring and is combined on the way, then goes round once \
               more: 2 (p - 1) steps.",
};

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let place = Place { number: part.rank, before: part.back(1), behind: part.on(1) };
        ring::steps(part, &place, 0, Access::Add, 0);
        // Now everybody has the whole of the part behind its own.
        ring::steps(part, &place, 1, Access::Store, part.ranks() - 1);
    })
}
