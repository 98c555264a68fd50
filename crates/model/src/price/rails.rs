//! What each rail carries.

use super::log::Log;
use crate::Cluster;
use crosstie_units::Time;
use serde::Serialize;

/// What a rail carries, over all ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RailUse {
    /// Bytes of messages, with those of their headers and control messages.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// How long NICs take to send these.
    pub busy: Time,
}

impl RailUse {
    /// Of each rail of a cluster.
    pub(super) fn all(cluster: &Cluster, log: &Log) -> Vec<RailUse> {
        let mut shares = vec![RailUse::default(); cluster.rails.len()];
        for part in &log.parts {
            // What names a rail that there is not is priced as on the first.
            let rail = if usize::from(part.rail) < shares.len() { part.rail } else { 0 };
            let share = &mut shares[usize::from(rail)];
            share.bytes += u64::from(part.bytes);
            share.packets += part.cut.packets;
            share.busy = share.busy + part.cut.sum(|packet| packet.send_gap);
        }
        shares
    }
}
