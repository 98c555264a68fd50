//! What machines of nodes are told and what they want, written down: for tests that hold drivers
//! against each other.
//!
//! A driver keeps its machines to itself, so they write on a tape of the thread on which it runs.

use std::cell::RefCell;

use crosstie_units::Time;

use crate::{Action, Input, NodeId};

/// Something that a machine was told, or wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Whose machine.
    pub node: NodeId,
    /// What time its driver said it was.
    pub at: Time,
    /// What it was.
    pub what: Noted,
}

/// What is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noted {
    /// Something has happened.
    Told(Input),
    /// The time that the machine asked for has come.
    Timeout,
    /// The machine wants something done.
    Wants(Action),
}

thread_local! {
    static TAPE: RefCell<Option<Vec<Entry>>> = const { RefCell::new(None) };
}

/// Runs something, and gives all that nodes were told and wanted on this thread meanwhile, in
/// order.
pub fn record<T>(run: impl FnOnce() -> T) -> (T, Vec<Entry>) {
    TAPE.set(Some(Vec::new()));
    let result = run();
    (result, TAPE.take().unwrap_or_default())
}

/// Writes something down, if somebody wants it.
pub(crate) fn note(node: NodeId, at: Time, what: impl FnOnce() -> Noted) {
    TAPE.with_borrow_mut(|tape| {
        if let Some(tape) = tape {
            tape.push(Entry { node, at, what: what() });
        }
    });
}
