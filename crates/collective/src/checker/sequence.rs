//! The order in which contributions were combined.

use crate::Rank;

/// The contributions to a block, as far as they were combined in the order of their ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequence {
    /// There are none.
    Nothing,
    /// Those of the ranks from one on and before another one, in order.
    Ranks(u32, u32),
    /// Some others, or in another order.
    Disorder,
}

impl Sequence {
    /// The contribution of a rank, if there is one.
    pub fn of(rank: Option<Rank>) -> Sequence {
        rank.map_or(Sequence::Nothing, |rank| Sequence::Ranks(rank.0, rank.0 + 1))
    }

    /// With another sequence behind it.
    pub fn then(self, behind: Sequence) -> Sequence {
        match (self, behind) {
            (Sequence::Nothing, other) | (other, Sequence::Nothing) => other,
            (Sequence::Ranks(begin, middle), Sequence::Ranks(next, end)) if middle == next => {
                Sequence::Ranks(begin, end)
            }
            _ => Sequence::Disorder,
        }
    }
}
