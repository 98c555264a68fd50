//! What becomes of stripes whose way has died.

use std::collections::VecDeque;
use std::ops::Range;

use super::{Followed, Outbox, Sending};
use crate::dispatch::Order;
use crate::way::Orphan;
use crate::{NodeId, PeId, RailId, StripeId};

/// What a way leaves behind.
#[derive(Debug, Default)]
pub(crate) struct Burial {
    /// What goes again.
    pub orphans: Vec<Orphan>,
    /// Packets that may yet be acknowledged.
    pub ghosts: u32,
    /// Whether there were stripes that had not left.
    pub unsent: bool,
}

impl Sending {
    /// Bytes of packets that have not been acknowledged.
    fn unacknowledged(&self) -> Vec<Range<u64>> {
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let numbers = (0..self.packets).filter(|&n| !self.acknowledged.contains(u64::from(n)));
        for bytes in numbers.map(|number| self.packet(number).bytes) {
            match ranges.last_mut() {
                Some(last) if last.end == bytes.start => last.end = bytes.end,
                _ => ranges.push(bytes),
            }
        }
        ranges
    }
}

impl Outbox {
    /// A way has died: packets that were never transmitted are withdrawn, the others become ghosts,
    /// and the bytes of all are orphans.
    pub fn bury(&mut self, to: NodeId, rail: RailId, orders: &mut VecDeque<Order>) -> Burial {
        let mut burial = Burial::default();
        let dies = |sending: &Sending| {
            let takes = sending.parcel.to == to && sending.parcel.stripe.rail == rail;
            let missing = sending.acknowledged.count() < u64::from(sending.packets);
            takes && missing && !sending.ghost
        };
        let all: Vec<StripeId> = self
            .stripes
            .iter()
            .filter(|(_, sending)| dies(sending))
            .map(|(number, _)| StripeId(number))
            .collect();
        let is_buried = |stripe: &StripeId| all.binary_search(stripe).is_ok();
        let queue = &mut self.queues[rail.0 as usize];
        let started = |stripe: &StripeId| !queue.waiting.contains(stripe);
        let running: Vec<bool> = all.iter().map(started).collect();
        queue.waiting.retain(|stripe| !is_buried(stripe));
        queue.feed.retain(|stripe| !is_buried(stripe));
        queue.served = queue.served.min(queue.feed.len());
        orders.retain(|order| match order {
            Order::Transmit { stripe, .. } => !is_buried(stripe),
            _ => true,
        });
        for (&stripe, running) in all.iter().zip(running) {
            self.bury_stripe(stripe, running, &mut burial);
        }
        self.start(rail, orders);
        self.feed_all(rail, orders);
        burial
    }

    fn bury_stripe(&mut self, stripe: StripeId, running: bool, burial: &mut Burial) {
        let sending = self.stripes.get_mut(stripe.0).expect("it is on its way out");
        let queue = &mut self.queues[sending.parcel.stripe.rail.0 as usize];
        if self.window.is_some() || !self.injection.is_plain() {
            queue.under_way -= sending.under_way();
        }
        if !self.injection.is_plain() {
            queue.ahead -= sending.admitted - sending.left;
            // It goes again, and then counts again.
            self.balance -= i64::from(sending.under_way());
        }
        let unsent = self.departures && sending.left < sending.packets;
        if self.transfers.is_some() && running && unsent {
            queue.transfers -= 1;
        }
        burial.unsent |= unsent;
        let (message, leaves) = (sending.message, sending.leaves && unsent);
        let before = burial.orphans.len();
        let orphan = |bytes| Orphan { message, bytes, leaves };
        burial.orphans.extend(sending.unacknowledged().into_iter().map(orphan));
        let orphans = (burial.orphans.len() - before) as u32;
        let followed = self.messages.get_mut(message).expect("the message has not landed");
        followed.landing += orphans;
        if leaves {
            followed.leaving = followed.leaving + orphans - 1;
        }
        sending.ghost = true;
        sending.leaves = false;
        (sending.packets, sending.admitted) = (sending.transmitted, sending.transmitted);
        burial.ghosts += sending.under_way();
        let silent = !self.departures || sending.left == sending.packets;
        if sending.under_way() == 0 && silent {
            self.put_away(stripe);
        }
    }

    /// There are more ways to a peer: packets that go again and have found no room in a window yet
    /// are withdrawn once more. Gives what they were, and on which rails.
    pub fn recall(&mut self, to: NodeId, orders: &mut VecDeque<Order>) -> Vec<(RailId, Orphan)> {
        let recalls = |sending: &Sending| {
            let waits = sending.again && !sending.ghost && sending.admitted < sending.packets;
            waits && sending.parcel.to == to
        };
        let all = self.stripes.iter().filter(|(_, sending)| recalls(sending));
        let all: Vec<StripeId> = all.map(|(number, _)| StripeId(number)).collect();
        let all: Vec<_> = all.into_iter().map(|stripe| self.recall_stripe(stripe)).collect();
        for &(rail, _) in &all {
            self.start(rail, orders);
            self.feed(rail, orders);
        }
        all
    }

    fn recall_stripe(&mut self, stripe: StripeId) -> (RailId, Orphan) {
        let sending = self.stripes.get_mut(stripe.0).expect("it is on its way out");
        let (rail, message) = (sending.parcel.stripe.rail, sending.message);
        let start = sending.packet(sending.admitted).bytes.start;
        let orphan = Orphan {
            message,
            bytes: start..sending.parcel.stripe.bytes.end,
            leaves: sending.leaves,
        };
        let queue = &mut self.queues[rail.0 as usize];
        let waited = queue.waiting.contains(&stripe);
        queue.waiting.retain(|other| *other != stripe);
        queue.feed.retain(|other| *other != stripe);
        queue.served = queue.served.min(queue.feed.len());
        sending.packets = sending.admitted;
        let has_left = self.departures && sending.left == sending.packets;
        let followed = self.messages.get_mut(message).expect("the message has not landed");
        followed.landing += 1;
        if self.departures && sending.leaves {
            // What is left of the stripe either leaves as well, or has.
            followed.leaving += u32::from(!has_left);
            sending.leaves = !has_left;
        }
        if self.transfers.is_some() && !waited && has_left {
            queue.transfers -= 1;
        }
        let done = sending.acknowledged.count() == u64::from(sending.packets);
        if done && (!self.departures || has_left) {
            self.put_away(stripe);
        }
        (rail, orphan)
    }

    /// Forgets everything for a peer. Gives the PEs whose messages have not left.
    pub fn forget(&mut self, to: NodeId, orders: &mut VecDeque<Order>) -> Vec<PeId> {
        orders.retain(|order| match order {
            Order::Transmit { stripe, .. } => {
                self.stripes.get(stripe.0).is_some_and(|sending| sending.parcel.to != to)
            }
            _ => true,
        });
        self.stripes.drain(|sending| sending.parcel.to == to);
        let blocked = self.blocked_by(to);
        self.messages.drain(|followed| followed.goes_to(to));
        blocked
    }

    /// PEs with messages for a peer that have not left.
    pub fn blocked_by(&self, to: NodeId) -> Vec<PeId> {
        let messages = self.messages.iter().map(|(_, followed)| followed);
        let there = messages.filter(|followed| followed.goes_to(to));
        there
            .filter(|message| message.open || message.leaving > 0)
            .map(|message| message.pe)
            .collect()
    }
}

impl Followed {
    fn goes_to(&self, to: NodeId) -> bool {
        self.persistent.as_ref().is_some_and(|persistent| persistent.outgoing.to == to)
    }
}
