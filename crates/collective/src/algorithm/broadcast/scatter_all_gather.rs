//! In parts, all of which travel at once.

use super::Declaration;
use crate::Access;
use crate::algorithm::ring::{self, Place};
use crate::algorithm::round::Round;
use crate::algorithm::scatter;
use crate::score::Score;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "scatter-all-gather",
    sentence: "A binomial scatter gives everybody a part of the vector, and the parts go round a ring.",
};

pub(super) fn write(score: Score, root: u32) -> Score {
    score.each(|part| {
        let round = Round { root, ranks: part.ranks() };
        scatter::binomial::steps(part, round, |number| number);
        let number = round.number(part.rank);
        let place = Place { number, before: part.back(1), behind: part.on(1) };
        // The scatter uses tag 0.
        ring::steps(part, &place, 0, Access::Store, 1);
    })
}
