//! The simulated world: network engines, traffic, and measurement.

pub mod cluster;
pub mod measure;
pub mod traffic;
pub mod trial;
pub mod wormhole;
