//! How often each cell of the table has been used.

use super::{Event, State, cell};

/// A count for each cell of the NIC's table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    cells: [[u64; State::COUNT]; Event::COUNT],
}

impl Tally {
    pub(crate) fn add(&mut self, state: State, event: Event) {
        self.cells[event as usize][state as usize] += 1;
    }

    /// How often the event has come in this state.
    pub fn count(&self, state: State, event: Event) -> u64 {
        self.cells[event as usize][state as usize]
    }

    /// How often the event has come in any state.
    pub fn events(&self, event: Event) -> u64 {
        self.cells[event as usize].iter().sum()
    }

    /// How often a blank or unreachable cell has been used: 0 unless somebody broke the protocol.
    pub fn violations(&self) -> u64 {
        let all = Event::ALL.iter().flat_map(|&event| State::ALL.map(|state| (state, event)));
        all.filter(|&(state, event)| cell(state, event).mark.is_violation())
            .map(|(state, event)| self.count(state, event))
            .sum()
    }
}
