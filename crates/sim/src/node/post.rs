//! What is between machines and network where packets are not simply handed over: channels, and the
//! processors, rings and pools of commodity nodes.

use super::identity::PacketId;
use super::links::{Item, NONE, Waiting};
use super::report::Listener;
use super::station::{Overflows, Station, Task};
use super::{Nodes, NodesSpec, Timer};
use crate::network::{self, Ends, Fate, Network, Passage, Priority};
use crate::slab::Slab;
use crosstie_protocol::channel::{Action, Frame, Input as ChannelInput, Sack, Seq};
use crosstie_protocol::{Greeting, Input, Machine, NodeId, RailId};
use crosstie_units::Time;

/// Something on its way from node to node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posted {
    pub rail: RailId,
    pub from: NodeId,
    pub to: NodeId,
    pub bytes: u32,
    pub content: Content,
    /// The end of the channel that has sent it; `NONE` without channels.
    pub link: u32,
    /// Whether it is sent for the first time.
    pub first: bool,
    /// When it arrived at a commodity node, and what it went through: it waits for the processor.
    pub came: Option<(Time, Passage)>,
}

impl Posted {
    /// The packet that the network is given, by its place among those posted.
    #[inline]
    fn packet(&self, place: u32, departs: bool) -> network::Packet {
        network::Packet {
            rail: self.rail.0,
            from: self.from.0,
            to: self.to.0,
            bytes: self.bytes,
            id: PacketId::Posted(place).id(),
            siblings: 1,
            departs,
            ends: Ends::Memories,
            priority: Priority::Low,
        }
    }

    /// How many packets its machine hears of when it has left.
    fn departures(&self) -> u32 {
        self.content.item().filter(|_| self.first).map_or(0, Item::departures)
    }
}

/// What is in it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Content {
    /// A packet as it is.
    Bare(Item),
    /// Data of a channel.
    Data {
        seq: Seq,
        ack: Seq,
        item: Item,
    },
    /// Control packets of a channel.
    Pack(Seq),
    Nack(Seq),
    /// One that says much, by its place among those that are under way.
    Sack(u32),
    /// The first words on a path, and their answer.
    Hello,
    Welcome,
    /// A datagram of a packet that goes as several, by the place of that; the last one has its
    /// item.
    Part {
        train: u32,
        item: Option<Item>,
    },
}

impl Content {
    /// The item in it, if it is no control packet.
    fn item(&self) -> Option<&Item> {
        match self {
            Content::Bare(item) | Content::Data { item, .. } => Some(item),
            Content::Part { item, .. } => item.as_ref(),
            Content::Pack(_) | Content::Nack(_) | Content::Sack(_) => None,
            Content::Hello | Content::Welcome => None,
        }
    }
}

/// A packet that goes as several datagrams.
#[derive(Debug, Clone, Copy)]
pub(super) struct Train {
    pub content: Content,
    /// Datagrams of which nothing has been heard.
    pub left: u32,
    /// True if one of them is not going to arrive.
    pub broken: bool,
    /// When the first byte of those that have come had left.
    pub began: Time,
}

/// What is under way, and the commodity nodes.
#[derive(Debug)]
pub(super) struct Post {
    packets: Slab<Posted>,
    pub trains: Slab<Train>,
    sacks: Slab<Sack>,
    stations: Vec<Station>,
    overflows: Overflows,
}

impl Post {
    pub fn new(spec: &NodesSpec, nodes: u32) -> Post {
        let stations = match spec.station {
            None => Vec::new(),
            Some(_) => (0..nodes).map(|node| Station::new(spec.rails, spec.seed, node)).collect(),
        };
        let (packets, trains, sacks) = (Slab::default(), Slab::default(), Slab::default());
        Post { packets, trains, sacks, stations, overflows: Overflows::default() }
    }

    pub fn is_idle(&self) -> bool {
        self.packets.is_empty() && self.stations.iter().all(Station::is_idle)
    }

    pub fn overflows(&self) -> Overflows {
        self.overflows
    }
}

impl Nodes {
    pub(super) fn post(&mut self) -> &mut Post {
        self.post.as_mut().expect("there is a post where packets are posted")
    }

    /// Gives a packet to its channel.
    pub(super) fn send_reliably(
        &mut self,
        network: &mut dyn Network,
        packet: network::Packet,
        listener: &mut impl Listener,
    ) {
        let network::Packet { rail, from, to, bytes, .. } = packet;
        let item = self.item(network, &packet);
        let rides = self.rides(&item);
        let links = self.links.as_mut().expect("there are channels");
        let link = links.find(RailId(rail), NodeId(from), NodeId(to));
        if self.spec.exchange.is_some() && links.get(link).greeting == Greeting::Silent {
            self.greet(network, link);
        }
        let links = self.links.as_mut().expect("there are channels");
        links.get(link).endpoint.handle(self.now, ChannelInput::Send { item, bytes, rides });
        self.serve_link(network, link, None, listener);
    }

    /// What stands for a packet. Where packets leave in order, its machine hears that those of a
    /// stripe have left at the last one; where rails may die in between, at each.
    #[inline]
    fn item(&mut self, network: &dyn Network, packet: &network::Packet) -> Item {
        let id = PacketId::of(packet.id);
        let is_last = |number: u32| number + 1 == packet.siblings;
        let departures = match id {
            PacketId::Data(_) if self.spec.follows_packets() || !network.departs_in_order() => 1,
            PacketId::Data(data) if is_last(data.number) => packet.siblings,
            _ => 0,
        };
        Item::new(id, packet.bytes, departures, self.cargo(id))
    }

    /// Posts a packet without a channel.
    pub(super) fn send_as_it_is(&mut self, network: &mut dyn Network, packet: network::Packet) {
        let network::Packet { rail, from, to, bytes, .. } = packet;
        let content = Content::Bare(self.item(network, &packet));
        self.put(
            network,
            Posted {
                rail: RailId(rail),
                from: NodeId(from),
                to: NodeId(to),
                bytes,
                content,
                link: NONE,
                first: true,
                came: None,
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
        let headers = self.spec.exchange.map(|exchange| exchange.headers);
        let (pack, sacked) = headers.map_or((control, control), |it| (it.pack, it.sack));
        let window = self.links.as_ref().expect("there are channels").window();
        let mut heard = false;
        loop {
            let links = self.links.as_mut().expect("there are channels");
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
                            if headers.is_some() {
                                let packet = Waiting { seq, ack, item, first };
                                self.dispatch(network, place, packet);
                                continue;
                            }
                            link.afloat += 1;
                            (first, item.bytes, Content::Data { seq, ack, item })
                        }
                        Frame::Pack(ack) => (false, pack, Content::Pack(ack)),
                        Frame::Nack(ack) => (false, pack, Content::Nack(ack)),
                        Frame::Sack(sack) => {
                            let sack = self.post().sacks.put(sack);
                            (false, sacked, Content::Sack(sack))
                        }
                    };
                    let link = place;
                    let came = None;
                    let posted = Posted { rail, from, to, bytes, content, link, first, came };
                    self.put(network, posted);
                }
                Action::Deliver(item) => {
                    let (at, passage) = came.expect("what is delivered has come");
                    self.deliver(network, item.packet(), at, passage, listener);
                }
                Action::Acknowledged(item) => {
                    if let PacketId::Data(data) = item.packet() {
                        heard = true;
                        self.tell(network, data.from, data.acknowledged(), listener);
                    }
                }
            }
        }
        if heard {
            self.tell_path(network, place, listener);
        }
        self.call_at_deadline(place);
    }

    /// Sets the alarm of one end of a channel.
    #[inline]
    pub(super) fn call_at_deadline(&mut self, place: u32) {
        let link = self.links.as_mut().expect("there are channels").get(place);
        // A time-out that has moved away is asked for again when the alarm rings.
        if let Some(at) = link.deadline()
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
        if link.greeting.again(now, !link.waiting.is_empty()).is_some() {
            self.say(network, place, Content::Hello);
        }
        self.serve_link(network, place, None, listener);
    }

    /// Hands something to its node's processor, or to the network.
    #[inline(always)]
    pub(super) fn put(&mut self, network: &mut dyn Network, posted: Posted) {
        let packet = self.post().packets.put(posted);
        if self.spec.station.is_none() {
            network.inject(posted.packet(packet, posted.departures() > 0));
        } else {
            self.post().stations[posted.from.0 as usize].write(packet);
            self.work(posted.from);
        }
    }

    /// A commodity node hands something to the network.
    pub(super) fn put_in(&mut self, network: &mut dyn Network, packet: u32) {
        // The ring of a commodity node is told of every packet.
        network.inject(self.post().packets.get(packet).packet(packet, true));
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
        match fate {
            Fate::Left if self.spec.station.is_some() => {
                let posted = *self.post().packets.get(packet);
                self.post().stations[posted.from.0 as usize].left(posted.rail.0);
                self.work(posted.from);
            }
            Fate::Left => {
                let posted = *self.post().packets.get(packet);
                self.left(network, &posted, listener);
            }
            Fate::Arriving | Fate::Acknowledged | Fate::Done => {}
            Fate::Reached(..) => unreachable!("what is posted goes to one host"),
            Fate::Arrived(passage) if self.spec.station.is_some() => {
                self.post().packets.get_mut(packet).came = Some((at, passage));
                self.reach(network, packet, listener);
            }
            Fate::Arrived(passage) => self.open(network, packet, (at, passage), listener),
            Fate::Dropped | Fate::Refused => {
                self.lost += 1;
                self.lose(network, packet, listener);
            }
        }
    }

    /// Something is not going to arrive.
    fn lose(&mut self, network: &mut dyn Network, packet: u32, listener: &mut impl Listener) {
        let Posted { content, link, .. } = self.post().packets.take(packet);
        match content {
            Content::Bare(item) => match item.packet() {
                PacketId::Data(data) => {
                    self.tell(network, data.from, data.acknowledged(), listener);
                }
                PacketId::Control(control) => _ = self.controls.take(control),
                PacketId::Posted(_) | PacketId::Got(_) | PacketId::Cast(_) | PacketId::Chore(_) => {
                }
            },
            Content::Data { .. } => {
                self.links.as_mut().expect("there are channels").get(link).afloat -= 1;
            }
            Content::Sack(sack) => _ = self.post().sacks.take(sack),
            Content::Part { train, .. } => _ = self.part(train, link, None),
            Content::Pack(_) | Content::Nack(_) | Content::Hello | Content::Welcome => {}
        }
    }

    /// The first copy of a packet has left its node.
    fn left(&mut self, network: &mut dyn Network, posted: &Posted, listener: &mut impl Listener) {
        if posted.departures() > 0
            && let Some(PacketId::Data(data)) = posted.content.item().map(Item::packet)
            && self.nodes[data.from.0 as usize].needs_departures()
        {
            for _ in 0..posted.departures() {
                let left = Input::Left { stripe: data.stripe };
                self.nodes[data.from.0 as usize].handle(self.now, left);
            }
            self.serve(network, data.from, listener);
        }
    }

    /// A node has something: its channel or its machine hears of it.
    fn open(
        &mut self,
        network: &mut dyn Network,
        packet: u32,
        mut came: (Time, Passage),
        listener: &mut impl Listener,
    ) {
        let Posted { rail, from, to, mut content, link, .. } = self.post().packets.take(packet);
        if let Content::Part { train, .. } = content {
            let Some((whole, began)) = self.part(train, link, Some(came.1.began)) else { return };
            (content, came.1.began) = (whole, began);
        }
        match content {
            Content::Bare(item) => {
                let (at, passage) = came;
                return self.deliver(network, item.packet(), at, passage, listener);
            }
            Content::Data { .. } => {
                self.links.as_mut().expect("there are channels").get(link).afloat -= 1;
            }
            _ => {}
        }
        let links = self.links.as_mut().expect("there are channels");
        if self.spec.outlives_rails() && links.is_closed(rail, to, from) {
            if let Content::Sack(sack) = content {
                self.post().sacks.take(sack);
            }
            return;
        }
        let link = links.other_end(link);
        let frame = match content {
            Content::Data { seq, ack, item } if self.rides(&item) => Frame::Data { seq, ack, item },
            // It has no room for an acknowledgement.
            Content::Data { seq, item, .. } => {
                let links = self.links.as_mut().expect("there are channels");
                if links.get(link).endpoint.receive(self.now, seq) {
                    let (at, passage) = came;
                    self.deliver(network, item.packet(), at, passage, listener);
                }
                return self.serve_link(network, link, Some(came), listener);
            }
            Content::Pack(ack) => Frame::Pack(ack),
            Content::Nack(ack) => Frame::Nack(ack),
            Content::Sack(sack) => Frame::Sack(self.post().sacks.take(sack)),
            Content::Hello => return self.greeted(network, link, false),
            Content::Welcome => return self.greeted(network, link, true),
            Content::Bare(_) | Content::Part { .. } => unreachable!("it is dealt with above"),
        };
        let links = self.links.as_mut().expect("there are channels");
        links.get(link).endpoint.handle(self.now, ChannelInput::Frame(frame));
        self.serve_link(network, link, Some(came), listener);
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
                let came = self.post().packets.get(packet).came.expect("it has arrived");
                self.open(network, packet, came, listener);
            }
            Ok(Task::Compute(number)) => listener.computed(node, number),
        }
        // Whoever hears of it may have something to do at this very instant that goes before.
        if self.post().stations[node.0 as usize].is_wanted() {
            self.set_timer(now, Timer::TakesUp { node: node.0 });
        }
    }

    /// Something has come to its commodity node.
    fn reach(&mut self, network: &mut dyn Network, packet: u32, listener: &mut impl Listener) {
        let now = self.now;
        let spec = self.spec.station.expect("a station receives");
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
