//! Messages between the ranks of a program for real: over all NICs at once, and through shared memory.
//!
//! The machines of `crosstie-protocol` decide which bytes go on which rail and what is sent again; this crate drives them with
//! sockets, shared memory and a clock.

pub mod datagram;
mod engine;
pub mod envelope;
pub mod key;
mod lent;
pub mod memory;
pub mod rail;
pub mod start;
