//! Routes: what a packet carries so that switches need no tables.
//!
//! A packet carries its whole [`Route`]: a list of legs, and each leg is a list of [`Tag`]s, one per
//! switch crossed. A tag names one output port (deterministic) or a group of ports from which the
//! switch takes a free one (adaptive). Between two legs the packet is taken out of the network at a
//! host and put in again. Fat trees, irregular networks and Ethernet all use this one type.

mod route;

pub use route::{GroupId, Leg, Route, Routing, Tag};
