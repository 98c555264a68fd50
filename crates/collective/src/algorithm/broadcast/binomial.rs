//! Those who have it double.

use super::Declaration;
use crate::Access;
use crate::algorithm::binomial;
use crate::algorithm::round::Round;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "binomial",
    sentence: "In step k everybody who has the vector sends it 2^k further on: ceil(log2 p) steps.",
};

pub(super) fn write(score: Score, root: u32) -> Score {
    score.each(|part| {
        let round = Round { root, ranks: part.ranks() };
        let number = round.number(part.rank);
        if number > 0 {
            let parent = round.rank(binomial::near_parent(number));
            part.take(Access::Store, Side::new(parent, 0, once(0)));
        }
        for child in binomial::near_children(number, round.ranks) {
            part.put(Side::new(round.rank(child), 0, once(0)));
        }
    })
}
