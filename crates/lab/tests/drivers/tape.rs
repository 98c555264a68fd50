//! What a machine was told and what it wanted, in a form that does not depend on how its driver
//! numbers messages.
//!
//! Drivers differ in what machines cannot see or do not use, and this is left out:
//!
//! | left out | because |
//! |---|---|
//! | numbers of messages | each driver has its own; here they are counted as they come |
//! | serial numbers | only where a network may repeat things they are counted at all |
//! | of what arrives: number and bounds of its stripe, its number in it | datagrams say which bytes they have, and the rest only where receivers are reserved |
//! | whether a driver asks for actions after each input or after several | what it is told in one instant is kept in order, and what it gets |
//! | over channels: that one has shown the same as before in one instant | the simulator tells what a channel has found as often as that was asked, real rails once |
//! | over channels: the order in which packets leave a node in one instant | a window that opens lets a packet of its channel go, and the node another one to somebody else; each driver is free to take the one or the other first |
//!
//! Nothing else is: a driver that tells, forgets, doubles, delays or reorders anything shows.

use std::collections::BTreeMap;

use crosstie_protocol::record::{Entry, Noted};
use crosstie_protocol::{Action, Input, MessageId, NodeId, Packet, Parcel, StripeId};
use crosstie_units::Time;

/// What one machine was told, and what it wanted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tape {
    /// With the time that it was; `None`: the machine's own time had come.
    pub told: Vec<(Time, Option<Input>)>,
    pub wanted: Vec<(Time, Action)>,
}

/// The numbers that messages of one node have here.
#[derive(Default)]
struct Names {
    sent: BTreeMap<MessageId, u64>,
    coming: BTreeMap<(NodeId, MessageId), u64>,
    sent_count: u64,
    came: BTreeMap<NodeId, u64>,
}

impl Names {
    fn new_send(&mut self, message: MessageId) -> MessageId {
        self.sent_count += 1;
        self.sent.insert(message, self.sent_count);
        MessageId(self.sent_count)
    }

    fn sent(&self, message: MessageId) -> MessageId {
        MessageId(self.sent[&message])
    }

    fn coming(&mut self, from: NodeId, message: MessageId) -> MessageId {
        let Names { coming, came, .. } = self;
        MessageId(*coming.entry((from, message)).or_insert_with(|| {
            let count = came.entry(from).or_default();
            *count += 1;
            *count
        }))
    }

    fn delivered(&mut self, from: NodeId, message: MessageId) -> MessageId {
        let name = self.coming(from, message);
        self.coming.remove(&(from, message));
        name
    }

    fn told(&mut self, input: &Input) -> Input {
        match input.clone() {
            Input::Send { pe, message, to, bytes, rail, whole } => {
                Input::Send { pe, message: self.new_send(message), to, bytes, rail, whole }
            }
            Input::Arrived(Packet { parcel, bytes, .. }) => {
                let message = self.coming(parcel.from, parcel.message);
                let mut stripe = parcel.stripe.clone();
                stripe.bytes = bytes.clone();
                let parcel = Parcel { message, stripe, id: StripeId(0), serial: 0, ..parcel };
                Input::Arrived(Packet { parcel, number: 0, bytes })
            }
            Input::Control { rail, from, packet, .. } => {
                Input::Control { rail, from, packet, serial: 0 }
            }
            other => other,
        }
    }

    fn wanted(&mut self, action: &Action) -> Action {
        match action.clone() {
            Action::Transmit(packet) => {
                let message = self.sent(packet.parcel.message);
                let parcel = Parcel { message, serial: 0, ..packet.parcel };
                Action::Transmit(Packet { parcel, ..packet })
            }
            Action::Control { rail, to, packet, .. } => {
                Action::Control { rail, to, packet, serial: 0 }
            }
            Action::Deliver { from, message, bytes } => {
                Action::Deliver { from, message: self.delivered(from, message), bytes }
            }
            Action::Complete { pe, message } => {
                Action::Complete { pe, message: self.sent(message) }
            }
            Action::HandedOver { message, rails } => {
                Action::HandedOver { message: self.sent(message), rails }
            }
            Action::Landed { message } => Action::Landed { message: self.sent(message) },
            other @ Action::Unreachable { .. } => other,
        }
    }
}

impl Tape {
    /// Forgets in which order packets have left in one instant.
    pub fn sort_departures(&mut self) {
        let is_left = |entry: &(Time, Option<Input>)| matches!(entry.1, Some(Input::Left { .. }));
        let alike = |a: &(Time, _), b: &(Time, _)| a.0 == b.0 && is_left(a) == is_left(b);
        for run in self.told.chunk_by_mut(alike).filter(|run| is_left(&run[0])) {
            run.sort_by_key(|(_, input)| match input {
                Some(Input::Left { stripe }) => Some(*stripe),
                _ => None,
            });
        }
    }
}

/// The tapes of all nodes.
pub fn tapes(entries: &[Entry], nodes: u32) -> Vec<Tape> {
    let mut tapes: Vec<Tape> = (0..nodes).map(|_| Tape::default()).collect();
    let mut names: Vec<Names> = (0..nodes).map(|_| Names::default()).collect();
    for Entry { node, at, what } in entries {
        let (tape, names) = (&mut tapes[node.0 as usize], &mut names[node.0 as usize]);
        match what {
            Noted::Told(input) => {
                let told = (*at, Some(names.told(input)));
                let repeats = tape.told.last() == Some(&told);
                let is_way = matches!(input, Input::Way { .. });
                // A greeting tells real ranks that there is a way; simulated ones have all of them.
                let is_repeated_greeting = repeats && matches!(input, Input::Shown { .. });
                if !is_way && !is_repeated_greeting {
                    tape.told.push(told);
                }
            }
            Noted::Timeout => tape.told.push((*at, None)),
            Noted::Wants(action) => tape.wanted.push((*at, names.wanted(action))),
        }
    }
    tapes
}
