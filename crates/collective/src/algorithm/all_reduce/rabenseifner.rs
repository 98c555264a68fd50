//! Halves exchanged, and given back.

use super::Declaration;
use crate::Access;
use crate::algorithm::fold::{Fold, Role};
use crate::score::{Score, Side};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "rabenseifner",
    sentence: "Pairs exchange and combine half of what they have until everybody has one part of the result, \
               and double it again; ranks beyond a power of two hand their vector to another one.",
};

const FOLDED: u32 = 0;

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let (rank, fold) = (part.rank, Fold::new(part.ranks()));
        let extra = match fold.role(rank) {
            Role::Extra { partner } => {
                part.put(Side::new(partner, FOLDED, 0..fold.core));
                part.take(Access::Store, Side::new(partner, FOLDED, 0..fold.core));
                return;
            }
            Role::Member { extra } => extra,
        };
        if let Some(extra) = extra {
            part.take(Access::Add, Side::new(extra, FOLDED, 0..fold.core));
        }
        // The parts that whoever has the same upper bits ends with.
        let parts = |member: u32, step: u32| {
            let first = member >> step << step;
            first..first + (1 << step)
        };
        for (taken, step) in (0..fold.steps()).rev().enumerate() {
            let (partner, tag) = (rank ^ (1 << step), FOLDED + 1 + taken as u32);
            part.exchange(
                Side::new(partner, tag, parts(partner, step)),
                Access::Add,
                Side::new(partner, tag, parts(rank, step)),
            );
        }
        for step in 0..fold.steps() {
            let (partner, tag) = (rank ^ (1 << step), FOLDED + 1 + fold.steps() + step);
            part.exchange(
                Side::new(partner, tag, parts(rank, step)),
                Access::Store,
                Side::new(partner, tag, parts(partner, step)),
            );
        }
        if let Some(extra) = extra {
            part.put(Side::new(extra, FOLDED, 0..fold.core));
        }
    })
}
