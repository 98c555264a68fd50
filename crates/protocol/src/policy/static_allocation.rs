//! Static allocation: each NIC either transmits or receives [coll, 2].

use std::sync::Arc;

use super::Policy;
use crate::{
    Allocation, Dispatch, NodeError, NodeId, NodeSpec, Outgoing, PeId, RailId, RailSet, Stripe,
    Turn,
};

/// One node's part of an allocation. PEs take the rails to a receiver in turn, each by itself: as
/// in the basic scheme nothing is known at run time.
#[derive(Debug)]
pub struct StaticAllocation {
    allocation: Arc<Allocation>,
    node: NodeId,
    turns: Vec<Turn>,
}

impl StaticAllocation {
    /// The policy of one node, if the allocation is for it.
    pub fn new(
        spec: &NodeSpec,
        allocation: &Arc<Allocation>,
    ) -> Result<StaticAllocation, NodeError> {
        let &NodeSpec { id, rails, pes, .. } = spec;
        let (expected, nodes) = (allocation.matrix().rails(), allocation.matrix().nodes());
        if rails != expected {
            return Err(NodeError::OtherRails { rails, expected });
        }
        if id.0 >= nodes {
            return Err(NodeError::UnknownNode { id, nodes });
        }
        let turns = vec![Turn::default(); pes as usize];
        Ok(StaticAllocation { allocation: Arc::clone(allocation), node: id, turns })
    }

    /// The rails on which this node transmits and the other receives.
    fn towards(&self, to: NodeId) -> RailSet {
        let matrix = self.allocation.matrix();
        assert!(to.0 < matrix.nodes(), "node {} is not in the static allocation", to.0);
        let leads =
            |&rail: &RailId| matrix.transmits(rail, self.node) && !matrix.transmits(rail, to);
        (0..matrix.rails()).map(RailId).filter(leads).collect()
    }
}

impl Policy for StaticAllocation {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        while let Some(&Outgoing { to, bytes, .. }) = dispatch.head(pe) {
            let rails = self.towards(to);
            assert!(!rails.is_empty(), "an allocation connects every pair of nodes");
            let (allocated, up) = (rails.and(dispatch.up_to(to)), dispatch.up_to(to));
            // Who outlives its rails takes any, rather than wait for those allocated.
            let any = allocated.is_empty() && dispatch.outlives_rails();
            let rails = if any { up } else { allocated };
            let Some(rail) = self.turns[pe.0 as usize].take_one(rails) else { return };
            dispatch.send(pe, [Stripe { rail, bytes: 0..bytes }], false);
        }
    }
}
