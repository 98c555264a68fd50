//! The nodes of a cluster above a network.
//!
//! [`Nodes`] has one [`Node`] machine of `protocol` per node and drives all of them on any [`Network`]: a
//! packet that a machine wants transmitted is injected, and what becomes of it is told to the
//! machines. An acknowledgement takes no time. Control packets go from NIC to NIC over the same
//! links; the processor of the receiving NIC takes its time over each, one after the other, before
//! the machine hears of it.
//!
//! How soon machines react follows from who they are. Where a policy paces what nodes send, they
//! react in the tick after the one in which something happened. Where everything is handed to the
//! network at once, only applications can react, and they do so at the instant; open-loop traffic
//! does not react at all, and is told whenever it suits the network.

mod casts;
mod exchange;
mod gets;
mod identity;
mod links;
mod ports;
mod post;
mod report;
mod spec;
mod station;
#[cfg(test)]
mod tests;

pub use report::{Letter, Listener, Receipt};
pub use spec::{Audience, Exchange, NodesError, NodesSpec};
pub use station::{Overflows, StationSpec};

use crate::agenda::{Agenda, Entry};
use crate::network::{
    Attention, Chore, Ends, Event, Fate, Interest, Network, Packet, Part, Passage, Priority,
};
use crate::slab::Slab;
use casts::Casts;
use crosstie_protocol::channel::{History, Tally};
use crosstie_protocol::{
    self as protocol, Action, Control, Input, Machine, MessageId, Node, NodeId, RailId,
};
use crosstie_units::Time;
use gets::Gets;
use identity::{DataId, PacketId};
use links::Links;
use post::Post;

/// Steps, and cycles of a network, after which those above nodes look up if they have heard of
/// nothing. A message may be under way for hours, and nobody must wait for it to interrupt a run.
const UNHEARD_STEPS: u32 = 1024;
const UNHEARD_CYCLES: u64 = 16_384;

/// Something that comes at a known time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Timer {
    /// The processor of a NIC has handled a control packet.
    Processed { control: u32 },
    /// The first byte of a packet comes in.
    Arriving { data: u64 },
    /// A machine asked to be called.
    Timeout { node: u32 },
    /// One end of a channel asked to be called.
    Channel { link: u32 },
    /// The processor of a commodity node may be done with something.
    Worked { node: u32 },
    /// The processor of a commodity node takes up what there is to do.
    TakesUp { node: u32 },
    /// A NIC of a commodity node sends a packet.
    GoesOut { packet: u32 },
    /// A NIC of a commodity node hands a packet over.
    ComesIn { packet: u32 },
    /// The processor of a commodity node has received a packet.
    Received { packet: u32 },
}

/// A control packet under way.
#[derive(Debug, Clone, Copy)]
struct ControlPacket {
    rail: RailId,
    from: NodeId,
    to: NodeId,
    packet: Control,
    serial: u64,
}

/// A message that has not been delivered whole.
#[derive(Debug, Clone, Copy)]
struct Pending {
    message: MessageId,
    letter: Letter,
    /// What it is between ports, if that is where it goes.
    part: Option<Part>,
    handed_over: Time,
    /// Whether its first byte has come in.
    arriving: bool,
    /// How many more things will be heard of it.
    expected: u8,
}

/// The nodes of a cluster, and everything between them and a network.
pub struct Nodes {
    spec: NodesSpec,
    nodes: Vec<Node>,
    interest: Interest,
    /// Whether somebody follows what becomes of messages.
    follows: bool,
    /// True if nodes announce a message to the listener with its first packet. Behind channels and
    /// commodity nodes the network does not report the first byte.
    announces: bool,
    /// True if it is told when messages have left, and they may have arrived before: some of it
    /// may go again, or a put is done at either end first.
    leaves_late: bool,
    /// The time it is for whoever is being told something.
    now: Time,
    /// When the machine of each node asked to be called.
    alarms: Vec<Option<Time>>,
    /// Until when the processor of each NIC is busy, by `rail * nodes + node`.
    processors: Vec<Time>,
    timers: Agenda<Timer>,
    timers_set: u64,
    messages: Slab<Pending>,
    /// Messages sent, where a number must not come again: packets of a message may outlive it.
    sent: u64,
    controls: Slab<ControlPacket>,
    gets: Gets,
    casts: Casts,
    /// Channels, where there are any.
    links: Option<Links>,
    /// Commodity nodes and what is under way between them, where nodes do not simply hand packets
    /// over.
    post: Option<Box<Post>>,
    /// Packets that the network has lost.
    lost: u64,
    told: Vec<Event>,
}

impl Nodes {
    /// So many idle nodes.
    pub fn new(spec: &NodesSpec, count: u32, audience: Audience) -> Result<Nodes, NodesError> {
        let policies = spec.policy.policies(count, spec.rails)?;
        let node = |id| {
            let node = spec.node(NodeId(id), audience);
            let mut node = Node::new(node, policies.node(&node)?)?;
            node.know_rates(&spec.rates);
            Ok(node)
        };
        let nodes = (0..count).map(node).collect::<Result<Vec<_>, NodesError>>()?;
        if let Some(channel) = &spec.channel {
            channel.check()?;
        }
        let departures = nodes.first().is_some_and(Node::needs_departures);
        let interest = Interest {
            departures: match spec.station {
                None => departures,
                Some(station) => station.ring.is_some(),
            },
            // Where nodes react, all are told the same, whatever their policies make of it: what is
            // told decides where ticks are cut, and policies are to be compared under
            // equal conditions. Who picks packets up, or numbers them, hears of them
            // when they are there.
            arriving: spec.is_plain()
                && (spec.paces()
                    || audience == Audience::Receives
                    || nodes.first().is_some_and(Node::needs_arriving)),
            acknowledges: spec.puts,
            attention: match (spec.paces(), audience) {
                (true, _) => Attention::Soon,
                (false, Audience::Replies | Audience::Receives | Audience::Follows) => {
                    Attention::AtOnce
                }
                (false, Audience::Silent) if !spec.is_plain() => Attention::AtOnce,
                (false, Audience::Silent) => Attention::Late,
            },
        };
        let leaves_late = departures && (spec.outlives_rails() || spec.puts);
        Ok(Nodes {
            interest,
            leaves_late,
            follows: audience == Audience::Follows,
            announces: !spec.is_plain() && audience == Audience::Receives,
            now: Time::ZERO,
            alarms: vec![None; count as usize],
            processors: vec![Time::ZERO; (count * spec.rails) as usize],
            timers: Agenda::default(),
            timers_set: 0,
            messages: Slab::default(),
            sent: 0,
            controls: Slab::default(),
            gets: Gets::default(),
            casts: Casts::default(),
            links: spec.channel.map(|channel| Links::new(channel, count, spec.rails)),
            post: (!spec.is_plain()).then(|| Box::new(Post::new(spec, count))),
            lost: 0,
            told: Vec::new(),
            spec: spec.clone(),
            nodes,
        })
    }

    /// What the nodes want to be told by the network, and how soon.
    pub fn interest(&self) -> Interest {
        self.interest
    }

    /// Hands a message to a processing element at the time that it is.
    pub fn send(&mut self, network: &mut dyn Network, letter: Letter, to: &mut impl Listener) {
        self.hand_over(network, letter, None, to);
    }

    fn hand_over(
        &mut self,
        network: &mut dyn Network,
        letter: Letter,
        part: Option<Part>,
        to: &mut impl Listener,
    ) {
        self.now = network.now();
        // It is delivered, and has landed; where ways die, it may leave last of all.
        let expected = 1 + u8::from(self.follows) + u8::from(self.leaves_late);
        self.sent += u64::from(self.spec.channel.is_some());
        let (message, handed_over, arriving) = (MessageId(0), self.now, false);
        let pending = Pending { message, letter, part, handed_over, arriving, expected };
        let place = self.messages.put(pending);
        // The place of a message is its number, with what makes it the only one in front.
        let message = MessageId(u64::from(place) | self.sent << 32);
        self.messages.get_mut(place).message = message;
        let Letter { from, pe, to: receiver, bytes, rail, whole, .. } = letter;
        let bytes = u64::from(bytes);
        let input = Input::Send { pe, message, to: receiver, bytes, rail, whole };
        self.tell(network, from, input, to);
    }

    /// Runs network and machines up to a time.
    pub fn run_until(&mut self, network: &mut dyn Network, until: Time, to: &mut impl Listener) {
        while self.step(network, until, to) {}
    }

    /// Lets the next thing happen, if that is before a time; false if that time has come.
    pub fn step(&mut self, network: &mut dyn Network, until: Time, to: &mut impl Listener) -> bool {
        let timer = self.timers.next();
        if timer.is_some_and(|at| at <= network.now()) {
            let Entry { what, .. } = self.timers.take().expect("one is due");
            self.now = network.now();
            self.ring(network, what, to);
        } else if network.now() < until {
            let mut told = std::mem::take(&mut self.told);
            network.run_until(timer.map_or(until, |at| at.min(until)), &mut told);
            for &event in &told {
                self.hear(network, event, to);
            }
            told.clear();
            self.told = told;
        } else {
            return false;
        }
        true
    }

    /// Steps until those above have heard of something. Returns false if they have not: the time
    /// has come, or it is time for them to look up.
    pub fn step_until_heard<L: Listener>(
        &mut self,
        network: &mut dyn Network,
        until: Time,
        to: &mut L,
        has_heard: fn(&L) -> bool,
    ) -> bool {
        let until = until.min(network.now() + network.grain().cycle() * UNHEARD_CYCLES);
        // What concerns packets alone stays among the nodes.
        for _ in 0..UNHEARD_STEPS {
            if !self.step(network, until, to) || has_heard(to) {
                break;
            }
        }
        has_heard(to)
    }

    /// Whether anything will happen by itself.
    pub fn expects(&self, network: &dyn Network) -> bool {
        !self.timers.is_empty() || network.next().is_some()
    }

    /// Whether every message has been delivered and every node is at rest.
    pub fn is_idle(&self) -> bool {
        self.messages.is_empty()
            && self.gets.is_empty()
            && self.casts.is_empty()
            && self.nodes.iter().all(Node::is_idle)
            && self.links.as_ref().is_none_or(Links::is_idle)
            && self.post.as_ref().is_none_or(|post| post.is_idle())
    }

    /// Returns true if what they send are puts, which may be empty.
    pub fn take_puts(&self) -> bool {
        self.spec.puts
    }

    /// Returns true if ranks of a node send to each other through its NICs.
    pub fn loops(&self) -> bool {
        self.spec.loops()
    }

    /// Packets that the network has lost.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// How often a rail to a node was taken for dead, where nodes outlive their rails.
    pub fn deaths(&self) -> Option<u64> {
        self.spec.outlives_rails().then(|| self.nodes.iter().map(Node::deaths).sum())
    }

    /// Packets that commodity nodes had no room for.
    pub fn overflows(&self) -> Overflows {
        self.post.as_ref().map_or(Overflows::default(), |post| post.overflows())
    }

    /// What channels have sent and received, if there are any.
    pub fn channel_tally(&self) -> Option<Tally> {
        self.links.as_ref().map(Links::tally)
    }

    /// What the senders of channels have been through.
    pub fn histories(&self) -> impl Iterator<Item = &History> {
        self.links.iter().flat_map(Links::histories)
    }

    /// Inputs that broke the protocol, over all nodes: 0 unless there is a bug.
    pub fn violations(&self) -> u64 {
        self.nodes.iter().map(Node::violations).sum()
    }

    fn set_timer(&mut self, at: Time, timer: Timer) {
        self.timers.enter(at, self.timers_set, timer);
        self.timers_set += 1;
    }

    /// Something due has come.
    fn ring(&mut self, network: &mut dyn Network, timer: Timer, listener: &mut impl Listener) {
        match timer {
            Timer::Processed { control } => {
                let ControlPacket { rail, from, to, packet, serial } = self.controls.take(control);
                self.tell(network, to, Input::Control { rail, from, packet, serial }, listener);
            }
            Timer::Arriving { data } => {
                let DataId { from, stripe, number } = DataId::decode(data);
                let packet = self.nodes[from.0 as usize].packet(stripe, number);
                let (rail, to) = (packet.parcel.stripe.rail, packet.parcel.to);
                let pending = self.messages.get_mut(packet.parcel.message.0 as u32);
                if !std::mem::replace(&mut pending.arriving, true) {
                    listener.arriving(&pending.letter);
                }
                self.tell(network, to, Input::Arriving { rail, from, stripe }, listener);
            }
            Timer::Timeout { node } => {
                if self.alarms[node as usize].is_some_and(|at| at <= self.now) {
                    self.alarms[node as usize] = None;
                    self.nodes[node as usize].handle_timeout(self.now);
                    self.serve(network, NodeId(node), listener);
                }
            }
            Timer::Channel { link } => self.call(network, link, listener),
            Timer::Worked { node } => self.worked(network, NodeId(node), listener),
            Timer::TakesUp { node } => self.work(NodeId(node)),
            Timer::GoesOut { packet } => self.put_in(network, packet),
            Timer::ComesIn { packet } => self.come_in(network, packet, listener),
            Timer::Received { packet } => self.received(network, packet, listener),
        }
    }

    /// Handles what the network tells.
    fn hear(&mut self, network: &mut dyn Network, event: Event, listener: &mut impl Listener) {
        // Whoever does not react is told as of then.
        self.now = match self.interest.attention {
            Attention::Late => event.at,
            Attention::Soon | Attention::AtOnce => network.now(),
        };
        match (PacketId::of(event.id), event.fate) {
            (PacketId::Data(data), Fate::Left) => {
                let DataId { from, stripe, .. } = data;
                self.tell(network, from, Input::Left { stripe }, listener);
            }
            (PacketId::Data(_), Fate::Arriving) => {
                self.set_timer(event.at, Timer::Arriving { data: event.id });
            }
            (packet @ (PacketId::Data(_) | PacketId::Control(_)), Fate::Arrived(passage)) => {
                self.deliver(network, packet, event.at, passage, listener);
            }
            (PacketId::Posted(packet), fate) => {
                self.hear_of_post(network, packet, event.at, fate, listener);
            }
            (PacketId::Chore(number), _) => listener.charged(number),
            (PacketId::Got(place), fate) => self.hear_of_get(place, fate, listener),
            (PacketId::Cast(place), fate) => self.hear_of_cast(place, fate, listener),
            (PacketId::Data(_) | PacketId::Control(_), Fate::Reached(..)) => {
                unreachable!("they go to one node")
            }
            (PacketId::Data(data), Fate::Dropped | Fate::Refused) => {
                self.lost += 1;
                self.tell(network, data.from, data.acknowledged(), listener);
            }
            (PacketId::Control(control), Fate::Dropped | Fate::Refused) => {
                self.lost += 1;
                self.controls.take(control);
            }
            (PacketId::Data(data), Fate::Acknowledged) if self.spec.puts => {
                self.tell(network, data.from, data.acknowledged(), listener);
            }
            (PacketId::Control(_), Fate::Left | Fate::Arriving)
            | (PacketId::Data(_) | PacketId::Control(_), Fate::Acknowledged | Fate::Done) => {}
        }
    }

    /// A node has a packet. Where there is no channel to do it, the sender is told so at once.
    fn deliver(
        &mut self,
        network: &mut dyn Network,
        packet: PacketId,
        at: Time,
        Passage { began, switches }: Passage,
        listener: &mut impl Listener,
    ) {
        match packet {
            PacketId::Data(data @ DataId { from, stripe, number }) => {
                let packet = self.nodes[from.0 as usize].packet(stripe, number);
                if self.announces {
                    self.announce(packet.parcel.message, listener);
                }
                listener.packet(began, at, &packet, self.wire_bytes(&packet), switches);
                if self.links.is_none() && !self.spec.puts {
                    self.tell(network, from, data.acknowledged(), listener);
                }
                self.tell(network, packet.parcel.to, Input::Arrived(packet), listener);
            }
            PacketId::Control(control) => {
                let ControlPacket { rail, to, .. } = *self.controls.get(control);
                let nic = (rail.0 * self.nodes.len() as u32 + to.0) as usize;
                let done = at.max(self.processors[nic]) + self.spec.response;
                self.processors[nic] = done;
                self.set_timer(done, Timer::Processed { control });
            }
            PacketId::Posted(_) | PacketId::Got(_) | PacketId::Cast(_) | PacketId::Chore(_) => {
                unreachable!("what was posted has been opened, and others are told apart")
            }
        }
    }

    /// Tells the listener that a message is coming in, with its first packet.
    fn announce(&mut self, message: MessageId, listener: &mut impl Listener) {
        // What comes again may have been delivered before.
        if let Some(pending) = self.pending(message)
            && !std::mem::replace(&mut pending.arriving, true)
        {
            listener.arriving(&pending.letter);
        }
    }

    /// Tells a machine what has happened and does what it then wants.
    fn tell(
        &mut self,
        network: &mut dyn Network,
        node: NodeId,
        input: Input,
        listener: &mut impl Listener,
    ) {
        self.nodes[node.0 as usize].handle(self.now, input);
        self.serve(network, node, listener);
    }

    fn serve(&mut self, network: &mut dyn Network, node: NodeId, listener: &mut impl Listener) {
        while let Some(action) = self.nodes[node.0 as usize].poll_action(self.now) {
            match action {
                Action::Transmit(packet) => {
                    let protocol::Parcel { from, to, id: stripe, .. } = packet.parcel;
                    let id = DataId { from, stripe, number: packet.number }.encode();
                    let (rail, bytes) = (packet.parcel.stripe.rail.0, self.wire_bytes(&packet));
                    let siblings = match self.spec.follows_packets() {
                        true => 1,
                        false => self.spec.packing.packets(packet.parcel.stripe.len()) as u32,
                    };
                    let (from, to, departs, ends) = (from.0, to.0, true, Ends::Memories);
                    let priority = Priority::Low;
                    let message = packet.parcel.message;
                    let packet =
                        Packet { rail, from, to, bytes, id, siblings, departs, ends, priority };
                    // Only puts go between ports.
                    let part = match self.spec.puts {
                        true => self.messages.get(message.0 as u32).part,
                        false => None,
                    };
                    match part {
                        Some(part) => network.carry(packet, part),
                        None => self.transmit(network, packet, listener),
                    }
                }
                Action::Control { rail, to, packet, serial } => {
                    let control = ControlPacket { rail, from: node, to, packet, serial };
                    let id = PacketId::Control(self.controls.put(control)).id();
                    let (from, to, bytes) = (node.0, to.0, self.spec.control);
                    let (rail, siblings, departs, ends) = (rail.0, 1, false, Ends::Nics);
                    let priority = Priority::Low;
                    let packet =
                        Packet { rail, from, to, bytes, id, siblings, departs, ends, priority };
                    self.transmit(network, packet, listener);
                }
                Action::Deliver { message, .. } => {
                    let Pending { letter, handed_over, .. } = self.heard_of(message);
                    listener.delivered(&Receipt { letter, handed_over, delivered: self.now });
                }
                Action::HandedOver { message, rails } => {
                    listener.handed_over(&self.messages.get(message.0 as u32).letter, rails);
                }
                Action::Landed { message } => {
                    let Pending { letter, .. } = self.heard_of(message);
                    listener.landed(&letter);
                }
                Action::Complete { message, .. } if self.leaves_late => {
                    let Pending { letter, .. } = self.heard_of(message);
                    listener.completed(&letter);
                }
                Action::Complete { message, .. } => {
                    listener.completed(&self.messages.get(message.0 as u32).letter);
                }
                Action::Unreachable { peer } => self.give_up(node, peer, listener),
            }
        }
        let alarm = self.nodes[node.0 as usize].poll_timeout();
        if alarm != self.alarms[node.0 as usize] {
            self.alarms[node.0 as usize] = alarm;
            if let Some(at) = alarm {
                self.set_timer(at, Timer::Timeout { node: node.0 });
            }
        }
    }

    /// A message that has not been delivered whole.
    fn pending(&mut self, message: MessageId) -> Option<&mut Pending> {
        let pending = self.messages.get_mut(message.0 as u32);
        (pending.message == message && pending.expected > 0).then_some(pending)
    }

    /// A node has given up another.
    fn give_up(&mut self, node: NodeId, peer: NodeId, listener: &mut impl Listener) {
        if let Some(links) = &mut self.links {
            links.close(node, peer);
        }
        let lost = |pending: &Pending| (pending.letter.from, pending.letter.to) == (node, peer);
        for place in self.messages.find(lost) {
            self.messages.get_mut(place).expected = 0;
            self.messages.take(place);
        }
        listener.unreachable(node, peer);
    }

    /// A message, of which one thing less is to be heard now.
    fn heard_of(&mut self, message: MessageId) -> Pending {
        let pending = self.messages.get_mut(message.0 as u32);
        pending.expected -= 1;
        match pending.expected {
            0 => self.messages.take(message.0 as u32),
            _ => *pending,
        }
    }

    /// Sends a packet: through its channel, by the post, or as it is.
    #[inline]
    fn transmit(
        &mut self,
        network: &mut dyn Network,
        packet: Packet,
        listener: &mut impl Listener,
    ) {
        if self.links.is_some() {
            self.send_reliably(network, packet, listener);
        } else if self.post.is_some() {
            self.send_as_it_is(network, packet);
        } else {
            network.inject(packet);
        }
    }

    /// The length of a packet on the wire; even nothing takes a byte to send, but by a put.
    fn wire_bytes(&self, packet: &protocol::Packet) -> u32 {
        let least = u64::from(!self.spec.puts);
        self.spec.packing.wire_bytes(packet.len().max(least)) as u32
    }
}
