//! Nodes with several rails: the machines of a policy on top of the wormhole engine.
//!
//! A [`Cluster`] has one [`Node`] machine per node and drives all of them: what a machine wants sent
//! becomes packets on its rail, and what the engine tells becomes an input of a machine. Packets of
//! messages go from memory to memory and cross the I/O buses. A NIC has only so many of them under
//! way: as in the QsNet, where a packet keeps its virtual channel until it has been acknowledged (the
//! acknowledgement itself takes no time here). Control packets go from NIC to NIC over the same
//! links; the processor of the receiving NIC takes its time over each, one after the other, before
//! the machine hears of it. A machine reacts in the tick after the one in which something happened.

mod books;
mod cargo;
mod listener;
mod spec;
#[cfg(test)]
mod tests;

pub use books::{Books, Edge, Passage, Place, Receipt};
pub use spec::{ClusterError, ClusterSpec};

use crate::wormhole::{EPOCH, Ends, Engine, Packet, Tick};
use cargo::{Cargo, Hold};
use crosstie_fabric::Fabric;
use crosstie_protocol::{
    Action, Input, Machine, MessageId, Node, NodeId, NodeSpec, Parcel, PeId, RailId, StripeId,
};
use crosstie_units::Time;
use listener::{Listener, Listening, Notice};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Something that comes at a known tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// The processor of a NIC has handled a control packet.
    Processed { cargo: u64 },
    /// The first flit of a packet is on the last channel to its NIC.
    Arriving { to: NodeId, rail: RailId, from: NodeId, stripe: StripeId },
    /// A machine asked to be called.
    Timeout { node: u32 },
}

/// A message that has not been delivered whole.
#[derive(Debug, Clone, Copy)]
struct Pending {
    from: (NodeId, PeId),
    handed_over: Tick,
    flits: u64,
}

/// The nodes of a cluster, and everything between them and the engine.
pub struct Cluster {
    spec: ClusterSpec,
    nodes: Vec<Node>,
    /// When the machine of each node asked to be called.
    alarms: Vec<Option<Tick>>,
    /// Until when the processor of each NIC is busy, by `rail * nodes + node`.
    processors: Vec<Tick>,
    timers: BinaryHeap<Reverse<(Tick, u64, Timer)>>,
    timers_set: u64,
    messages: BTreeMap<u64, Pending>,
    next_message: u64,
    hold: Hold,
    listener: Listener,
}

impl Cluster {
    /// Idle nodes, one for each host of the fabric.
    pub fn new(fabric: &Fabric, spec: &ClusterSpec) -> Result<Cluster, ClusterError> {
        let count = fabric.hosts().len() as u32;
        let policies = spec.policy.policies(count, spec.rails)?;
        let node = |id| {
            let node = NodeSpec {
                pes: spec.pes,
                packing: spec.packing.packets(),
                window: Some(spec.window),
                transfers: Some(spec.transfers),
                blocking: spec.blocking,
                ..NodeSpec::new(NodeId(id), spec.rails)
            };
            Ok(Node::new(node, policies.node(&node)?)?)
        };
        let nodes = (0..count).map(node).collect::<Result<Vec<Node>, ClusterError>>()?;
        let departures = nodes.iter().any(Node::needs_departures);
        let arrivals = nodes.iter().any(Node::needs_arriving);
        Ok(Cluster {
            nodes,
            alarms: vec![None; count as usize],
            processors: vec![EPOCH; (count * spec.rails) as usize],
            timers: BinaryHeap::new(),
            timers_set: 0,
            messages: BTreeMap::new(),
            next_message: 0,
            hold: Hold::default(),
            listener: Listener::new(fabric, spec.rails, departures, arrivals),
            spec: spec.clone(),
        })
    }

    /// Hands a message to a processing element at the tick where the engine stands; gives its length
    /// in flits.
    pub fn send(
        &mut self,
        engine: &mut Engine<'_>,
        (from, pe): (NodeId, PeId),
        to: NodeId,
        bytes: u32,
        books: &mut impl Books,
    ) -> u64 {
        let flits = self.spec.packing.message_flits(bytes);
        let id = self.next_message;
        self.next_message += 1;
        self.messages.insert(id, Pending { from: (from, pe), handed_over: engine.now(), flits });
        let input = Input::Send { pe, message: MessageId(id), to, bytes: u64::from(bytes) };
        self.tell(engine, from, input, books);
        flits
    }

    /// Runs engine and machines up to a tick.
    pub fn run_until(&mut self, engine: &mut Engine<'_>, until: Tick, books: &mut impl Books) {
        loop {
            let timer = self.timers.peek().map_or(Tick::MAX, |Reverse((at, ..))| *at);
            if timer <= engine.now() {
                let Reverse((_, _, timer)) = self.timers.pop().expect("one is due");
                self.ring(engine, timer, books);
            } else if engine.now() < until {
                let Cluster { listener, hold, .. } = self;
                engine.run_until(timer.min(until), &mut Listening { listener, hold, books });
                self.hear(engine, books);
            } else {
                return;
            }
        }
    }

    /// Whether every message has been delivered and every node is at rest.
    pub fn is_idle(&self) -> bool {
        self.messages.is_empty() && self.nodes.iter().all(Node::is_idle)
    }

    /// Inputs that broke the protocol, over all nodes: 0 unless there is a bug.
    pub fn violations(&self) -> u64 {
        self.nodes.iter().map(Node::violations).sum()
    }

    fn time(&self, tick: Tick) -> Time {
        self.spec.tick * tick
    }

    fn set_timer(&mut self, at: Tick, timer: Timer) {
        self.timers.push(Reverse((at, self.timers_set, timer)));
        self.timers_set += 1;
    }

    /// Something due has come.
    fn ring(&mut self, engine: &mut Engine<'_>, timer: Timer, books: &mut impl Books) {
        match timer {
            Timer::Processed { cargo } => {
                let Cargo::Control { rail, from, to, packet, serial } = self.hold.take(cargo)
                else {
                    unreachable!("processors handle control packets");
                };
                self.tell(engine, to, Input::Control { rail, from, packet, serial }, books);
            }
            Timer::Arriving { to, rail, from, stripe } => {
                self.tell(engine, to, Input::Arriving { rail, from, stripe }, books);
            }
            Timer::Timeout { node } => {
                if self.alarms[node as usize].is_some_and(|at| at <= engine.now()) {
                    self.alarms[node as usize] = None;
                    let now = self.time(engine.now());
                    self.nodes[node as usize].handle_timeout(now);
                    self.serve(engine, NodeId(node), books);
                }
            }
        }
    }

    /// Handles what the engine told during its last tick.
    fn hear(&mut self, engine: &mut Engine<'_>, books: &mut impl Books) {
        for (at, timer) in std::mem::take(&mut self.listener.arriving) {
            self.set_timer(at, timer);
        }
        for notice in std::mem::take(&mut self.listener.notices) {
            match notice {
                Notice::Left { from, stripe } => {
                    self.tell(engine, from, Input::Left { stripe }, books);
                }
                Notice::Arrived { cargo, from, to, stripe, number } => {
                    self.hold.take(cargo);
                    let packet = self.nodes[from.0 as usize].packet(stripe, number);
                    self.tell(engine, from, Input::Acknowledged { stripe }, books);
                    self.tell(engine, to, Input::Arrived(packet), books);
                }
                Notice::Control { cargo, nic, at } => {
                    let processor = &mut self.processors[nic as usize];
                    *processor = at.max(*processor) + Tick::from(self.spec.response);
                    let done = *processor;
                    self.set_timer(done, Timer::Processed { cargo });
                }
            }
        }
    }

    /// Tells a machine what has happened and does what it then wants.
    fn tell(
        &mut self,
        engine: &mut Engine<'_>,
        node: NodeId,
        input: Input,
        books: &mut impl Books,
    ) {
        let now = self.time(engine.now());
        self.nodes[node.0 as usize].handle(now, input);
        self.serve(engine, node, books);
    }

    fn serve(&mut self, engine: &mut Engine<'_>, node: NodeId, books: &mut impl Books) {
        let now = self.time(engine.now());
        while let Some(action) = self.nodes[node.0 as usize].poll_action(now) {
            match action {
                Action::Transmit(packet) => {
                    books.packet_sent(&packet);
                    let Parcel { from, to, id: stripe, .. } = packet.parcel;
                    let (rail, number) = (packet.parcel.stripe.rail, packet.number);
                    // Even nothing takes a byte to send.
                    let flits = self.spec.packing.flits(packet.len().max(1) as u32);
                    let id = self.hold.put(Cargo::Data { from, to, stripe, number });
                    let (from, to) = (self.nic(rail, from), self.nic(rail, to));
                    engine
                        .inject(engine.now(), Packet { from, to, flits, id, ends: Ends::Memories });
                }
                Action::Control { rail, to, packet, serial } => {
                    let (from, flits) = (self.nic(rail, node), self.spec.control);
                    let cargo = Cargo::Control { rail, from: node, to, packet, serial };
                    let (id, to) = (self.hold.put(cargo), self.nic(rail, to));
                    engine.inject(engine.now(), Packet { from, to, flits, id, ends: Ends::Nics });
                }
                Action::Deliver { message, .. } => {
                    let Pending { from, handed_over, flits } =
                        self.messages.remove(&message.0).expect("a message is delivered once");
                    let delivered = engine.now();
                    books.message_delivered(&Receipt { from, handed_over, delivered, flits });
                }
                Action::Complete { .. } => {}
            }
        }
        let alarm = self.nodes[node.0 as usize]
            .poll_timeout()
            .map(|at| at.ps().div_ceil(self.spec.tick.ps()).max(engine.now() + 1));
        if alarm != self.alarms[node.0 as usize] {
            self.alarms[node.0 as usize] = alarm;
            if let Some(at) = alarm {
                self.set_timer(at, Timer::Timeout { node: node.0 });
            }
        }
    }

    /// A NIC, as the engine numbers hosts.
    fn nic(&self, rail: RailId, node: NodeId) -> u32 {
        rail.0 * self.nodes.len() as u32 + node.0
    }
}
