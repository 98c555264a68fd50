//! Combined up a tree.

use super::Declaration;
use crate::Access;
use crate::algorithm::binomial;
use crate::algorithm::round::Round;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "binomial",
    sentence: "The further half sends its vectors to the nearer half, and so on: ceil(log2 p) steps.",
};

pub(super) fn write(score: Score, root: u32) -> Score {
    score.each(|part| {
        let round = Round { root, ranks: part.ranks() };
        let number = round.number(part.rank);
        for child in binomial::near_children(number, round.ranks).rev() {
            part.take(Access::Add, Side::new(round.rank(child), 0, once(0)));
        }
        if number > 0 {
            let parent = round.rank(binomial::near_parent(number));
            part.put(Side::new(parent, 0, once(0)));
        }
    })
}
