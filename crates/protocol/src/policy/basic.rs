//! Basic: round robin, whatever the NICs are doing [coll, 3].

use super::Policy;
use crate::{Dispatch, NodeSpec, PeId, Stripe, Turn};

/// Each PE takes the rails in turn by itself, which is how PEs come to use the same one.
#[derive(Debug)]
pub struct Basic {
    turns: Vec<Turn>,
}

impl Basic {
    /// The policy of one node.
    pub fn new(spec: &NodeSpec) -> Basic {
        Basic { turns: vec![Turn::default(); spec.pes as usize] }
    }
}

impl Policy for Basic {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        while let Some(head) = dispatch.head(pe) {
            let (bytes, up) = (head.bytes, dispatch.up_to(head.to));
            let Some(rail) = self.turns[pe.0 as usize].take_one(up) else { return };
            dispatch.send(pe, [Stripe { rail, bytes: 0..bytes }], false);
        }
    }
}
