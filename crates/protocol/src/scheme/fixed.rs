//! Static: each NIC either transmits or receives [coll, 2].

use std::sync::Arc;

use crosstie_units::Time;

use super::Rules;
use crate::dispatch::Dispatch;
use crate::{Allocation, NodeError, NodeId, NodeSpec, PeId, RailId, RailSet, Turn};

/// One node's part of an allocation. PEs take the rails to a receiver in turn, each by itself: as
/// in the basic scheme nothing is known at run time.
#[derive(Debug)]
pub(super) struct Fixed {
    allocation: Arc<Allocation>,
    node: NodeId,
    turns: Vec<Turn>,
}

impl Fixed {
    pub fn new(spec: &NodeSpec, allocation: &Arc<Allocation>) -> Result<Fixed, NodeError> {
        let &NodeSpec { id, rails, pes, .. } = spec;
        let (expected, nodes) = (allocation.matrix().rails(), allocation.matrix().nodes());
        if rails != expected {
            return Err(NodeError::OtherRails { rails, expected });
        }
        if id.0 >= nodes {
            return Err(NodeError::UnknownNode { id, nodes });
        }
        let turns = vec![Turn::default(); pes as usize];
        Ok(Fixed { allocation: Arc::clone(allocation), node: id, turns })
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

impl Rules for Fixed {
    fn ready(&mut self, _now: Time, pe: PeId, dispatch: &mut Dispatch) {
        let to = dispatch.head(pe).expect("the PE has a message").to;
        let rails = self.towards(to);
        let rail = self.turns[pe.0 as usize].take_one(rails);
        assert!(rail.is_some(), "an allocation connects every pair of nodes");
        dispatch.send(pe, RailSet::from_iter(rail), false);
    }
}
