//! Round robin: a node takes its rails in turn, message by message, unless a message names its own.

use super::Policy;
use crate::{Dispatch, PeId, Stripe, Turn};

/// All PEs of a node share one turn: what it sends is spread evenly, whoever sends it.
#[derive(Debug, Default)]
pub struct RoundRobin {
    turn: Turn,
}

impl Policy for RoundRobin {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        while let Some(head) = dispatch.head(pe) {
            let (bytes, named) = (head.bytes, head.rail);
            let up = dispatch.up();
            let rail = match named {
                Some(rail) if up.contains(rail) => rail,
                _ => match self.turn.take_one(up) {
                    Some(rail) => rail,
                    None => return,
                },
            };
            dispatch.send(pe, [Stripe { rail, bytes: 0..bytes }], false);
        }
    }
}
