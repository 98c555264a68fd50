//! The NIC process of dynamic allocation [coll, algorithm 5 and tables 1 and 2].
//!
//! A NIC reserves itself for a local request, asks the NIC of the destination on the same rail, and
//! is granted to at most one remote sender at a time. What it does is the table of [`cell`]: this
//! module looks the cell up and fills in who is meant.

mod table;
mod tally;

pub use table::{Cell, Mark, Message, Rule, Step, cell};
pub use tally::Tally;

use std::fmt;

use crate::livelock::{self, Priority};
use crate::{Control, NodeId, PeId};

/// What a NIC is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Nothing.
    Free,
    /// It is granted to a remote sender.
    Receiving,
    /// It has been granted the remote NIC.
    Sending,
    /// It is held by a local requester, whose request is unanswered.
    Reserved,
    /// It is granted to a remote sender while its own request is unanswered: "RECEIVING & Out_RTS".
    ReceivingRts,
}

impl State {
    /// How many there are.
    pub const COUNT: usize = 5;

    /// All of them, in the order of the table.
    pub const ALL: [State; State::COUNT] =
        [State::Free, State::Receiving, State::Sending, State::Reserved, State::ReceivingRts];

    /// Whether it has a request of its own under way.
    fn asks_or_sends(self) -> bool {
        matches!(self, State::Sending | State::Reserved | State::ReceivingRts)
    }

    /// Whether it is granted to a remote sender.
    pub fn receives(self) -> bool {
        matches!(self, State::Receiving | State::ReceivingRts)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Free => "FREE",
            State::Receiving => "RECEIVING",
            State::Sending => "SENDING",
            State::Reserved => "RESERVED",
            State::ReceivingRts => "RX+RTS",
        })
    }
}

/// What can happen to a NIC, as the table counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// A local process asks for it.
    LocalRts,
    /// The local process has got the data.
    LocalAck,
    /// The local process does not want the reservation.
    LocalAbort,
    /// A remote NIC asks for it.
    RemoteRts,
    /// The remote sender does not want it any more.
    RemoteAbort,
    /// The remote NIC is granted.
    RemoteCts,
    /// The data have arrived.
    RemoteAck,
    /// The remote NIC is refused.
    RemoteNack,
}

impl Event {
    /// How many there are.
    pub const COUNT: usize = 8;

    /// All of them, in the order of the table.
    pub const ALL: [Event; Event::COUNT] = [
        Event::LocalRts,
        Event::LocalAck,
        Event::LocalAbort,
        Event::RemoteRts,
        Event::RemoteAbort,
        Event::RemoteCts,
        Event::RemoteAck,
        Event::RemoteNack,
    ];
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Event::LocalRts => "Local RTS",
            Event::LocalAck => "Local ACK",
            Event::LocalAbort => "Local ABORT",
            Event::RemoteRts => "Remote RTS",
            Event::RemoteAbort => "Remote ABORT",
            Event::RemoteCts => "Remote CTS",
            Event::RemoteAck => "Remote ACK",
            Event::RemoteNack => "Remote NACK",
        })
    }
}

/// Who holds a NIC, and since which attempt: what makes a late answer known as late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Claim {
    /// The processing element.
    pub pe: PeId,
    /// Its attempt, numbered within the node.
    pub attempt: u64,
}

/// Something that happens to a NIC, with who is involved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stimulus {
    /// A local process wants to send (local RTS).
    Request {
        /// To this node.
        to: NodeId,
        /// This process.
        claim: Claim,
    },
    /// The local process has got the data (local ACK).
    Delivered,
    /// The local process does not want the reservation (local ABORT).
    Abort,
    /// A control packet of a remote NIC.
    Packet {
        /// The node of that NIC.
        from: NodeId,
        /// The packet.
        packet: Control,
    },
}

impl Stimulus {
    /// The row of the table.
    pub fn event(&self) -> Event {
        match self {
            Stimulus::Request { .. } => Event::LocalRts,
            Stimulus::Delivered => Event::LocalAck,
            Stimulus::Abort => Event::LocalAbort,
            Stimulus::Packet { packet, .. } => match packet {
                Control::Rts(_) => Event::RemoteRts,
                Control::Abort => Event::RemoteAbort,
                Control::Cts => Event::RemoteCts,
                Control::Ack => Event::RemoteAck,
                Control::Nack => Event::RemoteNack,
            },
        }
    }
}

/// What a NIC tells the local process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reply {
    /// It may send (local CTS).
    Granted,
    /// It may not (local NACK).
    Refused,
}

/// What a NIC does about a stimulus: one cell of the table, with names filled in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reaction {
    /// The state before.
    pub state: State,
    /// The event.
    pub event: Event,
    /// A reply to the local process, and which claim it answers; `None` where there is none, which
    /// is a violation.
    pub local: Option<(Option<Claim>, Reply)>,
    /// A packet to the NIC of another node on the same rail.
    pub remote: Option<(NodeId, Control)>,
}

/// A request of the local process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Request {
    to: NodeId,
    claim: Option<Claim>,
    /// The counter that its RTS carried.
    counter: i64,
}

/// How the paper is read where it is silent or contradicts itself. The tests try other ways.
#[derive(Clone, Copy)]
struct Reading {
    /// The table.
    cell: fn(State, Event) -> &'static Cell,
    /// Whether the local request wins a contest.
    local_wins: fn(&Nic, Priority) -> bool,
}

/// One NIC: a state, a counter, and with whom it deals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Nic {
    node: NodeId,
    state: State,
    counter: i64,
    /// The local request under way, in SENDING, RESERVED and RX+RTS.
    request: Option<Request>,
    /// The remote sender to which it is granted, in RECEIVING and RX+RTS.
    grant: Option<NodeId>,
}

impl Nic {
    /// A free NIC of a node, with priority 0.
    pub fn new(node: NodeId) -> Nic {
        Nic { node, state: State::Free, counter: 0, request: None, grant: None }
    }

    /// What it is doing.
    pub fn state(&self) -> State {
        self.state
    }

    /// Its counter c: the priority of its next request.
    pub fn counter(&self) -> i64 {
        self.counter
    }

    /// The remote sender to which it is granted.
    pub fn granted_to(&self) -> Option<NodeId> {
        self.grant
    }

    /// Whom it asks, or sends to.
    pub fn asks(&self) -> Option<NodeId> {
        self.request.map(|request| request.to)
    }

    /// The way to a peer has died: nothing is agreed with it any more.
    pub(crate) fn dissolve(&mut self, peer: NodeId) {
        let asks = self.request.take_if(|request| request.to == peer).is_some();
        let grants = self.grant.take_if(|to| *to == peer).is_some();
        self.state = match self.state {
            State::Reserved | State::Sending if asks => State::Free,
            State::Receiving if grants => State::Free,
            State::ReceivingRts => match (asks, grants) {
                (true, true) => State::Free,
                (true, false) => State::Receiving,
                (false, true) => State::Reserved,
                (false, false) => State::ReceivingRts,
            },
            state => state,
        };
    }

    /// The priority with which its request under way was sent.
    pub(crate) fn asked(&self) -> Option<Priority> {
        self.request.map(|request| Priority { counter: request.counter, node: self.node })
    }

    /// Does what the table says.
    pub fn handle(&mut self, stimulus: Stimulus) -> Reaction {
        self.handle_as(stimulus, Reading { cell, local_wins: livelock::local_wins })
    }

    fn handle_as(&mut self, stimulus: Stimulus, reading: Reading) -> Reaction {
        let (state, event) = (self.state, stimulus.event());
        let step = match ((reading.cell)(state, event).rule, stimulus) {
            (Rule::Always(step), _) => step,
            (
                Rule::Contest { local, remote },
                Stimulus::Packet { packet: Control::Rts(priority), .. },
            ) => {
                if (reading.local_wins)(self, priority) {
                    local
                } else {
                    remote
                }
            }
            (Rule::Contest { .. }, _) => unreachable!("only a remote RTS is contested"),
        };
        let mut reaction = Reaction { state, event, local: None, remote: None };
        for message in step.send {
            self.address(*message, stimulus, &mut reaction);
        }
        self.counter += step.counter;
        self.enter(step.next);
        reaction
    }

    /// Fills in for whom a message is, and takes note of the agreement it makes.
    fn address(&mut self, message: Message, stimulus: Stimulus, reaction: &mut Reaction) {
        let peer = match stimulus {
            Stimulus::Packet { from, .. } => Some(from),
            _ => None,
        };
        let target = self.request.map(|request| request.to);
        let claim = match stimulus {
            Stimulus::Request { claim, .. } => Some(claim),
            _ => self.request.and_then(|request| request.claim),
        };
        let (to, packet) = match message {
            Message::LocalCts => {
                // Without a request it is a violation; the abort that follows must find its way.
                let stray = |to| Request { to, claim: None, counter: self.counter };
                self.request = self.request.or(peer.map(stray));
                reaction.local = Some((claim, Reply::Granted));
                return;
            }
            Message::LocalNack => {
                reaction.local = Some((claim, Reply::Refused));
                return;
            }
            Message::RemoteRts => {
                if let Stimulus::Request { to, claim } = stimulus {
                    self.request = Some(Request { to, claim: Some(claim), counter: self.counter });
                    let priority = Priority { counter: self.counter, node: self.node };
                    (Some(to), Control::Rts(priority))
                } else {
                    unreachable!("only a local request makes a remote one")
                }
            }
            Message::RemoteCts => {
                self.grant = peer;
                (peer, Control::Cts)
            }
            Message::RemoteNack => (peer, Control::Nack),
            Message::RemoteAck => (self.grant, Control::Ack),
            Message::RemoteAbort => (peer.or(target), Control::Abort),
        };
        reaction.remote = to.map(|to| (to, packet));
    }

    fn enter(&mut self, next: State) {
        self.state = next;
        if !next.asks_or_sends() {
            self.request = None;
        }
        if !next.receives() {
            self.grant = None;
        }
    }
}

#[cfg(test)]
mod tests;
