//! A node that a test moves by hand.

#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};

use crosstie_protocol::*;
use crosstie_units::Time;

/// A node, and the packets that it has under way.
pub struct Hand {
    node: Node,
    /// By rail and message: the stripe, and how many of its packets are under way.
    under_way: BTreeMap<(u32, u64), (StripeId, u32)>,
}

impl Hand {
    pub fn new(spec: NodeSpec, policy: impl Policy + 'static) -> Hand {
        Hand::of(spec, Box::new(policy))
    }

    pub fn of(spec: NodeSpec, policy: Box<dyn Policy>) -> Hand {
        let node = Node::new(spec, policy).expect("the test asks for a sound node");
        Hand { node, under_way: BTreeMap::new() }
    }

    pub fn send(&mut self, pe: u32, to: u32, message: u64, bytes: u64) {
        let (pe, message, to) = (PeId(pe), MessageId(message), NodeId(to));
        self.node
            .handle(Time::ZERO, Input::Send { pe, message, to, bytes, rail: None, whole: false });
    }

    /// All packets of a message that a rail has under way have left and are at their receiver.
    pub fn sent(&mut self, rail: u32, message: u64) {
        let (stripe, packets) = self.under_way.remove(&(rail, message)).expect("is under way");
        for number in 0..packets {
            self.node.handle(Time::ZERO, Input::Left { stripe });
            self.node.handle(Time::ZERO, Input::Acknowledged { stripe, number });
        }
    }

    pub fn switch(&mut self, rail: u32, up: bool) {
        self.node.handle(Time::ZERO, Input::Rail { rail: RailId(rail), up });
    }

    /// Takes all actions.
    pub fn actions(&mut self) -> Vec<Action> {
        let actions: Vec<Action> =
            std::iter::from_fn(|| self.node.poll_action(Time::ZERO)).collect();
        for action in &actions {
            if let Action::Transmit(Packet { parcel, .. }) = action {
                let key = (parcel.stripe.rail.0, parcel.message.0);
                self.under_way.entry(key).or_insert((parcel.id, 0)).1 += 1;
            }
        }
        actions
    }
}

impl Deref for Hand {
    type Target = Node;
    fn deref(&self) -> &Node {
        &self.node
    }
}

impl DerefMut for Hand {
    fn deref_mut(&mut self) -> &mut Node {
        &mut self.node
    }
}

/// A packet that is a message of another node, to node 0.
pub fn message(from: u32, message: u64, rail: u32, bytes: u64, reserved: bool) -> Packet {
    let parcel = Parcel {
        from: NodeId(from),
        to: NodeId(0),
        id: StripeId(message as u32),
        message: MessageId(message),
        length: bytes,
        stripe: Stripe { rail: RailId(rail), bytes: 0..bytes },
        reserved,
        serial: 0,
    };
    Packet { parcel, number: 0, bytes: 0..bytes }
}

/// The first byte of a packet comes in.
pub fn arriving(packet: &Packet) -> Input {
    let parcel = &packet.parcel;
    Input::Arriving { rail: parcel.stripe.rail, from: parcel.from, stripe: parcel.id }
}
