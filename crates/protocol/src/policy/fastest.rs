//! Fastest: each message takes the rail on which it is expected to be there first.

use super::Policy;
use super::multiplex::named;
use crate::{Dispatch, NodeId, PeId, RailId, RailSet, Stripe, Turn};

/// Every message takes one rail, whole: by what is ahead of it on each, and by what each has shown of its pace and latency.
/// Of equals, in turn.
#[derive(Debug, Default)]
pub struct Fastest {
    turn: Turn,
}

/// When so many more bytes would be there, in picoseconds from now. A rail of which nothing is known is expected to take no
/// time, as long as it is idle: so it is tried.
pub(super) fn expected(dispatch: &Dispatch, to: NodeId, rail: RailId, bytes: u64) -> f64 {
    let gauge = dispatch.gauge(to, rail);
    let ahead = dispatch.under_way(rail);
    match gauge.pace_now(dispatch.now()) {
        Some(pace) => gauge.latency() + (ahead + bytes) as f64 * pace,
        None if ahead == 0 => gauge.latency(),
        None => f64::INFINITY,
    }
}

impl Fastest {
    /// The rail on which a message is expected to be there first; `None` if none is up.
    pub(super) fn choose(
        &mut self,
        dispatch: &Dispatch,
        to: NodeId,
        bytes: u64,
        up: RailSet,
    ) -> Option<RailId> {
        let time = |rail| expected(dispatch, to, rail, bytes);
        let least = up.iter().map(time).fold(f64::INFINITY, f64::min);
        self.turn.take_one(up.iter().filter(|&rail| time(rail) <= least).collect())
    }
}

impl Policy for Fastest {
    fn ready(&mut self, pe: PeId, dispatch: &mut Dispatch) {
        while let Some(&head) = dispatch.head(pe) {
            let up = dispatch.up();
            let rail = named(&head, up).or_else(|| self.choose(dispatch, head.to, head.bytes, up));
            let Some(rail) = rail else { return };
            dispatch.send(pe, [Stripe { rail, bytes: 0..head.bytes }], false);
        }
    }

    fn needs_gauges(&self) -> bool {
        true
    }
}
