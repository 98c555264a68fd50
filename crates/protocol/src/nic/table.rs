//! The table of the NIC process: what each event does in each state [coll, tables 1 and 2].

use std::fmt;

use super::{Event, State};

/// What a NIC sends: to its local process (`l`) or to the remote NIC (`r`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// The local process may send.
    LocalCts,
    /// The local request is refused.
    LocalNack,
    /// A request to send, to the destination of the local request.
    RemoteRts,
    /// Clear to send, to whom asked.
    RemoteCts,
    /// A refusal, to whom asked.
    RemoteNack,
    /// The data have arrived, to their sender.
    RemoteAck,
    /// The reservation is not wanted, to whom granted it.
    RemoteAbort,
}

/// What a NIC does about an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// What it sends.
    pub send: &'static [Message],
    /// What is added to its counter.
    pub counter: i64,
    /// The state it enters.
    pub next: State,
}

/// What a cell says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// Always the same.
    Always(Step),
    /// It depends on which request wins.
    Contest {
        /// If the local request wins.
        local: Step,
        /// If the remote request wins.
        remote: Step,
    },
}

/// How far a cell is covered by the paper, and whether it may ever be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Printed in the paper.
    Printed,
    /// Not printed there, but needed: the reading of Crosstie.
    Reading,
    /// Printed, but never reached where no packet is lost or made up: a violation.
    Unreachable,
    /// Blank: the event is ignored, and is a violation.
    Blank,
}

impl Mark {
    /// Whether reaching such a cell means that somebody broke the protocol.
    pub fn is_violation(self) -> bool {
        matches!(self, Mark::Unreachable | Mark::Blank)
    }
}

/// One cell of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Where it comes from.
    pub mark: Mark,
    /// What it says.
    pub rule: Rule,
}

/// The cell of an event in a state.
pub fn cell(state: State, event: Event) -> &'static Cell {
    &TABLE[event as usize][state as usize]
}

const fn always(send: &'static [Message], next: State) -> Cell {
    Cell { mark: Mark::Printed, rule: Rule::Always(Step { send, counter: 0, next }) }
}

const fn reading(send: &'static [Message], next: State) -> Cell {
    Cell { mark: Mark::Reading, ..always(send, next) }
}

const fn never(send: &'static [Message], next: State) -> Cell {
    Cell { mark: Mark::Unreachable, ..always(send, next) }
}

const fn blank(state: State) -> Cell {
    Cell { mark: Mark::Blank, ..always(&[], state) }
}

const CONTEST: Cell = Cell {
    mark: Mark::Printed,
    rule: Rule::Contest {
        local: Step { send: &[Message::RemoteNack], counter: -1, next: State::Reserved },
        remote: Step { send: &[Message::RemoteCts], counter: 1, next: State::ReceivingRts },
    },
};

#[rustfmt::skip]
const TABLE: [[Cell; State::COUNT]; Event::COUNT] = {
    use Message::{
        LocalCts as L_CTS, LocalNack as L_NACK, RemoteAbort as R_ABORT, RemoteAck as R_ACK,
        RemoteCts as R_CTS, RemoteNack as R_NACK, RemoteRts as R_RTS,
    };
    use State::{Free, Receiving, ReceivingRts, Reserved, Sending};
    [
        // Local RTS
        [
            /* FREE      */ always(&[R_RTS], Reserved),
            /* RECEIVING */ always(&[L_NACK], Receiving),
            /* SENDING   */ always(&[L_NACK], Sending),
            /* RESERVED  */ always(&[L_NACK], Reserved),
            /* RX+RTS    */ always(&[L_NACK], ReceivingRts),
        ],
        // Local ACK
        [
            /* FREE      */ blank(Free),
            /* RECEIVING */ always(&[R_ACK], Free),
            /* SENDING   */ blank(Sending),
            /* RESERVED  */ blank(Reserved),
            /* RX+RTS    */ always(&[R_ACK], Reserved),
        ],
        // Local ABORT
        [
            /* FREE      */ blank(Free),
            /* RECEIVING */ blank(Receiving),
            /* SENDING   */ always(&[R_ABORT], Free),
            /* RESERVED  */ blank(Reserved),
            /* RX+RTS    */ blank(ReceivingRts),
        ],
        // Remote RTS
        [
            /* FREE      */ always(&[R_CTS], Receiving),
            /* RECEIVING */ always(&[R_NACK], Receiving),
            /* SENDING   */ always(&[R_NACK], Sending),
            /* RESERVED  */ CONTEST,
            /* RX+RTS    */ always(&[R_NACK], ReceivingRts),
        ],
        // Remote ABORT
        [
            /* FREE      */ blank(Free),
            /* RECEIVING */ always(&[], Free),
            /* SENDING   */ blank(Sending),
            /* RESERVED  */ blank(Reserved),
            /* RX+RTS    */ always(&[], Reserved),
        ],
        // Remote CTS
        [
            /* FREE      */ never(&[L_CTS], Sending),
            /* RECEIVING */ never(&[R_ABORT, L_NACK], Receiving),
            /* SENDING   */ blank(Sending),
            /* RESERVED  */ always(&[L_CTS], Sending),
            // Accepting it would put data both ways on one bus.
            /* RX+RTS    */ reading(&[R_ABORT, L_NACK], Receiving),
        ],
        // Remote ACK
        [
            /* FREE      */ blank(Free),
            /* RECEIVING */ blank(Receiving),
            /* SENDING   */ always(&[], Free),
            /* RESERVED  */ blank(Reserved),
            /* RX+RTS    */ blank(ReceivingRts),
        ],
        // Remote NACK
        [
            /* FREE      */ never(&[L_NACK], Free),
            /* RECEIVING */ never(&[L_NACK], Receiving),
            /* SENDING   */ never(&[L_NACK], Sending),
            /* RESERVED  */ always(&[L_NACK], Free),
            /* RX+RTS    */ always(&[L_NACK], Receiving),
        ],
    ]
};

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Message::LocalCts => "lCTS",
            Message::LocalNack => "lNACK",
            Message::RemoteRts => "rRTS",
            Message::RemoteCts => "rCTS",
            Message::RemoteNack => "rNACK",
            Message::RemoteAck => "rACK",
            Message::RemoteAbort => "rABORT",
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.send {
            [] => write!(f, "nothing")?,
            [first, rest @ ..] => {
                write!(f, "{first}")?;
                rest.iter().try_for_each(|message| write!(f, " + {message}"))?;
            }
        }
        if self.counter != 0 {
            write!(f, ", c {:+}", self.counter)?;
        }
        write!(f, " → {}", self.next)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.mark, self.rule) {
            (Mark::Blank, _) => write!(f, "∅"),
            (Mark::Printed, Rule::Always(step)) => write!(f, "{step}"),
            (Mark::Reading, Rule::Always(step)) => write!(f, "{step} [R]"),
            (Mark::Unreachable, Rule::Always(step)) => write!(f, "{step} †"),
            (_, Rule::Contest { local, remote }) => {
                write!(f, "local wins: {local}; remote wins: {remote}")
            }
        }
    }
}
