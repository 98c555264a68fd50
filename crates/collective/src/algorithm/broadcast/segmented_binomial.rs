//! Down a tree, one segment behind the other.

use super::Declaration;
use crate::algorithm::binomial;
use crate::algorithm::round::Round;
use crate::score::{Score, Side};
use crate::{Access, OpId};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "segmented-binomial",
    sentence: "Segments of the vector go down a binomial tree one behind the other: whoever has one sends \
               it to all below, where most follow first.",
};

pub(super) fn write(score: Score, root: u32, parts: u32) -> Score {
    score.each(|part| {
        let round = Round { root, ranks: part.ranks() };
        let number = round.number(part.rank);
        let above = (number > 0).then(|| round.rank(binomial::far_parent(number)));
        let mut received: Option<OpId> = None;
        for segment in 0..parts {
            if let Some(above) = above {
                let next = part.receive(Access::Store, Side::new(above, segment, once(segment)));
                received.into_iter().for_each(|last| part.after(next, last));
                received = Some(next);
            }
            // None of these waits for another: what comes first is sent first.
            for child in binomial::far_children(number, round.ranks).rev() {
                let sent = part.send(Side::new(round.rank(child), segment, once(segment)));
                received.into_iter().for_each(|last| part.after(sent, last));
            }
        }
    })
}
