//! Boxes on real namespaces: what files promise is measured in them.
//!
//! On a machine that forbids namespaces every test passes, after it has said on stderr what was
//! skipped and why. Programs on hosts are mostly this executable, run again (`parts`).

#![cfg(target_os = "linux")]

mod events;
mod odd;
mod outages;
mod parts;
mod programs;
mod ranks;
mod rates;
mod remains;
mod small_switch;
mod speed;
mod stage;
mod tools;
mod traffic;
mod users;
