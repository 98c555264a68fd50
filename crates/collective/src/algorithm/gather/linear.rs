//! All at once.

use super::Declaration;
use crate::Access;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Everybody sends its block to the root, which waits for all at once.",
};

pub(super) fn write(score: Score, root: u32) -> Score {
    score.each(|part| {
        if part.rank != root {
            part.put(Side::new(root, 0, once(part.rank)));
            return;
        }
        for distance in 1..part.ranks() {
            let from = part.on(distance);
            part.receive(Access::Store, Side::new(from, 0, once(from)));
        }
    })
}
