//! Blocks collected up a tree.

use super::Declaration;
use crate::Access;
use crate::algorithm::binomial;
use crate::algorithm::round::Round;
use crate::score::{Score, Side};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "binomial",
    sentence: "Everybody collects the blocks below it in a binomial tree, the nearest first, and sends them up.",
};

pub(super) fn write(score: Score, root: u32) -> Score {
    score.each(|part| {
        let round = Round { root, ranks: part.ranks() };
        let blocks =
            |number| binomial::far_subtree(number, round.ranks).map(move |n| round.rank(n));
        let number = round.number(part.rank);
        for child in binomial::far_children(number, round.ranks) {
            part.take(Access::Store, Side::new(round.rank(child), 0, blocks(child)));
        }
        if number > 0 {
            let parent = round.rank(binomial::far_parent(number));
            part.put(Side::new(parent, 0, blocks(number)));
        }
    })
}
