//! Hybrid: short messages go without reservation [coll, algorithm 7].

use crosstie_units::Time;

use super::Dynamic;
use crate::{Dispatch, NodeSpec, PeId, Stripe, StripingRatio};

impl Dynamic {
    /// The policy of one node under the hybrid scheme: messages of fewer bytes than the threshold
    /// (SHORT_MESSAGE_LENGTH) are short.
    pub fn hybrid(
        spec: &NodeSpec,
        ratio: StripingRatio,
        timeout: Option<Time>,
        threshold: u64,
    ) -> Dynamic {
        let mut hybrid = Dynamic::new(spec, ratio, timeout);
        hybrid.threshold = threshold;
        hybrid
    }

    /// Sends the next message of a PE, a short one, on one NIC: in turn among the free ones, or
    /// among all if none is free. It leaves the status of the NIC as it is, and the receiver takes
    /// it in any state. False if no rail is up.
    pub(super) fn send_short(&mut self, pe: PeId, bytes: u64, dispatch: &mut Dispatch) -> bool {
        let Some(head) = dispatch.head(pe) else { return false };
        let up = dispatch.up_to(head.to);
        let free = self.is_free().and(up);
        let rail = self.turn.take_one(if free.is_empty() { up } else { free });
        if let Some(rail) = rail {
            dispatch.send(pe, [Stripe { rail, bytes: 0..bytes }], false);
        }
        rail.is_some()
    }
}
