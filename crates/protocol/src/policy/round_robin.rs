//! Round robin: a node takes its rails in turn, message by message, unless a message names its own.

use super::Policy;
use crate::{Dispatch, PeId, Stripe, Turn};

/// All PEs of a node share one turn: what it sends is spread evenly, whoever sends it. Messages
/// that must not be cut have a turn of their own: the requests for long messages, which alternate
/// with these, would otherwise put all of them on the same rail.
#[derive(Debug, Default)]
pub struct RoundRobin {
    turns: [Turn; 2],
}

impl Policy for RoundRobin {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        while let Some(head) = dispatch.head(pe) {
            let (bytes, named, whole) = (head.bytes, head.rail, head.whole);
            let up = dispatch.up_to(head.to);
            let rail = match named {
                Some(rail) if up.contains(rail) => rail,
                _ => match self.turns[usize::from(whole)].take_one(up) {
                    Some(rail) => rail,
                    None => return,
                },
            };
            dispatch.send(pe, [Stripe { rail, bytes: 0..bytes }], false);
        }
    }
}
