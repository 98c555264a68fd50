//! A schedule with what it is for.

use crate::{Cargo, Purpose, Schedule};

/// A schedule, what its messages carry, and what everybody must have in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collective {
    /// The messages of each rank, and their order.
    pub schedule: Schedule,
    /// The blocks of its operations.
    pub cargo: Cargo,
    /// What it is for.
    pub purpose: Purpose,
}
