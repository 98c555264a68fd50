//! k-ary n-trees (Petrini, Appendix A): labels, and the numbers behind them.
//!
//! A host is a leaf `p0 … p(n-1)`, its digits in base k with `p0` most significant; host number and
//! digits are the same value. A switch is `⟨w0 … w(n-2), l⟩`; **level 0 is the root level** and
//! level n-1 touches the hosts.
//!
//! Switches are numbered level by level from the roots, and within a level by `w` read as a number
//! with `w0` most significant. The hosts below `⟨w, l⟩` are those that share its digits
//! `w0 … w(l-1)`, so the switches of a level that a pruned tree keeps are the first ones of the
//! level: numbers stay dense and the arithmetic stays the same.
//!
//! Ports: a switch has 2k. Port j < k is the downward edge labelled j at its upper end (for a leaf
//! switch: the host with last digit j). Port k + j is the upward edge labelled j at its lower end.
//! The upward ports of a root are not linked, nor are downward ports with no host below.

mod distance;
mod wiring;

use std::ops::Range;

use crate::{HostId, Port, SwitchId};

pub use wiring::{pruned_tree, tree};

/// The most leaves a tree may have: a million hosts is beyond every machine built.
const MAX_LEAVES: u32 = 1 << 20;

/// The largest arity whose 2k ports can be numbered.
const MAX_ARITY: u16 = u16::MAX / 2;

/// A k-ary n-tree: `k^n` leaves, `n k^(n-1)` switches; the first `hosts` leaves are populated.
///
/// Made by [`KaryTree::full`] and [`KaryTree::pruned`], which check the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct KaryTree {
    /// Arity.
    pub k: u16,
    /// Levels of switches.
    pub n: u16,
    /// Leaves that carry a host, numbered from 0; `k^n` unless the tree is pruned.
    pub hosts: u32,
}

/// Why there is no such tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    /// The arity is out of range.
    #[error("a k-ary n-tree with k = {k}: k must be from 2 to {MAX_ARITY}")]
    Arity {
        /// The arity asked for.
        k: u16,
    },
    /// No level of switches.
    #[error("a {k}-ary n-tree with n = 0: n must be at least 1")]
    NoLevels {
        /// The arity asked for.
        k: u16,
    },
    /// More leaves than this program handles.
    #[error("a {k}-ary {n}-tree has more than {MAX_LEAVES} leaves, the most allowed: lower k or n")]
    TooManyLeaves {
        /// The arity asked for.
        k: u16,
        /// The levels asked for.
        n: u16,
    },
    /// The number of populated leaves is out of range.
    #[error(
        "{hosts} hosts on a {k}-ary {n}-tree: the number must be from 2 to its {leaves} leaves"
    )]
    Hosts {
        /// The arity asked for.
        k: u16,
        /// The levels asked for.
        n: u16,
        /// The hosts asked for.
        hosts: u32,
        /// The leaves there are.
        leaves: u32,
    },
}

impl KaryTree {
    /// The tree with a host on every leaf.
    pub fn full(k: u16, n: u16) -> Result<KaryTree, TreeError> {
        if !(2..=MAX_ARITY).contains(&k) {
            return Err(TreeError::Arity { k });
        }
        if n == 0 {
            return Err(TreeError::NoLevels { k });
        }
        let leaves = u32::from(k).checked_pow(u32::from(n)).filter(|&leaves| leaves <= MAX_LEAVES);
        let hosts = leaves.ok_or(TreeError::TooManyLeaves { k, n })?;
        Ok(KaryTree { k, n, hosts })
    }

    /// The tree with hosts on its first leaves only, without the switches that have none below.
    pub fn pruned(k: u16, n: u16, hosts: u32) -> Result<KaryTree, TreeError> {
        let leaves = KaryTree::full(k, n)?.hosts;
        if !(2..=leaves).contains(&hosts) {
            return Err(TreeError::Hosts { k, n, hosts, leaves });
        }
        Ok(KaryTree { k, n, hosts })
    }

    /// How many leaves it has, with a host or without: `k^n`.
    pub fn leaves(self) -> u32 {
        self.power(self.n)
    }

    /// Whether some leaf carries no host.
    pub fn is_pruned(self) -> bool {
        self.hosts < self.leaves()
    }

    /// How many switches it has: `n k^(n-1)`, fewer if pruned.
    pub fn switches(self) -> u32 {
        (0..self.n).map(|level| self.width(level)).sum()
    }

    /// Digit `p_i` of a host.
    pub fn digit(self, host: HostId, i: u16) -> u16 {
        (host.0 / self.power(self.n - 1 - i) % u32::from(self.k)) as u16
    }

    /// The digits `p0 … p(n-1)` of a host.
    pub fn host_digits(self, host: HostId) -> Vec<u16> {
        (0..self.n).map(|i| self.digit(host, i)).collect()
    }

    /// The host with these digits, if the leaf exists and carries one.
    pub fn host_at(self, digits: &[u16]) -> Option<HostId> {
        let number = self.number(digits, self.n)?;
        (number < self.hosts).then_some(HostId(number))
    }

    /// The level l of a switch.
    pub fn level(self, switch: SwitchId) -> u16 {
        self.place(switch).0
    }

    /// The digits `w0 … w(n-2)` and the level l of a switch.
    pub fn switch_digits(self, switch: SwitchId) -> (Vec<u16>, u16) {
        let (level, w) = self.place(switch);
        ((0..self.n - 1).map(|i| self.w_digit(w, i)).collect(), level)
    }

    /// The switch `⟨w, l⟩`, unless the label is no label or the switch was pruned away.
    pub fn switch_at(self, w: &[u16], level: u16) -> Option<SwitchId> {
        let w = self.number(w, self.n - 1)?;
        (level < self.n && w < self.width(level)).then(|| self.switch_numbered(level, w))
    }

    /// The numbers of the switches of a level.
    pub fn switches_at(self, level: u16) -> Range<u32> {
        let first = (0..level).map(|l| self.width(l)).sum();
        first..first + self.width(level)
    }

    /// The port of the downward edge with this label.
    pub fn down_port(self, label: u16) -> Port {
        Port(label)
    }

    /// The port of the upward edge with this label.
    pub fn up_port(self, label: u16) -> Port {
        Port(self.k + label)
    }

    /// `k^exponent`; small enough because no exponent exceeds n.
    fn power(self, exponent: u16) -> u32 {
        u32::from(self.k).pow(u32::from(exponent))
    }

    /// How many switches a level has. Each prefix `w0 … w(l-1)` that some host begins with stands
    /// for `k^(n-1-l)` switches.
    fn width(self, level: u16) -> u32 {
        self.hosts.div_ceil(self.power(self.n - level)) * self.power(self.n - 1 - level)
    }

    /// Digit `w_i` of a switch whose digits together are the number `w`.
    fn w_digit(self, w: u32, i: u16) -> u16 {
        (w / self.power(self.n - 2 - i) % u32::from(self.k)) as u16
    }

    /// The level of a switch, and its digits as one number.
    fn place(self, switch: SwitchId) -> (u16, u32) {
        let mut w = switch.0;
        for level in 0..self.n {
            match w.checked_sub(self.width(level)) {
                Some(rest) => w = rest,
                None => return (level, w),
            }
        }
        panic!("switch {} is not one of the {} of {self:?}", switch.0, self.switches());
    }

    fn switch_numbered(self, level: u16, w: u32) -> SwitchId {
        SwitchId(self.switches_at(level).start + w)
    }

    fn number(self, digits: &[u16], length: u16) -> Option<u32> {
        let valid = digits.len() == usize::from(length) && digits.iter().all(|&d| d < self.k);
        valid.then(|| digits.iter().fold(0, |sum, &d| sum * u32::from(self.k) + u32::from(d)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_match_the_appendix() {
        for (k, n, leaves, switches) in
            [(2, 3, 8, 12), (4, 2, 16, 8), (4, 3, 64, 48), (4, 5, 1024, 1280)]
        {
            let tree = KaryTree::full(k, n).unwrap();
            assert_eq!((tree.leaves(), tree.switches()), (leaves, switches), "({k},{n})");
            assert!(!tree.is_pruned());
        }
    }

    #[test]
    fn pruned_trees_keep_every_root() {
        let small = KaryTree::pruned(4, 3, 32).unwrap();
        let widths: Vec<_> = (0..3).map(|l| small.switches_at(l).len()).collect();
        assert_eq!(widths, [16, 8, 8]);
        let large = KaryTree::pruned(4, 4, 128).unwrap();
        let widths: Vec<_> = (0..4).map(|l| large.switches_at(l).len()).collect();
        assert_eq!(widths, [64, 32, 32, 32]);
        assert_eq!(small.host_at(&[1, 3, 3]), Some(HostId(31)));
        assert_eq!(small.host_at(&[2, 0, 0]), None, "the leaf exists but carries no host");
        assert_eq!(small.switch_at(&[2, 0], 1), None, "pruned away");
        assert!(small.switch_at(&[2, 0], 0).is_some());
    }

    #[test]
    fn refuses_what_is_no_tree() {
        for (error, message) in [
            (KaryTree::full(1, 3), "a k-ary n-tree with k = 1: k must be from 2 to 32767"),
            (KaryTree::full(40_000, 1), "a k-ary n-tree with k = 40000: k must be from 2 to 32767"),
            (KaryTree::full(4, 0), "a 4-ary n-tree with n = 0: n must be at least 1"),
            (
                KaryTree::full(4, 11),
                "a 4-ary 11-tree has more than 1048576 leaves, the most allowed: lower k or n",
            ),
            (
                KaryTree::full(2, u16::MAX),
                "a 2-ary 65535-tree has more than 1048576 leaves, the most allowed: lower k or n",
            ),
            (
                KaryTree::pruned(4, 2, 17),
                "17 hosts on a 4-ary 2-tree: the number must be from 2 to its 16 leaves",
            ),
            (
                KaryTree::pruned(4, 2, 1),
                "1 hosts on a 4-ary 2-tree: the number must be from 2 to its 16 leaves",
            ),
        ] {
            assert_eq!(error.unwrap_err().to_string(), message);
        }
        let tree = KaryTree::full(4, 2).unwrap();
        assert_eq!(tree.host_at(&[0, 4]), None, "4 is no digit in base 4");
        assert_eq!(tree.host_at(&[0]), None, "too few digits");
        assert_eq!(tree.switch_at(&[0], 2), None, "no such level");
    }

    /// Any tree of at most 256 leaves, pruned or not.
    pub(super) fn small_tree() -> impl Strategy<Value = KaryTree> {
        (2u16..=5, 1u16..=5)
            .prop_filter("at most 256 leaves", |&(k, n)| u32::from(k).pow(u32::from(n)) <= 256)
            .prop_flat_map(|(k, n)| (Just(k), Just(n), 2..=u32::from(k).pow(u32::from(n))))
            .prop_map(|(k, n, hosts)| KaryTree::pruned(k, n, hosts).unwrap())
    }

    proptest! {
        #[test]
        fn labels_and_numbers_are_the_same_thing(tree in small_tree()) {
            for host in (0..tree.hosts).map(HostId) {
                prop_assert_eq!(tree.host_at(&tree.host_digits(host)), Some(host));
            }
            for switch in (0..tree.switches()).map(SwitchId) {
                let (w, level) = tree.switch_digits(switch);
                prop_assert_eq!(tree.switch_at(&w, level), Some(switch));
                prop_assert_eq!(tree.level(switch), level);
                prop_assert!(tree.switches_at(level).contains(&switch.0));
            }
        }

        #[test]
        fn a_switch_exists_when_a_host_is_below_it(tree in small_tree()) {
            let whole = KaryTree::full(tree.k, tree.n).unwrap();
            for switch in (0..whole.switches()).map(SwitchId) {
                let (w, level) = whole.switch_digits(switch);
                let above = usize::from(level);
                let populated = (0..tree.hosts)
                    .any(|h| tree.host_digits(HostId(h))[..above] == w[..above]);
                prop_assert_eq!(tree.switch_at(&w, level).is_some(), populated);
            }
        }
    }
}
