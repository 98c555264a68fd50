//! What all schemes do alike: messages wait at their PEs and stripes at their NICs, and what has
//! arrived is put together.

use std::collections::VecDeque;

use crate::outbox::{Outbox, Stray};
use crate::reassembly::Reassembly;
use crate::{Action, Control, MessageId, NodeId, NodeSpec, Parcel, PeId, RailId, RailSet, split};

/// A message that a PE wants to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub message: MessageId,
    pub to: NodeId,
    pub bytes: u64,
}

/// The queues of one node, and the actions to be taken.
#[derive(Debug)]
pub(crate) struct Dispatch {
    node: NodeId,
    rails: u32,
    /// Messages of each PE, the one to be sent next first.
    pes: Vec<VecDeque<Outgoing>>,
    /// PEs that wait for a message to leave before they start the next one.
    held: Vec<bool>,
    blocking: bool,
    outbox: Outbox,
    reassembly: Reassembly,
    pub actions: VecDeque<Action>,
    /// Reports from outside that do not fit what is known here.
    pub strays: u64,
}

impl Dispatch {
    pub fn new(spec: &NodeSpec) -> Dispatch {
        Dispatch {
            node: spec.id,
            rails: spec.rails,
            pes: (0..spec.pes).map(|_| VecDeque::new()).collect(),
            held: vec![false; spec.pes as usize],
            blocking: spec.blocking,
            outbox: Outbox::new(spec.rails, spec.transfers),
            reassembly: Reassembly::default(),
            actions: VecDeque::new(),
            strays: 0,
        }
    }

    /// All NICs of the node.
    pub fn rails(&self) -> RailSet {
        RailSet::all(self.rails)
    }

    /// Queues a message; true if its PE can start it.
    pub fn queue(&mut self, pe: PeId, outgoing: Outgoing) -> bool {
        let queue = &mut self.pes[pe.0 as usize];
        queue.push_back(outgoing);
        queue.len() == 1 && !self.held[pe.0 as usize]
    }

    /// The message that a PE can start next.
    pub fn head(&self, pe: PeId) -> Option<&Outgoing> {
        self.pes[pe.0 as usize].front().filter(|_| !self.held[pe.0 as usize])
    }

    /// Hands the next message of a PE to NICs, in equal stripes.
    pub fn send(&mut self, pe: PeId, rails: RailSet, reserved: bool) {
        let head = self.pes[pe.0 as usize].pop_front();
        let Outgoing { message, to, bytes } = head.expect("a PE sends a message that it has");
        self.held[pe.0 as usize] = self.blocking;
        for stripe in split(bytes, rails) {
            let (rail, from) = (stripe.rail, self.node);
            let parcel = Parcel { from, to, message, length: bytes, stripe, reserved };
            self.outbox.push(pe, parcel);
            self.start(rail);
        }
    }

    fn start(&mut self, rail: RailId) {
        if let Some(parcel) = self.outbox.start(rail) {
            self.actions.push_back(Action::Transmit(parcel));
        }
    }

    /// A stripe has left the node. A PE that has waited for that and has more to send, if there is
    /// one.
    pub fn sent(&mut self, rail: RailId, message: MessageId) -> Option<PeId> {
        let Ok(done) = self.outbox.sent(rail, message) else {
            self.strays += 1;
            return None;
        };
        if let Some(pe) = done {
            self.actions.push_back(Action::Complete { pe, message });
        }
        self.start(rail);
        let pe = done?;
        let held = std::mem::replace(&mut self.held[pe.0 as usize], false);
        (held && self.head(pe).is_some()).then_some(pe)
    }

    /// A stripe has arrived.
    pub fn arrived(&mut self, parcel: &Parcel) {
        match self.reassembly.accept(parcel) {
            Ok(true) => {
                let Parcel { from, message, length: bytes, .. } = *parcel;
                self.actions.push_back(Action::Deliver { from, message, bytes });
            }
            Ok(false) => {}
            Err(Stray) => self.strays += 1,
        }
    }

    /// Sends a control packet.
    pub fn control(&mut self, rail: RailId, to: NodeId, packet: Control) {
        self.actions.push_back(Action::Control { rail, to, packet });
    }

    /// Whether nothing waits, is under way or is half received.
    pub fn is_idle(&self) -> bool {
        self.pes.iter().all(VecDeque::is_empty)
            && self.outbox.is_empty()
            && self.reassembly.is_empty()
    }
}
