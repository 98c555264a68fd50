//! Studies become results: a world for each point, run on all cores, its row kept at once.
//!
//! [`run`] takes a [`Study`](crosstie_study::Study) and the [`Store`](crosstie_study::Store) its
//! rows go to. Every point is built and checked before the first one runs, so that a mistake in a
//! long sweep shows at once; [`check`] does that alone. Points are independent of each other and of
//! the clock: the bytes of the result folder do not depend on the number of threads.
//!
//! A [`World`] is what one point describes: a fabric, a routing, the hardware, what the nodes
//! send. Below this crate nobody sees a key of an experiment file; above it nobody sees the
//! simulator.
//!
//! Points of `world = "live"` are done by real ranks, one point at a time and after all others:
//! [`live`].
//!
//! [`predict`] says what communication takes on a machine without running anything, and [`probe`]
//! measures the parameters of a machine. [`paper`] knows the papers whose evaluation can be
//! reproduced.

mod destination;
mod elan;
mod error;
mod ethernet;
mod hardware;
pub mod live;
mod nodes;
mod outcome;
pub mod paper;
mod parameters;
pub mod predict;
mod preparation;
mod preset;
pub mod probe;
mod progress;
mod rails;
mod revision;
mod round_trip;
mod routed_fabric;
mod run;
mod schedule;
mod world;

pub use error::LabError;
pub use preparation::check;
pub use preset::Preset;
pub use progress::{Progress, Silent};
pub use revision::revision;
pub use routed_fabric::{RoutedFabric, build_fabric};
pub use run::{RunOptions, RunSummary, rows, run};
pub use world::World;
