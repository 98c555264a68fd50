//! Contributions on their way.

use super::Fault;
use super::cells::Cells;
use super::contributions::{Set, Sets};
use super::order::{self, Event};
use crate::{Access, Collective, OpId, Rank, Step, When, Whose};

/// Lets everything happen in its order, and looks at what everybody has in the end.
pub(super) fn check(
    collective: &Collective,
    cells: &Cells,
    peers: &[u32],
    events: &[Event],
) -> Result<(), Fault> {
    let Collective { schedule, cargo, .. } = collective;
    let owners = order::owners(schedule);
    let mut flow = Flow {
        collective,
        cells,
        peers,
        owners: &owners,
        sets: Sets::new(schedule.ranks()),
        held: cells.initial.clone(),
        carried: vec![Set::NONE; cargo.all().len()],
        apart: vec![false; cargo.len()],
    };
    for &event in events {
        let place = event.place();
        if event.is_start() { flow.start(place)? } else { flow.end(place)? }
    }
    for place in 0..cargo.len() {
        flow.combine(place)?;
    }
    flow.purpose()
}

struct Flow<'a> {
    collective: &'a Collective,
    cells: &'a Cells,
    peers: &'a [u32],
    owners: &'a [u32],
    sets: Sets,
    /// What each cell holds.
    held: Vec<Set>,
    /// What the messages carry, in the row of all blocks.
    carried: Vec<Set>,
    /// Receives whose message has come and has not been combined yet.
    apart: Vec<bool>,
}

impl Flow<'_> {
    fn op(&self, place: usize) -> (Rank, OpId) {
        let rank = Rank(self.owners[place]);
        (rank, OpId((place - self.collective.schedule.places(rank).start) as u32))
    }

    /// Combines what the operation has waited for, and reads what it sends.
    fn start(&mut self, place: usize) -> Result<(), Fault> {
        let Collective { schedule, cargo, .. } = self.collective;
        let first = schedule.places(Rank(self.owners[place])).start;
        for need in schedule.needs(place).iter().filter(|need| need.when == When::Done) {
            self.combine(first + need.op.0 as usize)?;
        }
        if schedule.all()[place].step.sends().is_none() {
            return Ok(());
        }
        for index in cargo.range(place) {
            let held = self.held[self.cells.of_cargo[index] as usize];
            if held == Set::NONE {
                let (rank, op) = self.op(place);
                return Err(Fault::NotYet { rank, op, block: cargo.all()[index] });
            }
            self.carried[index] = held;
        }
        Ok(())
    }

    /// Takes what has come.
    fn end(&mut self, place: usize) -> Result<(), Fault> {
        let Collective { schedule, cargo, .. } = self.collective;
        if !matches!(schedule.all()[place].step, Step::Receive { .. }) {
            return Ok(());
        }
        if cargo.access(place) != Access::Store {
            self.apart[place] = true;
            return Ok(());
        }
        for (received, sent) in cargo.range(place).zip(cargo.range(self.peers[place] as usize)) {
            let (cell, new) = (self.cells.of_cargo[received] as usize, self.carried[sent]);
            if let Some(contribution) = self.sets.excess(self.held[cell], new) {
                let ((rank, op), block) = (self.op(place), self.cells.blocks[cell]);
                return Err(Fault::Changed { rank, op, block, contribution });
            }
            self.held[cell] = new;
        }
        Ok(())
    }

    /// Combines what a receive has kept apart, if it has.
    fn combine(&mut self, place: usize) -> Result<(), Fault> {
        if !std::mem::take(&mut self.apart[place]) {
            return Ok(());
        }
        let cargo = &self.collective.cargo;
        for (received, sent) in cargo.range(place).zip(cargo.range(self.peers[place] as usize)) {
            let (cell, new) = (self.cells.of_cargo[received] as usize, self.carried[sent]);
            let old = self.held[cell];
            if cargo.access(place) == Access::Add
                && let Some(contribution) = self.sets.common(old, new)
            {
                let ((rank, op), block) = (self.op(place), self.cells.blocks[cell]);
                return Err(Fault::Twice { rank, op, block, contribution });
            }
            self.held[cell] = self.sets.union(old, new);
        }
        Ok(())
    }

    /// Refuses an end in which somebody has not what it must have.
    fn purpose(mut self) -> Result<(), Fault> {
        let everybody = self.sets.all();
        for &(rank, cell, whose) in &self.cells.wanted {
            let (held, block) = (self.held[cell as usize], self.cells.blocks[cell as usize]);
            let wanted = match whose {
                Whose::One(one) => Set::one(one),
                Whose::All => everybody,
            };
            if held == Set::NONE {
                return Err(Fault::Absent { rank, block });
            }
            if let Some(contribution) = self.sets.excess(wanted, held) {
                return Err(Fault::Missing { rank, block, contribution });
            }
            if let Some(contribution) = self.sets.excess(held, wanted) {
                return Err(Fault::Foreign { rank, block, contribution });
            }
        }
        Ok(())
    }
}
