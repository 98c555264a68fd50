//! Routes: what a packet carries so that switches need no tables.
//!
//! A packet carries its whole [`Route`]: a list of legs, and each leg is a list of [`Tag`]s, one
//! per switch crossed. A tag names one output port (deterministic) or a group of ports from which
//! the switch takes a free one (adaptive). Between two legs the packet is taken out of the network
//! at a host and put in again. Fat trees, irregular networks and Ethernet all use this one type.
//!
//! All routings there are, with their names, keys, needs and promises, are listed in one place:
//! [`kind`], as arms of [`RoutingKind`]. Most of them write all their routes into a [`RouteTable`];
//! [`split_by_order`] and [`place_itbs`] put stops into the routes of any table. [`export`] writes
//! routes for other programs.
//!
//! Some routings also know a [`Spread`]: the way to a range of hosts, on which switches fork
//! packets ([`Routing::spread`]).
//!
//! Every routing can be asked for the proof: [`certify`] follows all its routes and returns an
//! order of the channels, or the cycle along which packets may wait for each other;
//! [`certify_ranges`] does so with packets to ranges beside. [`Summary`]
//! tells how long the routes are and how evenly they use the channels.
//!
//! ```
//! use crosstie_routing::{Certificate, Summary, TreeAdaptive, certify};
//!
//! let fabric = crosstie_fabric::tree(4, 3)?;
//! let routing = TreeAdaptive::new(&fabric)?;
//! match certify(&fabric, &routing)? {
//!     Certificate::DeadlockFree { order, .. } => assert_eq!(order.len(), 384),
//!     Certificate::Cycle { cycle, .. } => panic!("packets may wait along {cycle:?}"),
//! }
//! assert_eq!(Summary::of(&fabric, &routing)?.minimal_share(), 1.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod acyclic;
mod assurance;
mod balanced;
mod certificate;
mod choice;
mod dfs;
mod error;
pub mod export;
mod fault;
mod itb;
pub mod kind;
mod moves;
#[cfg(test)]
mod networks;
mod order;
mod pick;
mod random;
mod root;
mod route;
mod shortest;
mod smart;
mod spread;
mod summary;
mod table;
mod tree;
mod turns;
mod updown;
mod walk;
mod wiring;

pub use assurance::{Assurance, MOST_CROSSINGS};
pub use certificate::{Certificate, RangeCertificate, Taking, Turn, certify, certify_ranges};
pub use choice::Choice;
pub use dfs::dfs;
pub use error::RoutingError;
pub use fault::{Fault, RouteFault};
pub use itb::{place_itbs, split_by_order};
pub use kind::{Need, Promise, RoutingKind};
pub use order::{LegalDistances, Order};
pub use pick::Pick;
pub use root::Root;
pub use route::{GroupId, Leg, Route, Routing, Tag};
pub use shortest::Shortest;
pub use spread::{Branch, HostRange, Onward, Spread};
pub use summary::{Load, Summary};
pub use table::RouteTable;
pub use tree::{NotATree, TreeAdaptive, TreeDeterministic};
pub use updown::updown;
