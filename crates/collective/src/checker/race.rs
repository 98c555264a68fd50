//! Operations of a rank that touch the same block must be ordered by dependencies.

use super::Fault;
use super::cells::Cells;
use super::contributions::Set;
use super::order::Ancestors;
use crate::{Access, Collective, OpId, Rank, When};

/// Refuses a rank two of whose operations touch the same block, unless it does not matter which
/// comes first.
pub(super) fn check(collective: &Collective, cells: &Cells, rank: Rank) -> Result<(), Fault> {
    let Collective { schedule, cargo, .. } = collective;
    let places = schedule.places(rank);
    let mut touched: Vec<(u32, OpId)> = Vec::new();
    for (op, place) in places.clone().enumerate() {
        let of_op = &cells.of_cargo[cargo.range(place)];
        touched.extend(of_op.iter().map(|&cell| (cell, OpId(op as u32))));
    }
    touched.sort_unstable();
    let ancestors = Ancestors::new(schedule, rank);
    let access = |op: OpId| cargo.access(places.start + op.0 as usize);
    // A receive that combines or replaces does so when an operation that waits for it starts. Such
    // operations must wait for the read.
    let kept_apart = |read: OpId, receive: OpId| {
        let dependents = schedule.dependents(places.start + receive.0 as usize).iter();
        dependents
            .filter(|dependent| dependent.when == When::Done)
            .all(|dependent| ancestors.before(read, dependent.op))
    };
    for of_cell in touched.chunk_by(|one, other| one.0 == other.0) {
        let cell = of_cell[0].0 as usize;
        let writes = of_cell.iter().filter(|touch| access(touch.1) != Access::Read);
        for &(_, write) in writes {
            for &(_, op) in of_cell {
                let both = (access(write), access(op));
                // A pair of writes is looked at once.
                if op == write || (both.1 != Access::Read && op > write) {
                    continue;
                }
                let sound = match both {
                    (Access::Merge, Access::Merge) => true,
                    _ if ancestors.before(write, op) || ancestors.before(op, write) => true,
                    (Access::Add | Access::Merge | Access::Replace, Access::Read) => {
                        kept_apart(op, write)
                    }
                    _ => false,
                };
                if sound {
                    continue;
                }
                let block = cells.blocks[cell];
                let had = cells.initial[cell] != Set::NONE
                    || of_cell.iter().any(|&(_, earlier)| {
                        access(earlier) != Access::Read && ancestors.before(earlier, op)
                    });
                return Err(match both.1 {
                    Access::Read if !had => Fault::NotYet { rank, op, block },
                    _ => Fault::Race { rank, block, one: op.min(write), other: op.max(write) },
                });
            }
        }
    }
    Ok(())
}
