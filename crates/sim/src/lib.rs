//! The simulated world: network engines, traffic, and measurement.

pub mod wormhole;
