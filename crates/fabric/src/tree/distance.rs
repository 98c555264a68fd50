//! How far apart the hosts of a tree are, and where their paths meet.

use super::KaryTree;
use crate::{Distances, HostId, SwitchId};

impl KaryTree {
    /// The most significant digit in which two hosts differ, `min { j : p_j ≠ q_j }` (Def. A.3);
    /// `None` for a host and itself.
    pub fn mdi(self, p: HostId, q: HostId) -> Option<u16> {
        (0..self.n).find(|&i| self.digit(p, i) != self.digit(q, i))
    }

    /// The most significant digit in which a host and a switch differ, n-1 if there is none
    /// (Def. A.4).
    pub fn mdi_switch(self, p: HostId, switch: SwitchId) -> u16 {
        let (_, w) = self.place(switch);
        (0..self.n - 1).find(|&i| self.digit(p, i) != self.w_digit(w, i)).unwrap_or(self.n - 1)
    }

    /// Channels on a minimal path, `d(p,q) = 2 (n - mdi(p,q))`; one more than the switches crossed.
    pub fn distance(self, p: HostId, q: HostId) -> u32 {
        self.mdi(p, q).map_or(0, |m| 2 * u32::from(self.n - m))
    }

    /// The nearest common ancestors of two hosts (Def. A.5): `k^(n-1-mdi)` switches, one minimal
    /// path through each. None for a host and itself.
    pub fn nca(self, p: HostId, q: HostId) -> impl ExactSizeIterator<Item = SwitchId> + use<> {
        let numbers = self.mdi(p, q).map_or(0..0, |m| {
            let free = self.power(self.n - 1 - m);
            let first = self.switch_numbered(m, p.0 / self.power(self.n - m) * free).0;
            first..first + free
        });
        numbers.map(SwitchId)
    }

    /// How many pairs of hosts lie at each distance, by counting shared prefixes.
    pub fn distances(self) -> Distances {
        let mut pairs = vec![0; 2 * usize::from(self.n) + 1];
        let mut sharing_more = u64::from(self.hosts);
        for shared in (0..self.n).rev() {
            // Hosts with the same first digits form blocks of this size; the last may be partial.
            let block = u64::from(self.power(self.n - shared));
            let (whole, rest) = (u64::from(self.hosts) / block, u64::from(self.hosts) % block);
            let sharing = whole * block * block + rest * rest;
            pairs[2 * usize::from(self.n - shared)] = sharing - sharing_more;
            sharing_more = sharing;
        }
        Distances::from_pairs(u64::from(self.hosts), pairs)
    }

    /// The longest distance between two hosts, `2n` in a full tree.
    pub fn diameter(self) -> u32 {
        self.distance(HostId(0), HostId(self.hosts - 1))
    }

    /// The mean distance from a host to the others.
    pub fn mean_distance(self) -> f64 {
        self.distances().mean()
    }

    /// The mean distance with each host also counted at distance 0 from itself: equation 6,
    /// `2 (n - 1/(k-1)) + 2 / (k^n (k-1))` in a full tree.
    pub fn mean_distance_with_self(self) -> f64 {
        self.distances().mean_with_self()
    }

    /// The fewest links to cut to part the hosts into two equal halves: half the hosts. `None` for
    /// an odd number of hosts, which has no equal halves.
    ///
    /// Cutting the host links of one half shows it is enough. It is needed because the tree can
    /// carry any permutation at full rate, so every half can send to the other without sharing a
    /// channel; pruning takes away none of those paths.
    pub fn bisection(self) -> Option<u32> {
        self.hosts.is_multiple_of(2).then_some(self.hosts / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::tests::small_tree;
    use crate::{ChannelId, Fabric, Node, pruned_tree};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    struct Example(KaryTree);

    impl Example {
        fn new(k: u16, n: u16) -> Example {
            Example(KaryTree::full(k, n).unwrap())
        }
        fn host(&self, digits: &[u16]) -> HostId {
            self.0.host_at(digits).unwrap()
        }
        fn switch(&self, label: &[u16]) -> SwitchId {
            let (level, w) = label.split_last().unwrap();
            self.0.switch_at(w, *level).unwrap()
        }
        fn nca(&self, p: &[u16], q: &[u16]) -> Vec<Vec<u16>> {
            let label = |s| {
                let (mut w, level) = self.0.switch_digits(s);
                w.push(level);
                w
            };
            self.0.nca(self.host(p), self.host(q)).map(label).collect()
        }
    }

    #[test]
    fn figure_18_and_the_worked_examples() {
        let t = Example::new(4, 2);
        assert_eq!(t.nca(&[2, 1], &[2, 3]), [[2, 1]]);
        assert_eq!(t.nca(&[0, 1], &[3, 2]), [[0, 0], [1, 0], [2, 0], [3, 0]]);
        let t = Example::new(4, 3);
        assert_eq!(t.nca(&[1, 2, 0], &[1, 2, 3]), [[1, 2, 2]]);
        assert_eq!(t.nca(&[1, 2, 0], &[1, 3, 0]), [[1, 0, 1], [1, 1, 1], [1, 2, 1], [1, 3, 1]]);
        let roots = t.nca(&[0, 0, 0], &[1, 0, 0]);
        assert_eq!(roots.len(), 16);
        assert!(roots.iter().all(|label| label[2] == 0));
        let t = Example::new(2, 3);
        assert_eq!(t.nca(&[0, 1, 1], &[0, 1, 0]), [[0, 1, 2]]);
        assert_eq!(t.nca(&[0, 1, 1], &[0, 1, 1]).len(), 0);
    }

    #[test]
    fn mdi_and_distance_of_the_worked_examples() {
        for (k, p, q, mdi, distance) in [
            (4, &[2u16, 1][..], &[2u16, 3][..], 1, 2),
            (4, &[0, 1], &[3, 2], 0, 4),
            (4, &[1, 2, 0], &[1, 2, 3], 2, 2),
            (4, &[1, 2, 0], &[1, 3, 0], 1, 4),
            (4, &[0, 0, 0], &[1, 0, 0], 0, 6),
            (2, &[0, 1, 1], &[0, 1, 0], 2, 2),
        ] {
            let t = Example::new(k, p.len() as u16);
            assert_eq!(t.0.mdi(t.host(p), t.host(q)), Some(mdi), "{p:?} {q:?}");
            assert_eq!(t.0.distance(t.host(p), t.host(q)), distance, "{p:?} {q:?}");
        }
        let t = Example::new(4, 2);
        assert_eq!(t.0.mdi(HostId(5), HostId(5)), None);
        assert_eq!(t.0.distance(HostId(5), HostId(5)), 0);
    }

    #[test]
    fn mdi_of_host_and_switch() {
        let t = Example::new(4, 2);
        assert_eq!(t.0.mdi_switch(t.host(&[3, 2]), t.switch(&[3, 0])), 1);
        assert_eq!(t.0.mdi_switch(t.host(&[3, 2]), t.switch(&[1, 0])), 0);
        let t = Example::new(4, 3);
        for (label, mdi) in [([1, 0, 1], 1), ([0, 2, 1], 0), ([1, 2, 0], 2)] {
            assert_eq!(t.0.mdi_switch(t.host(&[1, 2, 3]), t.switch(&label)), mdi, "{label:?}");
        }
    }

    #[test]
    fn the_table_of_the_appendix() {
        for (k, n, diameter, bisection, with_self, others) in [
            (2, 3, 6, 4, 4.25, 4.857_143),
            (4, 2, 4, 8, 3.375, 3.6),
            (4, 3, 6, 32, 5.343_75, 5.428_571),
            (4, 5, 10, 512, 9.333_984, 9.343_109),
        ] {
            let tree = KaryTree::full(k, n).unwrap();
            assert_eq!((tree.diameter(), tree.bisection()), (diameter, Some(bisection)));
            assert!((tree.mean_distance_with_self() - with_self).abs() < 5e-7, "({k},{n})");
            assert!((tree.mean_distance() - others).abs() < 5e-7, "({k},{n})");
        }
    }

    #[test]
    fn a_pruned_tree_is_only_as_deep_as_it_is_used() {
        let tree = KaryTree::pruned(4, 3, 16).unwrap();
        assert_eq!(tree.diameter(), 4);
        assert_eq!(tree.mean_distance(), KaryTree::full(4, 2).unwrap().mean_distance());
        assert_eq!(KaryTree::full(3, 2).unwrap().bisection(), None);
        assert_eq!(KaryTree::pruned(3, 2, 6).unwrap().bisection(), Some(3));
    }

    /// The fewest links whose removal parts the hosts in the mask from the rest: the most paths
    /// between them that share no link, found by augmenting one at a time.
    fn cut(fabric: &Fabric, mask: u32) -> u32 {
        let chosen = |h: HostId| mask >> h.0 & 1 == 1;
        let mut flow = vec![0i32; fabric.links().len()];
        let mut paths = 0;
        'augment: loop {
            let mut came_by = BTreeMap::new();
            let starts = fabric.hosts().filter(|&h| chosen(h));
            // A link carries one unit one way or the other: +1 along its even channel, or -1.
            let towards = |c: ChannelId| if c.0.is_multiple_of(2) { 1 } else { -1 };
            let mut todo: Vec<_> = starts.map(|h| fabric.host_out(h)).collect();
            todo.retain(|&c| flow[c.link().0 as usize] * towards(c) < 1);
            todo.iter().for_each(|&c| _ = came_by.insert(fabric.channel(c).to.node, c));
            while let Some(channel) = todo.pop() {
                let switch = match fabric.channel(channel).to.node {
                    Node::Switch(switch) => switch,
                    Node::Host(h) if chosen(h) => continue,
                    Node::Host(_) => {
                        let mut step = channel;
                        loop {
                            flow[step.link().0 as usize] += towards(step);
                            match fabric.channel(step).from.node {
                                Node::Host(_) => break,
                                node => step = came_by[&node],
                            }
                        }
                        paths += 1;
                        continue 'augment;
                    }
                };
                for next in fabric.out_channels(switch) {
                    let node = fabric.channel(next).to.node;
                    if flow[next.link().0 as usize] * towards(next) < 1
                        && !came_by.contains_key(&node)
                    {
                        came_by.insert(node, next);
                        todo.push(next);
                    }
                }
            }
            return paths;
        }
    }

    #[test]
    fn no_equal_halves_are_parted_by_fewer_links() {
        for (k, n, hosts) in [(2, 2, 4), (2, 3, 8), (2, 3, 6), (3, 2, 8), (4, 2, 10), (2, 4, 10)] {
            let fabric = pruned_tree(k, n, hosts).unwrap();
            let halves = (0..1u32 << (hosts - 1)).filter(|m| m.count_ones() == hosts / 2);
            let fewest = halves.map(|mask| cut(&fabric, mask)).min();
            let tree = KaryTree::pruned(k, n, hosts).unwrap();
            assert_eq!(fewest, tree.bisection(), "({k},{n}) with {hosts} hosts");
        }
    }

    proptest! {
        #[test]
        fn equation_6_is_the_exact_count(k in 2u16..12, n in 1u16..6) {
            prop_assume!(u32::from(k).pow(u32::from(n)) <= 1 << 20);
            let tree = KaryTree::full(k, n).unwrap();
            let (k, n) = (f64::from(k), f64::from(n));
            let closed = 2.0 * (n - 1.0 / (k - 1.0)) + 2.0 / (k.powf(n) * (k - 1.0));
            prop_assert!((tree.mean_distance_with_self() - closed).abs() < 1e-9);
        }

        #[test]
        fn counted_distances_are_the_distances(tree in small_tree()) {
            let mut pairs = vec![0u64; 2 * usize::from(tree.n) + 1];
            for p in 0..tree.hosts {
                for q in (0..tree.hosts).filter(|&q| q != p) {
                    pairs[tree.distance(HostId(p), HostId(q)) as usize] += 1;
                }
            }
            prop_assert_eq!(tree.distances(), Distances::from_pairs(u64::from(tree.hosts), pairs));
            prop_assert_eq!(tree.distances().diameter(), tree.diameter());
        }

        #[test]
        fn ancestors_are_the_switches_above_both(tree in small_tree(), seed in any::<(u32, u32)>()) {
            let (p, q) = (HostId(seed.0 % tree.hosts), HostId(seed.1 % tree.hosts));
            prop_assume!(p != q);
            let m = tree.mdi(p, q).unwrap();
            let above = |host, s| tree.mdi_switch(host, s) >= m;
            let expected: Vec<_> = tree
                .switches_at(m)
                .map(SwitchId)
                .filter(|&s| above(p, s) && above(q, s))
                .collect();
            prop_assert_eq!(tree.nca(p, q).collect::<Vec<_>>(), expected);
        }
    }
}
