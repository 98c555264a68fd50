//! GOAL, the text form of schedules.
//!
//! ```
//! use crosstie_collective::{OpId, Rank, goal};
//!
//! let text = "
//!     num_ranks 2
//!     rank 0 {
//!     l1: calc 1000
//!     l2: send 1024b to 1 tag 7
//!     l2 requires l1
//!     }
//!     rank 1 {
//!     recv 1024b from 0 tag 7 // labels may be left out
//!     }";
//! let read = goal::read(text).unwrap();
//! assert_eq!(read.schedule.bytes(), 1024);
//! assert_eq!(read.label(Rank(0), OpId(1)), Some("l2"));
//! let written = goal::write(&read.schedule).to_string();
//! assert_eq!(goal::read(&written).unwrap().schedule, read.schedule);
//!
//! let error = goal::read("num_ranks 1\nrank 0 {\nl1: clac 5\n}").unwrap_err();
//! assert_eq!(error.line, 3);
//! ```

mod error;
mod labels;
mod reader;
mod scanner;
mod writer;

pub use error::GoalError;
pub use writer::{Written, write};

use crate::{OpId, Rank, Schedule};

/// The most ranks that a text may have.
pub const MOST_RANKS: u32 = 1 << 20;

/// A schedule that was read, and where its operations stand in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Goal {
    /// The schedule.
    pub schedule: Schedule,
    origins: Origins,
}

/// Where operations come from, in the order of the text. The operations of a rank stand together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Origins {
    /// The number of operations before the first one of each rank.
    first: Vec<u32>,
    lines: Vec<u32>,
    /// All labels, one behind the other.
    labels: String,
    /// Where the label of each operation ends.
    ends: Vec<u32>,
}

impl Goal {
    /// The line of an operation, counted from 1.
    ///
    /// # Panics
    /// If the rank has no such operation.
    pub fn line(&self, rank: Rank, op: OpId) -> u32 {
        self.origins.lines[self.place(rank, op)]
    }

    /// The label of an operation, if it has one.
    ///
    /// # Panics
    /// If the rank has no such operation.
    pub fn label(&self, rank: Rank, op: OpId) -> Option<&str> {
        let place = self.place(rank, op);
        let begin = if place == 0 { 0 } else { self.origins.ends[place - 1] };
        let label = &self.origins.labels[begin as usize..self.origins.ends[place] as usize];
        (!label.is_empty()).then_some(label)
    }

    fn place(&self, rank: Rank, op: OpId) -> usize {
        let count = self.schedule.ops(rank).len();
        assert!((op.0 as usize) < count, "rank {} has {count} operations", rank.0);
        (self.origins.first[rank.0 as usize] + op.0) as usize
    }
}

/// Reads a schedule.
///
/// If an operation of the text names a nic, messages that name none take nic 0; else all leave
/// their rail to the policy.
pub fn read(text: &str) -> Result<Goal, GoalError> {
    reader::read(text)
}

#[cfg(test)]
mod tests;
