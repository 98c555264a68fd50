//! What all policies do alike: messages wait at their PEs and stripes at their NICs, and what has
//! arrived is put together.

mod survival;

use std::collections::VecDeque;

use crosstie_units::Time;

use crate::gauge::{Gauge, Gauges, Told};
use crate::growth::Growth;
use crate::outbox::{Departure, Handed, Landed, Outbox};
use crate::policy::Feedback;
use crate::reassembly::{Reassembly, Stray, Whole};
use crate::serial::Serials;
use crate::slab::Slab;
use crate::way::{Reach, Sent, Ways};
use crate::{
    Action, Control, MessageId, NodeId, NodeSpec, Packet, Parcel, Patience, PeId, RailId, RailSet,
    Stripe, StripeId, Turn,
};

/// A message that a PE wants to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outgoing {
    /// The message, as the application numbers it.
    pub message: MessageId,
    /// The receiver.
    pub to: NodeId,
    /// The length.
    pub bytes: u64,
    /// The rail that the sender wants it to take.
    pub rail: Option<RailId>,
    /// Whether it must not be cut.
    pub whole: bool,
}

/// A message that is handed to NICs piece by piece, as its node numbers those.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct OpenId(u32);

/// A message of which pieces are still to be handed over.
#[derive(Debug)]
struct Open {
    outgoing: Outgoing,
    serial: u64,
    /// As the outbox numbers it.
    number: u32,
    /// Where the next piece begins.
    next: u64,
}

/// A processing element.
#[derive(Debug, Default)]
struct Pe {
    /// The message to be sent next, and those behind it.
    head: Option<Outgoing>,
    queue: VecDeque<Outgoing>,
    /// Whether it waits for a message to leave before it starts the next one.
    held: bool,
}

/// An action that is to be taken, in the form in which it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Packets of one stripe.
    Transmit {
        stripe: StripeId,
        next: u32,
        end: u32,
    },
    Control {
        rail: RailId,
        to: NodeId,
        packet: Control,
        serial: u64,
    },
    Deliver {
        from: NodeId,
        message: MessageId,
        bytes: u64,
    },
    Complete {
        pe: PeId,
        message: MessageId,
    },
    HandedOver {
        message: MessageId,
        rails: RailSet,
    },
    Landed {
        message: MessageId,
    },
    Unreachable {
        peer: NodeId,
    },
}

/// What an acknowledgement tells.
#[derive(Debug)]
pub(crate) struct Heard {
    /// How a stripe has fared that is done with.
    pub feedback: Option<Feedback>,
    /// A way that is taken back.
    pub back: Option<(NodeId, RailId)>,
}

/// The messages of a node and what becomes of them: what a policy looks at and gives its orders to.
#[derive(Debug)]
pub struct Dispatch {
    now: Time,
    node: NodeId,
    rails: u32,
    pes: Vec<Pe>,
    blocking: bool,
    outbox: Outbox,
    /// Messages that are handed over piece by piece.
    open: Slab<Open>,
    /// What rails have shown, where the policy wants to know.
    gauges: Option<Gauges>,
    /// How long packets are, if they grow.
    growth: Option<Growth>,
    ahead: Time,
    reassembly: Reassembly,
    /// Where packets may come more than once.
    serials: Option<Serials>,
    /// Stripes that are coming in on each rail, as far as the driver has said so.
    arriving: Vec<Vec<(NodeId, StripeId)>>,
    orders: VecDeque<Order>,
    /// Where ways may die, those that do; and which rail takes the next short piece that goes
    /// again.
    ways: Option<Ways>,
    turn: Turn,
    /// How often a way was silent for too long.
    deaths: u64,
    strays: u64,
    repeated: u64,
}

/// What a policy may ask and order.
impl Dispatch {
    /// The time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// All NICs of the node.
    pub fn rails(&self) -> RailSet {
        RailSet::all(self.rails)
    }

    /// Those whose rail is up: on others nothing can be sent.
    #[inline]
    pub fn up(&self) -> RailSet {
        self.outbox.up()
    }

    /// Those of them whose way to a peer lives.
    #[inline]
    pub fn up_to(&self, to: NodeId) -> RailSet {
        match &self.ways {
            None => self.outbox.up(),
            Some(ways) => self.outbox.up().and(ways.living(to)),
        }
    }

    /// Those of them that have not come back only lately; all of them, if there are no others. They
    /// are for what somebody waits for.
    #[inline]
    pub fn steady_to(&self, to: NodeId) -> RailSet {
        let up = self.up_to(to);
        let steady = self.ways.as_ref().map_or(up, |ways| up.and(ways.steady(self.now, to)));
        if steady.is_empty() { up } else { steady }
    }

    /// Whether the node outlives its rails: what was given to one goes again on others.
    pub fn outlives_rails(&self) -> bool {
        self.ways.is_some()
    }

    /// All PEs of the node.
    pub fn pes(&self) -> impl Iterator<Item = PeId> + use<> {
        (0..self.pes.len() as u32).map(PeId)
    }

    /// The message that a PE can start next.
    #[inline]
    pub fn head(&self, pe: PeId) -> Option<&Outgoing> {
        let pe = &self.pes[pe.0 as usize];
        if pe.held { None } else { pe.head.as_ref() }
    }

    /// Whether a stripe is coming in on a rail, as far as is known.
    pub fn is_receiving(&self, rail: RailId) -> bool {
        !self.arriving[rail.0 as usize].is_empty()
    }

    /// Hands the next message of a PE to NICs, piece by piece. `reserved` says that the receiver's
    /// NICs have been reserved for them.
    ///
    /// # Panics
    /// If the PE has no message to send, or if the stripes do not cover it exactly once and in
    /// order.
    #[inline(always)]
    pub fn send(&mut self, pe: PeId, stripes: impl IntoIterator<Item = Stripe>, reserved: bool) {
        let outgoing = self.take_head(pe);
        let bytes = outgoing.bytes;
        let serial = self.serial(outgoing.to);
        let number = self.outbox.begin(pe, &outgoing, serial);
        let mut covered = None;
        for stripe in stripes {
            let fits = stripe.bytes.start == covered.unwrap_or(0)
                && (stripe.bytes.start < stripe.bytes.end || bytes == 0)
                && stripe.rail.0 < self.rails;
            assert!(fits, "{stripe:?} does not continue a message of {bytes} bytes");
            covered = Some(stripe.bytes.end);
            self.push(&outgoing, stripe, Handed::first(number), serial, reserved);
        }
        assert!(covered == Some(bytes), "stripes cover {covered:?} of {bytes} bytes");
        self.close(outgoing.message, number);
    }

    /// Takes the next message of a PE, to be handed to NICs piece by piece.
    ///
    /// # Panics
    /// If the PE has no message to send, or an empty one: that is one piece.
    pub fn open(&mut self, pe: PeId) -> OpenId {
        let outgoing = self.take_head(pe);
        assert!(outgoing.bytes > 0, "an empty message is one piece");
        let serial = self.serial(outgoing.to);
        let number = self.outbox.begin(pe, &outgoing, serial);
        OpenId(self.open.put(|_| Open { outgoing, serial, number, next: 0 }))
    }

    /// Where an open message goes, and how many bytes of it have not been handed over.
    ///
    /// # Panics
    /// If it is not open.
    pub fn rest(&self, open: OpenId) -> (NodeId, u64) {
        let open = self.open.get(open.0).expect("the message is open");
        (open.outgoing.to, open.outgoing.bytes - open.next)
    }

    /// Hands the next so many bytes of an open message to a NIC. With the last of them it is open
    /// no more: true.
    ///
    /// # Panics
    /// If it is not open, or has not as many bytes left, or none are asked for.
    pub fn extend(&mut self, id: OpenId, rail: RailId, bytes: u64) -> bool {
        let open = self.open.get_mut(id.0).expect("the message is open");
        let start = open.next;
        assert!(bytes > 0 && bytes <= open.outgoing.bytes - start, "{bytes} bytes of {open:?}");
        open.next += bytes;
        let (outgoing, number, serial) = (open.outgoing, open.number, open.serial);
        let whole = start + bytes == outgoing.bytes;
        let stripe = Stripe { rail, bytes: start..start + bytes };
        self.push(&outgoing, stripe, Handed::first(number), serial, false);
        if whole {
            self.open.remove(id.0);
            self.close(outgoing.message, number);
        }
        whole
    }

    /// The most bytes of a packet on the way to a node; `None`: any number.
    #[inline]
    pub fn payload(&self, to: NodeId, rail: RailId) -> Option<u32> {
        match &self.growth {
            None => self.outbox.payload(),
            Some(growth) => Some(growth.payload(to, rail)),
        }
    }

    /// How long rails are to be busy with what is ahead of them, beside what it takes to keep them
    /// busy.
    pub fn ahead(&self) -> Time {
        self.ahead
    }

    /// What the way to a node on a rail has shown, in policies that want to know.
    pub fn gauge(&self, to: NodeId, rail: RailId) -> Gauge {
        self.gauges.as_ref().map_or(Gauge::default(), |gauges| *gauges.get(to, rail))
    }

    /// Bytes handed to a NIC that their receivers do not have yet, in policies that want to know.
    pub fn under_way(&self, rail: RailId) -> u64 {
        self.gauges.as_ref().map_or(0, |gauges| gauges.under_way(rail))
    }

    /// Sends a control packet; its serial number.
    pub fn control(&mut self, rail: RailId, to: NodeId, packet: Control) -> u64 {
        let serial = self.serial(to);
        self.repeat(rail, to, packet, serial);
        serial
    }

    /// Sends a control packet once more: who has it takes it for what it is, and acknowledges it
    /// all the same.
    pub fn repeat(&mut self, rail: RailId, to: NodeId, packet: Control, serial: u64) {
        self.orders.push_back(Order::Control { rail, to, packet, serial });
    }

    /// How long the node waits for answers, where it does not wait for ever.
    pub fn patience(&self) -> Option<Patience> {
        self.ways.as_ref().map(Ways::patience)
    }

    /// Counts something that cannot be: whoever sent or reported it breaks the protocol.
    pub fn stray(&mut self) {
        self.strays += 1;
    }
}

/// What the node does.
impl Dispatch {
    /// Idle queues. `departures`: whether it is told and kept what has left the node; `gauges`:
    /// whether it is kept what rails have shown.
    pub(crate) fn new(spec: &NodeSpec, departures: bool, gauges: bool) -> Dispatch {
        Dispatch {
            now: Time::ZERO,
            node: spec.id,
            rails: spec.rails,
            pes: (0..spec.pes).map(|_| Pe::default()).collect(),
            blocking: spec.blocking,
            outbox: Outbox::new(spec, departures),
            open: Slab::new(),
            gauges: gauges.then(|| Gauges::new(spec.rails)),
            // Where packets take turns, all have the same length.
            growth: Growth::new(spec).filter(|_| gauges && spec.injection.is_plain()),
            ahead: spec.ahead.map_or(Time::ZERO, |ahead| ahead.time),
            reassembly: Reassembly::new(spec.patience.is_some()),
            serials: (spec.repeats || spec.patience.is_some()).then(Serials::default),
            arriving: (0..spec.rails).map(|_| Vec::new()).collect(),
            orders: VecDeque::new(),
            ways: spec.patience.map(|patience| Ways::new(patience, spec.rails)),
            turn: Turn::default(),
            deaths: 0,
            strays: 0,
            repeated: 0,
        }
    }

    #[inline]
    pub(crate) fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    pub(crate) fn strays(&self) -> u64 {
        self.strays
    }

    pub(crate) fn deaths(&self) -> u64 {
        self.deaths
    }

    pub(crate) fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Takes the message that a PE can start.
    #[inline]
    fn take_head(&mut self, pe: PeId) -> Outgoing {
        let sender = &mut self.pes[pe.0 as usize];
        sender.held = self.blocking;
        let next = if sender.queue.is_empty() { None } else { sender.queue.pop_front() };
        std::mem::replace(&mut sender.head, next).expect("a PE sends a message that it has")
    }

    /// Hands a piece of a message to a NIC.
    #[inline(always)]
    fn push(
        &mut self,
        &Outgoing { message, to, bytes: length, .. }: &Outgoing,
        stripe: Stripe,
        handed: Handed,
        serial: u64,
        reserved: bool,
    ) {
        if let Some(gauges) = &mut self.gauges {
            gauges.handed(self.now, to, stripe.rail, stripe.len());
        }
        let from = self.node;
        let parcel =
            |id, stripe| Parcel { from, to, id, message, length, stripe, reserved, serial };
        let payload = self.payload(to, stripe.rail);
        self.outbox.push(self.now, handed, (stripe, payload), parcel, &mut self.orders);
    }

    /// All pieces of a message have been handed over.
    #[inline]
    fn close(&mut self, message: MessageId, number: u32) {
        if let Some(rails) = self.outbox.close(number) {
            self.orders.push_back(Order::HandedOver { message, rails });
        }
    }

    #[inline]
    fn serial(&mut self, to: NodeId) -> u64 {
        self.serials.as_mut().map_or(0, |serials| serials.assign(to))
    }

    pub(crate) fn has_seen(&self, from: NodeId, serial: u64) -> bool {
        self.serials.as_ref().is_some_and(|serials| serials.has_seen(from, serial))
    }

    fn note(&mut self, from: NodeId, serial: u64) {
        if let Some(serials) = &mut self.serials {
            serials.note(from, serial);
        }
    }

    /// Queues a message; true if its PE can start it.
    #[inline]
    pub(crate) fn queue(&mut self, pe: PeId, outgoing: Outgoing) -> bool {
        if let Some(ways) = &mut self.ways {
            match ways.reach(self.now, outgoing.to, self.outbox.up()) {
                Reach::Open => {}
                Reach::CutOff => {
                    ways.hold(pe, outgoing);
                    return false;
                }
                Reach::Gone => {
                    self.orders.push_back(Order::Unreachable { peer: outgoing.to });
                    return false;
                }
            }
        }
        let Pe { head, queue, held } = &mut self.pes[pe.0 as usize];
        if head.is_some() {
            queue.push_back(outgoing);
            return false;
        }
        *head = Some(outgoing);
        !*held
    }

    /// A packet has left the node. What has left whole with it: the rail of its stripe, and a PE
    /// that has waited for the message to leave and has more to send.
    pub(crate) fn left(&mut self, stripe: StripeId) -> Option<(RailId, Option<PeId>)> {
        let Departure { rail, message } = match self.outbox.left(stripe, &mut self.orders) {
            Ok(departure) => departure?,
            Err(Stray) => {
                self.stray();
                return None;
            }
        };
        if let Some((pe, message)) = message {
            self.orders.push_back(Order::Complete { pe, message });
        }
        self.outbox.start(rail, &mut self.orders);
        let released = message.map(|(pe, _)| pe).filter(|&pe| {
            let held = std::mem::replace(&mut self.pes[pe.0 as usize].held, false);
            held && self.head(pe).is_some()
        });
        Some((rail, released))
    }

    /// The receiver has a packet; what is to be said of its stripe if that is done with.
    #[inline]
    pub(crate) fn acknowledged(&mut self, stripe: StripeId, number: u32) -> Heard {
        match self.outbox.acknowledged(self.now, stripe, number, &mut self.orders) {
            Ok(Landed { rail, to, bytes, handed_over, ghost, feedback, message }) => {
                if let Some(message) = message {
                    self.orders.push_back(Order::Landed { message });
                }
                let mut back = None;
                if let Some(ways) = &mut self.ways {
                    let sent = Sent { to, rail, stripe, number, bytes };
                    if ghost {
                        let lives = ways.answered(self.now, &sent);
                        back = (lives && self.outbox.up().contains(rail)).then_some((to, rail));
                        return Heard { feedback, back };
                    }
                    ways.acknowledged(self.now, &sent);
                }
                if let Some(gauges) = &mut self.gauges {
                    gauges.acknowledged(self.now, to, rail, handed_over, bytes);
                    if let Some(growth) = &mut self.growth
                        && growth.see(to, rail, gauges.get(to, rail))
                    {
                        gauges.begin_anew(to, rail);
                    }
                }
                Heard { feedback, back }
            }
            Err(Stray) => {
                self.stray();
                Heard { feedback: None, back: None }
            }
        }
    }

    /// What the channel has found out about a way.
    pub(crate) fn shown(&mut self, to: NodeId, rail: RailId, told: Told, of_late: Time) {
        if let Some(ways) = &mut self.ways {
            ways.shown(to, rail, of_late);
        }
        if let Some(gauges) = &mut self.gauges {
            gauges.shown(to, rail, told);
        }
    }

    /// A stripe begins to arrive, or goes on.
    pub(crate) fn arriving(&mut self, rail: RailId, from: NodeId, stripe: StripeId) {
        let arriving = &mut self.arriving[rail.0 as usize];
        if !arriving.contains(&(from, stripe)) {
            arriving.push((from, stripe));
        }
    }

    /// A stripe does not arrive any more; true if nothing does on its rail.
    pub(crate) fn no_more(&mut self, rail: RailId, from: NodeId, stripe: StripeId) -> bool {
        let arriving = &mut self.arriving[rail.0 as usize];
        let before = arriving.len();
        arriving.retain(|&other| other != (from, stripe));
        before > 0 && arriving.is_empty()
    }

    /// A packet has arrived; what it has made whole.
    #[inline]
    pub(crate) fn arrived(&mut self, packet: &Packet) -> Result<Whole, Stray> {
        let &Parcel { from, to, serial, .. } = &packet.parcel;
        if to != self.node {
            return Err(Stray);
        }
        if let Some(ways) = &mut self.ways
            && ways.is_gone(from)
        {
            return Ok(Whole::Nothing);
        }
        let whole = match (self.has_seen(from, serial), &self.ways) {
            (false, _) => self.reassembly.accept(packet)?,
            (true, Some(_)) => Whole::Known,
            (true, None) => return Err(Stray),
        };
        if whole == Whole::Known {
            self.repeated += 1;
        } else {
            let rail = packet.parcel.stripe.rail;
            self.outbox.received(rail, &mut self.orders);
            if let Some(ways) = &mut self.ways {
                ways.heard(self.now, from, rail);
            }
        }
        if whole == Whole::Message {
            self.note(from, serial);
        }
        Ok(whole)
    }

    /// A message is there.
    #[inline]
    pub(crate) fn deliver(&mut self, parcel: &Parcel) {
        let &Parcel { from, message, length: bytes, .. } = parcel;
        self.orders.push_back(Order::Deliver { from, message, bytes });
    }

    /// A control packet has come; false if it has come before, which is fine where ways may die.
    pub(crate) fn is_news(&mut self, from: NodeId, serial: u64) -> bool {
        let news = !self.has_seen(from, serial);
        match &self.ways {
            _ if news => self.note(from, serial),
            Some(_) => self.repeated += 1,
            None => self.stray(),
        }
        news
    }

    /// A peer has a control packet; the way that is taken back by it.
    pub(crate) fn control_acknowledged(
        &mut self,
        to: NodeId,
        rail: RailId,
    ) -> Option<(NodeId, RailId)> {
        match self.ways.as_mut()?.control_acknowledged(self.now, to, rail) {
            Some(lives) => (lives && self.outbox.up().contains(rail)).then_some((to, rail)),
            None => {
                self.stray();
                None
            }
        }
    }

    /// A rail goes up or down; false if it is no news.
    pub(crate) fn switch(&mut self, rail: RailId, up: bool) -> bool {
        self.outbox.switch(rail, up, &mut self.orders)
    }

    /// A packet of a stripe under way.
    #[inline]
    pub(crate) fn packet(&self, stripe: StripeId, number: u32) -> Packet {
        self.outbox.packet(stripe, number)
    }

    /// The next action.
    #[inline]
    pub(crate) fn action(&mut self) -> Option<Action> {
        Some(match self.orders.pop_front()? {
            Order::Transmit { stripe, next, end } => {
                if next + 1 < end {
                    self.orders.push_front(Order::Transmit { stripe, next: next + 1, end });
                }
                let packet = self.outbox.transmit(stripe, next);
                if let Some(ways) = &mut self.ways {
                    let (to, rail) = (packet.parcel.to, packet.parcel.stripe.rail);
                    let (number, bytes) = (next, packet.len());
                    ways.transmitted(self.now, &Sent { to, rail, stripe, number, bytes });
                }
                Action::Transmit(packet)
            }
            Order::Control { rail, to, packet, serial } => {
                if let Some(ways) = &mut self.ways {
                    ways.control_transmitted(self.now, to, rail);
                }
                Action::Control { rail, to, packet, serial }
            }
            Order::Deliver { from, message, bytes } => Action::Deliver { from, message, bytes },
            Order::Complete { pe, message } => Action::Complete { pe, message },
            Order::HandedOver { message, rails } => Action::HandedOver { message, rails },
            Order::Landed { message } => Action::Landed { message },
            Order::Unreachable { peer } => Action::Unreachable { peer },
        })
    }

    /// Whether nothing waits, is under way or is half received.
    pub(crate) fn is_idle(&self) -> bool {
        self.pes.iter().all(|pe| pe.head.is_none())
            && self.open.is_empty()
            && self.outbox.is_empty()
            && self.reassembly.is_empty()
            && self.ways.as_ref().is_none_or(|ways| ways.waiting() == 0)
    }
}
