//! Rumours that double.

use super::Declaration;
use crate::Access;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "dissemination",
    sentence: "In step k everybody tells the rank 2^k further on: ceil(log2 p) steps for p ranks.",
};

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let steps = (part.ranks() - 1).ilog2() + 1;
        for step in 0..steps {
            let (to, from) = (part.on(1 << step), part.back(1 << step));
            part.exchange(
                Side::new(to, step, once(0)),
                Access::Merge,
                Side::new(from, step, once(0)),
            );
        }
    })
}
