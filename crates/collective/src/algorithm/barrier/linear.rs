//! One rank for all.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "linear",
    sentence: "Everybody reports to rank 0, which releases everybody when all have reported.",
};

const REPORT: u32 = 0;
const RELEASE: u32 = 1;

pub(super) fn write(program: &mut ProgramBuilder) {
    let ranks = program.ranks;
    if program.rank > 0 {
        program.put(Side::new(0, REPORT, one(0)));
        program.take(Access::Merge, Side::new(0, RELEASE, one(0)));
        return;
    }
    let report = |rank| Side::new(rank, REPORT, one(0));
    let reports: Vec<_> =
        (1..ranks).map(|rank| program.receive(Access::Merge, report(rank))).collect();
    // The first release waits for all reports, and the others may start as soon as it has: this
    // says the same as a dependency for each pair of report and release.
    let mut gate = None;
    for rank in 1..ranks {
        let release = program.send(Side::new(rank, RELEASE, one(0)));
        match gate {
            Some(gate) => program.beside(gate),
            None => reports.iter().for_each(|&report| program.after(report)),
        }
        gate.get_or_insert(release);
    }
}
