//! What algorithms write: the program of one rank, step after step.

use super::{Instruction, Line, Program, Run};
use crate::{Access, Injection, Need, OpId, Rank, Tag, When};

/// The program of one rank in the making. Algorithms are functions that write one.
///
/// [`ProgramBuilder::put`], [`ProgramBuilder::take`] and [`ProgramBuilder::exchange`] are steps:
/// each waits until the one before is done.
pub(crate) struct ProgramBuilder {
    /// The rank.
    pub rank: u32,
    /// The number of ranks.
    pub ranks: u32,
    /// True if combining is an instruction of its own.
    combines: bool,
    program: Program,
    /// What the next step waits for.
    last: [Option<OpId>; 2],
}

/// One side of a message.
#[derive(Clone)]
pub(crate) struct Side<B> {
    /// The rank at the other end.
    with: u32,
    /// What tells it from other messages between the two.
    tag: u32,
    /// What it carries.
    blocks: B,
}

impl<B: IntoIterator<Item = Run>> Side<B> {
    pub fn new(with: u32, tag: u32, blocks: B) -> Side<B> {
        Side { with, tag, blocks }
    }
}

/// One block.
pub(crate) fn one(block: u32) -> [Run; 1] {
    run(block, block + 1)
}

/// The blocks from one on and before another one.
pub(crate) fn run(first: u32, end: u32) -> [Run; 1] {
    [Run { first, end }]
}

/// A number of blocks of a ring, from one on.
pub(crate) fn wrapped(first: u32, count: u32, ring: u32) -> [Run; 2] {
    let here = count.min(ring - first);
    [Run { first, end: first + here }, Run { first: 0, end: count - here }]
}

/// All blocks but one.
pub(crate) fn all_but(block: u32, blocks: u32) -> [Run; 2] {
    [Run { first: 0, end: block }, Run { first: block + 1, end: blocks }]
}

impl ProgramBuilder {
    /// Rank 0, with nothing to do yet.
    pub fn new(ranks: u32, combines: bool) -> ProgramBuilder {
        // Enough for programs of a logarithm of steps.
        const FEW: usize = 32;
        let program = Program {
            lines: Vec::with_capacity(FEW),
            runs: Vec::with_capacity(FEW),
            needs: Vec::with_capacity(2 * FEW),
            injection: Injection::default(),
        };
        ProgramBuilder { rank: 0, ranks, combines, program, last: [None; 2] }
    }

    /// Begins the program of a rank in the memory of the one before.
    pub fn begin(&mut self, rank: u32) {
        let Program { lines, runs, needs, injection } = &mut self.program;
        lines.clear();
        runs.clear();
        needs.clear();
        *injection = Injection::default();
        (self.rank, self.last) = (rank, [None; 2]);
    }

    /// What has been written.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The same, for good.
    pub fn finish(self) -> Program {
        self.program
    }

    /// The rank that is so much further on.
    pub fn on(&self, distance: u32) -> u32 {
        on(self.rank, distance, self.ranks)
    }

    /// The rank that is so much before.
    pub fn back(&self, distance: u32) -> u32 {
        on(self.rank, self.ranks - distance, self.ranks)
    }

    /// ceil(log2 p): how often what one rank has must double until all have it.
    pub fn doublings(&self) -> u32 {
        u32::BITS - (self.ranks - 1).leading_zeros()
    }

    /// Says how the packets of the rank follow each other.
    pub fn inject(&mut self, injection: Injection) {
        self.program.injection = injection;
    }

    /// Adds a send that waits for nothing.
    pub fn send<B: IntoIterator<Item = Run>>(&mut self, side: Side<B>) -> OpId {
        let Side { with, tag, blocks } = side;
        self.add(Instruction::Send { to: Rank(with), tag: Tag(tag) }, Access::Read, blocks)
    }

    /// Adds a send of nothing, which a put can do.
    pub fn signal(&mut self, to: u32, tag: u32) -> OpId {
        self.signal_all((to, to), tag)
    }

    /// Adds a send of nothing to all ranks from one to another.
    pub fn signal_all(&mut self, (first, last): (u32, u32), tag: u32) -> OpId {
        let (first, last, tag) = (Rank(first), Rank(last), Tag(tag));
        self.add(Instruction::Signal { first, last, tag }, Access::Read, one(0))
    }

    /// Adds a receive that waits for nothing.
    pub fn receive<B: IntoIterator<Item = Run>>(&mut self, access: Access, side: Side<B>) -> OpId {
        let Side { with, tag, blocks } = side;
        self.add(Instruction::Receive { from: Rank(with), tag: Tag(tag) }, access, blocks)
    }

    fn add(
        &mut self,
        instruction: Instruction,
        access: Access,
        blocks: impl IntoIterator<Item = Run>,
    ) -> OpId {
        let Program { lines, runs, needs, .. } = &mut self.program;
        let begin = runs.len();
        for run in blocks.into_iter().filter(|run| run.count() > 0) {
            match runs[begin..].last_mut() {
                Some(last) if last.end == run.first => last.end = run.end,
                _ => runs.push(run),
            }
        }
        let op = OpId(lines.len() as u32);
        let (runs, needs) = (runs.len() as u32, needs.len() as u32);
        lines.push(Line { instruction, access, runs, needs });
        op
    }

    /// Lets the last instruction wait until another one is done.
    pub fn after(&mut self, other: OpId) {
        self.need(Need { op: other, when: When::Done });
    }

    /// Lets the last instruction wait until another one has started.
    pub fn beside(&mut self, other: OpId) {
        self.need(Need { op: other, when: When::Started });
    }

    fn need(&mut self, need: Need) {
        let Program { lines, needs, .. } = &mut self.program;
        let line = lines.last_mut().expect("there is one that waits");
        needs.push(need);
        line.needs += 1;
    }

    /// Lets the last instruction wait for the last step.
    pub fn follow(&mut self) {
        for last in self.last.into_iter().flatten() {
            self.after(last);
        }
    }

    /// Returns the instructions to wait for instead of all of these: one that joins them, unless
    /// they are few.
    pub fn join(&mut self, ops: Vec<OpId>) -> Vec<OpId> {
        const FEW: usize = 2;
        if ops.len() <= FEW {
            return ops;
        }
        let gate = self.add(Instruction::Join, Access::Combine, []);
        ops.into_iter().for_each(|op| self.after(op));
        vec![gate]
    }

    /// A step: a send.
    pub fn put<B: IntoIterator<Item = Run>>(&mut self, side: Side<B>) {
        let sent = self.send(side);
        self.follow();
        self.last = [Some(sent), None];
    }

    /// A step: a receive, and the combining if that is an instruction.
    pub fn take<B: IntoIterator<Item = Run>>(&mut self, access: Access, side: Side<B>) {
        let received = self.receive(access, side);
        self.follow();
        self.last = [Some(received), None];
        self.combine(access);
    }

    /// A step: a send and a receive together, and the combining if that is an instruction.
    pub fn exchange<S, R>(&mut self, send: Side<S>, access: Access, receive: Side<R>)
    where
        S: IntoIterator<Item = Run>,
        R: IntoIterator<Item = Run>,
    {
        let sent = self.send(send);
        self.follow();
        let received = self.receive(access, receive);
        self.follow();
        self.last = [Some(sent), Some(received)];
        self.combine(access);
    }

    /// A step: a send and a receive together, as far as the rank has them.
    pub fn exchange_some<B: IntoIterator<Item = Run>>(
        &mut self,
        send: Option<Side<B>>,
        access: Access,
        receive: Option<Side<B>>,
    ) {
        match (send, receive) {
            (Some(send), Some(receive)) => self.exchange(send, access, receive),
            (Some(send), None) => self.put(send),
            (None, Some(receive)) => self.take(access, receive),
            (None, None) => {}
        }
    }

    /// The combining of what the last instruction has received.
    fn combine(&mut self, access: Access) {
        if access != Access::Add || !self.combines {
            return;
        }
        let Program { lines, runs, .. } = &mut self.program;
        let end = runs.len();
        let begin = lines[..lines.len() - 1].last().map_or(0, |line| line.runs as usize);
        runs.extend_from_within(begin..end);
        let computed = self.add(Instruction::Combine, Access::Combine, []);
        self.follow();
        self.last = [Some(computed), None];
    }
}

/// The rank of a ring that is so much further on than another.
pub(crate) fn on(rank: u32, distance: u32, ranks: u32) -> u32 {
    // In 64 bits, in which it does not overflow.
    ((u64::from(rank) + u64::from(distance)) % u64::from(ranks)) as u32
}
