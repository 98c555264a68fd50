//! The numbers of frames from one rank: which are missing, and which come again.

/// How far behind the highest number one may be that still counts as new.
pub(super) const WINDOW: u32 = 128;

/// What has come from one rank.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sequence {
    /// The number after the highest that has come.
    next: u32,
    /// Which of the numbers before `next` have come: the lowest bit is `next` - 1.
    came: u128,
    missing: u64,
    repeated: u64,
}

impl Sequence {
    /// A frame has come. Whether it is a new one.
    pub fn came(&mut self, number: u32) -> bool {
        let ahead = number.wrapping_sub(self.next);
        if ahead < u32::MAX / 2 {
            self.missing += u64::from(ahead);
            self.came = self.came.checked_shl(ahead).unwrap_or(0).checked_shl(1).unwrap_or(0) | 1;
            self.next = number.wrapping_add(1);
            return true;
        }
        let behind = self.next.wrapping_sub(1).wrapping_sub(number);
        if behind >= WINDOW || self.came >> behind & 1 == 1 || self.missing == 0 {
            self.repeated += 1;
            return false;
        }
        self.came |= 1 << behind;
        self.missing -= 1;
        true
    }

    /// How many numbers below the highest have not come.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// How many frames came again, or too late to tell.
    pub fn repeated(&self) -> u64 {
        self.repeated
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Against the set of all numbers that have come.
        #[test]
        fn missing_and_repeated_are_counted(jumps in prop::collection::vec(-150..200i64, 0..300)) {
            let mut sequence = Sequence::default();
            let (mut set, mut repeated, mut at) = (BTreeSet::new(), 0, 0i64);
            for jump in jumps {
                at = (at + jump).max(0);
                let highest = set.last().copied().unwrap_or(-1);
                let new = !set.contains(&at) && highest - at < i64::from(WINDOW);
                prop_assert_eq!(sequence.came(at as u32), new);
                if new { set.insert(at); } else { repeated += 1; }
                let highest = set.last().copied().unwrap_or(-1);
                prop_assert_eq!(sequence.missing(), (highest + 1) as u64 - set.len() as u64);
                prop_assert_eq!(sequence.repeated(), repeated);
            }
        }
    }

    #[test]
    fn numbers_begin_again_after_the_highest() {
        let mut sequence = Sequence { next: u32::MAX - 1, came: u128::MAX, ..Sequence::default() };
        assert!([u32::MAX - 1, u32::MAX, 1, 0].into_iter().all(|number| sequence.came(number)));
        assert_eq!((sequence.missing(), sequence.repeated(), sequence.next), (0, 0, 2));
        assert!(!sequence.came(u32::MAX) && sequence.repeated() == 1);
    }
}
