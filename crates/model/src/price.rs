//! The price of any schedule.
//!
//! Messages are followed one by one, in the order of time, and none packet by packet. A message of k packets
//! (see [`Cut`](crate::Cut)) keeps these rules, in which the costs are those of its packets:
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
//! Processors serve who came first, among those who can start: a send that waits for its NIC holds up only the sends
//! behind it. Of those who came together, the one goes first that the schedule has first.
//! But receptions go last, for a rank goes on with what it has before it takes up what has come.
//! A NIC receives one message at a time, in the order in which they come. A message is received whether or not
//! anybody has asked for it, by the processor with the sender's number; a receive that comes later takes no time.
//! Messages take the rail that they name, or the first. Nothing waits for a receive to be asked for: there is
//! no rendezvous.
//!
//! So a message alone takes what [`Transfer::one_way`](crate::Transfer::one_way) says, and two in opposite
//! directions what [`Transfer::exchange`](crate::Transfer::exchange) does. In a tree whose first child is disturbed
//! and in which g > O_s, the [`PacketTree`](crate::PacketTree) lets a node send a packet to all its children
//! before it receives the next; here the next may be received while a send waits for the NIC.
//!
//! The price assumes that nothing is lost. [`Congestion`] says when that cannot be so.

mod backlog;
mod desk;
mod engine;
mod inbox;
mod path;
mod pattern;

pub use pattern::{ping, stream};

use crate::{Architecture, Parameters};
use crosstie_collective::{OpId, Rank, Schedule, Step};
use crosstie_units::Time;
use serde::Serialize;
use std::fmt;

/// What time is spent on, or waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resource {
    /// Processors that send and receive: O_s, O_r, U_r.
    Host,
    /// NICs: g_s, g_r.
    Gap,
    /// The way through the network: L.
    Wire,
    /// Processors that compute.
    Compute,
    /// The buffer of the router: B_L. It takes no time, but what it cannot keep is lost.
    Buffer,
}

impl Resource {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Host => "host",
            Resource::Gap => "gap",
            Resource::Wire => "wire",
            Resource::Compute => "compute",
            Resource::Buffer => "buffer",
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is done on the critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// A processor computes.
    Compute,
    /// A processor sends: O_s.
    Send,
    /// A processor receives: O_r + U_r.
    Receive,
    /// Nothing, until a processor is free.
    AwaitHost,
    /// Packets follow each other: g_s or g_r.
    Gap,
    /// Nothing, until a NIC is free.
    AwaitGap,
    /// A packet is on its way: L.
    Wire,
}

impl What {
    /// What it is that takes the time. Waiting counts for what is waited for.
    pub fn resource(self) -> Resource {
        match self {
            What::Compute => Resource::Compute,
            What::Send | What::Receive | What::AwaitHost => Resource::Host,
            What::Gap | What::AwaitGap => Resource::Gap,
            What::Wire => Resource::Wire,
        }
    }
}

/// A stretch of the critical path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stretch {
    /// Whose processor or NIC it is; of a wire, who sends.
    #[serde(serialize_with = "number")]
    pub rank: Rank,
    /// What is done.
    pub what: What,
    /// When it begins.
    pub from: Time,
    /// When it ends.
    pub to: Time,
}

fn number<S: serde::Serializer>(rank: &Rank, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u32(rank.0)
}

/// What the critical path is spent on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Shares {
    /// Processors that send and receive.
    pub host: Time,
    /// NICs.
    pub gap: Time,
    /// The way through the network.
    pub wire: Time,
    /// Processors that compute.
    pub compute: Time,
}

impl Shares {
    fn of(path: &[Stretch]) -> Shares {
        let mut shares = Shares::default();
        for stretch in path {
            let share = match stretch.what.resource() {
                Resource::Gap => &mut shares.gap,
                Resource::Wire => &mut shares.wire,
                Resource::Compute => &mut shares.compute,
                Resource::Host | Resource::Buffer => &mut shares.host,
            };
            *share = *share + (stretch.to - stretch.from);
        }
        shares
    }

    /// The largest of them.
    fn most(&self) -> Resource {
        let mut most = (Resource::Host, self.host);
        let others = [
            (Resource::Gap, self.gap),
            (Resource::Wire, self.wire),
            (Resource::Compute, self.compute),
        ];
        for other in others {
            if other.1 > most.1 {
                most = other;
            }
        }
        most.0
    }
}

/// More packets would wait in the router than it can keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Congestion {
    /// Where packets wait.
    pub architecture: Architecture,
    /// Who is at the port with the most: a sender if it keeps them at the input, a receiver if at the output.
    /// `None` if all ports share a memory.
    #[serde(serialize_with = "perhaps_number")]
    pub port: Option<Rank>,
    /// When.
    pub at: Time,
    /// How many would wait.
    pub peak: u64,
    /// How many can.
    pub frames: u32,
}

fn perhaps_number<S: serde::Serializer>(rank: &Option<Rank>, to: S) -> Result<S::Ok, S::Error> {
    match rank {
        Some(rank) => to.serialize_some(&rank.0),
        None => to.serialize_none(),
    }
}

impl fmt::Display for Congestion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Congestion { at, peak, frames, .. } = self;
        write!(f, "{peak} packets would wait ")?;
        match (self.architecture, self.port) {
            (Architecture::Input, Some(Rank(rank))) => {
                write!(f, "at the input port of rank {rank}")?
            }
            (_, Some(Rank(rank))) => write!(f, "at the output port of rank {rank}")?,
            (_, None) => f.write_str("in the shared buffer")?,
        }
        write!(f, " at {at}, which keeps {frames}; the price assumes that none is lost")
    }
}

/// What a schedule takes, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Price {
    /// When the last rank is done.
    pub time: Time,
    /// When each rank is.
    pub finish: Vec<Time>,
    /// The critical path: what the last rank had to wait for, from the beginning to the end without a gap.
    pub path: Vec<Stretch>,
    /// What it is spent on.
    pub shares: Shares,
    /// What most of it is spent on; the buffer, if it cannot be so at all.
    pub bottleneck: Resource,
    /// Whether, and where, packets would be lost.
    pub congestion: Option<Congestion>,
}

/// Why a schedule has no price.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// A receive waits for a message that never comes.
    #[error("operation {} of rank {} waits for ever for a message from {}, {}", op.0, rank.0, source_of(*from), tag_of(*tag))]
    Unmatched {
        /// Who waits.
        rank: Rank,
        /// The receive.
        op: OpId,
        /// The sender it asks for.
        from: Option<Rank>,
        /// The tag it asks for.
        tag: Option<u32>,
    },
    /// A message goes to nobody.
    #[error("operation {} of rank {} sends to rank {}, expected a rank below {ranks}", op.0, rank.0, to.0)]
    NoSuchRank {
        /// Who sends.
        rank: Rank,
        /// The send.
        op: OpId,
        /// To whom.
        to: Rank,
        /// How many there are.
        ranks: u32,
    },
}

fn source_of(from: Option<Rank>) -> String {
    from.map_or("any rank".to_owned(), |from| format!("rank {}", from.0))
}

fn tag_of(tag: Option<u32>) -> String {
    tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"))
}

/// The price of a schedule among so many nodes: p, on which L may depend.
pub fn price(
    schedule: &Schedule,
    parameters: &Parameters,
    nodes: u32,
) -> Result<Price, PriceError> {
    check(schedule)?;
    let log = engine::run(schedule, parameters, nodes)?;
    let path = path::critical(schedule, &log);
    let shares = Shares::of(&path);
    let congestion = parameters.buffer.and_then(|buffer| backlog::overflow(&log, buffer));
    let bottleneck = if congestion.is_some() { Resource::Buffer } else { shares.most() };
    let finish = log.finish(schedule);
    let time = finish.iter().copied().max().unwrap_or(Time::ZERO);
    Ok(Price { time, finish, path, shares, bottleneck, congestion })
}

/// Every message goes to somebody.
fn check(schedule: &Schedule) -> Result<(), PriceError> {
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
