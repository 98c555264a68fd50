//! What a node has on its way out: stripes that wait at their NICs, and packets under way.
//!
//! A NIC sends only so many stripes at once (*transfers*), and has only so many packets under way
//! (its *window*): each keeps its place until the receiver has it.
//!
//! Where a way may die, what was under way on it becomes *ghosts*: they have no place in a window
//! any more, but may yet be acknowledged, so they keep their number.

mod burial;
mod persistent;

pub(crate) use burial::Burial;

use std::collections::VecDeque;

use crosstie_units::Time;

use crate::dispatch::Order;
use crate::numbers::Numbers;
use crate::policy::Feedback;
use crate::reassembly::Stray;
use crate::slab::Slab;
use persistent::Persistent;

use crate::{
    GlobalWindow, Injection, MessageId, NodeId, NodeSpec, Outgoing, Packet, Packing, Parcel, PeId,
    RailId, RailSet, Stripe, StripeId,
};

/// A stripe on its way out.
#[derive(Debug)]
struct Sending {
    parcel: Parcel,
    handed_over: Time,
    /// The number of its message among those that have not left, where that is kept.
    message: u32,
    packets: u32,
    /// The most bytes of a packet; `None`: all of them.
    payload: Option<u32>,
    /// How many of them there has been room for in the window.
    admitted: u32,
    /// How many the driver has been given.
    transmitted: u32,
    /// How many have left the node, where that is told.
    left: u32,
    acknowledged: Numbers,
    /// Whether its message has not left before it has.
    leaves: bool,
    /// Whether it has gone before, in another stripe.
    again: bool,
    /// Whether its way has died. Then its packets are those that had been transmitted.
    ghost: bool,
}

impl Sending {
    fn under_way(&self) -> u32 {
        self.admitted - self.acknowledged.count() as u32
    }

    #[inline]
    fn packet(&self, number: u32) -> Packet {
        assert!(number < self.packets, "a stripe of {} packets has no {number}", self.packets);
        let stripe = &self.parcel.stripe.bytes;
        let bytes = match self.payload {
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
    /// Where packets take turns: how many of those, the last ones, have had their turn.
    served: usize,
    /// Packets that have had room, and have not been acknowledged.
    under_way: u32,
    /// Packets that have had room, and have not left.
    ahead: u32,
}

/// A message of which something is to be said.
#[derive(Debug)]
struct Followed {
    pe: PeId,
    /// Whether there will be more stripes.
    open: bool,
    /// The rails that it has taken.
    rails: RailSet,
    /// Its stripes that have not left the node, where that is told, and those that their receiver
    /// does not have.
    leaving: u32,
    landing: u32,
    /// What is kept of it besides where stripes may go again.
    persistent: Option<Box<Persistent>>,
}

/// How a stripe is handed over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handed {
    /// The message, as the outbox numbers it.
    pub message: u32,
    /// Whether the message has not left before it has.
    pub leaves: bool,
    /// Whether it has gone before.
    pub again: bool,
}

impl Handed {
    /// For the first time.
    pub fn first(message: u32) -> Handed {
        Handed { message, leaves: true, again: false }
    }
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
    /// When its stripe was handed over.
    pub handed_over: Time,
    /// Whether it had been given up.
    pub ghost: bool,
    /// What is to be said of its stripe, if that was the last packet of it.
    pub feedback: Option<Feedback>,
    /// Its message, if the receiver has all of that too.
    pub message: Option<MessageId>,
}

/// Stripes on their way out.
#[derive(Debug)]
pub(crate) struct Outbox {
    packing: Packing,
    transfers: Option<u32>,
    window: Option<u32>,
    in_order: bool,
    injection: Injection,
    /// Packets that have had room less packets received, where that is the limit.
    balance: i64,
    /// Whether it is told, and kept, what has left.
    departures: bool,
    /// Whether it is kept what has become of messages.
    reports: bool,
    /// Whether stripes may go again.
    persists: bool,
    up: RailSet,
    queues: Vec<SendQueue>,
    stripes: Slab<Sending>,
    messages: Slab<Followed>,
}

impl Outbox {
    pub fn new(spec: &NodeSpec, departures: bool) -> Outbox {
        Outbox {
            packing: spec.packing,
            transfers: spec.transfers,
            window: spec.window,
            in_order: spec.in_order,
            injection: spec.injection,
            balance: 0,
            departures,
            reports: spec.reports,
            persists: spec.patience.is_some(),
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

    /// Takes note that a rail goes up or down; false if it is no news. The packets of a rail that
    /// is down wait until it is up again.
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
    pub fn begin(&mut self, pe: PeId, outgoing: &Outgoing, serial: u64) -> u32 {
        if !self.follows() {
            return 0;
        }
        let rails = RailSet::EMPTY;
        let persistent = self.persists.then(|| Box::new(Persistent::new(outgoing, serial)));
        let (leaving, landing) = (0, 0);
        self.messages.put(|_| Followed { pe, open: true, rails, leaving, landing, persistent })
    }

    /// The last stripe of a message has been handed over: the rails that it has taken, where that
    /// is kept.
    #[inline]
    pub fn close(&mut self, message: u32) -> Option<RailSet> {
        if !self.follows() {
            return None;
        }
        let followed = self.messages.get_mut(message).expect("the message has been begun");
        followed.open = false;
        self.reports.then_some(followed.rails)
    }

    /// Whether anything is to be said of messages.
    #[inline]
    fn follows(&self) -> bool {
        self.departures || self.reports || self.persists
    }

    /// Returns true if packets may have to wait for room.
    #[inline]
    fn is_limited(&self) -> bool {
        self.window.is_some() || !self.injection.is_plain()
    }

    /// Whether packets are transmitted as they are handed to a NIC.
    #[inline]
    pub fn is_at_once(&self, rail: RailId) -> bool {
        !self.is_limited() && self.transfers.is_none() && self.up.contains(rail)
    }

    /// Hands a stripe of a message to its NIC, in packets of so many bytes at most.
    #[inline]
    pub fn push(
        &mut self,
        now: Time,
        Handed { message, leaves, again }: Handed,
        (stripe, payload): (Stripe, Option<u32>),
        parcel: impl FnOnce(StripeId, Stripe) -> Parcel,
        orders: &mut VecDeque<Order>,
    ) {
        let rail = stripe.rail;
        let packets = Packing { payload, ..self.packing }.packets(stripe.len());
        let packets = u32::try_from(packets).expect("packets of a stripe are numbered in 32 bits");
        // Where nothing has to wait, nothing is queued.
        let at_once = self.is_at_once(rail);
        let stripe = StripeId(self.stripes.put(|number| Sending {
            parcel: parcel(StripeId(number), stripe),
            handed_over: now,
            message,
            packets,
            payload,
            admitted: if at_once { packets } else { 0 },
            transmitted: 0,
            left: 0,
            acknowledged: Numbers::default(),
            leaves,
            again,
            ghost: false,
        }));
        if self.follows() {
            let followed = self.messages.get_mut(message).expect("the message has been begun");
            followed.rails.insert(rail);
            followed.leaving += u32::from(self.departures && leaves);
            followed.landing += 1;
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
            match queue.served {
                0 => queue.feed.push_back(stripe),
                // One that has not had its turn goes before those that have.
                served => queue.feed.insert(queue.feed.len() - served, stripe),
            }
            self.feed(rail, orders);
        }
    }

    /// Transmits packets of a NIC until as many are under way as its window has room for. Unless
    /// they go in order, a stripe has several of them only if there are not as many stripes:
    /// one that is held up does not hold up the others.
    fn feed(&mut self, rail: RailId, orders: &mut VecDeque<Order>) {
        if !self.up.contains(rail) {
            return;
        }
        if !self.injection.is_plain() {
            return self.inject(rail, orders);
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

    /// Transmits the next packet of a NIC when the one before has left, as far as the windows have
    /// room. Not inlined: few nodes need it, and [`feed`](Self::feed) is hot.
    #[inline(never)]
    fn inject(&mut self, rail: RailId, orders: &mut VecDeque<Order>) {
        let outstanding = || self.queues.iter().map(|queue| queue.under_way).sum::<u32>();
        let has_room = match self.injection.window {
            None => true,
            Some(GlobalWindow { packets, by_received: true }) => self.balance < packets.into(),
            Some(GlobalWindow { packets, by_received: false }) => outstanding() < packets,
        };
        let queue = &mut self.queues[rail.0 as usize];
        let is_free = queue.ahead == 0 && self.window.is_none_or(|window| queue.under_way < window);
        if !(has_room && is_free) {
            return;
        }
        if queue.served == queue.feed.len() {
            queue.served = 0;
        }
        let Some(stripe) = queue.feed.pop_front() else { return };
        let sending =
            self.stripes.get_mut(stripe.0).expect("a stripe in a queue is on its way out");
        let next = sending.admitted;
        sending.admitted += 1;
        queue.under_way += 1;
        queue.ahead += 1;
        self.balance += 1;
        if sending.admitted < sending.packets {
            if self.injection.interleaved {
                queue.feed.push_back(stripe);
                queue.served += 1;
            } else {
                queue.feed.push_front(stripe);
            }
        }
        orders.push_back(Order::Transmit { stripe, next, end: next + 1 });
    }

    /// Feeds all NICs, beginning with `first`.
    #[inline(never)]
    fn feed_all(&mut self, first: RailId, orders: &mut VecDeque<Order>) {
        let rails = self.queues.len() as u32;
        for rail in 0..rails {
            self.feed(RailId((first.0 + rail) % rails), orders);
        }
    }

    /// A packet has been received.
    #[inline]
    pub fn received(&mut self, rail: RailId, orders: &mut VecDeque<Order>) {
        if self.injection.window.is_some_and(|window| window.by_received) {
            self.balance -= 1;
            self.feed_all(rail, orders);
        }
    }

    /// The most bytes of a packet that has not grown.
    #[inline]
    pub fn payload(&self) -> Option<u32> {
        self.packing.payload
    }

    /// Whether so many bytes are one packet.
    pub fn is_one_packet(&self, bytes: u64) -> bool {
        self.packing.packets(bytes) == 1
    }

    /// A packet of a stripe under way.
    ///
    /// # Panics
    /// If there is no such stripe or packet.
    #[inline]
    pub fn packet(&self, stripe: StripeId, number: u32) -> Packet {
        let sending = self.stripes.get(stripe.0).expect("the stripe is under way");
        sending.packet(number)
    }

    /// The same, for the driver to transmit.
    #[inline]
    pub fn transmit(&mut self, stripe: StripeId, number: u32) -> Packet {
        let sending = self.stripes.get_mut(stripe.0).expect("the stripe is under way");
        sending.transmitted += 1;
        sending.packet(number)
    }

    /// A packet of a stripe has left the node. Whether that makes the stripe one that has left.
    pub fn left(
        &mut self,
        stripe: StripeId,
        orders: &mut VecDeque<Order>,
    ) -> Result<Option<Departure>, Stray> {
        let sending = self.stripes.get_mut(stripe.0).ok_or(Stray)?;
        if !self.departures || sending.left == sending.transmitted {
            return Err(Stray);
        }
        sending.left += 1;
        if !self.injection.is_plain() && !sending.ghost {
            let rail = sending.parcel.stripe.rail;
            self.queues[rail.0 as usize].ahead -= 1;
            self.feed(rail, orders);
        }
        let sending = self.stripes.get(stripe.0).expect("it has been there");
        if sending.left < sending.packets {
            return Ok(None);
        }
        let (rail, number, ghost) = (sending.parcel.stripe.rail, sending.message, sending.ghost);
        let (leaves, id) = (sending.leaves, sending.parcel.message);
        let done = sending.acknowledged.count() == u64::from(sending.packets);
        let message = if leaves { self.depart(number, id) } else { None };
        if done {
            self.put_away(stripe);
        }
        if ghost {
            return Ok(None);
        }
        if self.transfers.is_some() {
            self.queues[rail.0 as usize].transfers -= 1;
        }
        Ok(Some(Departure { rail, message }))
    }

    /// A stripe of a message has left. The message, and who sent it, if that has left whole.
    fn depart(&mut self, number: u32, message: MessageId) -> Option<(PeId, MessageId)> {
        let followed = self.messages.get_mut(number).expect("the message has not left");
        followed.leaving -= 1;
        let (pe, gone) = (followed.pe, followed.leaving == 0 && !followed.open);
        if gone && !self.persists && (!self.reports || followed.landing == 0) {
            self.messages.remove(number);
        }
        gone.then_some((pe, message))
    }

    /// Forgets a stripe that is done with.
    #[inline]
    fn put_away(&mut self, stripe: StripeId) {
        if self.persists {
            let number = self.stripes.get(stripe.0).expect("the stripe is there").message;
            self.let_go(number);
        }
        self.stripes.remove(stripe.0);
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
        if number >= sending.transmitted || !sending.acknowledged.insert(u64::from(number)) {
            return Err(Stray);
        }
        let parcel = &sending.parcel;
        let (rail, to, ghost) = (parcel.stripe.rail, parcel.to, sending.ghost);
        let handed_over = sending.handed_over;
        let packet = sending.packet(number).bytes;
        let bytes = packet.end - packet.start;
        let whole = sending.acknowledged.count() == u64::from(sending.packets);
        let feedback = (whole && !ghost).then(|| Feedback {
            message: parcel.message,
            rail,
            to,
            bytes: parcel.stripe.len(),
            handed_over,
            done: now,
            again: sending.again,
        });
        let mut message = None;
        if self.persists {
            let (number, id) = (sending.message, parcel.message);
            let done = whole && (!self.departures || sending.left == sending.packets);
            message = self.land(number, &packet).then_some(id).filter(|_| self.reports);
            if done {
                self.put_away(stripe);
            }
        } else {
            if whole && self.reports {
                let number = sending.message;
                let followed = self.messages.get_mut(number).expect("the message has not landed");
                followed.landing -= 1;
                if followed.landing == 0 && !followed.open {
                    message = Some(parcel.message);
                    if followed.leaving == 0 {
                        self.messages.remove(number);
                    }
                }
            }
            if whole && (!self.departures || sending.left == sending.packets) {
                self.stripes.remove(stripe.0);
            }
        }
        if self.is_limited() && !ghost {
            self.queues[rail.0 as usize].under_way -= 1;
            match self.injection.window {
                None => self.feed(rail, orders),
                Some(_) => self.feed_all(rail, orders),
            }
        }
        Ok(Landed { rail, to, bytes, handed_over, ghost, feedback, message })
    }

    /// Whether nothing waits or is under way. Ghosts do neither: all that they carry goes again.
    pub fn is_empty(&self) -> bool {
        self.stripes.is_empty() || self.stripes.iter().all(|(_, sending)| sending.ghost)
    }
}
