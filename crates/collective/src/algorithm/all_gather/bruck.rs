//! All one has, twice as far in every step.

use super::Declaration;
use crate::Access;
use crate::score::{Score, Side, on};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "bruck",
    sentence: "In step k everybody sends all it has, as far as it is missing there, 2^k back: \
               ceil(log2 p) steps for any p.",
};

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let (rank, ranks) = (part.rank, part.ranks());
        for step in 0..(ranks - 1).ilog2() + 1 {
            let distance = 1 << step;
            // Everybody has its own block and those behind, as many as the distance.
            let count = distance.min(ranks - distance);
            let had = |rank| (0..count).map(move |further| on(rank, further, ranks));
            let (to, from) = (part.back(distance), part.on(distance));
            part.exchange(
                Side::new(to, step, had(rank)),
                Access::Store,
                Side::new(from, step, had(from)),
            );
        }
    })
}
