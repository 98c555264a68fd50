//! All at once.

use super::Declaration;
use crate::Access;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration =
    Declaration { name: "linear", sentence: "The root sends everybody its block, all at once." };

pub(super) fn write(score: Score, root: u32) -> Score {
    score.each(|part| {
        if part.rank != root {
            part.take(Access::Store, Side::new(root, 0, once(part.rank)));
            return;
        }
        for distance in 1..part.ranks() {
            let to = part.on(distance);
            part.send(Side::new(to, 0, once(to)));
        }
    })
}
