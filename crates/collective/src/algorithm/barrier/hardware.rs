//! A release that the network spreads.

use super::Declaration;
use crate::Access;
use crate::program::builder::{ProgramBuilder, Side, one};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "hardware",
    sentence: "Everybody puts a signal to rank 0, which releases all by one put that switches fork.",
};

const ARRIVAL: u32 = 0;
const RELEASE: u32 = 1;

pub(super) fn write(program: &mut ProgramBuilder) {
    let ranks = program.ranks;
    if program.rank > 0 {
        let arrival = program.signal(0, ARRIVAL);
        program.receive(Access::Merge, Side::new(0, RELEASE, one(0)));
        program.after(arrival);
        return;
    }
    let arrivals: Vec<_> = (1..ranks)
        .map(|rank| program.receive(Access::Merge, Side::new(rank, ARRIVAL, one(0))))
        .collect();
    if !arrivals.is_empty() {
        program.signal_all((1, ranks - 1), RELEASE);
        arrivals.into_iter().for_each(|arrival| program.after(arrival));
    }
}
