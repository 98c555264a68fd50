//! The blocks that each rank has to do with, in one row.

use super::Fault;
use super::contributions::Set;
use crate::{Block, Collective, OpId, Rank, Whose};

/// A cell is a block at a rank. Only what somebody names has a cell.
pub(super) struct Cells {
    /// The cell of each block in the row of all blocks of the cargo.
    pub of_cargo: Vec<u32>,
    /// What each cell holds in the beginning.
    pub initial: Vec<Set>,
    /// The block of each cell.
    pub blocks: Vec<Block>,
    /// The cells that must hold something in the end, rank by rank.
    pub wanted: Vec<(Rank, u32, Whose)>,
}

impl Cells {
    pub fn new(collective: &Collective) -> Result<Cells, Fault> {
        let Collective { schedule, cargo, purpose } = collective;
        let ranks = schedule.ranks();
        let count = purpose.blocks(ranks);
        let mut cells = Cells {
            of_cargo: Vec::with_capacity(cargo.all().len()),
            initial: Vec::new(),
            blocks: Vec::new(),
            wanted: Vec::new(),
        };
        // The cell of a block at this rank, and one more; what earlier ranks have left is below
        // their first cell.
        let mut slots = vec![0u32; count as usize];
        for rank in (0..ranks).map(Rank) {
            let begin = cells.blocks.len() as u32;
            let (initial, blocks) = (&mut cells.initial, &mut cells.blocks);
            let mut cell = |block: Block| {
                let slot = &mut slots[block.0 as usize];
                if *slot <= begin {
                    blocks.push(block);
                    initial.push(Set::NONE);
                    *slot = blocks.len() as u32;
                }
                *slot - 1
            };
            let places = schedule.places(rank);
            for place in places.clone() {
                for &block in cargo.blocks(place) {
                    if u64::from(block.0) >= count {
                        let op = OpId((place - places.start) as u32);
                        return Err(Fault::NoSuchBlock { rank, op, block, blocks: count });
                    }
                    cells.of_cargo.push(cell(block));
                }
            }
            purpose.wanted(ranks, rank, |block, whose| {
                cells.wanted.push((rank, cell(block), whose));
            });
            let mut begun = Vec::new();
            purpose.initial(ranks, rank, |block, contributor| {
                begun.push((cell(block), contributor));
            });
            for (cell, contributor) in begun {
                cells.initial[cell as usize] = Set::one(contributor);
            }
        }
        Ok(cells)
    }
}
