//! What an application is to whoever drives it.

use crosstie_protocol::Machine;
use crosstie_units::Time;

/// A rank: one process of a closed-loop application, on the node of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rank(pub u32);

/// What tells messages between two ranks apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub u32);

/// What can happen to a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Input {
    /// It begins; told once, before anything else.
    Begin {
        /// The rank.
        rank: Rank,
    },
    /// A message that it sent has left its node; told in the order in which messages leave.
    Completed {
        /// The rank.
        rank: Rank,
        /// The receiver.
        to: Rank,
        /// The message's tag.
        tag: Tag,
    },
    /// A message for which it had posted a receive is there.
    Received {
        /// The rank.
        rank: Rank,
        /// The sender.
        from: Rank,
        /// The message's tag.
        tag: Tag,
        /// Its length.
        bytes: u32,
    },
    /// It has computed as long as it wanted to.
    Computed {
        /// The rank.
        rank: Rank,
    },
}

/// What a rank wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Send a message.
    Send {
        /// The rank.
        rank: Rank,
        /// The receiver, another one.
        to: Rank,
        /// What the receiver asks for it by.
        tag: Tag,
        /// Its length, at least 1.
        bytes: u32,
    },
    /// Be told when the oldest message from a rank with a tag is there, which no earlier receive has taken.
    Receive {
        /// The rank.
        rank: Rank,
        /// The sender.
        from: Rank,
        /// The tag.
        tag: Tag,
    },
    /// Compute for a time.
    Compute {
        /// The rank.
        rank: Rank,
        /// How long.
        time: Time,
    },
    /// Write down how long an iteration has taken.
    Iteration {
        /// The rank that timed it.
        rank: Rank,
        /// How long.
        took: Time,
    },
    /// The rank has done all it had to do.
    Finish {
        /// The rank.
        rank: Rank,
    },
}

/// A closed-loop application: told what was received and completed, it says what to send, receive, compute,
/// and what to write down.
///
/// One machine may play one rank or several; what it does for a rank depends on nothing but what that rank was
/// told. So a simulator can have one machine for all of them, and every process of a real cluster one of its
/// own.
pub trait Application: Machine<Input = Input, Action = Action> {
    /// The ranks that take part.
    fn ranks(&self) -> Vec<Rank>;

    /// Payload that an iteration moves.
    fn bytes_per_iteration(&self) -> u64;
}
