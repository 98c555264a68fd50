//! What nodes report to those above them.

use crosstie_protocol::{NodeId, Packet, PeId, RailId, RailSet};
use crosstie_units::Time;

/// A message and its address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Letter {
    /// The node that sends it.
    pub from: NodeId,
    /// Which of its processing elements.
    pub pe: PeId,
    /// The node that it goes to.
    pub to: NodeId,
    /// Its length, at least 1.
    pub bytes: u32,
    /// The sender's own number for it.
    pub id: u32,
    /// The rail that it is to take, where the policy leaves that to the sender.
    pub rail: Option<RailId>,
    /// Whether it must take one rail, whole, under every policy.
    pub whole: bool,
    /// True if it is data of a long message, for which its receiver has a place; otherwise it is
    /// an envelope.
    pub placed: bool,
}

/// A message that has been delivered whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receipt {
    /// The message.
    pub letter: Letter,
    /// When it was handed to the processing element.
    pub handed_over: Time,
    /// When its last byte had arrived.
    pub delivered: Time,
}

/// Is told what becomes of messages.
pub trait Listener {
    /// A data packet of `wire` bytes has arrived: its first byte left at `began`, its last arrived
    /// at `at`, and it crossed `switches` switches.
    fn packet(&mut self, _began: Time, _at: Time, _packet: &Packet, _wire: u32, _switches: u32) {}

    /// A message is whole.
    fn delivered(&mut self, receipt: &Receipt);

    /// The first byte of a message comes in; told only to those who asked for it.
    fn arriving(&mut self, _letter: &Letter) {}

    /// A message has left its node; told only to those who reply.
    fn completed(&mut self, _letter: &Letter) {}

    /// The last piece of a message has been handed to a NIC, and these are the rails that it takes;
    /// told only to those who follow.
    fn handed_over(&mut self, _letter: &Letter, _rails: RailSet) {}

    /// The sender knows that the receiver has all of a message; told only to those who follow.
    fn landed(&mut self, _letter: &Letter) {}

    /// The thread of a NIC has done what it was given under a number.
    fn charged(&mut self, _number: u32) {}

    /// What a node gets from the memory of another is in its own: the letter is from that node.
    fn got(&mut self, _letter: &Letter) {}

    /// A put to several nodes has reached one of them.
    fn reached(&mut self, _letter: &Letter, _node: NodeId) {}

    /// A node that has put to several others knows that all have it.
    fn cast(&mut self, _letter: &Letter) {}

    /// A node has given up another; what there was for it is forgotten.
    fn unreachable(&mut self, _node: NodeId, _peer: NodeId) {}

    /// The processor of a node has computed what it was given under a number.
    fn computed(&mut self, _node: NodeId, _number: u32) {}
}
