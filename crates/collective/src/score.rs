//! The paper on which algorithms write: a schedule and its cargo in the making, rank by rank.

use crate::{
    Access, Block, Builder, Cargo, Collective, Injection, Need, Op, OpId, OperationError, Purpose,
    Rank, Step, Tag, When,
};
use crosstie_units::{Bytes, Rate, Time};

/// From so many operations on a schedule is refused: it would take several gigabytes.
pub(crate) const MOST_OPERATIONS: u64 = 1 << 26;

/// From so many blocks in all messages on a schedule is refused.
const MOST_BLOCKS: u64 = 1 << 30;

/// How long the blocks are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cut {
    /// All have this length.
    Equal(u64),
    /// Part i of k covers the bytes from i n / k to (i + 1) n / k of the n bytes of a vector.
    Parts { whole: u64, parts: u32 },
}

impl Cut {
    fn bytes(self, Block(block): Block) -> u64 {
        match self {
            Cut::Equal(bytes) => bytes,
            Cut::Parts { whole, parts: 1 } => whole,
            Cut::Parts { whole, parts } => {
                let end = |part: u64| match part.checked_mul(whole) {
                    Some(product) => product / u64::from(parts),
                    // It is at most the whole.
                    None => (u128::from(part) * u128::from(whole) / u128::from(parts)) as u64,
                };
                end(u64::from(block) + 1) - end(block.into())
            }
        }
    }
}

/// A collective in the making.
pub(crate) struct Score {
    ranks: u32,
    builder: Builder,
    cargo: Cargo,
    cut: Cut,
    combine: Option<Rate>,
    problem: Option<OperationError>,
}

impl Score {
    /// Nobody has anything to do yet. Combining takes its time if it has a rate.
    pub fn new(ranks: u32, cut: Cut, combine: Option<Rate>) -> Score {
        let (builder, cargo) = (Builder::new(ranks), Cargo::default());
        Score { ranks, builder, cargo, cut, combine, problem: None }
    }

    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.ranks
    }

    /// Says how the packets of a rank follow each other.
    pub fn inject(&mut self, injection: Injection) {
        self.builder.inject(injection);
    }

    /// Writes what each rank does, unless one rank is alone.
    pub fn each(mut self, mut write: impl FnMut(&mut Part<'_>)) -> Score {
        let mut least = (u64::MAX, u64::MAX);
        for rank in 0..if self.ranks > 1 { self.ranks } else { 0 } {
            let before = self.size();
            write(&mut Part { score: &mut self, rank, last: [None; 2] });
            let now = self.size();
            least = (least.0.min(now.0 - before.0), least.1.min(now.1 - before.1));
            // A root may have much more to do than others, but of two ranks one is no root: what it
            // has to do tells soon enough that there would be too much.
            let ahead = if rank == 0 { 0 } else { u64::from(self.ranks - rank - 1) };
            let operations = least.0.saturating_mul(ahead).saturating_add(now.0);
            let blocks = least.1.saturating_mul(ahead).saturating_add(now.1);
            if operations > MOST_OPERATIONS || blocks > MOST_BLOCKS {
                self.problem = Some(OperationError::TooMany { most: MOST_OPERATIONS });
            }
            if self.problem.is_some() {
                break;
            }
        }
        self
    }

    /// The number of operations, and of the blocks of all of them.
    fn size(&self) -> (u64, u64) {
        (self.cargo.len() as u64, self.cargo.all().len() as u64)
    }

    /// The collective that must have this purpose.
    pub fn finish(self, purpose: Purpose) -> Result<Collective, OperationError> {
        if let Some(problem) = self.problem {
            return Err(problem);
        }
        let schedule = self.builder.finish().expect("an operation waits for earlier ones only");
        Ok(Collective { schedule, cargo: self.cargo, purpose })
    }

    /// The length of these blocks.
    fn bytes(&self, blocks: impl Iterator<Item = u32>) -> u64 {
        blocks.map(|block| self.cut.bytes(Block(block))).sum()
    }

    /// The length of a message with so much in it: even nothing takes a byte.
    fn message(&mut self, bytes: u64) -> u32 {
        u32::try_from(bytes.max(1)).unwrap_or_else(|_| {
            self.problem = Some(OperationError::TooLong { bytes });
            u32::MAX
        })
    }
}

/// What one rank does, in the making.
///
/// [`Part::put`], [`Part::take`] and [`Part::exchange`] are steps: each waits until the one before
/// is done.
pub(crate) struct Part<'a> {
    score: &'a mut Score,
    /// The rank.
    pub rank: u32,
    /// What the next step waits for.
    last: [Option<OpId>; 2],
}

/// One side of a message.
#[derive(Clone)]
pub(crate) struct Side<B> {
    /// The rank at the other end.
    pub with: u32,
    /// What tells it from other messages between the two.
    pub tag: u32,
    /// What it carries.
    pub blocks: B,
}

impl<B> Side<B> {
    pub fn new(with: u32, tag: u32, blocks: B) -> Side<B> {
        Side { with, tag, blocks }
    }
}

impl Part<'_> {
    /// The number of ranks.
    pub fn ranks(&self) -> u32 {
        self.score.ranks
    }

    /// The rank that is so much further on.
    pub fn on(&self, distance: u32) -> u32 {
        on(self.rank, distance, self.score.ranks)
    }

    /// The rank that is so much before.
    pub fn back(&self, distance: u32) -> u32 {
        on(self.rank, self.score.ranks - distance, self.score.ranks)
    }

    /// Adds a send that waits for nothing.
    pub fn send<B: Iterator<Item = u32> + Clone>(&mut self, side: Side<B>) -> OpId {
        let bytes = self.score.bytes(side.blocks.clone());
        let bytes = self.score.message(bytes);
        self.score.cargo.push(Access::Read, side.blocks.map(Block));
        self.score.builder.send(Rank(self.rank), Rank(side.with), Tag(side.tag), bytes)
    }

    /// Adds a send of nothing, which a put can do.
    pub fn signal(&mut self, to: u32, tag: u32) -> OpId {
        self.score.cargo.push(Access::Read, [Block(0)]);
        self.score.builder.send(Rank(self.rank), Rank(to), Tag(tag), 0)
    }

    /// Adds a send of nothing to all ranks from one to another.
    pub fn signal_all(&mut self, (first, last): (u32, u32), tag: u32) -> OpId {
        self.score.cargo.push(Access::Read, [Block(0)]);
        self.score.builder.cast(Rank(self.rank), (Rank(first), Rank(last)), Tag(tag), 0)
    }

    /// Adds a receive that waits for nothing.
    pub fn receive<B: Iterator<Item = u32> + Clone>(
        &mut self,
        access: Access,
        side: Side<B>,
    ) -> OpId {
        let bytes = self.score.bytes(side.blocks.clone());
        let bytes = self.score.message(bytes);
        self.score.cargo.push(access, side.blocks.map(Block));
        self.score.builder.receive(Rank(self.rank), Rank(side.with), Tag(side.tag), bytes)
    }

    /// Lets an operation wait until another one is done.
    pub fn after(&mut self, op: OpId, other: OpId) {
        self.score.builder.after(Rank(self.rank), op, other);
    }

    /// Returns the operations to wait for instead of all of these: a computation that takes no time
    /// and waits for them, unless they are few.
    pub fn join(&mut self, ops: Vec<OpId>) -> Vec<OpId> {
        const FEW: usize = 2;
        if ops.len() <= FEW {
            return ops;
        }
        let gate = self.score.builder.compute(Rank(self.rank), Time::ZERO);
        self.score.cargo.push(Access::Combine, []);
        for op in ops {
            self.after(gate, op);
        }
        vec![gate]
    }

    /// Lets an operation wait until another one has started.
    pub fn beside(&mut self, op: OpId, other: OpId) {
        let need = Need { op: other, when: When::Started };
        self.score.builder.need(Rank(self.rank), op, need);
    }

    /// A step: a send.
    pub fn put<B: Iterator<Item = u32> + Clone>(&mut self, side: Side<B>) {
        let sent = self.send(side);
        self.follow(sent);
        self.last = [Some(sent), None];
    }

    /// A step: a receive, and the combining if it takes its time.
    pub fn take<B: Iterator<Item = u32> + Clone>(&mut self, access: Access, side: Side<B>) {
        let blocks = side.blocks.clone();
        let received = self.receive(access, side);
        self.follow(received);
        self.last = [Some(received), None];
        self.combine(access, blocks);
    }

    /// A step: a send and a receive together, and the combining if it takes its time.
    pub fn exchange<S, R>(&mut self, send: Side<S>, access: Access, receive: Side<R>)
    where
        S: Iterator<Item = u32> + Clone,
        R: Iterator<Item = u32> + Clone,
    {
        let sent = self.send(send);
        self.follow(sent);
        let blocks = receive.blocks.clone();
        let received = self.receive(access, receive);
        self.follow(received);
        self.last = [Some(sent), Some(received)];
        self.combine(access, blocks);
    }

    /// The combining of what the last operation has received.
    fn combine(&mut self, access: Access, blocks: impl Iterator<Item = u32>) {
        let (Access::Add, Some(rate)) = (access, self.score.combine) else { return };
        let bytes = self.score.bytes(blocks);
        let time = rate.time_for(Bytes::new(bytes)).unwrap_or_else(|| {
            self.score.problem = Some(OperationError::Endless { rate });
            Time::ZERO
        });
        self.score.cargo.push_again(Access::Combine);
        let op = Op { step: Step::Compute { time }, cpu: 0, nic: None };
        let computed = self.score.builder.add(Rank(self.rank), op);
        self.follow(computed);
        self.last = [Some(computed), None];
    }

    /// Lets an operation wait for the last step.
    pub fn follow(&mut self, op: OpId) {
        for last in self.last.into_iter().flatten() {
            self.score.builder.after(Rank(self.rank), op, last);
        }
    }
}

/// The rank of a ring that is so much further on than another.
pub(crate) fn on(rank: u32, distance: u32, ranks: u32) -> u32 {
    // In 64 bits, in which it does not overflow.
    ((u64::from(rank) + u64::from(distance)) % u64::from(ranks)) as u32
}
