//! Contributions on their way, and the order in which they are combined.

use super::Fault;
use super::cells::Cells;
use super::contributions::{Set, Sets};
use super::order::{self, Event};
use super::sequence::Sequence;
use crate::{Access, Collective, OpId, Rank, Step, When, Whose};

/// Lets everything happen in its order, and looks at what each rank has in the end. Returns the
/// first combination in another order than that of ranks, if a result rests on any.
pub(super) fn check(
    collective: &Collective,
    cells: &Cells,
    peers: &[u32],
    events: &[Event],
) -> Result<Option<Fault>, Fault> {
    let Collective { schedule, cargo, .. } = collective;
    let owners = order::owners(schedule);
    let mut flow = Flow {
        collective,
        cells,
        peers,
        owners: &owners,
        sets: Sets::new(schedule.ranks()),
        held: cells.initial.iter().map(|&set| (set, Sequence::of(set.only()))).collect(),
        carried: vec![(Set::NONE, Sequence::Nothing); cargo.all().len()],
        apart: vec![false; cargo.len()],
        disorder: None,
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
    held: Vec<(Set, Sequence)>,
    /// What the messages carry, in the row of all blocks.
    carried: Vec<(Set, Sequence)>,
    /// Receives whose message has come and has not been combined yet.
    apart: Vec<bool>,
    /// The first combination that was not in the order of ranks.
    disorder: Option<Fault>,
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
            if held.0 == Set::NONE {
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
            if let Some(contribution) = self.sets.excess(self.held[cell].0, new.0) {
                let ((rank, op), block) = (self.op(place), self.cells.blocks[cell]);
                return Err(Fault::Changed { rank, op, block, contribution });
            }
            self.held[cell] = new;
        }
        Ok(())
    }

    /// Combines what a receive has kept apart, or puts it in its place.
    fn combine(&mut self, place: usize) -> Result<(), Fault> {
        if !std::mem::take(&mut self.apart[place]) {
            return Ok(());
        }
        let cargo = &self.collective.cargo;
        let (access, (rank, op)) = (cargo.access(place), self.op(place));
        let peer = self.peers[place] as usize;
        let from_below = self.owners[peer] < rank.0;
        for (received, sent) in cargo.range(place).zip(cargo.range(peer)) {
            let cell = self.cells.of_cargo[received] as usize;
            let block = self.cells.blocks[cell];
            let ((old, before), (new, behind)) = (self.held[cell], self.carried[sent]);
            if access == Access::Replace {
                self.held[cell] = (new, behind);
                continue;
            }
            if access == Access::Add
                && let Some(contribution) = self.sets.common(old, new)
            {
                return Err(Fault::Twice { rank, op, block, contribution });
            }
            let sequence = if from_below { behind.then(before) } else { before.then(behind) };
            let was_in_order = ![before, behind].contains(&Sequence::Disorder);
            if sequence == Sequence::Disorder && was_in_order && self.disorder.is_none() {
                self.disorder = Some(Fault::Disorder { rank, op, block });
            }
            self.held[cell] = (self.sets.union(old, new), sequence);
        }
        Ok(())
    }

    /// Refuses an end in which somebody has not what it must have.
    fn purpose(mut self) -> Result<Option<Fault>, Fault> {
        let ranks = self.collective.schedule.ranks();
        let everybody = self.sets.below(ranks);
        let mut is_in_order = true;
        for &(rank, cell, whose) in &self.cells.wanted {
            let ((held, sequence), block) =
                (self.held[cell as usize], self.cells.blocks[cell as usize]);
            let wanted = match whose {
                Whose::One(one) => Set::one(one),
                Whose::Below(count) => self.sets.below(count),
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
            is_in_order &= sequence != Sequence::Disorder;
        }
        Ok(self.disorder.filter(|_| !is_in_order && self.collective.purpose.combines()))
    }
}
