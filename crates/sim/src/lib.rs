//! The simulated world: networks, nodes above them, and runs of work on both.
//!
//! [`network`] is the seam between the two. Below it are the engines: [`wormhole`], exact to the
//! flit, [`frame`], exact to the frame, and [`ideal`], which contends for nothing; [`premises`]
//! stand before any of the last two. Above it, [`node`] drives the machines of `protocol`, [`host`]
//! is where ranks compute, send and receive, and [`run`] lets the work of `work` be done and
//! measured. What is above names no engine.

mod agenda;
pub mod elan;
pub mod frame;
pub mod host;
pub mod ideal;
pub mod network;
pub mod node;
mod pairs;
pub mod premises;
pub mod run;
mod slab;
pub mod wormhole;
