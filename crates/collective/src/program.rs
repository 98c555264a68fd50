//! What one rank does in a collective operation, without lengths.
//!
//! A program names blocks, and a [`Layout`](crate::Layout) says how long they are and where they
//! lie. So one program serves all calls of an operation, whatever their lengths, equal or not.
//!
//! To play one, a rank
//!
//! 1. asks its [`Progress`] for the next instruction that may start;
//! 2. before it starts that, settles what the instruction waits for: the message of each receive
//!    among its needs is combined or put in its place now, and has memory of its own until then
//!    (with [`Access::Store`] it may be received in its place);
//! 3. sends, or posts a receive, with the bytes of its blocks one behind the other
//!    ([`Buffers`](crate::Buffers) tells where they lie and how many they are), and tells the
//!    progress what has started and what is done;
//! 4. settles what is left when all is done.
//!
//! Every instruction that sends has one that receives at the other rank, whatever the lengths: a
//! message whose blocks are all empty is sent, without payload. Sender and receiver need not know
//! of each other whether a block is empty, and ranks that disagree notice: a message of another
//! length than that of its receive is an error.
//!
//! ```
//! use crosstie_collective::{Buffers, Instruction, Layout, Operation, Rank, algorithm};
//! use crosstie_units::Bytes;
//!
//! // Of 5 ranks with 3, 0, 1, 4 and 2 elements each, rank 2 gathers those of all.
//! let algorithm = algorithm::AllGather::Bruck {};
//! let gather = Operation::AllGather { algorithm, size: Bytes::new(1) };
//! let program = gather.program(5, Rank(2))?;
//! let buffers = Buffers::One(Layout::packed([3, 0, 1, 4, 2]));
//! let mut told = Vec::new();
//! for op in program.ops() {
//!     let length = buffers.length(program.blocks(op));
//!     match program.instruction(op) {
//!         Instruction::Send { to, .. } => told.push(format!("{length} to {}", to.0)),
//!         Instruction::Receive { from, .. } => told.push(format!("{length} from {}", from.0)),
//!         _ => {}
//!     }
//! }
//! assert_eq!(told, ["1 to 1", "4 from 3", "5 to 0", "5 from 4", "1 to 3", "0 from 1"]);
//! # Ok::<(), crosstie_collective::OperationError>(())
//! ```

pub(crate) mod builder;
mod progress;

pub use progress::Progress;

use crate::{Access, Injection, Need, OpId, Rank, Tag};

/// Blocks whose numbers follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Run {
    /// The first one.
    pub first: u32,
    /// The one behind the last.
    pub end: u32,
}

impl Run {
    /// The number of blocks.
    pub fn count(self) -> u32 {
        self.end - self.first
    }
}

/// What a rank does in one step of its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instruction {
    /// Sends its blocks in one message, one behind the other.
    Send {
        /// The receiver.
        to: Rank,
        /// What the receiver asks for it by.
        tag: Tag,
    },
    /// Sends a message without payload to each rank of a range. Several ranks need a network that
    /// forks packets.
    Signal {
        /// The first receiver.
        first: Rank,
        /// The last one.
        last: Rank,
        /// What the receivers ask for it by.
        tag: Tag,
    },
    /// Receives its blocks in one message.
    Receive {
        /// The sender.
        from: Rank,
        /// The tag.
        tag: Tag,
    },
    /// Does nothing, once all that it waits for is done.
    Join,
    /// Combines what a receive has taken, where that takes time.
    Combine,
}

/// An instruction, and where its lists end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    instruction: Instruction,
    access: Access,
    runs: u32,
    needs: u32,
}

/// What one rank does in a collective operation: instructions, the blocks of each, and which waits
/// for which.
///
/// Instructions wait for earlier ones only. What waits for nothing may start at once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    lines: Vec<Line>,
    runs: Vec<Run>,
    needs: Vec<Need>,
    injection: Injection,
}

impl Program {
    /// The number of instructions.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns true if the rank has nothing to do.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// All instructions, by number.
    pub fn ops(&self) -> impl Iterator<Item = OpId> + use<> {
        (0..self.lines.len() as u32).map(OpId)
    }

    /// What an instruction does.
    pub fn instruction(&self, op: OpId) -> Instruction {
        self.lines[op.0 as usize].instruction
    }

    /// What it does with its blocks.
    pub fn access(&self, op: OpId) -> Access {
        self.lines[op.0 as usize].access
    }

    /// Its blocks, in the order in which its message has them.
    pub fn blocks(&self, op: OpId) -> &[Run] {
        let begin = self.before(op).map_or(0, |line| line.runs);
        &self.runs[begin as usize..self.lines[op.0 as usize].runs as usize]
    }

    /// What it waits for.
    pub fn needs(&self, op: OpId) -> &[Need] {
        let begin = self.before(op).map_or(0, |line| line.needs);
        &self.needs[begin as usize..self.lines[op.0 as usize].needs as usize]
    }

    /// How the packets of the rank follow each other.
    pub fn injection(&self) -> Injection {
        self.injection
    }

    /// The blocks that the rank has to do with, in ascending order: what it needs room for.
    pub fn touched(&self) -> Vec<Run> {
        let mut all = self.runs.clone();
        all.sort_unstable();
        all.dedup_by(|next, run| {
            let joins = next.first <= run.end;
            if joins {
                run.end = run.end.max(next.end);
            }
            joins
        });
        all
    }

    fn before(&self, OpId(op): OpId) -> Option<&Line> {
        self.lines[..op as usize].last()
    }

    /// How many blocks its instructions name, one by one.
    pub(crate) fn named(&self) -> u64 {
        self.runs.iter().map(|run| u64::from(run.count())).sum()
    }
}

#[cfg(test)]
mod tests;
