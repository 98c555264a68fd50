//! Ranks on real rails: in boxes, and in the memory of this machine.
//!
//! Ranks are this executable, run again (`parts`). On a machine that forbids namespaces the tests
//! that need a box pass, after they have said on stderr what was skipped and why.

#![cfg(target_os = "linux")]

mod collectives;
mod faults;
mod leaving;
mod many_to_one;
mod outages;
mod parts;
mod rails;
mod raw;
mod relay;
mod requests;
mod stage;
mod strangers;
mod workers;
