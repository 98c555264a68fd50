//! Nodes with several rails: the machines of a rail scheme on top of the wormhole engine.
//!
//! A [`Cluster`] has one [`Node`] machine per node and drives all of them: what a machine wants sent
//! becomes packets on its rail, and what the engine tells becomes an input of a machine. Stripes of
//! messages, cut into packets or whole, go from memory to memory and cross the I/O buses. A NIC has
//! only so many packets under way: as in the QsNet, where a packet keeps its virtual channel until it
//! has been acknowledged (the acknowledgement itself takes no time here). Control packets go from NIC
//! to NIC over the same links; the processor of the receiving NIC takes its time over each, one after
//! the other, before the machine hears of it. A machine reacts in the tick after the one in which
//! something happened.

mod books;
mod bus_watch;
mod ear;
mod shipment;
mod spec;
#[cfg(test)]
mod tests;

pub use books::{Books, Receipt};
pub use bus_watch::BusWatch;
pub use spec::ClusterSpec;

use crate::wormhole::{EPOCH, Ends, Engine, Packet, Tick};
use crosstie_fabric::Fabric;
use crosstie_protocol::{
    Action, Input, Machine, MessageId, Node, NodeError, NodeId, NodeSpec, Parcel, PeId, RailId,
};
use crosstie_units::Time;
use ear::{Ear, Notice};
use shipment::{Cargo, Shipment, fewer};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};

/// Something that comes at a known tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// The processor of a NIC has handled a control packet.
    Processed { cargo: u64 },
    /// The first flit of a stripe is on the last channel to a NIC.
    Arriving { node: u32, rail: u32 },
    /// A machine asked to be called.
    Timeout { node: u32 },
}

/// The stripes that a NIC sends.
#[derive(Debug, Clone, Default)]
struct Feed {
    /// Those with packets that have not been given to the engine.
    stripes: VecDeque<u64>,
    /// Packets that have, and have not arrived.
    under_way: u32,
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
    /// What each NIC has to send, in the same order.
    feeds: Vec<Feed>,
    timers: BinaryHeap<Reverse<(Tick, u64, Timer)>>,
    timers_set: u64,
    messages: BTreeMap<u64, Pending>,
    next_message: u64,
    ear: Ear,
}

impl Cluster {
    /// Idle nodes, one for each host of the fabric.
    pub fn new(fabric: &Fabric, spec: &ClusterSpec) -> Result<Cluster, NodeError> {
        let count = fabric.hosts().len() as u32;
        let node = |id| {
            let ClusterSpec { pes, rails, transfers, blocking, .. } = *spec;
            Node::new(NodeSpec { id: NodeId(id), pes, rails, transfers, blocking }, &spec.scheme)
        };
        Ok(Cluster {
            nodes: (0..count).map(node).collect::<Result<_, _>>()?,
            alarms: vec![None; count as usize],
            processors: vec![EPOCH; (count * spec.rails) as usize],
            feeds: vec![Feed::default(); (count * spec.rails) as usize],
            timers: BinaryHeap::new(),
            timers_set: 0,
            messages: BTreeMap::new(),
            next_message: 0,
            ear: Ear::new(fabric, spec.rails),
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
                engine.run_until(timer.min(until), &mut self.ear);
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

    /// What has met on buses and NICs.
    pub fn bus_watch(&self) -> BusWatch {
        self.ear.watch.clone()
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
                let Cargo::Control { rail, from, to, packet } = self.ear.take(cargo) else {
                    unreachable!("processors handle control packets");
                };
                self.tell(engine, to, Input::Control { rail, from, packet }, books);
            }
            Timer::Arriving { node, rail } => {
                self.tell(engine, NodeId(node), Input::Arriving { rail: RailId(rail) }, books);
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
        for (at, node, rail) in std::mem::take(&mut self.ear.arriving) {
            self.set_timer(at, Timer::Arriving { node, rail });
        }
        for delivery in self.ear.packets.drain(..) {
            books.packet_delivered(&delivery);
        }
        for notice in std::mem::take(&mut self.ear.notices) {
            match notice {
                Notice::Sent { cargo } => {
                    let Parcel { from, message, ref stripe, .. } = self.ear.shipment(cargo).parcel;
                    let rail = stripe.rail;
                    self.tell(engine, from, Input::Sent { rail, message }, books);
                }
                Notice::Arrived { cargo, nic, last } => {
                    let once = "a packet arrives once";
                    fewer(&mut self.ear.shipment(cargo).under_way, once);
                    fewer(&mut self.feeds[nic as usize].under_way, once);
                    self.feed(engine, nic);
                    if last {
                        let Cargo::Data(Shipment { parcel, .. }) = self.ear.take(cargo) else {
                            unreachable!("what arrives in memory is data");
                        };
                        self.tell(engine, parcel.to, Input::Arrived(parcel), books);
                    }
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
                Action::Transmit(parcel) => {
                    let nic = self.nic(parcel.stripe.rail, node);
                    let (full, _) = self.spec.packing.cut(bytes(&parcel));
                    let cargo = self.ear.put(Cargo::Data(Shipment::new(parcel, full + 1)));
                    self.feeds[nic as usize].stripes.push_back(cargo);
                    self.feed(engine, nic);
                }
                Action::Control { rail, to, packet } => {
                    let (from, flits) = (self.nic(rail, node), self.spec.control);
                    let id = self.ear.put(Cargo::Control { rail, from: node, to, packet });
                    let to = self.nic(rail, to);
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

    /// Gives the engine packets of a NIC until as many are under way as its window has room for. A
    /// stripe has several of them only if there are not as many stripes: one that is held up does not
    /// hold up the others.
    fn feed(&mut self, engine: &mut Engine<'_>, from: u32) {
        let packing = self.spec.packing;
        while self.feeds[from as usize].under_way < self.spec.window {
            let Feed { stripes, under_way } = &mut self.feeds[from as usize];
            let idle = stripes.iter().position(|&id| self.ear.shipment(id).under_way == 0);
            let Some(id) = stripes.remove(idle.unwrap_or(0)) else { return };
            let shipment = self.ear.shipment(id);
            fewer(&mut shipment.waiting, "a stripe in the queue has packets to send");
            shipment.under_way += 1;
            *under_way += 1;
            let (_, last) = packing.cut(bytes(&shipment.parcel));
            let payload = match (shipment.waiting, packing.payload) {
                (0, _) | (_, None) => last,
                (_, Some(payload)) => payload,
            };
            if shipment.waiting > 0 {
                stripes.push_back(id);
            }
            let (rail, to) = (shipment.parcel.stripe.rail, shipment.parcel.to);
            let packet = Packet {
                from,
                to: self.nic(rail, to),
                flits: packing.flits(payload),
                id,
                ends: Ends::Memories,
            };
            engine.inject(engine.now(), packet);
        }
    }
}

/// The length of a stripe; even nothing takes a byte to send.
fn bytes(parcel: &Parcel) -> u32 {
    (parcel.stripe.len() as u32).max(1)
}
