//! Schedules of collective operations as values.
//!
//! A [`Schedule`] says for every rank which messages it sends and receives, what it computes, and
//! which of these waits for which. It is played on simulated and real clusters, priced by a model,
//! and read from and written as text; none of these knows how it came about.
//!
//! A [`player`] says which operation begins when, to whatever carries the messages.
//!
//! An [`Operation`] becomes a [`Collective`]: a schedule and beside it what the messages carry. The
//! [`checker`] proves that it does what it is for.

pub mod algorithm;
mod cargo;
pub mod checker;
mod collective;
mod global_window;
pub mod goal;
mod injection;
mod operation;
mod overhead;
pub mod player;
mod purpose;
mod schedule;
mod score;
mod stuck;

pub use cargo::{Access, Block, Cargo};
pub use collective::Collective;
pub use global_window::{Reading, crossing, global_window};
pub use injection::{Counting, Injection, Window};
pub use operation::{Operation, OperationError};
pub use overhead::Overhead;
pub use purpose::{Purpose, Whose};
pub use schedule::{Builder, CyclicRank, Need, Op, OpId, Rank, Schedule, Step, Tag, When};
pub use stuck::{Stuck, stuck};
