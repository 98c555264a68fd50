//! Protocols as machines without IO: how nodes with several rails share them.
//!
//! A cluster of nodes is joined by `r` independent networks, the *rails*. A node has one NIC per
//! rail, each on an I/O bus of its own, and several processing elements (PEs) that send messages.
//! The question is always the same: *which bytes of this message go on which rail, and what must be
//! agreed with the peer first?* A [`Node`] answers it by one of the [`Scheme`]s of Coll et al.,
//! "Using Multirail Networks in High Performance Clusters" (cited as \[coll\]):
//!
//! | scheme | knows | opposing traffic on a bus | two senders on one NIC |
//! |---|---|---|---|
//! | [`Scheme::Static`] | the direction of each NIC, fixed at start-up | never | possible |
//! | [`Scheme::Basic`] | nothing: round robin | possible | possible |
//! | [`Scheme::LocalDynamic`] | its own NICs | not begun by the sender | possible |
//! | [`Scheme::Dynamic`] | both ends, reserved first | never | never |
//! | [`Scheme::Hybrid`] | as dynamic, for long messages only | short messages only | short messages only |
//!
//! A node is a [`Machine`]: it is told what has happened ([`Input`]) and says what is to be done
//! ([`Action`]). A driver moves the packets, in simulation or for real.
//!
//! ```
//! use crosstie_protocol::*;
//! use crosstie_units::Time;
//!
//! let spec = NodeSpec { id: NodeId(0), pes: 1, rails: 2, transfers: 1, blocking: false };
//! let mut node = Node::new(spec, &Scheme::LocalDynamic { ratio: StripingRatio::ALL })?;
//! let (pe, message, to) = (PeId(0), MessageId(7), NodeId(3));
//! node.handle(Time::ZERO, Input::Send { pe, message, to, bytes: 1000 });
//! let mut stripes = Vec::new();
//! while let Some(Action::Transmit(parcel)) = node.poll_action(Time::ZERO) {
//!     stripes.push(parcel.stripe);
//! }
//! assert_eq!(stripes[0], Stripe { rail: RailId(0), bytes: 0..500 });
//! assert_eq!(stripes[1], Stripe { rail: RailId(1), bytes: 500..1000 });
//! # Ok::<(), NodeError>(())
//! ```
//!
//! Static allocation is also a question of combinatorics: [`matrix`] has the bound, the paper's two
//! algorithms and a check of any matrix. [`nic`] is the NIC process of the schemes that reserve, a
//! state machine written as a table.
//!
//! Below the nodes, between the two ends of a link, [`Flow`] says how a receiver keeps a sender from
//! overrunning its buffer, and [`InTransit`] how NICs pass on packets that stop at their host. Both
//! are described and checked here, once for experiment files and for the engines that obey them.

mod dispatch;
mod flow;
mod identity;
mod in_transit;
mod livelock;
mod machine;
pub mod matrix;
pub mod nic;
mod node;
mod outbox;
mod packet;
mod railset;
mod ratio;
mod reassembly;
mod scheme;
mod stripe;
mod turn;

pub use flow::{Flow, FlowError};
pub use identity::{MessageId, NodeId, PeId, RailId};
pub use in_transit::{InTransit, InTransitError};
pub use livelock::Priority;
pub use machine::Machine;
pub use matrix::{
    Allocation, MAX_NODES, MAX_RAILS, Matrix, MatrixError, ReadError, Unconnected, algorithm1,
    algorithm2, largest_cluster, rails_algorithm1, rails_optimal,
};
pub use node::{Action, Input, Node, NodeError, NodeSpec};
pub use packet::{Control, Parcel};
pub use railset::RailSet;
pub use ratio::{RatioError, StripingRatio};
pub use scheme::Scheme;
pub use stripe::{Stripe, split};
pub use turn::Turn;
