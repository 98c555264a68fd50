//! What can go wrong.

use std::io;
use std::time::Duration;

use crosstie_collective::OperationError;
use crosstie_launch::StartError;
use crosstie_protocol::NodeError;

use crate::comm::{Contradiction, TAGS};
use crate::datagram::LONGEST;
use crate::rail::RailError;
use crate::rank::Loss;

/// Why something cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum CommError {
    /// The job cannot be joined or left.
    #[error(transparent)]
    Start(#[from] StartError),
    /// There are no rails, or no shared memory, or they cannot be used.
    #[error(transparent)]
    Rails(#[from] RailError),
    /// A message that the network spreads.
    #[error(
        "found a send to several ranks at once, expected one for each: real networks of this library do not fork packets"
    )]
    Cast,
    /// Memory of another rank.
    #[error("found a get, expected messages: real ranks cannot read the memory of other ranks")]
    Get,
    /// The caretaker could not be started.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
    /// The policy does not fit the rails.
    #[error(transparent)]
    Policy(#[from] NodeError),
    /// The policy does not fit the number of ranks and rails.
    #[error("the policy does not fit {ranks} ranks with {rails} rails: {cause}")]
    Allocation {
        /// The ranks.
        ranks: usize,
        /// The rails.
        rails: usize,
        /// Why.
        cause: String,
    },
    /// A variable of the environment has no sense.
    #[error("{variable} is `{found}`, expected {expected}")]
    Variable {
        /// Its name.
        variable: &'static str,
        /// What it is.
        found: String,
        /// What it may be.
        expected: String,
    },
    /// Too many ranks.
    #[error("found {found} ranks, expected at most {}", u16::MAX)]
    TooMany {
        /// How many.
        found: usize,
    },
    /// There is no such rank.
    #[error("found rank {found}, expected one from 0 to {}", size - 1)]
    NoSuchRank {
        /// What was found.
        found: usize,
        /// How many there are.
        size: usize,
    },
    /// The tag is too large.
    #[error("found the tag {found}, expected one below {TAGS}")]
    Tag {
        /// What was found.
        found: u32,
    },
    /// A message is too long.
    #[error("found a message of {bytes} bytes, expected at most {LONGEST}; send it in several")]
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// There was not enough room.
    #[error("rank {from} sent {bytes} bytes with tag {tag}, but there was room for {room} only")]
    Truncated {
        /// Who sent it.
        from: usize,
        /// Its tag.
        tag: u32,
        /// Its length.
        bytes: usize,
        /// The bytes there was room for.
        room: usize,
    },
    /// A rank has ended, or nothing gets through to it.
    #[error("rank {rank} cannot be reached any more: {cause}")]
    Unreachable {
        /// Which.
        rank: usize,
        /// Why.
        cause: Loss,
    },
    /// An operation took too long.
    #[error("not done after {after:?}{}", fate.map(|fate| format!("; {fate}")).unwrap_or_default())]
    TimedOut {
        /// How long it was waited for.
        after: Duration,
        /// What becomes of its message, if it has one.
        fate: Option<Fate>,
    },
    /// Messages were sent and never received.
    #[error(
        "{messages} message{} to rank {rank} {} not received: the rank ended, was not reached, or did not ask",
        if *messages == 1 { "" } else { "s" }, if *messages == 1 { "was" } else { "were" }
    )]
    Undelivered {
        /// The receiver.
        rank: usize,
        /// How many.
        messages: usize,
    },
    /// Messages came and nobody has received them.
    #[error(
        "rank {from} sent {bytes} bytes with tag {tag} that this rank never received (messages left: {messages})"
    )]
    Unreceived {
        /// The rank that sent the first.
        from: usize,
        /// Its tag; of a collective operation if it is no tag of programs.
        tag: u32,
        /// Its length.
        bytes: usize,
        /// How many there are.
        messages: usize,
    },
    /// Ranks do not agree about a collective operation.
    #[error(
        "rank {rank} and this rank do not agree about a collective operation: {what}; \
         all ranks must call the same operations in the same order, with the same lengths"
    )]
    Disagreement {
        /// The other rank.
        rank: usize,
        /// What it contradicts.
        what: Contradiction,
    },
    /// A request was cancelled.
    #[error("it was cancelled: no message was received, or will be sent")]
    Cancelled,
    /// There is no such request.
    #[error(
        "found the number of no request or set, expected one that was begun, and not waited for or released since"
    )]
    NoSuchRequest,
    /// The rank has finished.
    #[error("found an operation after this rank has finished, expected none")]
    Finished,
    /// A collective operation was given up.
    #[error("a collective operation was given up before its end")]
    GivenUp,
    /// An earlier call panicked.
    #[error(
        "an earlier call panicked within the library: no message is sent or received any more; end the job"
    )]
    Panicked,
    /// Lengths of a collective operation do not fit.
    #[error("found a buffer of {found} elements, expected {expected}: {rule}")]
    Length {
        /// What was found.
        found: usize,
        /// What was expected.
        expected: usize,
        /// Why.
        rule: &'static str,
    },
    /// A collective operation cannot be done.
    #[error(transparent)]
    Operation(#[from] OperationError),
}

/// What becomes of the message of an operation that was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fate {
    /// The operation has had no effect.
    #[error("it was withdrawn: no message was received, or will be sent")]
    Withdrawn,
    /// A send that its receiver knows of.
    #[error("the message may still be delivered: it must not be sent again")]
    StillSent,
    /// A receive whose message was coming.
    #[error("a message of {bytes} bytes from rank {from} with tag {tag} was coming and is lost")]
    Dropped {
        /// The sender.
        from: usize,
        /// The tag.
        tag: u32,
        /// The length of the message.
        bytes: usize,
    },
}
