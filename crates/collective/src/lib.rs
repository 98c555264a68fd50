//! Who sends what to whom, after what: schedules of collective operations as values.
//!
//! A [`Schedule`] says for every rank which messages it sends and receives, what it computes, and which of
//! these waits for which. It is played on simulated and real clusters, priced by a model, and read from and
//! written as text; none of these knows how it came about.

mod schedule;

pub use schedule::{Builder, CyclicRank, Need, Op, OpId, Rank, Schedule, Step, Tag, When};
