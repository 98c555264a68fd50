//! Messages between the ranks of a program for real: over all NICs at once, and through shared
//! memory.
//!
//! The machines of `crosstie-protocol` decide which bytes go on which rail and what is sent again;
//! this crate drives them with sockets, shared memory and a clock.

#[cfg(any(test, feature = "bare"))]
#[doc(hidden)]
pub mod bare;
mod clock;
pub mod comm;
mod cores;
pub mod datagram;
pub mod envelope;
#[cfg(any(test, feature = "bare"))]
#[doc(hidden)]
pub mod fuzz;
pub mod key;
mod lent;
pub mod memory;
pub mod rail;
mod rank;
pub mod raw;
mod soon;
mod waiting;
pub mod worker;

pub use comm::{
    Algorithms, Claim, Collective, Comm, CommError, Completion, Contradiction, Fate, Loss, Options,
    Playing, Receiving, Requests, Scope, Sending, Status,
};
pub use rank::{RailCount, RailStatistics};
pub use worker::Worker;
