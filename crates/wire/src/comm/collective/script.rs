//! What a rank does in a collective operation, ready to be played.

use std::sync::Arc;

use crosstie_collective::{
    Instruction, Operation, OperationError, Program, Progress, Purpose, Rank,
};

use super::header::GREETING;

/// The program of this rank in an operation, and what follows from it.
pub(super) struct Script {
    pub rank: u32,
    pub operation: Operation,
    pub program: Program,
    pub progress: Progress,
    pub purpose: Purpose,
    /// The ranks that it receives from, with which tags, in ascending order.
    pub receives: Vec<(u32, u32)>,
}

impl Script {
    fn new(operation: Operation, ranks: u32, rank: Rank) -> Result<Script, OperationError> {
        let (program, purpose) = (operation.program(ranks, rank)?, operation.purpose(ranks)?);
        let mut receives = Vec::new();
        for op in program.ops() {
            let tag = match program.instruction(op) {
                Instruction::Receive { from, tag } => {
                    receives.push((from.0, tag.0));
                    tag
                }
                Instruction::Send { tag, .. } | Instruction::Signal { tag, .. } => tag,
                Instruction::Join | Instruction::Combine => continue,
            };
            if tag.0 >= GREETING {
                return Err(OperationError::TooMany { most: GREETING.into() });
            }
        }
        receives.sort_unstable();
        let progress = Progress::new(&program);
        Ok(Script { rank: rank.0, operation, program, progress, purpose, receives })
    }
}

/// Scripts that were used of late, the last one first.
#[derive(Default)]
pub(super) struct Scripts {
    all: Vec<Arc<Script>>,
}

/// As many are kept.
const KEPT: usize = 16;

impl Scripts {
    pub fn get(
        &mut self,
        operation: Operation,
        ranks: u32,
        rank: Rank,
    ) -> Result<Arc<Script>, OperationError> {
        match self.all.iter().position(|kept| kept.operation == operation) {
            Some(at) => self.all[..=at].rotate_right(1),
            None => {
                self.all.truncate(KEPT - 1);
                self.all.insert(0, Arc::new(Script::new(operation, ranks, rank)?));
            }
        }
        Ok(Arc::clone(&self.all[0]))
    }
}
