//! A release that the network spreads.

use super::Declaration;
use crate::Access;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "hardware",
    sentence: "Everybody puts a signal to rank 0, which releases all by one put that switches fork.",
};

const ARRIVAL: u32 = 0;
const RELEASE: u32 = 1;

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let ranks = part.ranks();
        if part.rank > 0 {
            let arrival = part.signal(0, ARRIVAL);
            let release = part.receive(Access::Merge, Side::new(0, RELEASE, once(0)));
            part.after(release, arrival);
            return;
        }
        let arrivals: Vec<_> = (1..ranks)
            .map(|rank| part.receive(Access::Merge, Side::new(rank, ARRIVAL, once(0))))
            .collect();
        let release = part.signal_all((1, ranks - 1), RELEASE);
        arrivals.into_iter().for_each(|arrival| part.after(release, arrival));
    })
}
