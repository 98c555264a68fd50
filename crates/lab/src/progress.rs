//! Being told how far a study has come.

use crosstie_study::{Point, Row};

/// Is told what happens while a study runs, from all threads.
///
/// Every method has a default that does nothing.
pub trait Progress: Sync {
    /// So many networks, out of so many that the points need, have been built.
    fn networks_built(&self, _done: usize, _total: usize) {}

    /// All points have been checked. So many of them, out of so many, need not run: they were
    /// finished before.
    fn begin(&self, _done: usize, _total: usize) {}

    /// A point has started.
    fn point_started(&self, _point: &Point) {}

    /// A point goes on: so many cycles have been simulated for it so far, over all runs of a
    /// search. A cycle lasts [`Link::cycle`](crosstie_study::Link::cycle) of the point's spec.
    fn advanced(&self, _point: &Point, _cycles: u64) {}

    /// What the launcher of real ranks on other machines says, line by line as it comes.
    fn said(&self, _line: &str) {}

    /// The row of a point is safe on disk; so many of so many points are now done.
    fn point_done(&self, _row: &Row, _done: usize, _total: usize) {}
}

/// Progress that nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {}
