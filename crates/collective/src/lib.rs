//! Schedules of collective operations as values.
//!
//! A [`Schedule`] says for every rank which messages it sends and receives, what it computes, and
//! which of these waits for which. It is played on simulated and real clusters, priced by a model,
//! and read from and written as text; none of these knows how it came about.
//!
//! A [`player`] says which operation begins when, to whatever carries the messages.
//!
//! An [`Operation`] has a [`Program`] for each rank, which names blocks and no lengths: what a real
//! rank plays, with a [`Layout`] of its buffer. The programs of all ranks, with lengths, are a
//! [`Collective`]: a schedule and beside it what the messages carry. The [`checker`] proves that it
//! does what it is for.

pub mod algorithm;
mod buffers;
mod cargo;
pub mod checker;
mod collective;
mod global_window;
pub mod goal;
mod injection;
mod layout;
mod operation;
mod overhead;
pub mod player;
mod program;
mod purpose;
mod schedule;
mod signature;
mod stuck;

pub use buffers::{Buffer, Buffers};
pub use cargo::{Access, Block, Cargo};
pub use collective::Collective;
pub use global_window::{Reading, crossing, global_window};
pub use injection::{Counting, Injection, Window};
pub use layout::Layout;
pub use operation::{Operation, OperationError};
pub use overhead::Overhead;
pub use program::{Instruction, Program, Progress, Run};
pub use purpose::{Purpose, Whose};
pub use schedule::{Builder, CyclicRank, Need, Op, OpId, Rank, Schedule, Step, Tag, When};
pub use signature::{Disagreement, Signature};
pub use stuck::{Stuck, stuck};
