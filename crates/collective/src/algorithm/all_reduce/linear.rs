//! One rank for all.

use super::Declaration;
use crate::Access;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Everybody sends its vector to rank 0, which combines them one after the other and sends everybody \
               the result.",
};

const VECTOR: u32 = 0;
const RESULT: u32 = 1;

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        if part.rank > 0 {
            part.put(Side::new(0, VECTOR, once(0)));
            part.take(Access::Store, Side::new(0, RESULT, once(0)));
            return;
        }
        for rank in 1..part.ranks() {
            part.take(Access::Add, Side::new(rank, VECTOR, once(0)));
        }
        for rank in 1..part.ranks() {
            let result = part.send(Side::new(rank, RESULT, once(0)));
            part.follow(result);
        }
    })
}
