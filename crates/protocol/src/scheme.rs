//! The five schemes: by which rule a node uses its rails.

mod attempt;
mod basic;
mod dynamic;
mod fixed;
mod hybrid;
mod local_dynamic;

use std::fmt;
use std::sync::Arc;

use crosstie_units::Time;

use crate::dispatch::Dispatch;
use crate::nic::{Nic, Tally};
use crate::{
    Allocation, Control, NodeError, NodeId, NodeSpec, Parcel, PeId, RailId, RailSet, StripingRatio,
};

/// How a node uses its rails; all nodes of a cluster do it alike.
#[derive(Debug, Clone, PartialEq)]
pub enum Scheme {
    /// Each NIC either transmits or receives, fixed at start-up [coll, 2]. A message goes on one of
    /// the rails that lead to its receiver, in turn.
    Static(Arc<Allocation>),
    /// Each message goes on one rail; each PE takes the rails in turn [coll, 3].
    Basic,
    /// Messages go on rails whose local NIC neither sends nor receives [coll, algorithm 3].
    LocalDynamic {
        /// How many of the free rails a message takes.
        ratio: StripingRatio,
    },
    /// Both NICs are reserved before data flow [coll, algorithms 4 to 6].
    Dynamic {
        /// How many of the granted rails a message takes.
        ratio: StripingRatio,
        /// How long a PE waits for answers before it makes do with those it has; `None`: as long
        /// as it takes. Doubles each time it has none.
        patience: Option<Time>,
    },
    /// As dynamic, but short messages go on one free rail without reservation [coll, algorithm 7].
    Hybrid {
        /// How many of the granted rails a long message takes.
        ratio: StripingRatio,
        /// As in [`Scheme::Dynamic`].
        patience: Option<Time>,
        /// Messages of fewer bytes are short (SHORT_MESSAGE_LENGTH).
        threshold: u64,
    },
}

impl Scheme {
    /// The name, as in the paper.
    pub fn name(&self) -> &'static str {
        match self {
            Scheme::Static(_) => "static",
            Scheme::Basic => "basic",
            Scheme::LocalDynamic { .. } => "local-dynamic",
            Scheme::Dynamic { .. } => "dynamic",
            Scheme::Hybrid { .. } => "hybrid",
        }
    }

    pub(crate) fn rules(&self, spec: &NodeSpec) -> Result<Box<dyn Rules>, NodeError> {
        Ok(match *self {
            Scheme::Static(ref allocation) => Box::new(fixed::Fixed::new(spec, allocation)?),
            Scheme::Basic => Box::new(basic::Basic::new(spec)),
            Scheme::LocalDynamic { ratio } => {
                Box::new(local_dynamic::LocalDynamic::new(spec, ratio))
            }
            Scheme::Dynamic { ratio, patience } => {
                Box::new(dynamic::Dynamic::new(spec, ratio, patience, 0))
            }
            Scheme::Hybrid { ratio, patience, threshold } => {
                Box::new(dynamic::Dynamic::new(spec, ratio, patience, threshold))
            }
        })
    }
}

/// What a scheme does about what happens to its node. The [`Dispatch`] has been told before.
pub(crate) trait Rules: fmt::Debug + Send {
    /// A PE that had nothing to send has a message now.
    fn ready(&mut self, now: Time, pe: PeId, dispatch: &mut Dispatch);

    /// A NIC has sent a stripe.
    fn sent(&mut self, _now: Time, _rail: RailId, _dispatch: &mut Dispatch) {}

    /// A NIC begins to receive a stripe.
    fn arriving(&mut self, _rail: RailId) {}

    /// A NIC has received a stripe.
    fn arrived(&mut self, _now: Time, _parcel: &Parcel, _dispatch: &mut Dispatch) {}

    /// A NIC has processed a control packet.
    fn control(
        &mut self,
        _now: Time,
        _rail: RailId,
        _from: NodeId,
        _packet: Control,
        dispatch: &mut Dispatch,
    ) {
        // Most schemes have none: the sender runs another scheme.
        dispatch.strays += 1;
    }

    /// The deadline has come.
    fn timeout(&mut self, _now: Time, _dispatch: &mut Dispatch) {}

    /// When [`Rules::timeout`] wants to be called.
    fn deadline(&self) -> Option<Time> {
        None
    }

    /// `NStatus`: the NICs that are free, where it is kept.
    fn free(&self) -> Option<RailSet> {
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
