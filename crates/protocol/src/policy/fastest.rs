//! Fastest: each message takes the rail on which it is expected to be there first.

use super::Policy;
use super::multiplex::named;
use crate::{Dispatch, NodeId, NodeSpec, PeId, RailId, RailSet, Stripe, Turn};

/// Every message takes one rail, whole: by what is ahead of it on each, and by what each has shown
/// of its pace and latency. Of equals, in turn.
#[derive(Debug)]
pub struct Fastest {
    turn: Turn,
    /// The most bytes of a packet.
    packet: u64,
}

/// A rail is tried again when it has not been used for so many times as long as it is expected to
/// take; and before, when it has not been used for longer than it had been known, since first
/// impressions may be wrong.
const LONG: f64 = 64.0;

impl Fastest {
    /// The policy of one node.
    pub fn new(spec: &NodeSpec) -> Fastest {
        let packet = spec.packing.payload.map_or(u64::MAX, u64::from);
        Fastest { turn: Turn::default(), packet }
    }

    /// When so many more bytes would be there, in picoseconds from now. A rail whose pace is not
    /// known is expected to take no time for bytes: so it is tried until it shows its pace, by
    /// not keeping up. And one that was not used for long may have become faster.
    fn expected(&self, dispatch: &Dispatch, to: NodeId, rail: RailId, bytes: u64) -> f64 {
        let (now, gauge) = (dispatch.now(), dispatch.gauge(to, rail));
        let ahead = dispatch.under_way(rail);
        let found = match gauge.pace_now(now, bytes.min(self.packet)) {
            Some(pace) => gauge.latency() + (ahead + bytes) as f64 * pace,
            None => gauge.latency().max(gauge.silent(now)),
        };
        let again = gauge.age().max(found).min(LONG * found);
        if gauge.unused(now) > again { 0.0 } else { found }
    }

    /// The rails on which a message is expected to be there first.
    fn soonest(&self, dispatch: &Dispatch, to: NodeId, bytes: u64, up: RailSet) -> RailSet {
        if up.len() < 2 {
            return up;
        }
        let time = |rail| self.expected(dispatch, to, rail, bytes);
        let least = up.iter().map(time).fold(f64::INFINITY, f64::min);
        up.iter().filter(|&rail| time(rail) <= least).collect()
    }

    /// The rail on which a message is expected to be there first; `None` if none is up.
    pub(super) fn choose(
        &mut self,
        dispatch: &Dispatch,
        to: NodeId,
        bytes: u64,
        up: RailSet,
    ) -> Option<RailId> {
        self.turn.take_one(self.soonest(dispatch, to, bytes, up))
    }
}

impl Policy for Fastest {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        while let Some(&head) = dispatch.head(pe) {
            let up = dispatch.up_to(head.to);
            let steady = dispatch.steady_to(head.to);
            let rail =
                named(&head, up).or_else(|| self.choose(dispatch, head.to, head.bytes, steady));
            let Some(rail) = rail else { return };
            dispatch.send(pe, [Stripe { rail, bytes: 0..head.bytes }], false);
        }
    }

    fn needs_gauges(&self) -> bool {
        true
    }
}
