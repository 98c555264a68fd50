//! Proves that a collective does what it is for.
//!
//! Every block of every rank holds the set of ranks that have contributed to it. Sends read blocks,
//! receives write them, and in the end everybody must hold what the [`Purpose`](crate::Purpose)
//! asks for. Nothing may depend on luck: what a send reads must be there by the dependencies of its
//! rank, and no two operations may touch the same block when no dependency says which comes first.

mod cells;
mod contention;
mod contributions;
mod fault;
mod flow;
mod matching;
mod order;
mod race;
mod sequence;

pub use contention::Contention;
pub use fault::Fault;

use crate::{Collective, Rank};
use cells::Cells;
use order::Sends;

/// What is known about a collective that does what it is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The number of messages.
    pub messages: u64,
    /// Whether it also ends if every send waits until its receive is posted, as long messages do.
    pub patient: bool,
    /// How many messages meet at a rank, step by step.
    pub contention: Vec<Contention>,
    /// The first combination of contributions in another order than that of their ranks, if a
    /// result rests on any: it is wrong for what is not commutative.
    pub disorder: Option<Fault>,
}

/// Follows the blocks of a collective from rank to rank.
///
/// A receive that combines keeps what it has taken apart, until the first operation starts that
/// waits for it.
///
/// # Panics
/// If its cargo is not that of its schedule: there must be an entry for each operation.
pub fn check(collective: &Collective) -> Result<Report, Fault> {
    let Collective { schedule, cargo, .. } = collective;
    assert_eq!(schedule.all().len(), cargo.len(), "there is an entry for each operation");
    let cells = Cells::new(collective)?;
    let peers = matching::peers(collective)?;
    let events = order::events(schedule, &peers, Sends::Leave)?;
    for rank in 0..schedule.ranks() {
        race::check(collective, &cells, Rank(rank))?;
    }
    let disorder = flow::check(collective, &cells, &peers, &events)?;
    Ok(Report {
        messages: schedule.all().iter().filter(|op| op.step.sends().is_some()).count() as u64,
        patient: order::events(schedule, &peers, Sends::Meet).is_ok(),
        contention: contention::steps(schedule, &peers, &events, u32::MAX),
        disorder,
    })
}

/// How many messages meet at a rank and at the uplink of a switch, step by step. The first switch
/// has ranks 0 to `per_switch` - 1, the second the next `per_switch`, and so on.
///
/// # Panics
/// If there are no ranks at a switch.
pub fn contention(collective: &Collective, per_switch: u32) -> Result<Vec<Contention>, Fault> {
    assert!(per_switch > 0, "a switch has ranks");
    let schedule = &collective.schedule;
    let peers = matching::peers(collective)?;
    let events = order::events(schedule, &peers, Sends::Leave)?;
    Ok(contention::steps(schedule, &peers, &events, per_switch))
}

#[cfg(test)]
mod tests;
