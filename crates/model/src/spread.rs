//! How a message is spread over the rails of a node.
//!
//! Rail i passes a full packet of b bytes every g_i at best, which is the longest of its g_s, O_s
//! and g_r; it is free at F_i, and a packet is under way for L_i. What n packets that it is given
//! from F_i on take is a closed form, [`Cut`]: the last is there at F_i + L_i + (n - 1) g_i. The
//! policy says how many packets each rail is given:
//!
//! ```text
//! one rail a message     all of them, on the rail whose turn it is
//! even, weighted         ceil(m w_i / (b (w_1 + ... + w_n))): the last rail to finish decides
//! adaptive               the weights with which all rails finish together, where stripes settle
//! pull                   the rail that is there first takes the next packet
//! fastest                all of them, on the rail on which the last is there first
//! ```
//!
//! *Pull.* Let T be the time at which rails finish together. Rail i has brought
//! (T - F_i - L_i) / g_i + 1 packets by then, if that is not negative. These add up to the k
//! packets of the message, so that
//!
//! ```text
//! T = (k + sum (F_i + L_i - g_i) / g_i) / sum 1 / g_i
//! ```
//!
//! over the rails that are there before T: those with the first F_i + L_i, as many as it takes.
//! Packets are whole, so each rail takes the whole ones of its share, less one, and the few that
//! are left go one by one to where they arrive first. That is exact if a rail takes a packet
//! whenever one has left. A real puller is told of that an acknowledgement later, has as much ahead
//! of it as that takes, and learns g_i and L_i from the packets before: the price assumes that it
//! knows them, as it does after the first messages.
//!
//! *Adaptive striping.* Weights follow the times of stripes until these are equal: the same T with
//! all rails free, in bytes. What they are before they settle is not priced.
//!
//! *Local-dynamic* takes the rails that are free, or the one that is free next. *Dynamic* and
//! *hybrid* are priced the same: what reserving NICs takes is not known.

use crate::{Cluster, Cut, Packet, Rail};
use crosstie_collective::Rank;
use crosstie_protocol::policy::{Multiplexer, Rule, Shares};
use crosstie_protocol::weights::{Adaptation, AdaptiveWeights, cut};
use crosstie_protocol::{
    Allocation, NodeId, PeId, PolicyKind, RailId, RailSet, Stripe, StripingRatio, Turn, algorithm2,
    level, split,
};
use crosstie_units::Time;
use std::sync::Arc;

/// A message that is to be spread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing {
    pub to: Rank,
    pub bytes: u64,
    /// True if it must not be cut.
    pub whole: bool,
}

/// The NIC of a rail at one time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Nic {
    /// When a packet can be handed to it; for a message of one packet, which pull lets pass those
    /// of long ones, that may be sooner.
    pub free: Time,
    pub short: Time,
    /// When it neither sends stripes nor receives any more.
    pub idle: Time,
}

/// Where the policy of a rank stands: whose turn it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spread {
    rank: Rank,
    /// Which ranks send on which rail, where that is fixed.
    allocation: Option<Arc<Allocation>>,
    turns: [Turn; 2],
    multiplexers: [Multiplexer; 2],
}

impl Spread {
    /// Those of `ranks` ranks, which have sent nothing yet.
    pub fn all(cluster: &Cluster, nodes: u32, ranks: u32) -> Vec<Spread> {
        let rails = cluster.rails.len() as u32;
        let fixed = cluster.policy == PolicyKind::Static {};
        let allocation = || Allocation::new(algorithm2(rails, nodes.max(ranks)).ok()?).ok();
        // Where rails are too few for it, the nodes refuse the policy.
        let allocation = fixed.then(allocation).flatten().map(Arc::new);
        (0..ranks).map(|rank| Spread::new(cluster, Rank(rank), allocation.clone())).collect()
    }

    fn new(cluster: &Cluster, rank: Rank, allocation: Option<Arc<Allocation>>) -> Spread {
        let rule = match cluster.policy {
            PolicyKind::Binding {} => Rule::Binding,
            PolicyKind::WeightedRoundRobin { weights } => Rule::Weighted(weights),
            PolicyKind::WindowRoundRobin { window } => Rule::Window(window),
            _ => Rule::RoundRobin,
        };
        let multiplexer = Multiplexer::new(rule, cluster.rails.len() as u32);
        let multiplexers = [multiplexer.clone(), multiplexer];
        Spread { rank, allocation, turns: Default::default(), multiplexers }
    }

    /// The rails on which this rank sends and another receives.
    fn towards(&self, to: Rank, up: RailSet) -> RailSet {
        let Some(allocation) = &self.allocation else { return up };
        let matrix = allocation.matrix();
        let (from, to) = (NodeId(self.rank.0), NodeId(to.0));
        let leads = |&rail: &RailId| matrix.transmits(rail, from) && !matrix.transmits(rail, to);
        up.iter().filter(leads).collect()
    }

    /// The stripes of the next message, `now`, on NICs that are as they are.
    pub fn next(
        &mut self,
        cluster: &Cluster,
        nodes: u32,
        message: Outgoing,
        now: Time,
        nics: &[Nic],
        stripes: &mut Vec<Stripe>,
    ) {
        stripes.clear();
        let Outgoing { to, bytes, whole } = message;
        let up = RailSet::all(cluster.rails.len() as u32);
        let shared = &mut self.multiplexers[usize::from(whole)];
        let rail = match cluster.policy {
            PolicyKind::RoundRobin {} => self.turns[usize::from(whole)].take_one(up),
            PolicyKind::Basic {} => self.turns[0].take_one(up),
            PolicyKind::Static {} => {
                let towards = self.towards(to, up);
                self.turns[0].take_one(towards)
            }
            PolicyKind::Binding {}
            | PolicyKind::WeightedRoundRobin { .. }
            | PolicyKind::WindowRoundRobin { .. } => shared.next(PeId(0), NodeId(to.0), up),
            PolicyKind::EvenStriping { threshold }
            | PolicyKind::WeightedStriping { threshold, .. }
            | PolicyKind::AdaptiveStriping { threshold, .. }
                if whole || bytes < threshold.get() =>
            {
                self.multiplexers[0].next(PeId(0), NodeId(to.0), up)
            }
            PolicyKind::EvenStriping { .. } => {
                return stripes.extend(cut(bytes, &weights(Shares::EQUAL, up)));
            }
            PolicyKind::WeightedStriping { weights: shares, .. } => {
                return stripes.extend(cut(bytes, &weights(shares, up)));
            }
            PolicyKind::AdaptiveStriping { alpha, floor, units, .. } => {
                let adaptation = Adaptation { alpha, floor, units };
                return stripes.extend(cut(bytes, &settled(cluster, nodes, bytes, adaptation)));
            }
            PolicyKind::LocalDynamic { striping } | PolicyKind::Dynamic { striping, .. } => {
                let taken = self.free(striping, message, now, nics);
                return stripes.extend(split(bytes, taken));
            }
            PolicyKind::Hybrid { striping, threshold, .. } => {
                let short = bytes < threshold.get();
                let ratio = if short { StripingRatio::ONE } else { striping };
                let taken = self.free(ratio, message, now, nics);
                return stripes.extend(split(bytes, taken));
            }
            PolicyKind::Pull {} if !whole && bytes > cluster.first().packet.get() => {
                return pull(cluster, nodes, bytes, nics, stripes);
            }
            PolicyKind::Pull {} | PolicyKind::Fastest {} => {
                let soonest = soonest(cluster, nodes, bytes, nics);
                self.turns[0].take_one(soonest)
            }
        };
        let rail = rail.expect("every rail is up");
        stripes.push(Stripe { rail, bytes: 0..bytes });
    }

    /// The rails that are free, as many as the ratio says; the one that is free next if none is.
    fn free(
        &mut self,
        ratio: StripingRatio,
        message: Outgoing,
        now: Time,
        nics: &[Nic],
    ) -> RailSet {
        let rails = || (0..).map(RailId).zip(nics);
        let free = |&(_, nic): &(RailId, &Nic)| nic.idle <= now;
        let mut set: RailSet = rails().filter(free).map(|(rail, _)| rail).collect();
        if set.is_empty() {
            let next = rails().min_by_key(|(_, nic)| nic.idle).expect("there is a rail");
            set.insert(next.0);
        }
        let most = if message.whole { 1 } else { message.bytes.clamp(1, 1 << 16) as u32 };
        self.turns[0].take(set, ratio.of(set.len()).min(most))
    }
}

fn weights(shares: Shares, rails: RailSet) -> Vec<(RailId, f64)> {
    rails.iter().map(|rail| (rail, f64::from(shares.of(rail)))).collect()
}

/// How often full packets follow each other at best: g_i.
fn every(full: &Packet) -> Time {
    full.departure().max(full.receive_gap)
}

/// The full packet of a rail.
fn full(rail: &Rail, nodes: u32) -> Packet {
    rail.parameters.packet_of(rail.parameters.packet.get(), nodes)
}

/// A rail that takes what it can: when it would have brought nothing, and what one unit takes, in
/// picoseconds.
#[derive(Debug, Clone, Copy)]
struct Taker {
    rail: RailId,
    free: f64,
    pace: f64,
}

/// The least that a unit takes, in picoseconds.
const LEAST: f64 = 1e-3;

/// When rails finish together that take `units` units between them.
fn together(takers: &mut [Taker], units: f64) -> f64 {
    takers.sort_by(|a, b| a.free.total_cmp(&b.free));
    level::finish(takers.iter().map(|taker| (taker.free, taker.pace)), units)
}

/// The weights of adaptive striping when they have settled for messages of this length.
fn settled(
    cluster: &Cluster,
    nodes: u32,
    bytes: u64,
    adaptation: Adaptation,
) -> Vec<(RailId, f64)> {
    let taker = |(rail, own): (u32, &Rail)| {
        let (full, packet) = (full(own, nodes), own.parameters.packet.get().max(1));
        let gap = every(&full).ps() as f64;
        let pace = (gap / packet as f64).max(LEAST);
        Taker { rail: RailId(rail), free: full.latency.ps() as f64 - gap, pace }
    };
    let mut takers: Vec<Taker> = (0..).zip(&cluster.rails).map(taker).collect();
    let end = together(&mut takers, bytes.max(1) as f64);
    let mut shares = vec![0.0; cluster.rails.len()];
    for taker in &takers {
        shares[taker.rail.0 as usize] = ((end - taker.free) / taker.pace).max(0.0);
    }
    let weights = AdaptiveWeights::starting_at(adaptation, &shares);
    (0..).map(RailId).zip(weights.get().iter().copied()).collect()
}

/// The rails on which the last packet of a message is there first.
fn soonest(cluster: &Cluster, nodes: u32, bytes: u64, nics: &[Nic]) -> RailSet {
    let there = |(rail, nic): (&Rail, &Nic)| {
        let cut = Cut::new(&rail.parameters, bytes, nodes);
        nic.short + cut.arrival()
    };
    let times = || cluster.rails.iter().zip(nics).map(there);
    let first = times().min().expect("there is a rail");
    (0..)
        .map(RailId)
        .zip(times())
        .filter(|(_, time)| *time == first)
        .map(|(rail, _)| rail)
        .collect()
}

/// Lets rails take the packets of a message as they finish. Rails of one port are one.
fn pull(cluster: &Cluster, nodes: u32, bytes: u64, nics: &[Nic], stripes: &mut Vec<Stripe>) {
    let packet = cluster.first().packet.get().max(1);
    let packets = bytes.div_ceil(packet);
    let own_port = |&number: &usize| {
        let port = cluster.rails[number].port;
        cluster.rails[..number].iter().all(|rail| rail.port != port)
    };
    let taker = |number: usize| {
        let full = full(&cluster.rails[number], nodes);
        let gap = every(&full).ps() as f64;
        let free = (nics[number].free + full.latency).ps() as f64 - gap;
        Taker { rail: RailId(number as u32), free, pace: gap.max(LEAST) }
    };
    let mut takers: Vec<Taker> = (0..cluster.rails.len()).filter(own_port).map(taker).collect();
    let end = together(&mut takers, packets as f64);
    let mut counts = vec![0u64; takers.len()];
    let mut left = packets;
    for (count, taker) in counts.iter_mut().zip(&takers) {
        let share = ((end - taker.free) / taker.pace) as u64;
        *count = share.saturating_sub(1).min(left);
        left -= *count;
    }
    for _ in 0..left {
        let there =
            |place: usize| takers[place].free + (counts[place] + 1) as f64 * takers[place].pace;
        let first = (0..takers.len()).min_by(|&a, &b| there(a).total_cmp(&there(b)));
        counts[first.expect("there is a rail")] += 1;
    }
    // The last packet, which may be short, goes where it is there last: that is when it is over.
    let mut start = 0;
    let there = |place: &usize| takers[*place].free + counts[*place] as f64 * takers[*place].pace;
    let taking = |place: &usize| counts[*place] > 0;
    let mut order: Vec<usize> = (0..takers.len()).filter(taking).collect();
    order.sort_by(|a, b| there(a).total_cmp(&there(b)));
    for place in order {
        let end = (start + counts[place] * packet).min(bytes);
        stripes.push(Stripe { rail: takers[place].rail, bytes: start..end });
        start = end;
    }
}
