//! What an application is to whoever drives it.

use crate::note::Note;
use crosstie_collective::player::Turn;
use crosstie_collective::{Op, Rank, Step, Tag};
use crosstie_protocol::Machine;
use crosstie_units::Time;

/// An operation that a rank has under way, by a number of its own. Several may have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Request(pub u32);

/// What can happen to a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// It begins; told once, before anything else.
    Begin {
        /// The rank.
        rank: Rank,
    },
    /// An operation has started; told of those only that asked for it.
    Started {
        /// The rank.
        rank: Rank,
        /// The operation.
        request: Request,
        /// The turn of what waited for this.
        turn: Turn,
    },
    /// An operation is done: a message has left the sender, one is there that a receive has taken,
    /// a computation is over.
    Done {
        /// The rank.
        rank: Rank,
        /// The operation.
        request: Request,
        /// The turn of what waited for this.
        turn: Turn,
    },
}

impl Input {
    /// The turn of what waited for this.
    pub fn turn(self) -> Turn {
        match self {
            Input::Begin { .. } => Turn::default(),
            Input::Started { turn, .. } | Input::Done { turn, .. } => turn,
        }
    }
}

/// What a rank wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Begin an operation.
    Begin {
        /// The rank.
        rank: Rank,
        /// What to tell of it by.
        request: Request,
        /// What to do.
        op: Op,
        /// Whether to tell that it has started.
        watched: bool,
        /// The latest turn of all that it waited for; the driver knows that of the input before.
        turn: Turn,
    },
    /// Write down how long an iteration has taken.
    Iteration {
        /// The rank that timed it.
        rank: Rank,
        /// How long.
        took: Time,
    },
    /// Write down something else that was measured.
    Note {
        /// The rank that measured it.
        rank: Rank,
        /// What.
        note: Note,
    },
    /// The rank has done all it had to do.
    Finish {
        /// The rank.
        rank: Rank,
    },
}

impl Action {
    /// Begins a send on any rail.
    pub(crate) fn send(rank: Rank, request: Request, to: Rank, tag: Tag, bytes: u32) -> Action {
        Action::plain(rank, request, Step::Send { to, tag, bytes })
    }

    /// Begins a receive from a rank.
    pub(crate) fn receive(
        rank: Rank,
        request: Request,
        from: Rank,
        tag: Tag,
        bytes: u32,
    ) -> Action {
        Action::plain(rank, request, Step::Receive { from: Some(from), tag: Some(tag), bytes })
    }

    fn plain(rank: Rank, request: Request, step: Step) -> Action {
        let op = Op { step, cpu: 0, nic: None };
        Action::Begin { rank, request, op, watched: false, turn: Turn::default() }
    }
}

/// A closed-loop application: told what has been done, it says what to send, receive and compute,
/// and what to write down.
///
/// One machine may play one rank or several; what it does for a rank depends on nothing but what
/// that rank was told. So a simulator can have one machine for all of them, and every process of a
/// real cluster one of its own.
///
/// Who drives it calls [`handle_timeout`](Machine::handle_timeout) when the time of
/// [`poll_timeout`](Machine::poll_timeout) has come, and not before: to the picosecond where time
/// is simulated, or in the first tick of the network from then on. Of what happens at that very
/// time it may be told after.
pub trait Application: Machine<Input = Input, Action = Action> {
    /// The ranks that take part.
    fn ranks(&self) -> Vec<Rank>;

    /// Those of them who write down how long iterations take; one is over when all of these are.
    fn timekeepers(&self) -> Vec<Rank>;

    /// An operation of a rank in words, for whoever reads why it is never done.
    fn describe(&self, _rank: Rank, _request: Request) -> Option<String> {
        None
    }

    /// Payload that an iteration moves.
    fn bytes_per_iteration(&self) -> u64;
}
