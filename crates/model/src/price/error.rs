//! Why a schedule has no price.

use crosstie_collective::{OpId, Rank};

/// Why a schedule has no price.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// A receive waits for a message that never comes.
    #[error("operation {} of rank {} waits for ever for a message from {}, {}", op.0, rank.0, source_of(*from), tag_of(*tag))]
    Unmatched {
        /// Who waits.
        rank: Rank,
        /// The receive.
        op: OpId,
        /// The sender it asks for.
        from: Option<Rank>,
        /// The tag it asks for.
        tag: Option<u32>,
    },
    /// A send that waits for its receive has none.
    #[error("operation {} of rank {} waits for ever for rank {} to ask for its message, tag {tag}", op.0, rank.0, to.0)]
    NoReceive {
        /// The rank that waits.
        rank: Rank,
        /// The send.
        op: OpId,
        /// The rank that it sends to.
        to: Rank,
        /// The tag of the message.
        tag: u32,
    },
    /// A rank sends to several others at once, which no model knows the price of.
    #[error(
        "operation {} of rank {} is spread over several ranks by the network, \
         expected messages to one rank each",
        op.0, rank.0
    )]
    Cast {
        /// The rank that sends.
        rank: Rank,
        /// The send.
        op: OpId,
    },
    /// A rank reads the memory of another, which no model knows the price of.
    #[error("operation {} of rank {} reads the memory of another rank, expected messages", op.0, rank.0)]
    Get {
        /// The rank that reads.
        rank: Rank,
        /// The get.
        op: OpId,
    },
    /// A message goes to nobody.
    #[error("operation {} of rank {} sends to rank {}, expected a rank below {ranks}", op.0, rank.0, to.0)]
    NoSuchRank {
        /// The sender.
        rank: Rank,
        /// The send.
        op: OpId,
        /// To whom.
        to: Rank,
        /// How many there are.
        ranks: u32,
    },
}

fn source_of(from: Option<Rank>) -> String {
    from.map_or("any rank".to_owned(), |from| format!("rank {}", from.0))
}

fn tag_of(tag: Option<u32>) -> String {
    tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"))
}
