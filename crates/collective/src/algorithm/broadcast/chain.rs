//! From hand to hand.

use super::Declaration;
use crate::algorithm::round::Round;
use crate::score::{Score, Side};
use crate::{Access, OpId};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "chain",
    sentence: "Segments of the vector go from each rank to the next, one behind the other: \
               p - 2 + the number of segments is the number of steps.",
};

pub(super) fn write(score: Score, root: u32, parts: u32) -> Score {
    score.each(|part| {
        let round = Round { root, ranks: part.ranks() };
        let number = round.number(part.rank);
        let before = (number > 0).then(|| part.back(1));
        let behind = (number + 1 < round.ranks).then(|| part.on(1));
        let (mut received, mut sent): (Option<OpId>, Option<OpId>) = (None, None);
        for segment in 0..parts {
            if let Some(before) = before {
                let next = part.receive(Access::Store, Side::new(before, segment, once(segment)));
                received.into_iter().for_each(|last| part.after(next, last));
                received = Some(next);
            }
            if let Some(behind) = behind {
                let next = part.send(Side::new(behind, segment, once(segment)));
                received.into_iter().chain(sent).for_each(|last| part.after(next, last));
                sent = Some(next);
            }
        }
    })
}
