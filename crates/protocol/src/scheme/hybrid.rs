//! Hybrid: short messages go without reservation [coll, algorithm 7].

use crate::dispatch::Dispatch;
use crate::{PeId, RailSet, Turn};

/// Sends the next message of a PE on one NIC, in turn among the free ones, or among all if none is
/// free. It leaves the status of the NIC as it is, and the receiver takes it in any state.
pub(super) fn send_short(pe: PeId, free: RailSet, turn: &mut Turn, dispatch: &mut Dispatch) {
    let choice = if free.is_empty() { dispatch.rails() } else { free };
    dispatch.send(pe, RailSet::from_iter(turn.take_one(choice)), false);
}
