//! A schedule with what it is for: the programs of all ranks, with lengths.

use crate::program::builder::ProgramBuilder;
use crate::{
    Builder, Cargo, Instruction, Layout, Op, OperationError, Program, Purpose, Rank, Schedule, Step,
};
use crosstie_units::{Bytes, Rate, Time};

/// The most operations of a schedule: one with more would take several gigabytes, and is refused.
pub(crate) const MOST_OPERATIONS: u64 = 1 << 26;

/// The most blocks in all messages of a schedule: one with more is refused.
const MOST_BLOCKS: u64 = 1 << 30;

/// A schedule, what its messages carry, and what each rank must have in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collective {
    /// The messages of each rank, and their order.
    pub schedule: Schedule,
    /// The blocks of its operations.
    pub cargo: Cargo,
    /// What it is for.
    pub purpose: Purpose,
}

impl Collective {
    /// The union of the programs that `write` writes, one for each rank, with blocks of these
    /// lengths. Combining takes its time if it has a rate.
    pub(crate) fn of_programs(
        ranks: u32,
        purpose: Purpose,
        layout: &Layout,
        combine: Option<Rate>,
        mut write: impl FnMut(&mut ProgramBuilder) -> Result<(), OperationError>,
    ) -> Result<Collective, OperationError> {
        let mut builder = Builder::new(ranks);
        let mut cargo = Cargo::default();
        let mut program = ProgramBuilder::new(ranks, combine.is_some());
        let mut least = (u64::MAX, u64::MAX);
        let mut total = (0, 0);
        for rank in 0..ranks {
            program.begin(rank);
            write(&mut program)?;
            let program = program.program();
            let now = (program.len() as u64, program.named());
            least = (least.0.min(now.0), least.1.min(now.1));
            total = (total.0 + now.0, total.1 + now.1);
            // A root may have much more to do than others, but of two ranks one is no root: what it
            // has to do tells soon enough that there would be too much.
            let ahead = if rank == 0 { 0 } else { u64::from(ranks - rank - 1) };
            let operations = least.0.saturating_mul(ahead).saturating_add(total.0);
            let blocks = least.1.saturating_mul(ahead).saturating_add(total.1);
            if operations > MOST_OPERATIONS || blocks > MOST_BLOCKS {
                return Err(OperationError::TooMany { most: MOST_OPERATIONS });
            }
            add(&mut builder, &mut cargo, (Rank(rank), program), layout, combine)?;
            builder.inject(program.injection());
        }
        let schedule = builder.finish().expect("an instruction waits for earlier ones only");
        Ok(Collective { schedule, cargo, purpose })
    }
}

/// Adds what one rank does.
fn add(
    builder: &mut Builder,
    cargo: &mut Cargo,
    (rank, program): (Rank, &Program),
    layout: &Layout,
    combine: Option<Rate>,
) -> Result<(), OperationError> {
    for op in program.ops() {
        let blocks = program.blocks(op);
        let carried = || blocks.iter().map(|&run| layout.length(run)).sum::<u64>();
        let step = match program.instruction(op) {
            Instruction::Send { to, tag } => Step::Send { to, tag, bytes: message(carried())? },
            Instruction::Signal { first, last, tag } if first == last => {
                Step::Send { to: first, tag, bytes: 0 }
            }
            Instruction::Signal { first, last, tag } => Step::Cast { first, last, tag, bytes: 0 },
            Instruction::Receive { from, tag } => {
                let (from, tag) = (Some(from), Some(tag));
                Step::Receive { from, tag, bytes: message(carried())? }
            }
            Instruction::Join => Step::Compute { time: Time::ZERO },
            Instruction::Combine => {
                let rate = combine.expect("combining takes time if it has a rate");
                let time = rate.time_for(Bytes::new(carried()));
                Step::Compute { time: time.ok_or(OperationError::Endless { rate })? }
            }
        };
        builder.add(rank, Op { step, cpu: 0, nic: None });
        cargo.push_runs(program.access(op), blocks);
        program.needs(op).iter().for_each(|&need| builder.need(rank, op, need));
    }
    Ok(())
}

/// The length of a message with so much in it: even nothing takes a byte.
fn message(bytes: u64) -> Result<u32, OperationError> {
    u32::try_from(bytes.max(1)).map_err(|_| OperationError::TooLong { bytes })
}
