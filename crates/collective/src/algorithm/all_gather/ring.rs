//! Blocks that go round.

use super::Declaration;
use crate::Access;
use crate::algorithm::ring::{self, Place};
use crate::score::Score;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "ring",
    sentence: "Everybody sends the next rank its own block, and then what it has just received: p - 1 steps.",
};

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let place = Place { number: part.rank, before: part.back(1), behind: part.on(1) };
        ring::steps(part, &place, 0, Access::Store, 0);
    })
}
