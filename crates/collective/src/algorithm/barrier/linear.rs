//! One rank for all.

use super::Declaration;
use crate::Access;
use crate::score::{Score, Side};
use std::iter::once;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Everybody reports to rank 0, which releases everybody when all have reported.",
};

const REPORT: u32 = 0;
const RELEASE: u32 = 1;

pub(super) fn write(score: Score) -> Score {
    score.each(|part| {
        let ranks = part.ranks();
        if part.rank > 0 {
            part.put(Side::new(0, REPORT, once(0)));
            part.take(Access::Merge, Side::new(0, RELEASE, once(0)));
            return;
        }
        let report = |rank| Side::new(rank, REPORT, once(0));
        let reports: Vec<_> =
            (1..ranks).map(|rank| part.receive(Access::Merge, report(rank))).collect();
        // The first release waits for all reports, and the others may start as soon as it has: this
        // says the same as a dependency for each pair of report and release.
        let gate = part.send(Side::new(1, RELEASE, once(0)));
        reports.into_iter().for_each(|report| part.after(gate, report));
        for rank in 2..ranks {
            let release = part.send(Side::new(rank, RELEASE, once(0)));
            part.beside(release, gate);
        }
    })
}
