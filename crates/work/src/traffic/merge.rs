//! The earliest of many clocks: a loser tree.

/// A tournament among the next messages of all hosts (Knuth, *Sorting and Searching*, 5.4.1).
///
/// Every inner node keeps the loser of the match played there. To put the winner's next message in
/// its place, only the matches on its own path are replayed, at addresses known beforehand: no
/// search for the smaller child as in a heap, and no branch to mispredict.
///
/// A message is one number, its cycle above the bits of its host number: earlier first, then the
/// lower host. With a million hosts that leaves 44 bits of time, 10^13 cycles.
#[derive(Debug, Clone)]
pub(super) struct Merge {
    /// Entry 0 is the winner; host h enters at node `(n + h) / 2`.
    matches: Box<[u64]>,
    host_bits: u32,
}

/// A host that never sends.
pub(super) const NEVER: u64 = u64::MAX;

impl Merge {
    /// Host h is next due at `cycles[h]`. There is at least one host.
    pub(super) fn new(cycles: &[u64]) -> Merge {
        let n = cycles.len();
        let host_bits = n.next_power_of_two().trailing_zeros();
        let mut merge = Merge { matches: vec![0; n].into(), host_bits };
        let mut winners = vec![0; n];
        winners.extend((0..).zip(cycles).map(|(host, &cycle)| merge.key(cycle, host)));
        for node in (1..n).rev() {
            let (a, b) = (winners[2 * node], winners[2 * node + 1]);
            winners[node] = a.min(b);
            merge.matches[node] = a.max(b);
        }
        merge.matches[0] = winners[1];
        merge
    }

    #[inline]
    fn key(&self, cycle: u64, host: u32) -> u64 {
        // Beyond the last cycle there is room for, a message is as good as never.
        cycle.min(NEVER >> self.host_bits) << self.host_bits | u64::from(host)
    }

    #[inline]
    fn host(&self) -> u32 {
        (self.matches[0] & !(NEVER << self.host_bits)) as u32
    }

    /// The cycle and host of the earliest message.
    #[inline]
    pub(super) fn earliest(&self) -> (u64, u32) {
        (self.matches[0] >> self.host_bits, self.host())
    }

    /// Replaces the earliest message by its host's next one.
    #[inline]
    pub(super) fn replace(&mut self, cycle: u64) {
        let host = self.host();
        let mut best = self.key(cycle, host);
        let mut node = (self.matches.len() + host as usize) / 2;
        while node > 0 {
            let other = self.matches[node];
            self.matches[node] = best.max(other);
            best = best.min(other);
            node /= 2;
        }
        self.matches[0] = best;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn merges_sorted_lists_like_a_sort(
            mut lists in prop::collection::vec(prop::collection::vec(0..50u64, 1..20), 1..20),
        ) {
            let mut expected: Vec<(u64, u32)> = Vec::new();
            for (host, list) in (0..).zip(&mut lists) {
                list.sort_unstable();
                expected.extend(list.iter().map(|&cycle| (cycle, host)));
            }
            expected.sort_unstable();
            let firsts: Vec<u64> = lists.iter().map(|list| list[0]).collect();
            let mut merge = Merge::new(&firsts);
            let mut used = vec![1; lists.len()];
            for wanted in expected {
                let (_, host) = merge.earliest();
                prop_assert_eq!(merge.earliest(), wanted);
                let next = lists[host as usize].get(used[host as usize]);
                used[host as usize] += 1;
                merge.replace(next.copied().unwrap_or(NEVER));
            }
            prop_assert_eq!(merge.earliest().0, NEVER >> merge.host_bits);
        }
    }
}
