//! Protocols as machines without IO: how nodes with several rails share them.
//!
//! A cluster of nodes is joined by `r` independent networks, the *rails*. A node has one NIC per
//! rail, each on an I/O bus of its own, and several processing elements (PEs) that send messages.
//! The question is always the same: *which bytes of this message go on which rail, and what must be
//! agreed with the peer first?* A [`Node`] answers it by its [`policy`]. The schemes of Coll et
//! al., "Using Multirail Networks in High Performance Clusters" (cited as \[coll\]), are five of
//! them:
//!
//! | policy | knows | opposing traffic on a bus | two senders on one NIC |
//! |---|---|---|---|
//! | [`RoundRobin`](policy::RoundRobin) | nothing | possible | possible |
//! | [`StaticAllocation`](policy::StaticAllocation) | the direction of each NIC, fixed at start-up | never | possible |
//! | [`Basic`](policy::Basic) | nothing: each processing element by itself | possible | possible |
//! | [`LocalDynamic`](policy::LocalDynamic) | its own NICs | not begun by the sender | possible |
//! | [`Dynamic`](policy::Dynamic) | both ends, reserved first | never | never |
//! | hybrid, [`Dynamic`](policy::Dynamic) too | as dynamic, for long messages only | short messages only | short messages only |
//!
//! Those of Liu et al., "Building Multirail InfiniBand Clusters: MPI-Level Designs and Performance
//! Evaluation" (cited as \[liu\]), let messages take rails whole ([`Multiplex`](policy::Multiplex))
//! or cut long ones by [`weights`] that may follow what rails carry
//! ([`Striping`](policy::Striping)).
//!
//! A node is a [`Machine`]: it is told what has happened ([`Input`]) and says what is to be done
//! ([`Action`]). It cuts stripes into packets, keeps the window of each NIC, and puts together what
//! arrives; a driver only moves packets, in simulation or for real.
//!
//! ```
//! use crosstie_protocol::policy::LocalDynamic;
//! use crosstie_protocol::*;
//! use crosstie_units::Time;
//!
//! let packing = Packing { payload: Some(300), overhead: 16 };
//! let spec = NodeSpec { packing, window: Some(2), ..NodeSpec::new(NodeId(0), 2) };
//! let policy = LocalDynamic::new(StripingRatio::ALL);
//! let mut node = Node::new(spec, Box::new(policy))?;
//! let (pe, message, to) = (PeId(0), MessageId(7), NodeId(3));
//! node.handle(Time::ZERO, Input::Send { pe, message, to, bytes: 1200, rail: None, whole: false });
//!
//! // A stripe for each rail, and two packets of each.
//! let mut packets = Vec::new();
//! while let Some(Action::Transmit(packet)) = node.poll_action(Time::ZERO) {
//!     packets.push((packet.parcel.stripe.rail.0, packet.bytes));
//! }
//! assert_eq!(packets, [(0, 0..300), (0, 300..600), (1, 600..900), (1, 900..1200)]);
//! # Ok::<(), NodeError>(())
//! ```
//!
//! Static allocation is also a question of combinatorics: [`matrix`] has the bound, the paper's two
//! algorithms and a check of any matrix. [`nic`] is the NIC process of the policies that reserve, a
//! state machine written as a table.
//!
//! Below the nodes, between the two ends of a link, [`Flow`] says how a receiver keeps a sender
//! from overrunning its buffer, and [`InTransit`] how NICs pass on packets that stop at their host.
//! Both are described and checked here, once for experiment files and for the engines that obey
//! them.
//!
//! Where a network loses packets, a [`channel`] between two nodes sends them again. And where rails
//! die, a node that has [`Patience`] goes on without them: what they had goes again on others, once
//! in effect, and they are taken back when they answer.
//!
//! All that ranks settle about messages, channels and patience is one value, a [`Profile`].

pub mod channel;
mod dispatch;
mod flow;
mod gauge;
mod greeting;
mod growth;
mod headers;
mod identity;
mod in_transit;
mod injection;
pub mod level;
mod livelock;
mod machine;
mod matching;
pub mod matrix;
pub mod message;
pub mod nic;
mod node;
mod node_map;
mod numbers;
mod outbox;
mod packet;
mod packing;
mod patience;
mod pieces;
pub mod policy;
mod profile;
mod railset;
mod ratio;
mod reassembly;
#[cfg(feature = "record")]
pub mod record;
mod serial;
mod slab;
mod stripe;
mod turn;
mod way;
pub mod weights;

pub use channel::ChannelKind;
pub use dispatch::{Dispatch, OpenId, Outgoing};
pub use flow::{Flow, FlowError};
pub use gauge::Gauge;
pub use greeting::Greeting;
pub use growth::Ahead;
pub use headers::Headers;
pub use identity::{MessageId, NodeId, PeId, RailId, RankId, StripeId};
pub use in_transit::{InTransit, InTransitError};
pub use injection::{GlobalWindow, Injection};
pub use livelock::Priority;
pub use machine::Machine;
pub use matching::{Awaited, Matching};
pub use matrix::{
    Allocation, MAX_NODES, MAX_RAILS, Matrix, MatrixError, ReadError, Unconnected, algorithm1,
    algorithm2, largest_cluster, rails_algorithm1, rails_optimal,
};
pub use node::{Action, Input, Node, NodeError, NodeSpec};
pub use packet::{Control, Packet, Parcel};
pub use packing::Packing;
pub use patience::Patience;
pub use policy::{Feedback, Pacing, Policies, Policy, PolicyKind};
pub use profile::{Profile, ProfileKind, Rides, Train};
pub use railset::RailSet;
pub use ratio::{RatioError, StripingRatio};
pub use stripe::{Stripe, split};
pub use turn::Turn;
