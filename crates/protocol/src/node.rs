//! A node of the cluster: processing elements, NICs and a scheme that joins them.

use crosstie_units::Time;

use crate::dispatch::{Dispatch, Outgoing};
use crate::nic::{Nic, Tally};
use crate::scheme::Rules;
use crate::{Control, Machine, MessageId, NodeId, Parcel, PeId, RailId, RailSet, Scheme};

/// What a node is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeSpec {
    /// Its number.
    pub id: NodeId,
    /// Processing elements.
    pub pes: u32,
    /// Rails, each with one NIC.
    pub rails: u32,
    /// Stripes that a NIC transmits at once; the others wait in its queue, first come first served.
    pub transfers: u32,
    /// Whether a PE waits until its message has left the node before it starts the next one.
    pub blocking: bool,
}

/// Why a node cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// There is nothing to send with.
    #[error("a node has 1 to {} rails, not {rails}", RailSet::MOST)]
    Rails {
        /// The rails asked for.
        rails: u32,
    },
    /// Nobody sends, or nothing may be sent.
    #[error("a node needs at least one PE and a window of at least one stripe per NIC")]
    Nothing,
    /// The scheme is for another number of rails.
    #[error("the static allocation is for {expected} rails, but the nodes have {rails}")]
    OtherRails {
        /// The rails of the node.
        rails: u32,
        /// The rails of the allocation.
        expected: u32,
    },
    /// The scheme does not know the node.
    #[error("the static allocation is for {nodes} nodes: there is no node {}", id.0)]
    UnknownNode {
        /// The node.
        id: NodeId,
        /// The nodes of the allocation.
        nodes: u32,
    },
}

/// What can happen to a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A PE sends a message. Messages of one PE are sent one after another: each starts when the one
    /// before has been handed to NICs or, if sends are blocking, has left the node.
    Send {
        /// The PE.
        pe: PeId,
        /// The message, as the application numbers it.
        message: MessageId,
        /// The receiver: another node.
        to: NodeId,
        /// The length.
        bytes: u64,
    },
    /// A NIC has processed a control packet (it may have taken its time).
    Control {
        /// The rail.
        rail: RailId,
        /// The node that sent it.
        from: NodeId,
        /// The packet.
        packet: Control,
    },
    /// The last byte of a stripe has left the node.
    Sent {
        /// The rail.
        rail: RailId,
        /// The message.
        message: MessageId,
    },
    /// The first byte of a stripe has come in. Local-dynamic needs to know; to the other schemes it
    /// is all the same.
    Arriving {
        /// The rail.
        rail: RailId,
    },
    /// The last byte of a stripe has come in: it is in memory.
    Arrived(Parcel),
}

/// What a node wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Transmit a stripe on its rail.
    Transmit(Parcel),
    /// Send a control packet from the NIC of one rail to that of another node.
    Control {
        /// The rail.
        rail: RailId,
        /// The receiver.
        to: NodeId,
        /// The packet.
        packet: Control,
    },
    /// A message has arrived whole.
    Deliver {
        /// The sender.
        from: NodeId,
        /// The message, as the sender numbers it.
        message: MessageId,
        /// Its length.
        bytes: u64,
    },
    /// The last byte of a message has left the node.
    Complete {
        /// The PE that sent it.
        pe: PeId,
        /// The message.
        message: MessageId,
    },
}

/// A node of the cluster, under one scheme.
#[derive(Debug)]
pub struct Node {
    spec: NodeSpec,
    dispatch: Dispatch,
    rules: Box<dyn Rules>,
}

impl Node {
    /// An idle node.
    pub fn new(spec: NodeSpec, scheme: &Scheme) -> Result<Node, NodeError> {
        if spec.rails == 0 || spec.rails > RailSet::MOST {
            return Err(NodeError::Rails { rails: spec.rails });
        }
        if spec.pes == 0 || spec.transfers == 0 {
            return Err(NodeError::Nothing);
        }
        Ok(Node { spec, dispatch: Dispatch::new(&spec), rules: scheme.rules(&spec)? })
    }

    /// The NICs that are FREE by `NStatus`, in schemes that keep it.
    pub fn free(&self) -> Option<RailSet> {
        self.rules.free()
    }

    /// The NIC process of a rail, in schemes that reserve.
    pub fn nic(&self, rail: RailId) -> Option<&Nic> {
        self.rules.nics().get(rail.0 as usize)
    }

    /// What the NIC processes have done, in schemes that reserve.
    pub fn tally(&self) -> Option<&Tally> {
        self.rules.tally()
    }

    /// Inputs that break the protocol: blank and unreachable cells of the NIC's table, and reports
    /// of stripes and packets that cannot be. It stays 0 where nothing is lost or made up.
    pub fn violations(&self) -> u64 {
        self.dispatch.strays + self.tally().map_or(0, Tally::violations)
    }

    /// Whether the node has nothing to send, nothing half received, and every NIC is free.
    pub fn is_idle(&self) -> bool {
        self.dispatch.is_idle() && self.free().is_none_or(|free| free == self.dispatch.rails())
    }

    /// Counts an input from a rail that there is not.
    fn knows(&mut self, rail: RailId) -> bool {
        let known = rail.0 < self.spec.rails;
        self.dispatch.strays += u64::from(!known);
        known
    }
}

impl Machine for Node {
    type Input = Input;
    type Action = Action;

    /// # Panics
    /// If a message is sent by a PE that there is not, or by the node to itself: rails join
    /// different nodes.
    fn handle(&mut self, now: Time, input: Input) {
        let Node { spec, .. } = *self;
        match input {
            Input::Send { pe, message, to, bytes } => {
                assert!(pe.0 < spec.pes, "a node of {} PEs has no PE {}", spec.pes, pe.0);
                assert!(to != spec.id, "node {} sends to itself, which takes no rail", to.0);
                if self.dispatch.queue(pe, Outgoing { message, to, bytes }) {
                    self.rules.ready(now, pe, &mut self.dispatch);
                }
            }
            Input::Control { rail, from, packet } if self.knows(rail) => {
                self.rules.control(now, rail, from, packet, &mut self.dispatch);
            }
            Input::Sent { rail, message } if self.knows(rail) => {
                let released = self.dispatch.sent(rail, message);
                self.rules.sent(now, rail, &mut self.dispatch);
                if let Some(pe) = released {
                    self.rules.ready(now, pe, &mut self.dispatch);
                }
            }
            Input::Arriving { rail } if self.knows(rail) => self.rules.arriving(rail),
            Input::Arrived(parcel) if self.knows(parcel.stripe.rail) => {
                self.dispatch.arrived(&parcel);
                self.rules.arrived(now, &parcel, &mut self.dispatch);
            }
            _ => {}
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.rules.timeout(now, &mut self.dispatch);
    }

    fn poll_action(&mut self, _now: Time) -> Option<Action> {
        self.dispatch.actions.pop_front()
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.rules.deadline()
    }
}
