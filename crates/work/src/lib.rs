//! What applications do, as machines without IO.
//!
//! [`traffic`] is open-loop: messages start whether or not the network keeps up.

mod packing;
pub mod traffic;
mod workload;

pub use packing::Packing;
pub use workload::Workload;
