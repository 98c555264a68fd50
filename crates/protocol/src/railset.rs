//! Sets of rails.

use std::fmt;

use crate::RailId;

/// A set of rails of one node.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RailSet(u64);

impl RailSet {
    /// No rail.
    pub const EMPTY: RailSet = RailSet(0);

    /// The most rails that a node may have.
    pub const MOST: u32 = u64::BITS;

    /// The first so many rails.
    ///
    /// # Panics
    /// If there are more than [`RailSet::MOST`].
    pub fn all(rails: u32) -> RailSet {
        assert!(rails <= RailSet::MOST, "a node has at most {} rails", RailSet::MOST);
        RailSet(u64::MAX.checked_shr(RailSet::MOST - rails).unwrap_or(0))
    }

    /// Whether a rail is in the set.
    pub fn contains(self, rail: RailId) -> bool {
        self.0.checked_shr(rail.0).is_some_and(|bits| bits & 1 == 1)
    }

    /// Adds a rail.
    ///
    /// # Panics
    /// If its number is not below [`RailSet::MOST`].
    pub fn insert(&mut self, rail: RailId) {
        self.0 |= 1u64.checked_shl(rail.0).expect("a node has no such rail");
    }

    /// Takes a rail out, if it is in.
    pub fn remove(&mut self, rail: RailId) {
        self.0 &= !1u64.checked_shl(rail.0).unwrap_or(0);
    }

    /// The rails of this set that are not in another.
    pub fn without(self, other: RailSet) -> RailSet {
        RailSet(self.0 & !other.0)
    }

    /// The rails that are in both sets.
    pub fn and(self, other: RailSet) -> RailSet {
        RailSet(self.0 & other.0)
    }

    /// The rails that are in either set.
    pub fn or(self, other: RailSet) -> RailSet {
        RailSet(self.0 | other.0)
    }

    /// The first rail whose number is not below this one; if there is none, the first of all.
    #[inline]
    pub fn next(self, from: u32) -> Option<RailId> {
        let after = self.0 & u64::MAX.checked_shl(from).unwrap_or(0);
        let rails = if after == 0 { self.0 } else { after };
        (rails != 0).then(|| RailId(rails.trailing_zeros()))
    }

    /// How many rails there are.
    pub fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The rails in ascending order.
    pub fn iter(self) -> impl Iterator<Item = RailId> {
        let mut bits = self.0;
        std::iter::from_fn(move || {
            let rail = (bits != 0).then(|| RailId(bits.trailing_zeros()));
            bits &= bits.wrapping_sub(1);
            rail
        })
    }
}

impl FromIterator<RailId> for RailSet {
    fn from_iter<I: IntoIterator<Item = RailId>>(rails: I) -> RailSet {
        let mut set = RailSet::EMPTY;
        rails.into_iter().for_each(|rail| set.insert(rail));
        set
    }
}

impl fmt::Debug for RailSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|rail| rail.0)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let mut set: RailSet = [5, 0, 63].map(RailId).into_iter().collect();
        assert_eq!(format!("{set:?}"), "{0, 5, 63}");
        assert!(set.contains(RailId(63)) && !set.contains(RailId(1)) && !set.contains(RailId(64)));
        set.remove(RailId(5));
        set.remove(RailId(64));
        assert_eq!((set.len(), set.iter().last()), (2, Some(RailId(63))));
        assert_eq!(set.without(RailSet::all(1)).iter().collect::<Vec<_>>(), [RailId(63)]);
        assert_eq!(format!("{:?}", set.and(RailSet::all(4))), "{0}");
        assert_eq!(format!("{:?}", set.or(RailSet::all(2))), "{0, 1, 63}");
        for (from, rail) in [(0, 0), (1, 63), (63, 63), (64, 0)] {
            assert_eq!(set.next(from), Some(RailId(rail)), "from {from}");
        }
        assert_eq!(RailSet::EMPTY.next(0), None);
    }

    #[test]
    fn all_rails_of_a_node() {
        assert!(RailSet::all(0).is_empty());
        assert_eq!(RailSet::all(4).iter().map(|rail| rail.0).collect::<Vec<_>>(), [0, 1, 2, 3]);
        assert_eq!(RailSet::all(64).len(), 64);
    }
}
