//! Livelock avoidance: who wins when two requests meet [coll, algorithm 6].
//!
//! Without it, requests in a cycle (i to j, j to k, k to i) are all refused, all retried, and
//! nothing moves. Winners lose priority and losers gain it, which makes it fair in the long run.

use crate::NodeId;
use crate::nic::Nic;

/// What a request to send carries: the greater one wins.
///
/// The order is by counter, and for equal counters by node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority {
    /// The counter of the NIC when it sent the request; starts at 0 and may become negative.
    pub counter: i64,
    /// The node.
    pub node: NodeId,
}

/// Whether the unanswered request of a NIC wins against a remote one.
///
/// It is judged by the priority it was sent with: that is what the rest of the cycle has seen of
/// it. With the counter as it stands now, a whole round can be wasted; see the tests of the NIC.
pub(crate) fn local_wins(local: &Nic, remote: Priority) -> bool {
    local.asked().is_some_and(|asked| asked > remote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greater_counter_wins_and_ties_go_to_the_larger_node() {
        let priority = |counter, node| Priority { counter, node: NodeId(node) };
        assert!(priority(1, 0) > priority(0, 5));
        assert!(priority(-1, 9) < priority(0, 5));
        assert!(priority(3, 6) > priority(3, 5));
    }
}
