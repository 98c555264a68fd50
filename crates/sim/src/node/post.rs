//! What is between machines and network where packets are not simply handed over: channels, and the processors, rings and
//! pools of commodity nodes.

use super::identity::PacketId;
use super::links::Item;
use super::report::Listener;
use super::station::{Overflows, Station, Task};
use super::{Nodes, NodesSpec, Timer};
use crate::network::{self, Ends, Fate, Network, Passage};
use crate::slab::Slab;
use crosstie_protocol::channel::{Action, Frame, Input as ChannelInput, Seq};
use crosstie_protocol::{Input, Machine, NodeId, RailId};
use crosstie_units::Time;

/// Something on its way from node to node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posted {
    rail: RailId,
    from: NodeId,
    to: NodeId,
    bytes: u32,
    content: Content,
    /// Whether it is sent for the first time.
    first: bool,
    /// What it went through, when it has arrived, and when that was.
    passage: Passage,
    arrived: Time,
}

/// What is in it.
#[derive(Debug, Clone, Copy)]
enum Content {
    /// A packet as it is.
    Bare(PacketId),
    /// Data of a channel.
    Data { seq: Seq, ack: Seq, item: Item },
    /// A control packet of a channel: its place among those that are under way, for some say much.
    Control(u32),
}

impl Content {
    /// The packet of data in it.
    fn data(&self) -> Option<PacketId> {
        let id = match self {
            Content::Bare(id) => Some(*id),
            Content::Data { item, .. } => Some(item.id),
            Content::Control(_) => None,
        };
        id.filter(|id| matches!(id, PacketId::Data(_)))
    }
}

/// What is under way, and the commodity nodes.
#[derive(Debug)]
pub(super) struct Post {
    packets: Slab<Posted>,
    controls: Slab<Frame<Item>>,
    stations: Vec<Station>,
    overflows: Overflows,
}

impl Post {
    pub fn new(spec: &NodesSpec, nodes: u32) -> Post {
        let stations = match spec.station {
            None => Vec::new(),
            Some(_) => (0..nodes).map(|node| Station::new(spec.rails, spec.seed, node)).collect(),
        };
        let (packets, controls) = (Slab::default(), Slab::default());
        Post { packets, controls, stations, overflows: Overflows::default() }
    }

    pub fn is_idle(&self) -> bool {
        self.packets.is_empty() && self.stations.iter().all(Station::is_idle)
    }

    pub fn overflows(&self) -> Overflows {
        self.overflows
    }
}

impl Nodes {
    fn post(&mut self) -> &mut Post {
        self.post.as_mut().expect("there is a post where packets are posted")
    }

    /// Gives a packet to its channel.
    pub(super) fn send_reliably(
        &mut self,
        network: &mut dyn Network,
        packet: network::Packet,
        listener: &mut impl Listener,
    ) {
        let network::Packet { rail, from, to, bytes, id, .. } = packet;
        let links = self.links.as_mut().expect("there are channels");
        let link = links.find(RailId(rail), NodeId(from), NodeId(to));
        let item = Item { id: PacketId::of(id), bytes };
        links.get(link).endpoint.handle(self.now, ChannelInput::Send { item, bytes, rides: true });
        self.serve_link(network, link, None, listener);
    }

    /// Posts a packet without a channel.
    pub(super) fn send_as_it_is(&mut self, network: &mut dyn Network, packet: network::Packet) {
        let network::Packet { rail, from, to, bytes, id, .. } = packet;
        self.put(
            network,
            Posted {
                rail: RailId(rail),
                from: NodeId(from),
                to: NodeId(to),
                bytes,
                content: Content::Bare(PacketId::of(id)),
                first: true,
                passage: Passage { began: self.now, switches: 0 },
                arrived: self.now,
            },
        );
    }

    /// Does what one end of a channel wants. What it delivers has just come this way.
    fn serve_link(
        &mut self,
        network: &mut dyn Network,
        place: u32,
        came: Option<(Time, Passage)>,
        listener: &mut impl Listener,
    ) {
        let now = self.now;
        let control = self.spec.control;
        let mut heard = false;
        loop {
            let links = self.links.as_mut().expect("there are channels");
            let window = links.window();
            let link = links.get(place);
            let (rail, from, to) = (link.rail, link.node, link.peer);
            let Some(action) = link.endpoint.poll_action(now) else { break };
            match action {
                Action::Transmit(frame) => {
                    let (first, bytes, content) = match frame {
                        Frame::Data { seq, ack, item } => {
                            let first = seq.0 == link.sent;
                            if first {
                                link.sent = link.sent.wrapping_add(1);
                            } else if !link.may_repeat(window) {
                                continue;
                            }
                            link.afloat += 1;
                            (first, item.bytes, Content::Data { seq, ack, item })
                        }
                        Frame::Pack(_) | Frame::Nack(_) | Frame::Sack(_) => {
                            let place = self.post().controls.put(frame);
                            (false, control, Content::Control(place))
                        }
                    };
                    let passage = Passage { began: now, switches: 0 };
                    self.put(
                        network,
                        Posted { rail, from, to, bytes, content, first, passage, arrived: now },
                    );
                }
                Action::Deliver(item) => {
                    let (at, passage) = came.expect("what is delivered has come");
                    self.announce(item.id, listener);
                    self.deliver(network, item.id, at, passage, listener);
                }
                Action::Acknowledged(item) => {
                    if let PacketId::Data(data) = item.id {
                        heard = true;
                        self.tell(network, data.from, data.acknowledged(), listener);
                    }
                }
            }
        }
        if heard {
            self.tell_path(network, place, listener);
        }
        let link = self.links.as_mut().expect("there are channels").get(place);
        // A time-out that has moved away is asked for again when the alarm rings.
        if let Some(at) = link.endpoint.poll_timeout()
            && link.alarm.is_none_or(|alarm| at < alarm)
        {
            link.alarm = Some(at);
            self.set_timer(at, Timer::Channel { link: place });
        }
    }

    /// Tells a node what a channel has found out about its way.
    fn tell_path(&mut self, network: &mut dyn Network, place: u32, listener: &mut impl Listener) {
        let link = self.links.as_mut().expect("there are channels").get(place);
        let (rail, node, to) = (link.rail, link.node, link.peer);
        let path = link.endpoint.path();
        if let Some(shown) = path.and_then(|path| Input::shown(to, rail, &path)) {
            self.tell(network, node, shown, listener);
        }
    }

    /// Whoever wants to know that a message is coming in hears of it now.
    fn announce(&mut self, packet: PacketId, listener: &mut impl Listener) {
        if let PacketId::Data(data) = packet {
            let packet = self.nodes[data.from.0 as usize].packet(data.stripe, data.number);
            // What comes again may have been delivered before.
            if let Some(pending) = self.pending(packet.parcel.message)
                && !std::mem::replace(&mut pending.arriving, true)
            {
                listener.arriving(&pending.letter);
            }
        }
    }

    /// The alarm of one end of a channel rings.
    pub(super) fn call(
        &mut self,
        network: &mut dyn Network,
        place: u32,
        listener: &mut impl Listener,
    ) {
        let now = self.now;
        let link = self.links.as_mut().expect("there are channels").get(place);
        if link.closed || link.alarm.is_none_or(|alarm| alarm > now) {
            // It was set before another that came sooner.
            return;
        }
        link.alarm = None;
        if link.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            link.endpoint.handle_timeout(now);
        }
        self.serve_link(network, place, None, listener);
    }

    /// Hands something to its node's processor, or to the network.
    fn put(&mut self, network: &mut dyn Network, posted: Posted) {
        let packet = self.post().packets.put(posted);
        if self.spec.station.is_none() {
            self.put_in(network, packet);
        } else {
            self.post().stations[posted.from.0 as usize].write(packet);
            self.work(posted.from);
        }
    }

    /// Hands something to the network.
    pub(super) fn put_in(&mut self, network: &mut dyn Network, packet: u32) {
        let Posted { rail, from, to, bytes, .. } = *self.post().packets.get(packet);
        let (rail, from, to, id) = (rail.0, from.0, to.0, PacketId::Posted(packet).id());
        let (siblings, ends) = (1, Ends::Memories);
        network.inject(network::Packet { rail, from, to, bytes, id, siblings, ends });
    }

    /// What the network tells of something posted.
    pub(super) fn hear_of_post(
        &mut self,
        network: &mut dyn Network,
        packet: u32,
        at: Time,
        fate: Fate,
        listener: &mut impl Listener,
    ) {
        let posted = *self.post().packets.get(packet);
        match fate {
            Fate::Left if self.spec.station.is_some() => {
                self.post().stations[posted.from.0 as usize].left(posted.rail.0);
                self.work(posted.from);
            }
            Fate::Left => self.left(network, &posted, listener),
            Fate::Arriving => {}
            Fate::Arrived(passage) => {
                let entry = self.post().packets.get_mut(packet);
                (entry.passage, entry.arrived) = (passage, at);
                self.reach(network, packet, listener);
            }
            Fate::Dropped => {
                self.lost += 1;
                self.lose(network, packet, listener);
            }
        }
    }

    /// Something is not going to arrive.
    fn lose(&mut self, network: &mut dyn Network, packet: u32, listener: &mut impl Listener) {
        let Posted { rail, from, to, content, .. } = self.post().packets.take(packet);
        match content {
            Content::Bare(PacketId::Data(data)) => {
                self.tell(network, data.from, data.acknowledged(), listener);
            }
            Content::Bare(PacketId::Control(control)) => {
                self.controls.take(control);
            }
            Content::Data { .. } => {
                self.links.as_mut().expect("there are channels").landed(rail, from, to);
            }
            Content::Control(place) => _ = self.post().controls.take(place),
            Content::Bare(PacketId::Posted(_)) => {}
        }
    }

    /// The first copy of a packet has left its node.
    fn left(&mut self, network: &mut dyn Network, posted: &Posted, listener: &mut impl Listener) {
        if posted.first
            && let Some(PacketId::Data(data)) = posted.content.data()
            && self.nodes[data.from.0 as usize].needs_departures()
        {
            self.tell(network, data.from, Input::Left { stripe: data.stripe }, listener);
        }
    }

    /// A node has something: its channel or its machine hears of it.
    fn open(&mut self, network: &mut dyn Network, packet: u32, listener: &mut impl Listener) {
        let Posted { rail, from, to, content, passage, arrived, .. } =
            self.post().packets.take(packet);
        let frame = match content {
            Content::Bare(id) => {
                self.announce(id, listener);
                return self.deliver(network, id, arrived, passage, listener);
            }
            Content::Control(place) => self.post().controls.take(place),
            Content::Data { seq, ack, item } => {
                self.links.as_mut().expect("there are channels").landed(rail, from, to);
                Frame::Data { seq, ack, item }
            }
        };
        let links = self.links.as_mut().expect("there are channels");
        if self.spec.outlives_rails() && links.is_closed(rail, to, from) {
            return;
        }
        let link = links.find(rail, to, from);
        links.get(link).endpoint.handle(self.now, ChannelInput::Frame(frame));
        self.serve_link(network, link, Some((arrived, passage)), listener);
    }

    /// Gives the processor of a commodity node something to compute, to be told of by a number.
    pub fn compute(&mut self, network: &dyn Network, node: NodeId, number: u32, time: Time) {
        self.now = network.now();
        self.post().stations[node.0 as usize].compute(number, time);
        self.work(node);
    }

    /// Whether nodes have processors that can compute.
    pub fn computes(&self) -> bool {
        self.spec.station.is_some()
    }

    /// The processor of a commodity node takes something up, if it is idle.
    pub(super) fn work(&mut self, node: NodeId) {
        let (now, nodes) = (self.now, self.nodes.len() as u32);
        let Some(spec) = &self.spec.station else { return };
        let Post { packets, stations, .. } = &mut **self.post.as_mut().expect("there is a post");
        let packet = |id| {
            let Posted { rail, bytes, .. } = packets.get(id);
            (rail.0, *bytes)
        };
        if let Some(done) = stations[node.0 as usize].work(now, spec, nodes, packet) {
            self.set_timer(done, Timer::Worked { node: node.0 });
        }
    }

    /// What a cost of the commodity nodes is for something posted.
    fn cost(&self, cost: crosstie_units::Cost, bytes: u32) -> Time {
        cost.at(u64::from(bytes), self.nodes.len() as u32)
    }

    /// The processor of a commodity node may be done with something.
    pub(super) fn worked(
        &mut self,
        network: &mut dyn Network,
        node: NodeId,
        listener: &mut impl Listener,
    ) {
        let now = self.now;
        let spec = self.spec.station.expect("a station works");
        match self.post().stations[node.0 as usize].done(now) {
            Err(later) => return self.set_timer(later, Timer::Worked { node: node.0 }),
            Ok(Task::Write(packet)) => {
                let posted = *self.post().packets.get(packet);
                let gap = self.cost(spec.send_gap, posted.bytes);
                let outward = self.cost(spec.outward, posted.bytes);
                let station = &mut self.post().stations[node.0 as usize];
                let at = station.take_out(now, posted.rail.0, gap) + outward;
                if spec.ring.is_none() {
                    station.left(posted.rail.0);
                }
                if at > now {
                    self.set_timer(at, Timer::GoesOut { packet });
                } else {
                    self.put_in(network, packet);
                }
                self.left(network, &posted, listener);
            }
            Ok(Task::PickUp(packet)) => {
                self.post().stations[node.0 as usize].picked_up();
                self.open(network, packet, listener);
            }
            Ok(Task::Compute(number)) => listener.computed(node, number),
        }
        // Whoever hears of it may have something to do at this very instant that goes before.
        if self.post().stations[node.0 as usize].is_wanted() {
            self.set_timer(now, Timer::TakesUp { node: node.0 });
        }
    }

    /// Something has come to its node.
    fn reach(&mut self, network: &mut dyn Network, packet: u32, listener: &mut impl Listener) {
        let now = self.now;
        let Some(spec) = self.spec.station else {
            return self.open(network, packet, listener);
        };
        let Posted { rail, to, bytes, .. } = *self.post().packets.get(packet);
        let gap = self.cost(spec.receive_gap, bytes);
        let inward = self.cost(spec.inward, bytes);
        let station = &mut self.post().stations[to.0 as usize];
        match station.take_in(now + inward, rail.0, gap, spec.receive_ring) {
            Some(at) if at > now => self.set_timer(at, Timer::ComesIn { packet }),
            Some(_) => self.come_in(network, packet, listener),
            None => {
                self.post().overflows.ring += 1;
                self.lose(network, packet, listener);
            }
        }
    }

    /// The NIC of a commodity node hands a packet over.
    pub(super) fn come_in(
        &mut self,
        network: &mut dyn Network,
        packet: u32,
        listener: &mut impl Listener,
    ) {
        let now = self.now;
        let spec = self.spec.station.expect("a station receives");
        let Posted { to, bytes, .. } = *self.post().packets.get(packet);
        let receive = self.cost(spec.receive, bytes);
        if spec.interrupts && receive > Time::ZERO {
            let at = self.post().stations[to.0 as usize].interrupt(now, receive);
            self.set_timer(at, Timer::Received { packet });
        } else {
            self.received(network, packet, listener);
        }
    }

    /// A packet has been received by the processor, and waits to be picked up.
    pub(super) fn received(
        &mut self,
        network: &mut dyn Network,
        packet: u32,
        listener: &mut impl Listener,
    ) {
        let spec = self.spec.station.expect("a station receives");
        let Posted { rail, to, bytes, .. } = *self.post().packets.get(packet);
        let mut time = self.cost(spec.pickup, bytes);
        if !spec.interrupts {
            time = time + self.cost(spec.receive, bytes);
        }
        if self.post().stations[to.0 as usize].received(rail.0, packet, time, spec.pool) {
            self.work(to);
        } else {
            self.post().overflows.pool += 1;
            self.lose(network, packet, listener);
        }
    }
}
