//! What the two ends of a channel do, as tables: the machines do what the cells say.

mod receiver;
mod sender;

pub use receiver::{Packet, ReceiverDeed, ReceiverState, receiver_cell};
pub use sender::{SenderDeed, SenderEvent, SenderState, sender_cell};

use std::fmt;

use crate::nic::Mark;

/// One cell of a table: what is done, and the state that is entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell<Deed, State> {
    /// Where it comes from.
    pub mark: Mark,
    /// What is done.
    pub deed: Deed,
    /// The state that is entered.
    pub next: State,
}

/// A cell that the thesis states.
const fn stated<Deed: Copy, State: Copy>(deed: Deed, next: State) -> Cell<Deed, State> {
    Cell { mark: Mark::Printed, deed, next }
}

/// A cell that the thesis does not state.
const fn reading<Deed: Copy, State: Copy>(deed: Deed, next: State) -> Cell<Deed, State> {
    Cell { mark: Mark::Reading, deed, next }
}

impl<Deed: fmt::Display, State: fmt::Display> fmt::Display for Cell<Deed, State> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} → {}", self.deed, self.next)?;
        match self.mark {
            Mark::Printed => Ok(()),
            _ => f.write_str(" [R]"),
        }
    }
}
