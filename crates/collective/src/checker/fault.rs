//! What is wrong with a collective.

use crate::{Block, OpId, Rank, Tag};

/// Why a collective does not do what it is for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// There is no such block.
    #[error("operation {} of rank {} names block {}, expected one below {blocks}", op.0, rank.0, block.0)]
    NoSuchBlock {
        /// Whose operation.
        rank: Rank,
        /// The operation.
        op: OpId,
        /// The block.
        block: Block,
        /// The number of blocks.
        blocks: u64,
    },
    /// A rank sends to itself, or to nobody.
    #[error("operation {} of rank {} sends to rank {}, expected another rank", op.0, rank.0, to.0)]
    NoSuchReceiver {
        /// The sender.
        rank: Rank,
        /// The send.
        op: OpId,
        /// To whom.
        to: Rank,
    },
    /// A receive takes a message of anybody, or with any tag.
    #[error(
        "operation {} of rank {} receives whatever comes first; expected a receive that names source and tag",
        op.0, rank.0
    )]
    Anything {
        /// Who receives.
        rank: Rank,
        /// The receive.
        op: OpId,
    },
    /// A rank reads the memory of another.
    #[error(
        "operation {} of rank {} reads the memory of another rank; expected messages, whose blocks can be followed",
        op.0, rank.0
    )]
    Gets {
        /// The rank that reads.
        rank: Rank,
        /// The get.
        op: OpId,
    },
    /// Nobody receives a message.
    #[error(
        "operation {} of rank {} sends {} to rank {} with tag {}, which no receive takes",
        op.0, rank.0, told(*block), to.0, tag.0
    )]
    SendAlone {
        /// The sender.
        rank: Rank,
        /// The send.
        op: OpId,
        /// The first block of the message.
        block: Option<Block>,
        /// To whom.
        to: Rank,
        /// The tag.
        tag: Tag,
    },
    /// Nobody sends a message.
    #[error(
        "operation {} of rank {} waits for {} of rank {} with tag {}, which nobody sends",
        op.0, rank.0, told(*block), from.0, tag.0
    )]
    ReceiveAlone {
        /// Who receives.
        rank: Rank,
        /// The receive.
        op: OpId,
        /// The first block of the message.
        block: Option<Block>,
        /// From whom.
        from: Rank,
        /// The tag.
        tag: Tag,
    },
    /// Two messages between the same ranks with the same tag may overtake each other.
    #[error(
        "operations {} and {} of rank {} could be taken for each other at {}: same tag, and nothing says which comes first",
        one.0, other.0, rank.0, told(*block)
    )]
    Alike {
        /// Whose operations.
        rank: Rank,
        /// One of them.
        one: OpId,
        /// The other one.
        other: OpId,
        /// The first block of the other one.
        block: Option<Block>,
    },
    /// A receive is shorter than its message.
    #[error("operation {} of rank {} takes {bytes} bytes for {}, but its message has {sent}", op.0, rank.0, told(*block))]
    TooShort {
        /// Who receives.
        rank: Rank,
        /// The receive.
        op: OpId,
        /// The first block of the message.
        block: Option<Block>,
        /// The length of the receive.
        bytes: u32,
        /// The length of the message.
        sent: u32,
    },
    /// A message carries other blocks than its receive expects.
    #[error(
        "operation {} of rank {} expects {}, but its message from operation {} of rank {} carries {} there",
        op.0, rank.0, told(*expected), sender_op.0, sender.0, told(*found)
    )]
    OtherBlock {
        /// Who receives.
        rank: Rank,
        /// The receive.
        op: OpId,
        /// The first block that differs; `None`: the message should have ended.
        expected: Option<Block>,
        /// The sender.
        sender: Rank,
        /// The send.
        sender_op: OpId,
        /// What it carries; `None`: the message has ended.
        found: Option<Block>,
    },
    /// Operations of several ranks wait for each other for ever.
    #[error("{} operations wait for each other for ever: {}", circle.len(), row(circle))]
    Circle {
        /// Each of these waits for the next, and the last for the first.
        circle: Vec<(Rank, OpId)>,
    },
    /// A block is sent that need not be there yet.
    #[error(
        "operation {} of rank {} sends block {}, and nothing makes sure that the rank has it by then",
        op.0, rank.0, block.0
    )]
    NotYet {
        /// The sender.
        rank: Rank,
        /// The send.
        op: OpId,
        /// The block.
        block: Block,
    },
    /// Two operations touch a block, and no dependency says which comes first.
    #[error(
        "operations {} and {} of rank {} both touch block {}, and no dependency says which comes first",
        one.0, other.0, rank.0, block.0
    )]
    Race {
        /// Whose operations.
        rank: Rank,
        /// The block.
        block: Block,
        /// One of them.
        one: OpId,
        /// The other one.
        other: OpId,
    },
    /// A contribution is added to what has it already.
    #[error(
        "operation {} of rank {} adds the contribution of rank {} to block {}, which has it already",
        op.0, rank.0, contribution.0, block.0
    )]
    Twice {
        /// Who receives.
        rank: Rank,
        /// The receive.
        op: OpId,
        /// The block.
        block: Block,
        /// Whose contribution.
        contribution: Rank,
    },
    /// Contributions are combined in another order than that of their ranks.
    #[error(
        "operation {} of rank {} combines contributions to block {} in another order than that of ranks",
        op.0, rank.0, block.0
    )]
    Disorder {
        /// The rank that receives.
        rank: Rank,
        /// The receive.
        op: OpId,
        /// The block.
        block: Block,
    },
    /// A block is replaced by one that lacks something.
    #[error(
        "operation {} of rank {} replaces block {}, and the contribution of rank {} to it is lost",
        op.0, rank.0, block.0, contribution.0
    )]
    Changed {
        /// Who receives.
        rank: Rank,
        /// The receive.
        op: OpId,
        /// The block.
        block: Block,
        /// Whose contribution.
        contribution: Rank,
    },
    /// A block is missing in the end.
    #[error("rank {} ends without block {}", rank.0, block.0)]
    Absent {
        /// Who needs it.
        rank: Rank,
        /// The block.
        block: Block,
    },
    /// A contribution is missing in the end.
    #[error("rank {} ends without the contribution of rank {} to block {}", rank.0, contribution.0, block.0)]
    Missing {
        /// Who needs it.
        rank: Rank,
        /// The block.
        block: Block,
        /// Whose contribution.
        contribution: Rank,
    },
    /// A block has a contribution in the end that does not belong there.
    #[error("rank {} ends with a contribution of rank {} to block {}, which does not belong there", rank.0, contribution.0, block.0)]
    Foreign {
        /// Who has it.
        rank: Rank,
        /// The block.
        block: Block,
        /// Whose contribution.
        contribution: Rank,
    },
}

impl Fault {
    /// The rank at which it shows.
    pub fn rank(&self) -> Rank {
        match self {
            Fault::NoSuchBlock { rank, .. }
            | Fault::NoSuchReceiver { rank, .. }
            | Fault::Anything { rank, .. }
            | Fault::Gets { rank, .. }
            | Fault::SendAlone { rank, .. }
            | Fault::ReceiveAlone { rank, .. }
            | Fault::Alike { rank, .. }
            | Fault::TooShort { rank, .. }
            | Fault::OtherBlock { rank, .. }
            | Fault::NotYet { rank, .. }
            | Fault::Race { rank, .. }
            | Fault::Twice { rank, .. }
            | Fault::Disorder { rank, .. }
            | Fault::Changed { rank, .. }
            | Fault::Absent { rank, .. }
            | Fault::Missing { rank, .. }
            | Fault::Foreign { rank, .. } => *rank,
            Fault::Circle { circle } => circle[0].0,
        }
    }

    /// The block that it is about, if it is about one.
    pub fn block(&self) -> Option<Block> {
        match self {
            Fault::NoSuchBlock { block, .. }
            | Fault::NotYet { block, .. }
            | Fault::Race { block, .. }
            | Fault::Twice { block, .. }
            | Fault::Disorder { block, .. }
            | Fault::Changed { block, .. }
            | Fault::Absent { block, .. }
            | Fault::Missing { block, .. }
            | Fault::Foreign { block, .. } => Some(*block),
            Fault::SendAlone { block, .. }
            | Fault::ReceiveAlone { block, .. }
            | Fault::Alike { block, .. }
            | Fault::TooShort { block, .. } => *block,
            Fault::OtherBlock { expected, found, .. } => expected.or(*found),
            Fault::NoSuchReceiver { .. }
            | Fault::Anything { .. }
            | Fault::Gets { .. }
            | Fault::Circle { .. } => None,
        }
    }
}

fn told(block: Option<Block>) -> String {
    block.map_or("nothing".to_owned(), |block| format!("block {}", block.0))
}

fn row(circle: &[(Rank, OpId)]) -> String {
    let told = |(rank, op): &(Rank, OpId)| format!("operation {} of rank {}", op.0, rank.0);
    circle.iter().map(told).collect::<Vec<_>>().join(", ")
}
