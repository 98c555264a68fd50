//! What a node does about ways that die: what was given to them goes again on others, and waits if
//! there are none.

use std::collections::VecDeque;

use crosstie_units::{Rate, Time};

use super::{Dispatch, Order, Outgoing};
use crate::level::finish;
use crate::outbox::{Burial, Handed};
use crate::way::{Orphan, Reach, Ways};
use crate::weights::cut;
use crate::{NodeId, PeId, RailId, RailSet, Stripe};

impl Dispatch {
    /// When something is to be looked after.
    #[inline]
    pub(crate) fn alarm(&self) -> Option<Time> {
        self.ways.as_ref().and_then(Ways::alarm)
    }

    /// The links of the rails are so fast.
    pub(crate) fn know_rates(&mut self, rates: &[Rate]) {
        if let Some(ways) = &mut self.ways {
            ways.know_rates(rates);
        }
    }

    /// Ways that have been silent for too long.
    pub(crate) fn silent(&mut self) -> Vec<(NodeId, RailId)> {
        let now = self.now;
        let silent = self.ways.as_mut().map_or(Vec::new(), |ways| ways.silent(now));
        self.deaths += silent.len() as u64;
        silent
    }

    /// Peers to which there has been no way for too long.
    pub(crate) fn give_up(&mut self) -> Vec<NodeId> {
        let now = self.now;
        self.ways.as_mut().map_or(Vec::new(), |ways| ways.give_up(now))
    }

    /// A peer has given this node up.
    pub(crate) fn bid_farewell(&mut self, peer: NodeId) {
        if let Some(ways) = &mut self.ways {
            ways.bid_farewell(peer);
        }
    }

    /// Whether a peer has been given up.
    pub(crate) fn has_given_up(&mut self, peer: NodeId) -> bool {
        self.ways.as_mut().is_some_and(|ways| ways.is_gone(peer))
    }

    /// The way to a peer on a rail has a NIC at both ends or has not. Returns true if it lives, or
    /// dies, by that.
    pub(crate) fn set_there(&mut self, to: NodeId, rail: RailId, there: bool) -> bool {
        self.ways.as_mut().is_some_and(|ways| ways.set_there(to, rail, there))
    }

    /// The ways on a rail that has gone up or down, as far as that changes them.
    pub(crate) fn ways_on(&mut self, rail: RailId, up: bool) -> Vec<(NodeId, RailId)> {
        let now = self.now;
        let Some(ways) = &mut self.ways else { return Vec::new() };
        if up {
            ways.came_up(now, rail);
        }
        let lives = |to: &NodeId| ways.living(*to).contains(rail);
        ways.peers().into_iter().filter(lives).map(|to| (to, rail)).collect()
    }

    /// Ways have died: what they had goes again on others or, where there are none, waits. Gives
    /// their rails on which something had not left.
    pub(crate) fn bury(&mut self, dead: &[(NodeId, RailId)]) -> RailSet {
        let (mut unsent, mut orphans) = (RailSet::EMPTY, Vec::new());
        for &(to, rail) in dead {
            let burial = self.outbox.bury(to, rail, &mut self.orders);
            let Burial { orphans: found, ghosts, unsent: some } = burial;
            orphans.extend(found);
            if some {
                unsent.insert(rail);
            }
            if let Some(ways) = &mut self.ways {
                ways.buried(to, rail, ghosts);
            }
            if let Some(gauges) = &mut self.gauges {
                gauges.forget(to, rail);
            }
        }
        for &(to, _) in dead {
            self.hold_if_cut_off(to);
        }
        for orphan in orphans {
            let (Outgoing { to, .. }, _) = self.outbox.origin(&orphan);
            let rails = self.steady_to(to);
            self.scatter(orphan, rails);
        }
        unsent
    }

    /// Ways live again: what has waited for one goes on.
    pub(crate) fn take_back(&mut self, ways: &[(NodeId, RailId)]) {
        for &(to, _) in ways {
            let Some(ways) = &mut self.ways else { return };
            ways.reach(self.now, to, self.outbox.up());
            let (mut orphans, held) = ways.release(to);
            // What waits on others is shared with those that have come back.
            for (rail, orphan) in self.outbox.recall(to, &mut self.orders) {
                if let Some(gauges) = &mut self.gauges {
                    gauges.withdrawn(to, rail, orphan.bytes.end - orphan.bytes.start);
                }
                orphans.push(orphan);
            }
            let rails = self.up_to(to);
            orphans.into_iter().for_each(|orphan| self.scatter(orphan, rails));
            for (pe, outgoing) in held {
                self.queue(pe, outgoing);
            }
        }
    }

    /// Messages for a peer without a way wait apart, so that they hold up no others; nor does one
    /// that has not left.
    fn hold_if_cut_off(&mut self, to: NodeId) {
        let Some(ways) = &mut self.ways else { return };
        if ways.reach(self.now, to, self.outbox.up()) != Reach::CutOff {
            return;
        }
        for (pe, sender) in (0..).map(PeId).zip(&mut self.pes) {
            let all = sender.head.take().into_iter().chain(sender.queue.drain(..));
            let (held, mut others): (VecDeque<Outgoing>, VecDeque<Outgoing>) =
                all.partition(|outgoing| outgoing.to == to);
            held.into_iter().for_each(|outgoing| ways.hold(pe, outgoing));
            sender.head = others.pop_front();
            sender.queue = others;
        }
        for pe in self.outbox.blocked_by(to) {
            self.pes[pe.0 as usize].held = false;
        }
    }

    /// Hands over what goes again to these rails, as far as its receiver does not have it.
    fn scatter(&mut self, orphan: Orphan, rails: RailSet) {
        let (outgoing, serial) = self.outbox.origin(&orphan);
        if rails.is_empty() {
            if let Some(ways) = &mut self.ways {
                ways.hold_orphan(outgoing.to, orphan);
            }
            return;
        }
        let handed = Handed { message: orphan.message, leaves: orphan.leaves, again: true };
        for bytes in self.outbox.missing(&orphan) {
            let shares = self.shares(&outgoing, bytes.end - bytes.start, rails);
            for Stripe { rail, bytes: part } in cut(bytes.end - bytes.start, &shares) {
                let bytes = bytes.start + part.start..bytes.start + part.end;
                self.push(&outgoing, Stripe { rail, bytes }, handed, serial, false);
            }
        }
        if let Some((pe, message)) = self.outbox.settle(&orphan) {
            self.orders.push_back(Order::Complete { pe, message });
            self.pes[pe.0 as usize].held = false;
        }
    }

    /// What each rail takes of bytes that go again: so much that all finish together, by what they
    /// have shown; equal parts, if none has. Who has shown nothing is taken for one like the
    /// others.
    fn shares(&mut self, outgoing: &Outgoing, bytes: u64, rails: RailSet) -> Vec<(RailId, f64)> {
        let to = outgoing.to;
        let pace = |rail| self.gauge(to, rail).pace_now(self.now, 0).filter(|&pace| pace > 0.0);
        let shown: Vec<f64> = rails.iter().filter_map(pace).collect();
        let short = outgoing.whole || self.outbox.is_one_packet(bytes);
        if shown.is_empty() {
            let rails = if short { self.turn.take(rails, 1) } else { rails };
            return rails.iter().map(|rail| (rail, 1.0)).collect();
        }
        let mean = shown.iter().sum::<f64>() / shown.len() as f64;
        let when = |rail| {
            let pace = pace(rail).unwrap_or(mean);
            (rail, self.gauge(to, rail).latency() + self.under_way(rail) as f64 * pace, pace)
        };
        let mut known: Vec<(RailId, f64, f64)> = rails.iter().map(when).collect();
        known.sort_by(|a, b| a.1.total_cmp(&b.1));
        let there = |&(_, free, pace): &(RailId, f64, f64)| free + bytes as f64 * pace;
        let soonest = known.iter().min_by(|a, b| there(a).total_cmp(&there(b)));
        if let Some(&(rail, ..)) = soonest.filter(|_| short) {
            return vec![(rail, 1.0)];
        }
        let end = finish(known.iter().map(|&(_, free, pace)| (free, pace)), bytes as f64);
        let share = |(rail, free, pace): (RailId, f64, f64)| (rail, ((end - free) / pace).max(0.0));
        known.into_iter().map(share).collect()
    }

    /// Forgets everything for a peer and from it.
    pub(crate) fn forget(&mut self, peer: NodeId) {
        self.open.drain(|open| open.outgoing.to == peer);
        self.orders.retain(|order| !matches!(order, Order::Control { to, .. } if *to == peer));
        for pe in self.outbox.forget(peer, &mut self.orders) {
            self.pes[pe.0 as usize].held = false;
        }
        self.reassembly.forget(peer);
        if let Some(serials) = &mut self.serials {
            serials.forget(peer);
        }
        self.orders.push_back(Order::Unreachable { peer });
    }

    /// Ghosts on a way.
    pub(crate) fn ghosts(&self, to: NodeId, rail: RailId) -> u32 {
        self.ways.as_ref().map_or(0, |ways| ways.ghosts(to, rail))
    }

    /// Messages, and pieces of them, that wait for a way.
    pub(crate) fn held(&self) -> usize {
        self.ways.as_ref().map_or(0, Ways::waiting)
    }

    /// Messages of which some bytes have come.
    pub(crate) fn half_received(&self) -> usize {
        self.reassembly.len()
    }
}
