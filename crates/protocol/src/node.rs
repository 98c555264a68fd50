//! A node of the cluster: processing elements, NICs and a policy that joins them.

use crosstie_units::{Rate, Time};

use crate::channel::Path;
use crate::dispatch::{Dispatch, Heard, Outgoing};
use crate::gauge::Told;
use crate::nic::{Nic, Tally};
use crate::policy::Policy;
use crate::reassembly::{Stray, Whole};
use crate::{
    Ahead, Control, Injection, Machine, MessageId, NodeId, Packet, Packing, Patience, PeId, RailId,
    RailSet, StripeId,
};

/// What a node is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeSpec {
    /// Its number.
    pub id: NodeId,
    /// Processing elements.
    pub pes: u32,
    /// Rails, each with one NIC.
    pub rails: u32,
    /// How stripes become packets.
    pub packing: Packing,
    /// Packets that a NIC has under way at once: each keeps its place until the receiver has it.
    /// `None`: no limit.
    pub window: Option<u32>,
    /// Stripes that a NIC sends at once; the others wait in its queue, first come first served.
    /// `None`: no limit.
    pub transfers: Option<u32>,
    /// Whether a NIC sends stripes one after another; otherwise they take turns packet by packet.
    pub in_order: bool,
    /// Whether a PE waits until its message has left the node before it starts the next one.
    pub blocking: bool,
    /// Whether the application wants to know when a message has left the node
    /// ([`Action::Complete`]).
    pub completions: bool,
    /// Whether the application wants to know which rails a message has taken
    /// ([`Action::HandedOver`]), and when its receiver has it ([`Action::Landed`]).
    pub reports: bool,
    /// Whether the network may deliver a packet more than once. If so, all nodes number what they
    /// send to each other and remember what has come.
    pub repeats: bool,
    /// True if rails lead back to the node itself, as those of NICs do that put from one process of
    /// a node to another.
    pub loops: bool,
    /// How long it waits for acknowledgements; all nodes have the same. If it is given, the node
    /// outlives its rails, as long as there is one, and what it sends may come more than once.
    /// `None`: for ever.
    pub patience: Option<Patience>,
    /// What it keeps ahead of rails, if its policy asks what they have shown, or it outlives its
    /// rails. `None`: as little as keeps them busy, in packets that do not grow.
    pub ahead: Option<Ahead>,
    /// How packets of all messages follow each other.
    pub injection: Injection,
}

impl NodeSpec {
    /// A node of one PE that hands every message to the network at once and uncut, and trusts it.
    pub fn new(id: NodeId, rails: u32) -> NodeSpec {
        NodeSpec {
            id,
            pes: 1,
            rails,
            packing: Packing::default(),
            window: None,
            transfers: None,
            in_order: false,
            blocking: false,
            completions: false,
            reports: false,
            repeats: false,
            loops: false,
            patience: None,
            ahead: None,
            injection: Injection::default(),
        }
    }
}

/// Why a node cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// There is nothing to send with.
    #[error("a node has 1 to {} rails, not {rails}", RailSet::MOST)]
    Rails {
        /// The rails asked for.
        rails: u32,
    },
    /// Nobody sends, or nothing may be sent.
    #[error(
        "a node needs at least one PE, and NICs with at least one stripe and one packet under way \
         and one byte in a packet"
    )]
    Nothing,
    /// The policy is for another number of rails.
    #[error("the static allocation is for {expected} rails, but the nodes have {rails}")]
    OtherRails {
        /// The rails of the node.
        rails: u32,
        /// The rails of the allocation.
        expected: u32,
    },
    /// The policy does not know the node.
    #[error("the static allocation is for {nodes} nodes: there is no node {}", id.0)]
    UnknownNode {
        /// The node.
        id: NodeId,
        /// The nodes of the allocation.
        nodes: u32,
    },
}

/// What can happen to a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A PE sends a message. Messages of one PE are sent one after another: each starts when the
    /// one before has been handed to NICs or, if sends are blocking, has left the node.
    Send {
        /// The PE.
        pe: PeId,
        /// The message, as the application numbers it.
        message: MessageId,
        /// The receiver: another node.
        to: NodeId,
        /// The length.
        bytes: u64,
        /// The rail that the sender wants it to take, for policies that leave that to the sender.
        rail: Option<RailId>,
        /// Whether it must take one rail, whole, under every policy.
        whole: bool,
    },
    /// The last byte of a packet has left the node. Where [`Node::needs_departures`] says no, it
    /// may be left unsaid.
    Left {
        /// The stripe of the packet.
        stripe: StripeId,
    },
    /// The receiver has a packet of this node: there is room for another.
    Acknowledged {
        /// The stripe of the packet.
        stripe: StripeId,
        /// Its number within the stripe.
        number: u32,
    },
    /// The receiver has a control packet of this node. Only said where the node [outlives its
    /// rails](Node::outlives_rails).
    ControlAcknowledged {
        /// To whom it went.
        to: NodeId,
        /// On which rail.
        rail: RailId,
    },
    /// A hint that only a NIC can give: the first byte of a packet has come in, and the rest
    /// follows. Where [`Node::needs_arriving`] says no, or nobody can know, it may be left unsaid.
    /// Later packets of the same stripe are no news.
    Arriving {
        /// The rail.
        rail: RailId,
        /// The sender.
        from: NodeId,
        /// The stripe of the packet, as the sender numbers it.
        stripe: StripeId,
    },
    /// The last byte of a packet has come in: it is in memory.
    Arrived(Packet),
    /// A NIC has processed a control packet (it may have taken its time).
    Control {
        /// The rail.
        rail: RailId,
        /// The node that sent it.
        from: NodeId,
        /// The packet.
        packet: Control,
        /// As in [`Action::Control`].
        serial: u64,
    },
    /// What the channel below has found out about a way, which knows better than whoever sees
    /// acknowledgements only. Where nobody can know, it is left unsaid.
    Shown {
        /// To whom.
        to: NodeId,
        /// On which rail.
        rail: RailId,
        /// What it carries.
        rate: Rate,
        /// The most bytes that have shown this, one after another: more than twice as many show
        /// for themselves.
        seen: u64,
        /// How long a packet takes there and its acknowledgement back, at least.
        round_trip: Time,
        /// The same, of late.
        of_late: Time,
        /// The bytes that may be under way.
        window: u64,
    },
    /// A rail goes up or down. All are up at first. What has been handed to a NIC stays there and
    /// waits while the rail is down; nothing more is, as long as there is another rail. With
    /// [`NodeSpec::patience`], all ways of a rail that goes down die.
    Rail {
        /// The rail.
        rail: RailId,
        /// Whether it carries packets from now on.
        up: bool,
    },
    /// The way to a peer on a rail has a NIC at both ends, as at first, or has not: then it is
    /// dead, and the node does not wait for it. Only where the node
    /// [outlives its rails](Node::outlives_rails).
    Way {
        /// The peer.
        to: NodeId,
        /// The rail.
        rail: RailId,
        /// True if there is one at both ends.
        there: bool,
    },
    /// Another node has given this one up: it takes nothing more, and nothing comes from it. Only
    /// where the node [outlives its rails](Node::outlives_rails).
    Farewell {
        /// Which.
        peer: NodeId,
    },
}

impl Input {
    /// What a channel has found out about a way, if it has.
    pub fn shown(to: NodeId, rail: RailId, path: &Path) -> Option<Input> {
        let &Path { smoothed, smallest, carries, window, .. } = path;
        let ((rate, seen), round_trip, of_late) = (carries?, smallest?, smoothed?);
        Some(Input::Shown { to, rail, rate, seen, round_trip, of_late, window })
    }
}

/// What a node wants done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Transmit a packet on its rail.
    Transmit(Packet),
    /// Send a control packet from the NIC of one rail to that of another node.
    Control {
        /// The rail.
        rail: RailId,
        /// The receiver.
        to: NodeId,
        /// The packet.
        packet: Control,
        /// Travels with it, as [`Parcel::serial`](crate::Parcel::serial) does with data.
        serial: u64,
    },
    /// A message has arrived whole.
    Deliver {
        /// The sender.
        from: NodeId,
        /// The message, as the sender numbers it.
        message: MessageId,
        /// Its length.
        bytes: u64,
    },
    /// The last byte of a message has left the node. Said where departures are told.
    Complete {
        /// The PE that sent it.
        pe: PeId,
        /// The message.
        message: MessageId,
    },
    /// The last piece of a message has been handed to a NIC. Said where [`NodeSpec::reports`] is
    /// set, as is the next.
    HandedOver {
        /// The message.
        message: MessageId,
        /// The rails that it has taken.
        rails: RailSet,
    },
    /// The receiver has all of a message.
    Landed {
        /// The message.
        message: MessageId,
    },
    /// A peer is given up: there was no way to it for too long ([`NodeSpec::patience`]). What there
    /// was for it and from it is forgotten, and so is what comes from it later. The driver
    /// closes its channels to this peer: nothing is to be acknowledged any more, on either
    /// side. Said again for every message that is sent to it later, and dropped.
    Unreachable {
        /// The peer.
        peer: NodeId,
    },
}

/// A node of the cluster, under one policy: all that is between an application and the packets on
/// its rails.
#[derive(Debug)]
pub struct Node {
    spec: NodeSpec,
    dispatch: Dispatch,
    policy: Box<dyn Policy>,
    departures: bool,
    arriving: bool,
}

impl Node {
    /// An idle node.
    pub fn new(spec: NodeSpec, policy: Box<dyn Policy>) -> Result<Node, NodeError> {
        if spec.rails == 0 || spec.rails > RailSet::MOST {
            return Err(NodeError::Rails { rails: spec.rails });
        }
        let outstanding = spec.injection.window.map(|window| window.packets);
        let limits =
            [Some(spec.pes), spec.transfers, spec.window, spec.packing.payload, outstanding];
        if limits.contains(&Some(0)) {
            return Err(NodeError::Nothing);
        }
        let asked = spec.transfers.is_some() || spec.blocking || spec.completions;
        let departures = asked || policy.needs_departures() || !spec.injection.is_plain();
        // A stripe whose way dies may never arrive whole.
        let arriving = policy.needs_arriving() && spec.patience.is_none();
        // What goes again is shared out by what rails have shown.
        let gauges = policy.needs_gauges() || spec.patience.is_some();
        let dispatch = Dispatch::new(&spec, departures, gauges);
        Ok(Node { spec, dispatch, policy, departures, arriving })
    }

    /// Tells the node how fast the link of each rail is. One that outlives its rails then takes
    /// none for dead on which something is still being transmitted.
    pub fn know_rates(&mut self, rates: &[Rate]) {
        self.dispatch.know_rates(rates);
    }

    /// Whether the node wants to be told what has left it ([`Input::Left`]).
    pub fn needs_departures(&self) -> bool {
        self.departures
    }

    /// Whether the node makes use of being told what is arriving ([`Input::Arriving`]).
    pub fn needs_arriving(&self) -> bool {
        self.arriving
    }

    /// Whether the node outlives its rails ([`NodeSpec::patience`]), and wants to be told which
    /// control packets were acknowledged ([`Input::ControlAcknowledged`]).
    pub fn outlives_rails(&self) -> bool {
        self.dispatch.outlives_rails()
    }

    /// A packet that the node has under way, once more: its stripe and its number within it are all
    /// that a driver has to keep.
    ///
    /// # Panics
    /// If there is no such packet, or all packets of the stripe have been acknowledged (and have
    /// left, where that is told).
    #[inline]
    pub fn packet(&self, stripe: StripeId, number: u32) -> Packet {
        self.dispatch.packet(stripe, number)
    }

    /// Whether something with this serial number has come from a node before, whole, where that is
    /// kept.
    pub fn has_seen(&self, from: NodeId, serial: u64) -> bool {
        self.dispatch.has_seen(from, serial)
    }

    /// The NICs that are FREE by `NStatus`, in policies that keep it.
    pub fn free(&self) -> Option<RailSet> {
        self.policy.free(&self.dispatch)
    }

    /// The NIC process of a rail, in policies that reserve.
    pub fn nic(&self, rail: RailId) -> Option<&Nic> {
        self.policy.nics().get(rail.0 as usize)
    }

    /// What the NIC processes have done, in policies that reserve.
    pub fn tally(&self) -> Option<&Tally> {
        self.policy.tally()
    }

    /// Inputs that break the protocol: blank and unreachable cells of the NIC's table, and reports
    /// of stripes and packets that cannot be. It stays 0 where nothing is lost, repeated or made
    /// up.
    pub fn violations(&self) -> u64 {
        self.dispatch.strays() + self.tally().map_or(0, Tally::violations)
    }

    /// How often a way, one rail to one peer, was silent for so long that it was taken for dead.
    pub fn deaths(&self) -> u64 {
        self.dispatch.deaths()
    }

    /// Packets that carried nothing new, as it happens where ways die.
    pub fn repeated(&self) -> u64 {
        self.dispatch.repeated()
    }

    /// Packets given to a way that has died since, which may yet be acknowledged: at most as many
    /// as the window of a NIC.
    pub fn ghosts(&self, to: NodeId, rail: RailId) -> u32 {
        self.dispatch.ghosts(to, rail)
    }

    /// Messages, and pieces of messages, that wait for a way to their peer.
    pub fn held(&self) -> usize {
        self.dispatch.held()
    }

    /// Messages of which some bytes have come.
    pub fn half_received(&self) -> usize {
        self.dispatch.half_received()
    }

    /// Whether the node has nothing to send, nothing half received, and every NIC is free.
    pub fn is_idle(&self) -> bool {
        self.dispatch.is_idle() && self.free().is_none_or(|free| free == self.dispatch.rails())
    }

    /// Counts an input from a rail that there is not.
    fn knows(&mut self, rail: RailId) -> bool {
        let known = rail.0 < self.spec.rails;
        if !known {
            self.dispatch.stray();
        }
        known
    }

    fn send(&mut self, pe: PeId, outgoing: Outgoing) {
        let (pes, id) = (self.spec.pes, self.spec.id);
        assert!(pe.0 < pes, "a node of {pes} PEs has no PE {}", pe.0);
        let is_other = outgoing.to != id || self.spec.loops;
        assert!(is_other, "node {} sends to itself, which takes no rail", id.0);
        if self.dispatch.queue(pe, outgoing) {
            self.policy.ready(pe, &mut self.dispatch);
        }
    }

    fn left(&mut self, stripe: StripeId) {
        if let Some((rail, released)) = self.dispatch.left(stripe) {
            self.policy.sent(rail, &mut self.dispatch);
            if let Some(pe) = released {
                self.policy.ready(pe, &mut self.dispatch);
            }
        }
    }

    fn acknowledged(&mut self, stripe: StripeId, number: u32) {
        let Heard { feedback, back } = self.dispatch.acknowledged(stripe, number);
        if let Some(feedback) = feedback {
            self.policy.finished(&feedback, &mut self.dispatch);
        }
        if let Some((to, rail)) = back {
            self.take_back(&[(to, rail)]);
        }
    }

    fn arriving(&mut self, rail: RailId, from: NodeId, stripe: StripeId) {
        if self.knows(rail) && self.arriving {
            self.dispatch.arriving(rail, from, stripe);
        }
    }

    /// The last byte of a packet has come in. Returns true if its message is whole with that: then
    /// the caller delivers it. It is the same as [`Input::Arrived`] for drivers that have the
    /// message at hand.
    #[inline]
    pub fn receive(&mut self, now: Time, packet: &Packet) -> bool {
        #[cfg(feature = "record")]
        crate::record::note(self.spec.id, now, || {
            crate::record::Noted::Told(Input::Arrived(packet.clone()))
        });
        self.dispatch.set_now(now);
        let whole = self.arrived(packet, false);
        #[cfg(feature = "record")]
        if whole {
            let &crate::Parcel { from, message, length: bytes, .. } = &packet.parcel;
            crate::record::note(self.spec.id, now, || {
                crate::record::Noted::Wants(Action::Deliver { from, message, bytes })
            });
        }
        whole
    }

    /// A packet has come in; true if its message is whole, which is `told` as an action or not.
    #[inline]
    fn arrived(&mut self, packet: &Packet, told: bool) -> bool {
        let (rail, from) = (packet.parcel.stripe.rail, packet.parcel.from);
        if !self.knows(rail) {
            return false;
        }
        let Node { dispatch, policy, .. } = self;
        let whole = dispatch.arrived(packet);
        match whole {
            Ok(Whole::Message | Whole::Stripe) => {
                if told && whole == Ok(Whole::Message) {
                    dispatch.deliver(&packet.parcel);
                }
                policy.arrived(&packet.parcel, dispatch);
            }
            Ok(Whole::Nothing | Whole::Known) => return false,
            // What was said to be arriving may have been this one.
            Err(Stray) => dispatch.stray(),
        }
        if self.arriving && dispatch.no_more(rail, from, packet.parcel.id) {
            policy.quiet(rail, dispatch);
        }
        whole == Ok(Whole::Message)
    }

    fn control(&mut self, rail: RailId, from: NodeId, packet: Control, serial: u64) {
        if !self.knows(rail) {
            return;
        }
        if self.dispatch.has_given_up(from) {
            return;
        }
        if self.dispatch.is_news(from, serial) {
            self.policy.control(rail, from, packet, &mut self.dispatch);
        }
    }

    fn control_acknowledged(&mut self, to: NodeId, rail: RailId) {
        if self.knows(rail)
            && let Some(back) = self.dispatch.control_acknowledged(to, rail)
        {
            self.take_back(&[back]);
        }
    }

    fn switch(&mut self, rail: RailId, up: bool) {
        if self.knows(rail) && self.dispatch.switch(rail, up) {
            let ways = self.dispatch.ways_on(rail, up);
            if up {
                self.take_back(&ways);
            } else {
                self.bury(&ways);
            }
            self.policy.switched(rail, up, &mut self.dispatch);
        }
    }

    fn set_there(&mut self, to: NodeId, rail: RailId, there: bool) {
        if self.knows(rail) && self.dispatch.set_there(to, rail, there) {
            match there {
                true if self.dispatch.up().contains(rail) => self.take_back(&[(to, rail)]),
                true => {}
                false => self.bury(&[(to, rail)]),
            }
        }
    }

    /// Ways have died.
    fn bury(&mut self, ways: &[(NodeId, RailId)]) {
        if ways.is_empty() {
            return;
        }
        let unsent = self.dispatch.bury(ways);
        for &(to, rail) in ways {
            self.policy.lives(to, rail, false, &mut self.dispatch);
        }
        for rail in unsent.iter() {
            self.policy.sent(rail, &mut self.dispatch);
        }
        self.go_on();
    }

    /// Ways are taken back.
    fn take_back(&mut self, ways: &[(NodeId, RailId)]) {
        if ways.is_empty() {
            return;
        }
        self.dispatch.take_back(ways);
        for &(to, rail) in ways {
            self.policy.lives(to, rail, true, &mut self.dispatch);
        }
        self.go_on();
    }

    /// Whoever can goes on.
    fn go_on(&mut self) {
        for pe in self.dispatch.pes() {
            self.policy.ready(pe, &mut self.dispatch);
        }
    }

    /// Somebody's patience may be at an end.
    fn look_after(&mut self) {
        let silent = self.dispatch.silent();
        self.bury(&silent);
        for peer in self.dispatch.give_up() {
            self.policy.forget(peer, &self.dispatch);
            self.dispatch.forget(peer);
            self.go_on();
        }
    }
}

impl Machine for Node {
    type Input = Input;
    type Action = Action;

    /// # Panics
    /// If a message is sent by a PE that there is not, by the node to itself (rails join different
    /// nodes), or in more than 2^32 packets.
    #[inline(always)]
    fn handle(&mut self, now: Time, input: Input) {
        #[cfg(feature = "record")]
        crate::record::note(self.spec.id, now, || crate::record::Noted::Told(input.clone()));
        self.dispatch.set_now(now);
        match input {
            Input::Send { pe, message, to, bytes, rail, whole } => {
                self.send(pe, Outgoing { message, to, bytes, rail, whole });
            }
            Input::Left { stripe } if self.departures => self.left(stripe),
            Input::Left { .. } => {}
            Input::Acknowledged { stripe, number } => self.acknowledged(stripe, number),
            Input::ControlAcknowledged { to, rail } => self.control_acknowledged(to, rail),
            Input::Arriving { rail, from, stripe } => self.arriving(rail, from, stripe),
            Input::Arrived(packet) => _ = self.arrived(&packet, true),
            Input::Control { rail, from, packet, serial } => {
                self.control(rail, from, packet, serial);
            }
            Input::Shown { to, rail, rate, seen, round_trip, of_late, window } => {
                if self.knows(rail) {
                    let told = Told::new(rate, seen, round_trip, window);
                    self.dispatch.shown(to, rail, told, of_late);
                }
            }
            Input::Rail { rail, up } => self.switch(rail, up),
            Input::Way { to, rail, there } => self.set_there(to, rail, there),
            Input::Farewell { peer } => {
                self.dispatch.bid_farewell(peer);
                self.look_after();
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        #[cfg(feature = "record")]
        crate::record::note(self.spec.id, now, || crate::record::Noted::Timeout);
        self.dispatch.set_now(now);
        if self.policy.deadline().is_some_and(|at| at <= now) {
            self.policy.timeout(&mut self.dispatch);
        }
        if self.dispatch.alarm().is_some_and(|at| at <= now) {
            self.look_after();
        }
    }

    #[inline]
    fn poll_action(&mut self, _now: Time) -> Option<Action> {
        let action = self.dispatch.action();
        #[cfg(feature = "record")]
        if let Some(action) = &action {
            crate::record::note(self.spec.id, _now, || crate::record::Noted::Wants(action.clone()));
        }
        action
    }

    fn poll_timeout(&self) -> Option<Time> {
        let (deadline, alarm) = (self.policy.deadline(), self.dispatch.alarm());
        match (deadline, alarm) {
            (Some(deadline), Some(alarm)) => Some(deadline.min(alarm)),
            (deadline, alarm) => deadline.or(alarm),
        }
    }
}
