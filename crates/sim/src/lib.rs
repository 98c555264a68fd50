//! The simulated world: network engines, traffic, and measurement.

pub mod cluster;
pub mod trial;
pub mod wormhole;
