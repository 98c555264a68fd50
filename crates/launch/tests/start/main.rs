//! Ranks as real processes, under every launcher that is installed: what they learn of each other,
//! and that nothing is left.
//!
//! Ranks are this executable, run again (`parts`). Tests of launchers that are not installed pass,
//! after they have said so.

#![cfg(unix)]

mod launchers;
mod parts;
#[cfg(target_os = "linux")]
mod remains;
mod stage;
