//! Pairs that exchange all they have.

use super::Declaration;
use crate::Access;
use crate::algorithm::fold::{Fold, Role};
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "recursive-doubling",
    sentence: "In step k pairs that are 2^k apart exchange all they have; ranks beyond a power of two hand \
               their block to another one and are told the result.",
};

const FOLDED: u32 = 0;

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let (rank, ranks, fold) = (part.rank, part.ranks(), Fold::new(part.ranks()));
        let all_but = |rank| (0..ranks).filter(move |&block| block != rank);
        let extra = match fold.role(rank) {
            Role::Extra { partner } => {
                part.put(Side::new(partner, FOLDED, once(rank)));
                part.take(Access::Store, Side::new(partner, FOLDED, all_but(rank)));
                return;
            }
            Role::Member { extra } => extra,
        };
        if let Some(extra) = extra {
            part.take(Access::Store, Side::new(extra, FOLDED, once(extra)));
        }
        for step in 0..fold.steps() {
            let partner = rank ^ (1 << step);
            // Those who have exchanged what they have, and whoever is folded into them.
            let had = |member: u32| {
                let first = member >> step << step;
                let members = first..first + (1 << step);
                members.clone().chain(members.filter_map(move |member| fold.extra(member)))
            };
            part.exchange(
                Side::new(partner, FOLDED + 1 + step, had(rank)),
                Access::Store,
                Side::new(partner, FOLDED + 1 + step, had(partner)),
            );
        }
        if let Some(extra) = extra {
            part.put(Side::new(extra, FOLDED, all_but(extra)));
        }
    })
}
