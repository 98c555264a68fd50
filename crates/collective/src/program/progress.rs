//! How far a rank is in its program.

use super::Program;
use crate::{Need, OpId, When};
use std::collections::VecDeque;

/// How far a rank is in a program, as a machine without IO: it says which instructions may start,
/// and is told which have started and which are done.
///
/// A rank may have any number of programs under way, each with its own progress. Another round of
/// the same program begins with [`Progress::begin`], without new memory.
#[derive(Debug, Clone)]
pub struct Progress {
    /// Which instructions wait for each, and for what of it, one list behind the other.
    dependents: Vec<Need>,
    /// Where each list begins, and where the last one ends.
    begins: Vec<u32>,
    /// How many needs of each instruction there are.
    needs: Vec<u32>,
    /// How many of them are not met.
    unmet: Vec<u32>,
    ready: VecDeque<OpId>,
    /// Instructions that are not done.
    left: usize,
}

impl Progress {
    /// At the beginning of a program.
    pub fn new(program: &Program) -> Progress {
        let count = program.len();
        let mut begins = vec![0u32; count + 1];
        for need in &program.needs {
            begins[need.op.0 as usize + 1] += 1;
        }
        for op in 0..count {
            begins[op + 1] += begins[op];
        }
        let mut next = begins.clone();
        let mut dependents = program.needs.clone();
        for op in program.ops() {
            for need in program.needs(op) {
                let slot = &mut next[need.op.0 as usize];
                dependents[*slot as usize] = Need { op, when: need.when };
                *slot += 1;
            }
        }
        let needs: Vec<u32> = program.ops().map(|op| program.needs(op).len() as u32).collect();
        let unmet = vec![0; count];
        let mut progress =
            Progress { dependents, begins, needs, unmet, ready: VecDeque::new(), left: 0 };
        progress.begin();
        progress
    }

    /// Goes back to the beginning.
    pub fn begin(&mut self) {
        self.unmet.copy_from_slice(&self.needs);
        self.left = self.needs.len();
        self.ready.clear();
        let free = (0..).zip(&self.needs).filter(|(_, needs)| **needs == 0);
        self.ready.extend(free.map(|(op, _)| OpId(op)));
    }

    /// The next instruction that may start. It is told once.
    pub fn next_ready(&mut self) -> Option<OpId> {
        self.ready.pop_front()
    }

    /// Tells that an instruction has started.
    pub fn started(&mut self, op: OpId) {
        self.happened(op, When::Started);
    }

    /// Tells that an instruction is done.
    ///
    /// # Panics
    /// If more are done than there are.
    pub fn done(&mut self, op: OpId) {
        self.left = self.left.checked_sub(1).expect("an instruction is done once");
        self.happened(op, When::Done);
    }

    /// Returns true if all instructions are done.
    pub fn is_finished(&self) -> bool {
        self.left == 0
    }

    fn happened(&mut self, OpId(op): OpId, when: When) {
        let (begin, end) = (self.begins[op as usize], self.begins[op as usize + 1]);
        for need in &self.dependents[begin as usize..end as usize] {
            if need.when == when {
                let unmet = &mut self.unmet[need.op.0 as usize];
                *unmet = unmet.checked_sub(1).expect("a need is met once");
                if *unmet == 0 {
                    self.ready.push_back(need.op);
                }
            }
        }
    }
}
