//! By which rule a node uses its rails.
//!
//! One policy, one file: [`RoundRobin`], and the schemes of Coll et al. as [`StaticAllocation`],
//! [`Basic`], [`LocalDynamic`] and [`Dynamic`], which is the hybrid scheme too; the policies of Liu
//! et al., "Building Multirail InfiniBand Clusters" (cited as \[liu\]), as [`Multiplex`] and
//! [`Striping`]. [`Fastest`] and [`Pull`] go by what rails have shown. [`PolicyKind`] declares them
//! all.

mod attempt;
mod basic;
mod dynamic;
mod fastest;
mod hybrid;
mod kind;
mod local_dynamic;
mod multiplex;
mod pull;
mod round_robin;
mod static_allocation;
mod striping;

pub use basic::Basic;
pub use dynamic::Dynamic;
pub use fastest::Fastest;
pub use kind::{Pacing, Policies, PolicyKind};
pub use local_dynamic::LocalDynamic;
pub use multiplex::{Multiplex, Multiplexer, Rule, Shares};
pub use pull::Pull;
pub use round_robin::RoundRobin;
pub use static_allocation::StaticAllocation;
pub use striping::{Cutting, Striping};

use std::fmt;

use crosstie_units::Time;

use crate::nic::{Nic, Tally};
use crate::{Control, Dispatch, MessageId, NodeId, Parcel, PeId, RailId, RailSet};

/// What a policy does about what happens to its node. The [`Dispatch`] has been told before, and
/// takes the policy's orders: which bytes of a message go on which rails.
///
/// Rails that are down ([`Dispatch::up`]), or whose way to the receiver has died
/// ([`Dispatch::up_to`]), are not chosen. Where no rail will do, a message stays where it is until
/// one is up.
pub trait Policy: fmt::Debug + Send {
    /// A PE has a message that it can start, and had none before. Said again of every PE, whether
    /// it has a message or not, when a rail has come up, unless [`Policy::switched`] does
    /// otherwise.
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch);

    /// A NIC has sent a stripe.
    fn sent(&mut self, _rail: RailId, _dispatch: &mut Dispatch) {}

    /// A NIC has received a stripe.
    fn arrived(&mut self, _parcel: &Parcel, _dispatch: &mut Dispatch) {}

    /// Nothing is arriving on a rail any more, where it was said that something is.
    fn quiet(&mut self, _rail: RailId, _dispatch: &mut Dispatch) {}

    /// A NIC has processed a control packet.
    fn control(&mut self, _rail: RailId, _from: NodeId, _packet: Control, dispatch: &mut Dispatch) {
        // Most policies have none: the sender has another policy.
        dispatch.stray();
    }

    /// A rail has gone up or down.
    fn switched(&mut self, _rail: RailId, up: bool, dispatch: &mut Dispatch) {
        if up {
            for pe in dispatch.pes() {
                self.ready(pe, dispatch);
            }
        }
    }

    /// A way, one rail to one peer, has died or is taken back, where the node outlives its rails.
    /// What it had under way goes again without the policy. [`Policy::ready`] is said of every
    /// PE afterwards.
    fn lives(&mut self, _to: NodeId, _rail: RailId, _lives: bool, _dispatch: &mut Dispatch) {}

    /// A peer is given up. What there is for it is forgotten next.
    fn forget(&mut self, _peer: NodeId, _dispatch: &Dispatch) {}

    /// The receiver has all of a stripe.
    fn finished(&mut self, _feedback: &Feedback, _dispatch: &mut Dispatch) {}

    /// The deadline has come.
    fn timeout(&mut self, _dispatch: &mut Dispatch) {}

    /// When [`Policy::timeout`] wants to be called.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// Whether it has to be told what a NIC has sent.
    fn needs_departures(&self) -> bool {
        false
    }

    /// Whether it makes use of what is arriving.
    fn needs_arriving(&self) -> bool {
        false
    }

    /// Whether it looks at what rails have shown ([`Dispatch::gauge`]).
    fn needs_gauges(&self) -> bool {
        false
    }

    /// `NStatus`: the NICs that are free, where it is kept.
    fn free(&self, _dispatch: &Dispatch) -> Option<RailSet> {
        None
    }

    /// The NIC processes, where there are any.
    fn nics(&self) -> &[Nic] {
        &[]
    }

    /// What they have done.
    fn tally(&self) -> Option<&Tally> {
        None
    }
}

/// How a stripe has fared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feedback {
    /// The message that it is a part of.
    pub message: MessageId,
    /// The rail that it took.
    pub rail: RailId,
    /// The receiver.
    pub to: NodeId,
    /// Its length.
    pub bytes: u64,
    /// When it was handed to the NIC.
    pub handed_over: Time,
    /// When the receiver had all of it.
    pub done: Time,
    /// Whether it went again because a way had died.
    pub again: bool,
}
