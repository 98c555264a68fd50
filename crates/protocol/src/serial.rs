//! Repetitions, and how they are noticed.

use crate::NodeId;
use crate::node_map::NodeMap;
use crate::numbers::Numbers;

/// Numbers what goes to each node, and remembers what has come from each: for networks that may
/// deliver a packet more than once.
#[derive(Debug, Default)]
pub(crate) struct Serials {
    next: NodeMap<u64>,
    /// What has come from each node.
    seen: NodeMap<Numbers>,
}

impl Serials {
    /// The number of the next thing for a node.
    #[inline]
    pub fn assign(&mut self, to: NodeId) -> u64 {
        let next = self.next.get_or_insert_with(to, u64::default);
        *next += 1;
        *next - 1
    }

    /// Whether something has come before.
    #[inline]
    pub fn has_seen(&self, from: NodeId, serial: u64) -> bool {
        self.seen.get(from).is_some_and(|seen| seen.contains(serial))
    }

    /// Takes note that something has come.
    #[inline]
    pub fn note(&mut self, from: NodeId, serial: u64) {
        self.seen.get_or_insert_with(from, Numbers::default).insert(serial);
    }

    /// Forgets what has come from a node that is heard no more.
    pub fn forget(&mut self, from: NodeId) {
        self.seen.remove(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_receiver_has_numbers_of_its_own() {
        let mut serials = Serials::default();
        let numbers = [3, 4, 3, 3].map(|to| serials.assign(NodeId(to)));
        assert_eq!(numbers, [0, 0, 1, 2]);
    }

    proptest! {
        #[test]
        fn what_has_come_is_known_and_nothing_else(
            order in Just((0..40u64).collect::<Vec<_>>()).prop_shuffle(), count in 0..40usize,
        ) {
            let (mut serials, from) = (Serials::default(), NodeId(1));
            order[..count].iter().for_each(|&serial| serials.note(from, serial));
            for (place, &serial) in order.iter().enumerate() {
                prop_assert_eq!(serials.has_seen(from, serial), place < count);
            }
            prop_assert!(!serials.has_seen(NodeId(2), order[0]));
            order[count..].iter().for_each(|&serial| serials.note(from, serial));
        }
    }
}
