//! What halves and doubles takes a power of two. The ranks that are too many for it fold themselves
//! into others: they hand over what they have, and are told the result.

/// The core is the largest power of two that the ranks fill: ranks below are members, each other
/// rank has one of them as its partner.
#[derive(Clone, Copy)]
pub(super) struct Fold {
    ranks: u32,
    /// The number of members.
    pub core: u32,
}

/// The part of a rank.
pub(super) enum Role {
    /// It belongs to the core, and may have somebody folded into it.
    Member { extra: Option<u32> },
    /// It is folded into this member.
    Extra { partner: u32 },
}

impl Fold {
    pub fn new(ranks: u32) -> Fold {
        Fold { ranks, core: 1 << ranks.max(1).ilog2() }
    }

    pub fn role(self, rank: u32) -> Role {
        if rank >= self.core {
            return Role::Extra { partner: rank - self.core };
        }
        Role::Member { extra: self.extra(rank) }
    }

    /// Who is folded into a member.
    pub fn extra(self, member: u32) -> Option<u32> {
        (member < self.ranks - self.core).then(|| member + self.core)
    }

    /// The number of steps that a doubling takes.
    pub fn steps(self) -> u32 {
        self.core.ilog2()
    }
}
