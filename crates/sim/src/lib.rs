//! The simulated world: network engines, traffic, and measurement.

pub mod cluster;
mod packing;
pub mod traffic;
pub mod trial;
pub mod wormhole;

pub use packing::Packing;
