//! Hosts and rails out of what Linux has.

mod cluster;
mod error;
mod host;
mod keeper;
mod netlink;
mod passing;
mod permission;
mod program;
mod ranks;
mod request;
mod shaper;
mod timetable;
mod trace;

pub use cluster::{Cluster, Options};
pub use error::BoxError;
pub use permission::{Finding, permissions};
pub use program::{Command, Ending, Program, here, take_terminal};
pub use ranks::RanksError;
pub use timetable::{Applied, Timetable};
pub use trace::Trace;
