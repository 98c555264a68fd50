//! What halves and doubles takes a power of two. The ranks that are too many for it fold themselves
//! into others: they hand over what they have, and are told the result.

/// The members are as many as the largest power of two that the ranks fill. Each other rank, an
/// extra, has one of them as its partner.
#[derive(Clone, Copy)]
pub(super) struct Fold {
    ranks: u32,
    /// The number of members.
    pub core: u32,
    /// True if partners are neighbours.
    neighbours: bool,
}

/// The part of a rank.
pub(super) enum Role {
    /// It is the member of this number, and an extra may be folded into it.
    Member { number: u32, extra: Option<u32> },
    /// It is folded into this member.
    Extra { partner: u32 },
}

impl Fold {
    /// The first ranks are the members, and the others their extras.
    pub fn new(ranks: u32) -> Fold {
        Fold { ranks, core: 1 << ranks.max(1).ilog2(), neighbours: false }
    }

    /// Ranks 0 and 1 are partners, 2 and 3, and so on until no extras are left. So members with
    /// consecutive numbers stand for consecutive ranks.
    pub fn of_neighbours(ranks: u32) -> Fold {
        Fold { neighbours: true, ..Fold::new(ranks) }
    }

    pub fn role(self, rank: u32) -> Role {
        let extras = self.ranks - self.core;
        let number = match self.neighbours {
            true if rank >= 2 * extras => rank - extras,
            true if rank.is_multiple_of(2) => rank / 2,
            true => return Role::Extra { partner: rank - 1 },
            false if rank >= self.core => return Role::Extra { partner: rank - self.core },
            false => rank,
        };
        Role::Member { number, extra: self.extra(number) }
    }

    /// The rank of a member, or, of the number of members, the number of ranks.
    pub fn rank(self, number: u32) -> u32 {
        match self.neighbours {
            true => number + number.min(self.ranks - self.core),
            false => number,
        }
    }

    /// Who is folded into a member.
    pub fn extra(self, number: u32) -> Option<u32> {
        let partner = self.rank(number);
        let extra = if self.neighbours { partner + 1 } else { partner + self.core };
        (number < self.ranks - self.core).then_some(extra)
    }

    /// The number of steps that a doubling takes.
    pub fn steps(self) -> u32 {
        self.core.ilog2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_a_member_or_the_extra_of_one() {
        for ranks in 1..70 {
            for fold in [Fold::new(ranks), Fold::of_neighbours(ranks)] {
                let mut met = Vec::new();
                for number in 0..fold.core {
                    let rank = fold.rank(number);
                    met.extend([Some(rank), fold.extra(number)].into_iter().flatten());
                    let Role::Member { number: found, extra } = fold.role(rank) else { panic!() };
                    assert_eq!((found, extra), (number, fold.extra(number)));
                    if let Some(extra) = extra {
                        let Role::Extra { partner } = fold.role(extra) else { panic!() };
                        assert_eq!(partner, rank);
                    }
                }
                if fold.neighbours {
                    assert!(met.is_sorted(), "{met:?}");
                }
                met.sort_unstable();
                assert_eq!(met, (0..ranks).collect::<Vec<_>>());
            }
        }
    }
}
