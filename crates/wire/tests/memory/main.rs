//! Shared memory between processes. Peers are this executable, run again with a part to play.

#![cfg(unix)]

mod endings;
#[cfg(target_os = "linux")]
mod hosts;
mod parts;
mod sleeping;
