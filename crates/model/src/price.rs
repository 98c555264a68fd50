//! The price of any schedule.
//!
//! Messages are followed one by one, in the order of time, and none packet by packet. A message of
//! k packets (see [`Cut`](crate::Cut)) keeps these rules, in which the costs are those of its
//! packets:
//!
//! ```text
//! a send starts at t                 when its processor is free, and the NIC takes its first packet at t + O_s
//!   the processor is busy until      t + k O_s           the send is then done
//!   packets go to the NIC at         t + O_s, and then every max(g_s, O_s)
//!   the NIC is busy until            g_s behind the last of them
//!   the first is at the receiver     L later, and is delivered when the receiving NIC has done with the
//!                                    messages before it and another g_r has passed
//!   the last is delivered            as it comes, but no sooner than the receiving NIC can: every g_r
//! a reception starts                 when the processor is free, as late as it can without being late, and not
//!                                    before the first packet is delivered
//!   the processor is busy for        k (O_r + U_r), until O_r + U_r behind the last packet or later
//! ```
//!
//! Processors serve who came first, among those who can start: a send that waits for its NIC holds
//! up only the sends behind it. Of those who came together, the one goes first that the schedule
//! has first. But receptions go last, for a rank goes on with what it has before it takes up what
//! has come.
//!
//! A NIC receives one message at a time, in the order in which they come. A message is received
//! whether or not anybody has asked for it, by the processor with the sender's number; a receive
//! that comes later takes no time.
//!
//! A message takes the rail that it names, or those over which the policy of a [`Cluster`] spreads
//! it; what it puts on each rail keeps these rules by itself, and it is received when all of it is
//! there. Rails that are pulled let short messages pass. Without a protocol between ranks there is
//! no rendezvous: no send waits for its receive. With [one](Cluster::messages), a messenger of
//! `crosstie-protocol` says what goes eagerly and what after an RTS and a CTS, for each of which
//! these rules hold, too. With processors of [LogGOPS](Cluster::processors), o and O for each
//! message stand beside the costs of packets, as in the simulator's hosts.
//!
//! So a message alone takes what [`Transfer::one_way`](crate::Transfer::one_way) says, and two in
//! opposite directions what [`Transfer::exchange`](crate::Transfer::exchange) does. In a tree whose
//! first child is disturbed and in which g > O_s, the [`PacketTree`](crate::PacketTree) lets a node
//! send a packet to all its children before it receives the next; here the next may be received
//! while a send waits for the NIC.
//!
//! This is not the simulator's queue of tasks: O and g are those of packets, a reception starts as
//! late as it can, and those that come together go by their order in the schedule. Where processors
//! or NICs are contended, the two may differ. Matching and messengers are the same.
//!
//! Where packets of several messages take turns, and where there are uplinks, each packet is
//! followed as a message of its own; of very many, a few together. A processor writes one while its
//! NIC is busy with the one before. A global window holds a packet back until there is room in it
//! ([`feedback`](feedback())). An uplink passes one packet after the other, in the order in which
//! they come: what it takes for one alone is in L, and those behind it wait.
//!
//! The price assumes that nothing is lost. [`Congestion`] says when that cannot be so.

mod backlog;
mod congestion;
mod crossing;
mod desk;
mod engine;
mod error;
mod feedback;
mod letter;
mod log;
mod path;
mod pattern;
mod protocol;
mod rails;
mod stretch;
mod turns;

pub use congestion::{Congestion, Place};
pub use error::PriceError;
pub use feedback::{feedback, pace, paced};
pub use pattern::{both_ways, ping, stream};
pub use rails::RailUse;
pub use stretch::{Resource, Shares, Stretch, What};

use crate::{Cluster, Parameters};
use crosstie_collective::{OpId, Rank, Schedule, Step};
use crosstie_units::Time;
use engine::State;
use log::Log;
use serde::Serialize;

/// What a schedule takes, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Price {
    /// When the last rank is done.
    pub time: Time,
    /// When each rank is.
    pub finish: Vec<Time>,
    /// The critical path: what the last rank had to wait for, from the beginning to the end
    /// without a gap.
    pub path: Vec<Stretch>,
    /// What it is spent on.
    pub shares: Shares,
    /// What most of it is spent on; the buffer, if it cannot be so at all.
    pub bottleneck: Resource,
    /// Whether, and where, packets would be lost.
    pub congestion: Option<Congestion>,
    /// What each rail carries, over all ranks.
    pub rails: Vec<RailUse>,
}

/// The price of a schedule on one rail among `nodes` nodes: p, on which L may depend.
pub fn price(
    schedule: &Schedule,
    parameters: &Parameters,
    nodes: u32,
) -> Result<Price, PriceError> {
    price_on(schedule, &Cluster::from(*parameters), nodes)
}

/// The price of a schedule on the rails of a cluster.
pub fn price_on(schedule: &Schedule, cluster: &Cluster, nodes: u32) -> Result<Price, PriceError> {
    let mut prices = iterations(schedule, cluster, nodes, 1)?;
    Ok(prices.remove(0))
}

/// Iterations that are priced where credit takes turns with messages: it is given back for half of
/// 32 eager messages.
const CREDITS: usize = 68;

/// The most iterations that are priced before turns come round.
const MOST_TURNS: usize = 1024;

/// The prices of a schedule that is played again and again, until they repeat themselves: policies
/// in which messages take turns go on where they are. There are at most `most`, and one at least.
pub fn iterations(
    schedule: &Schedule,
    cluster: &Cluster,
    nodes: u32,
    most: u32,
) -> Result<Vec<Price>, PriceError> {
    check(schedule)?;
    let taken_apart = turns::by_packets(schedule, cluster, nodes);
    let priced = taken_apart.as_ref().map_or(cluster, |(_, paced)| paced);
    let credit_takes_turns =
        cluster.messages.is_some() && cluster.rails.len() > 1 && !cluster.policy.stripes();
    let state = || State::new(priced, nodes, schedule.ranks());
    // Turns stand after an iteration as they did before, or after the first one.
    let (begin, mut now, mut second) = (state().spreads, state(), None);
    let mut prices = Vec::new();
    loop {
        let log = match &taken_apart {
            // What never ends does not end packet by packet either, and is told by its operations.
            Some((packets, _)) => {
                engine::run(packets, priced, nodes, true, &mut now).or_else(|_| {
                    let mut whole = State::new(cluster, nodes, schedule.ranks());
                    engine::run(schedule, cluster, nodes, false, &mut whole)
                })?
            }
            None => engine::run(schedule, cluster, nodes, false, &mut now)?,
        };
        let played = taken_apart.as_ref().map_or(schedule, |(packets, _)| packets);
        prices.push(Price::of(played, cluster, &log));
        // Credit that is given back takes a turn, too, now and then.
        let all = if credit_takes_turns { CREDITS } else { 1 };
        let repeats = now.spreads == begin || second.as_ref() == Some(&now.spreads);
        if repeats && prices.len() >= all {
            let first = usize::from(now.spreads != begin);
            prices.truncate(prices.len() - first);
            return Ok(prices);
        }
        second.get_or_insert_with(|| now.spreads.clone());
        if prices.len() >= (most as usize).min(MOST_TURNS) {
            return Ok(prices);
        }
    }
}

impl Price {
    fn of(schedule: &Schedule, cluster: &Cluster, log: &Log) -> Price {
        let path = path::critical(schedule, log);
        let shares = Shares::of(&path);
        let congestion = backlog::overflow(log, cluster.first());
        let bottleneck = if congestion.is_some() { Resource::Buffer } else { shares.most() };
        let finish = log.finish(schedule);
        let time = finish.iter().copied().max().unwrap_or(Time::ZERO);
        let rails = RailUse::all(cluster, log);
        Price { time, finish, path, shares, bottleneck, congestion, rails }
    }
}

/// Refuses reads of memory, sends to several ranks at once, and sends to ranks that there are not.
fn check(schedule: &Schedule) -> Result<(), PriceError> {
    if let Some((rank, op)) = schedule.first_get() {
        return Err(PriceError::Get { rank, op });
    }
    if let Some((rank, op)) = schedule.first_cast() {
        return Err(PriceError::Cast { rank, op });
    }
    let ranks = schedule.ranks();
    for rank in (0..ranks).map(Rank) {
        for (op, found) in schedule.ops(rank).iter().enumerate() {
            if let Step::Send { to, .. } = found.step
                && to.0 >= ranks
            {
                return Err(PriceError::NoSuchRank { rank, op: OpId(op as u32), to, ranks });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
