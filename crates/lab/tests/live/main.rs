//! Real ranks on the hosts of boxes, with the assignments that `run` and `probe` give them.
//!
//! Ranks are this executable, run again (`ranks`). On a machine that forbids namespaces these tests
//! pass, after they have said on stderr what was skipped and why.

#![cfg(target_os = "linux")]

mod microbenchmarks;
mod ranks;
