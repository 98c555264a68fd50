//! Blocks handed down a tree.

use super::Declaration;
use crate::Access;
use crate::algorithm::binomial;
use crate::algorithm::round::Round;
use crate::score::{Part, Score, Side};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "binomial",
    sentence: "Everybody hands the blocks of those below it down a binomial tree, the farthest first.",
};

pub(super) fn write(score: Score, root: u32) -> Score {
    score.each(|part| {
        let round = Round { root, ranks: part.ranks() };
        steps(part, round, |number| round.rank(number));
    })
}

/// The steps of a rank, with tag 0; `block` is the block of a rank by its number.
pub(in crate::algorithm) fn steps(
    part: &mut Part<'_>,
    round: Round,
    block: impl Fn(u32) -> u32 + Copy,
) {
    let blocks = |number| binomial::far_subtree(number, round.ranks).map(block);
    let number = round.number(part.rank);
    if number > 0 {
        let parent = round.rank(binomial::far_parent(number));
        part.take(Access::Store, Side::new(parent, 0, blocks(number)));
    }
    for child in binomial::far_children(number, round.ranks).rev() {
        part.put(Side::new(round.rank(child), 0, blocks(child)));
    }
}
