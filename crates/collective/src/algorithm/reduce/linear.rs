//! One after the other.

use super::Declaration;
use crate::Access;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Everybody sends its vector to the root, which takes and combines them one after the other.",
};

pub(super) fn write(score: Score, root: u32) -> Score {
    score.each(|part| {
        if part.rank != root {
            part.put(Side::new(root, 0, once(0)));
            return;
        }
        for distance in 1..part.ranks() {
            let from = part.on(distance);
            part.take(Access::Add, Side::new(from, 0, once(0)));
        }
    })
}
