//! What a node has on its way out: stripes that wait at their NICs, and packets under way.
//!
//! A NIC sends only so many stripes at once (*transfers*), and has only so many packets under way
//! (its *window*): each keeps its place until the receiver has it.

use std::collections::VecDeque;

use crosstie_units::Time;

use crate::dispatch::Order;
use crate::numbers::Numbers;
use crate::policy::Feedback;
use crate::reassembly::Stray;
use crate::slab::Slab;
use crate::{
    MessageId, NodeId, NodeSpec, Packet, Packing, Parcel, PeId, RailId, RailSet, Stripe, StripeId,
};

/// A stripe on its way out.
#[derive(Debug)]
struct Sending {
    parcel: Parcel,
    handed_over: Time,
    /// The number of its message among those that have not left, where that is kept.
    message: u32,
    packets: u32,
    /// How many of them there has been room for in the window.
    admitted: u32,
    /// How many the driver has been given.
    transmitted: u32,
    /// How many have left the node, where that is told.
    left: u32,
    acknowledged: Numbers,
}

impl Sending {
    fn under_way(&self) -> u32 {
        self.admitted - self.acknowledged.count()
    }

    #[inline]
    fn packet(&self, packing: &Packing, number: u32) -> Packet {
        assert!(number < self.packets, "a stripe of {} packets has no {number}", self.packets);
        let stripe = &self.parcel.stripe.bytes;
        let bytes = match packing.payload {
            None => stripe.clone(),
            Some(payload) => {
                let start = stripe.start + u64::from(number) * u64::from(payload);
                start..stripe.end.min(start.saturating_add(u64::from(payload)))
            }
        };
        Packet { parcel: self.parcel.clone(), number, bytes }
    }
}

/// What one NIC has to send.
#[derive(Debug, Default)]
struct SendQueue {
    /// Stripes that wait until it sends fewer.
    waiting: VecDeque<StripeId>,
    /// Stripes that it sends, and that have not left.
    transfers: u32,
    /// Those of them with packets that wait for room in the window.
    feed: VecDeque<StripeId>,
    /// Packets that have had room, and have not been acknowledged.
    under_way: u32,
}

/// A message that has not left the node.
#[derive(Debug)]
struct Leaving {
    pe: PeId,
    stripes: u32,
    /// Whether there will be more stripes.
    open: bool,
}

/// What has happened when a packet has left.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Departure {
    /// The rail of a stripe that has left whole.
    pub rail: RailId,
    /// The message, and who sent it, if that has left whole too.
    pub message: Option<(PeId, MessageId)>,
}

/// A packet that the receiver has.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Landed {
    pub rail: RailId,
    pub to: NodeId,
    pub bytes: u64,
    /// What is to be said of its stripe, if that was the last packet of it.
    pub feedback: Option<Feedback>,
}

/// Stripes on their way out.
#[derive(Debug)]
pub(crate) struct Outbox {
    packing: Packing,
    transfers: Option<u32>,
    window: Option<u32>,
    in_order: bool,
    /// Whether it is told, and kept, what has left.
    departures: bool,
    up: RailSet,
    queues: Vec<SendQueue>,
    stripes: Slab<Sending>,
    messages: Slab<Leaving>,
}

impl Outbox {
    pub fn new(spec: &NodeSpec, departures: bool) -> Outbox {
        Outbox {
            packing: spec.packing,
            transfers: spec.transfers,
            window: spec.window,
            in_order: spec.in_order,
            departures,
            up: RailSet::all(spec.rails),
            queues: (0..spec.rails).map(|_| SendQueue::default()).collect(),
            stripes: Slab::new(),
            messages: Slab::new(),
        }
    }

    /// The rails that are up.
    pub fn up(&self) -> RailSet {
        self.up
    }

    /// Takes note that a rail goes up or down; false if it is no news. The packets of a rail that is
    /// down wait until it is up again.
    pub fn switch(&mut self, rail: RailId, up: bool, orders: &mut VecDeque<Order>) -> bool {
        if self.up.contains(rail) == up {
            return false;
        }
        if up {
            self.up.insert(rail);
            self.feed(rail, orders);
        } else {
            self.up.remove(rail);
        }
        true
    }

    /// Begins a message of a PE, and gives the number by which its stripes refer to it.
    #[inline]
    pub fn begin(&mut self, pe: PeId) -> u32 {
        if !self.departures {
            return 0;
        }
        self.messages.put(|_| Leaving { pe, stripes: 0, open: false })
    }

    /// Takes note whether a message that has been begun will have more stripes.
    pub fn keep_open(&mut self, message: u32, open: bool) {
        if self.departures {
            self.messages.get_mut(message).expect("the message has been begun").open = open;
        }
    }

    /// Hands a stripe of a message to its NIC.
    #[inline]
    pub fn push(
        &mut self,
        now: Time,
        message: u32,
        stripe: Stripe,
        parcel: impl FnOnce(StripeId, Stripe) -> Parcel,
        orders: &mut VecDeque<Order>,
    ) {
        let rail = stripe.rail;
        let packets = self.packing.packets(stripe.len());
        let packets = u32::try_from(packets).expect("packets of a stripe are numbered in 32 bits");
        // Where nothing has to wait, nothing is queued.
        let at_once = self.transfers.is_none() && self.window.is_none() && self.up.contains(rail);
        let stripe = StripeId(self.stripes.put(|number| Sending {
            parcel: parcel(StripeId(number), stripe),
            handed_over: now,
            message,
            packets,
            admitted: if at_once { packets } else { 0 },
            transmitted: 0,
            left: 0,
            acknowledged: Numbers::default(),
        }));
        if self.departures {
            let message = self.messages.get_mut(message).expect("the message has been begun");
            message.stripes += 1;
        }
        if at_once {
            orders.push_back(Order::Transmit { stripe, next: 0, end: packets });
        } else {
            self.queues[rail.0 as usize].waiting.push_back(stripe);
            self.start(rail, orders);
        }
    }

    /// Lets a NIC send the stripes that it may.
    pub fn start(&mut self, rail: RailId, orders: &mut VecDeque<Order>) {
        loop {
            let queue = &mut self.queues[rail.0 as usize];
            if self.transfers.is_some_and(|most| queue.transfers == most) {
                return;
            }
            let Some(stripe) = queue.waiting.pop_front() else { return };
            queue.transfers += u32::from(self.transfers.is_some());
            queue.feed.push_back(stripe);
            self.feed(rail, orders);
        }
    }

    /// Transmits packets of a NIC until as many are under way as its window has room for. Unless they go in
    /// order, a stripe has several of them only if there are not as many stripes: one that is held up
    /// does not hold up the others.
    fn feed(&mut self, rail: RailId, orders: &mut VecDeque<Order>) {
        if !self.up.contains(rail) {
            return;
        }
        let queue = &mut self.queues[rail.0 as usize];
        let at = |stripe: StripeId| stripe.0;
        const QUEUED: &str = "a stripe in a queue is on its way out";
        let Some(window) = self.window else {
            for stripe in queue.feed.drain(..) {
                let sending = self.stripes.get_mut(at(stripe)).expect(QUEUED);
                sending.admitted = sending.packets;
                orders.push_back(Order::Transmit { stripe, next: 0, end: sending.packets });
            }
            return;
        };
        while queue.under_way < window {
            let rests =
                |&stripe: &StripeId| self.stripes.get(at(stripe)).expect(QUEUED).under_way() == 0;
            let place = match self.in_order {
                true => 0,
                false => queue.feed.iter().position(rests).unwrap_or(0),
            };
            let Some(stripe) = queue.feed.remove(place) else { return };
            let sending = self.stripes.get_mut(at(stripe)).expect(QUEUED);
            let next = sending.admitted;
            sending.admitted += 1;
            queue.under_way += 1;
            if sending.admitted < sending.packets {
                match self.in_order {
                    true => queue.feed.push_front(stripe),
                    false => queue.feed.push_back(stripe),
                }
            }
            orders.push_back(Order::Transmit { stripe, next, end: next + 1 });
        }
    }

    /// A packet of a stripe under way.
    ///
    /// # Panics
    /// If there is no such stripe or packet.
    #[inline]
    pub fn packet(&self, stripe: StripeId, number: u32) -> Packet {
        let sending = self.stripes.get(stripe.0).expect("the stripe is under way");
        sending.packet(&self.packing, number)
    }

    /// The same, for the driver to transmit.
    #[inline]
    pub fn transmit(&mut self, stripe: StripeId, number: u32) -> Packet {
        let sending = self.stripes.get_mut(stripe.0).expect("the stripe is under way");
        sending.transmitted += 1;
        sending.packet(&self.packing, number)
    }

    /// A packet of a stripe has left the node. Whether that makes the stripe one that has left.
    pub fn left(&mut self, stripe: StripeId) -> Result<Option<Departure>, Stray> {
        let sending = self.stripes.get_mut(stripe.0).ok_or(Stray)?;
        if !self.departures || sending.left == sending.transmitted {
            return Err(Stray);
        }
        sending.left += 1;
        if sending.left < sending.packets {
            return Ok(None);
        }
        let (rail, number) = (sending.parcel.stripe.rail, sending.message);
        let leaving = self.messages.get_mut(number).expect("the message has not left");
        leaving.stripes -= 1;
        let gone = leaving.stripes == 0 && !leaving.open;
        let message = gone.then_some((leaving.pe, sending.parcel.message));
        if message.is_some() {
            self.messages.remove(number);
        }
        if sending.acknowledged.count() == sending.packets {
            self.stripes.remove(stripe.0);
        }
        if self.transfers.is_some() {
            self.queues[rail.0 as usize].transfers -= 1;
        }
        Ok(Some(Departure { rail, message }))
    }

    /// The receiver has a packet of a stripe, which makes room for another.
    #[inline]
    pub fn acknowledged(
        &mut self,
        now: Time,
        stripe: StripeId,
        number: u32,
        orders: &mut VecDeque<Order>,
    ) -> Result<Landed, Stray> {
        let sending = self.stripes.get_mut(stripe.0).ok_or(Stray)?;
        // Packets are transmitted in order.
        if number >= sending.transmitted || !sending.acknowledged.insert(number) {
            return Err(Stray);
        }
        let parcel = &sending.parcel;
        let (rail, to) = (parcel.stripe.rail, parcel.to);
        let bytes = sending.packet(&self.packing, number).len();
        let feedback = (sending.acknowledged.count() == sending.packets).then(|| Feedback {
            message: parcel.message,
            rail,
            to,
            bytes: parcel.stripe.len(),
            handed_over: sending.handed_over,
            done: now,
        });
        if feedback.is_some() && (!self.departures || sending.left == sending.packets) {
            self.stripes.remove(stripe.0);
        }
        if self.window.is_some() {
            self.queues[rail.0 as usize].under_way -= 1;
            self.feed(rail, orders);
        }
        Ok(Landed { rail, to, bytes, feedback })
    }

    /// Whether nothing waits or is under way.
    pub fn is_empty(&self) -> bool {
        self.stripes.is_empty()
    }
}
