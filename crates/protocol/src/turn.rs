//! Round robin.

use crate::{RailId, RailSet};

/// A round-robin pointer: whose turn it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Turn {
    /// The rail following the one most recently taken.
    next: u32,
}

impl Turn {
    /// Takes the first `count` rails of a set, starting just past the rail most recently taken and
    /// wrapping around; all of them if there are fewer [coll, Select_Tx_NICs].
    pub fn take(&mut self, set: RailSet, count: u32) -> RailSet {
        let (mut left, mut taken) = (set, RailSet::EMPTY);
        for _ in 0..count {
            let Some(rail) = self.take_one(left) else { break };
            left.remove(rail);
            taken.insert(rail);
        }
        taken
    }

    /// The rail of a set that would be taken next.
    #[inline]
    pub fn peek(&self, set: RailSet) -> Option<RailId> {
        set.next(self.next)
    }

    /// Takes one rail of a set, if it has any.
    #[inline]
    pub fn take_one(&mut self, set: RailSet) -> Option<RailId> {
        let rail = self.peek(set)?;
        self.next = rail.0 + 1;
        Some(rail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rails(numbers: &[u32]) -> RailSet {
        numbers.iter().copied().map(RailId).collect()
    }

    #[test]
    fn item_4_selection_continues_past_the_last_rail_used_and_wraps() {
        let mut turn = Turn::default();
        let all = RailSet::all(4);
        for (from, count, taken) in [
            (all, 1, vec![0]),
            (all, 1, vec![1]),
            (all, 2, vec![2, 3]),
            (all, 1, vec![0]),
            (rails(&[0, 3]), 1, vec![3]),
            (rails(&[1, 2]), 1, vec![1]),
            (rails(&[0, 1]), 2, vec![0, 1]), // in the order 0, 1: the next scan starts at 2
            (all, 3, vec![0, 2, 3]),
            (all, 4, vec![0, 1, 2, 3]),
            (RailSet::EMPTY, 2, vec![]),
            (all, 1, vec![1]),
            (rails(&[2]), 9, vec![2]),
        ] {
            assert_eq!(turn.take(from, count), rails(&taken), "{count} of {from:?}");
        }
    }

    proptest! {
        #[test]
        fn nobody_is_taken_twice_before_all_are_taken_once(
            count in 1u32..64, starts in prop::collection::vec(1u32..9, 1..20)
        ) {
            let (mut turn, all) = (Turn::default(), RailSet::all(count));
            let mut taken = vec![0u32; count as usize];
            for start in starts {
                turn.take(all, start).iter().for_each(|rail| taken[rail.0 as usize] += 1);
                let (least, most) = (taken.iter().min().unwrap(), taken.iter().max().unwrap());
                prop_assert!(most - least <= 1, "{taken:?}");
            }
        }
    }
}
