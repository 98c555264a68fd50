//! The rules of the wormhole machine, executed tick by tick and flit by flit. Slow, and simple
//! enough to be checked by reading; it shares no code with the engine.

use crosstie_fabric::{ChannelId, Fabric, HostId, Node, Port};
use crosstie_routing::{HostRange, Onward, Route, Routing, Spread, Tag};
use crosstie_sim::network::{Ends, Priority};
use crosstie_sim::wormhole::{Bus, ChannelCount, Circuits, Config, EPOCH, Flow, Packet, Tick};
use std::collections::VecDeque;

/// Something that can be compared with the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    Head { id: u64, channel: usize, vc: usize },
    Tail { id: u64, channel: usize, vc: usize },
    Delivered { id: u64, host: u32 },
    Left { id: u64 },
    Acknowledged { id: u64 },
    Refused { id: u64 },
}

#[derive(Clone, Copy)]
struct Flit {
    packet: usize,
    index: u32,
    usable: Tick,
}

/// A virtual channel: sender's side, wire and buffer.
#[derive(Default)]
struct Vc {
    /// The packet that is being sent into it.
    packet: Option<usize>,
    /// The VC whose buffer that packet comes from; `None` for a host's memory.
    from: Option<usize>,
    sent: u32,
    /// Flits of that packet on this channel, and whether they go into memory at its end.
    length: u32,
    ends: bool,
    /// When the tail has left the channel.
    tail_gone: Option<Tick>,
    credits: u32,
    credits_on_the_way: VecDeque<Tick>,
    /// What the receiver said last, and what the sender has heard.
    says_stop: bool,
    stopped: bool,
    signals_on_the_way: VecDeque<(Tick, bool)>,
    buffer: VecDeque<Flit>,
    /// Where the packet at the front of the buffer goes: to several VCs if it is forked.
    to: Vec<Way>,
    /// The header at the front, and since when it can be routed.
    header: Option<(usize, Tick)>,
}

/// One of the ways that a packet takes out of a buffer.
struct Way {
    vc: usize,
    /// Flits that have gone this way.
    taken: u32,
    /// The last one is among them, and has left the channel.
    done: bool,
}

/// A packet to a range of hosts, which is forked on its way.
struct Cast {
    spread: Spread,
    /// Hosts that have not answered.
    silent: u32,
    /// When the latest answer is back at the source.
    back: Tick,
    /// True if an answer is a refusal.
    refused: bool,
}

struct Mux {
    /// All VCs that share it, in round-robin order.
    vcs: Vec<usize>,
    last: usize,
    busy_until: Tick,
    /// Flits that one VC may send in a row, and how many the last one has sent.
    burst: u32,
    streak: u32,
}

impl Mux {
    /// An idle multiplexer of `count` virtual channels.
    fn over(first: usize, count: usize) -> Mux {
        let vcs = (first..first + count).collect();
        Mux { vcs, last: count - 1, busy_until: 0, burst: 1, streak: 0 }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Target {
    Switch(usize),
    /// The NIC of a host, on the way out: a switch with one input and one output.
    Sending(usize),
    /// The NIC of a host, on the way in.
    Receiving(usize),
    /// A host whose NIC has in-transit buffers.
    Host(usize),
    End,
}

#[derive(Clone, Copy)]
struct Channel {
    target: Target,
    cost: u32,
    latency: u32,
}

pub struct Reference {
    config: Config,
    now: Tick,
    channels: Vec<Channel>,
    vcs: Vec<Vc>,
    muxes: Vec<Mux>,
    /// Per switch: the channels that enter and leave by each port.
    ports_in: Vec<Vec<Option<usize>>>,
    ports_out: Vec<Vec<Option<usize>>>,
    turn: Vec<usize>,
    /// Per switch: the inputs whose headers wait, in the order in which they are served.
    line: Vec<Vec<usize>>,
    choice: Vec<usize>,
    /// Per host: the channel into the fabric, the one out of memory, and the two ways on from the
    /// NIC, into memory and no further.
    host_out: Vec<usize>,
    memory_out: Vec<usize>,
    writes: Vec<usize>,
    intakes: Vec<usize>,
    /// Per host: packets in memory, packets in the NIC, and VCs whose headers wait in the NIC.
    queues: Vec<VecDeque<(usize, Tick)>>,
    nic_queues: Vec<VecDeque<(usize, Tick)>>,
    nic_lines: Vec<Vec<usize>>,
    nic_turns: Vec<usize>,
    groups: Vec<Vec<Port>>,
    packets: Vec<Packet>,
    tags: Vec<Vec<Tag>>,
    /// Per packet: the hosts at which it stops, and how many switches it has crossed by then.
    stops: Vec<Vec<(usize, HostId)>>,
    hop: Vec<usize>,
    /// Per packet: flits that switches will take off, if they do.
    headers: Vec<u32>,
    /// Per packet: the number of its broadcast, and the fork that it comes to next.
    forks: Vec<Option<(usize, u32)>>,
    /// Per packet: the packet of which it is a branch.
    parents: Vec<Option<usize>>,
    casts: Vec<Cast>,
    /// Per packet: when its acknowledge is back, once that is known.
    acknowledges: Vec<Option<Tick>>,
    /// Per packet: how many its host started before it, and the channels it has been given.
    numbers: Vec<u64>,
    ways: Vec<Vec<usize>>,
    /// Per host: packets that it has started.
    started: Vec<u64>,
    pub events: Vec<(Tick, Event)>,
    pub counts: Vec<ChannelCount>,
    /// The fullest any buffer has been.
    pub fullest: u32,
    /// Per host: the most that has been in an in-transit buffer.
    pub pool_peaks: Vec<u32>,
}

impl Reference {
    pub fn new(fabric: &Fabric, routing: &dyn Routing, config: &Config) -> Self {
        let v = config.virtual_channels as usize;
        let (shared, read, write) = match config.bus {
            Bus::Full => (false, config.ticks, config.ticks),
            Bus::Shared { read, write } => (true, read, write),
        };
        let latency = (1 + config.wire) * config.ticks;
        let mut channels = Vec::new();
        let mut muxes = Vec::new();
        for channel in fabric.channels() {
            let ends = fabric.channel(channel);
            let target = match ends.to.node {
                Node::Switch(s) => Target::Switch(s.0 as usize),
                Node::Host(h) if shared => Target::Receiving(h.0 as usize),
                Node::Host(h) if config.in_transit.is_some() => Target::Host(h.0 as usize),
                Node::Host(_) => Target::End,
            };
            let first = channels.len() * v;
            channels.push(Channel { target, cost: config.ticks, latency });
            muxes.push(Mux::over(first, v));
        }
        let host_out: Vec<usize> = fabric.hosts().map(|h| fabric.host_out(h).0 as usize).collect();
        let (mut memory_out, mut writes, mut intakes) = (host_out.clone(), vec![], vec![]);
        if shared {
            let mut add = |target, cost| {
                let first = channels.len() * v;
                channels.push(Channel { target, cost, latency: cost });
                muxes.push(Mux::over(first, v));
                channels.len() - 1
            };
            memory_out = (0..host_out.len()).map(|h| add(Target::Sending(h), read)).collect();
            writes = host_out.iter().map(|_| add(Target::End, write)).collect();
            intakes = host_out.iter().map(|_| add(Target::End, config.ticks)).collect();
            for (&into, &out) in memory_out.iter().zip(&writes) {
                let shared = std::mem::take(&mut muxes[out].vcs);
                muxes[into].vcs.extend(shared);
                muxes[into].last = 2 * v - 1;
                muxes[into].burst = config.burst;
            }
        }
        let port = |s, p, turn: fn(ChannelId) -> ChannelId| {
            fabric.switch_out(s, Port(p)).map(|c| turn(c).0 as usize)
        };
        let table = |turn: fn(ChannelId) -> ChannelId| {
            let ports = |s| (0..fabric.ports(s)).map(|p| port(s, p, turn)).collect();
            fabric.switches().map(ports).collect::<Vec<Vec<_>>>()
        };
        let switches = fabric.switches().len();
        Reference {
            config: config.clone(),
            now: EPOCH,
            vcs: (0..channels.len() * v)
                .map(|_| Vc { credits: config.buffer, ..Vc::default() })
                .collect(),
            counts: vec![ChannelCount::default(); channels.len()],
            channels,
            muxes,
            ports_in: table(ChannelId::reverse),
            ports_out: table(|c| c),
            turn: vec![0; switches],
            line: vec![Vec::new(); switches],
            choice: vec![0; switches],
            queues: vec![VecDeque::new(); host_out.len()],
            nic_queues: vec![VecDeque::new(); host_out.len()],
            nic_lines: vec![Vec::new(); host_out.len()],
            nic_turns: vec![0; host_out.len()],
            host_out,
            memory_out,
            writes,
            intakes,
            groups: routing.groups().to_vec(),
            packets: Vec::new(),
            tags: Vec::new(),
            hop: Vec::new(),
            headers: Vec::new(),
            forks: Vec::new(),
            parents: Vec::new(),
            casts: Vec::new(),
            acknowledges: Vec::new(),
            numbers: Vec::new(),
            ways: Vec::new(),
            started: vec![0; fabric.hosts().len()],
            events: Vec::new(),
            fullest: 0,
            pool_peaks: vec![0; config.in_transit.map_or(0, |_| fabric.hosts().len())],
            stops: Vec::new(),
        }
    }

    pub fn inject(&mut self, at: Tick, packet: Packet, routing: &dyn Routing) {
        let mut route = Route::default();
        let mut headers = 0;
        let fork = (packet.more > 0).then(|| {
            let last = HostId(packet.to + u32::from(packet.more));
            let range = HostRange { first: HostId(packet.to), last };
            let mut spread = Spread::default();
            assert!(routing.spread(HostId(packet.from), range, &mut spread));
            spread.tags().iter().for_each(|&tag| route.push(tag));
            headers = spread.tags().len() as u32 + deepest(&spread, 0);
            let silent = u32::from(packet.more) + 1;
            self.casts.push(Cast { spread, silent, back: 0, refused: false });
            (self.casts.len() - 1, 0)
        });
        if fork.is_none() {
            routing.route(HostId(packet.from), HostId(packet.to), &mut route);
            headers = route.tags().len() as u32;
        }
        self.headers.push(headers);
        self.forks.push(fork);
        self.parents.push(None);
        let queues = match packet.ends {
            Ends::Memories => &mut self.queues,
            Ends::Nics => &mut self.nic_queues,
        };
        queues[packet.from as usize].push_back((self.packets.len(), at));
        self.packets.push(packet);
        self.tags.push(route.tags().to_vec());
        let (mut crossed, mut stops) = (0, Vec::new());
        for leg in route.legs() {
            crossed += leg.tags.len();
            stops.extend(leg.stop.map(|host| (crossed, host)));
        }
        self.stops.push(stops);
        self.hop.push(0);
        self.acknowledges.push(None);
        self.numbers.push(0);
        self.ways.push(Vec::new());
    }

    pub fn run_until(&mut self, until: Tick) {
        while self.now < until {
            self.credits_arrive();
            self.signals();
            self.release();
            self.headers();
            self.leave_pools();
            self.start_packets();
            self.leave_nics();
            self.allocate();
            self.send();
            self.now += 1;
        }
    }

    fn v(&self) -> usize {
        self.config.virtual_channels as usize
    }

    fn credits_arrive(&mut self) {
        for vc in &mut self.vcs {
            while vc.credits_on_the_way.front().is_some_and(|&at| at <= self.now) {
                vc.credits_on_the_way.pop_front();
                vc.credits += 1;
            }
        }
    }

    /// The stop and the go mark of a buffer, if it has them.
    fn marks(&self, channel: usize) -> Option<(u32, u32)> {
        match (self.channels[channel].target, self.config.in_transit, self.config.flow) {
            (Target::End, ..) => None,
            (Target::Host(_), Some(in_transit), _) => {
                let share = in_transit.pool / u32::from(self.config.virtual_channels);
                let stop = share - 2 * self.config.wire;
                Some((stop, stop - 1))
            }
            (.., Flow::StopAndGo { stop, go }) => Some((stop, go)),
            (.., Flow::Credits) => None,
        }
    }

    /// Receivers look at their buffers and say *stop* or *go*; senders hear what has crossed the
    /// wire.
    fn signals(&mut self) {
        let now = self.now;
        for number in 0..self.vcs.len() {
            let channel = number / self.v();
            let Channel { latency, cost, target } = self.channels[channel];
            let Some((stop, go)) = self.marks(channel) else { continue };
            let vc = &mut self.vcs[number];
            let filling = vc.buffer.partition_point(|flit| flit.usable <= now) as u32;
            match target {
                Target::Host(host) => {
                    self.pool_peaks[host] = self.pool_peaks[host].max(filling);
                }
                _ => self.fullest = self.fullest.max(filling),
            }
            let says_stop = if vc.says_stop { filling > go } else { filling >= stop };
            if says_stop != vc.says_stop {
                vc.says_stop = says_stop;
                vc.signals_on_the_way.push_back((now + Tick::from(latency - cost), says_stop));
            }
            while let Some(&(at, stopped)) = vc.signals_on_the_way.front()
                && at <= now
            {
                vc.signals_on_the_way.pop_front();
                vc.stopped = stopped;
            }
        }
    }

    fn release(&mut self) {
        for vc in 0..self.vcs.len() {
            if self.vcs[vc].tail_gone == Some(self.now) {
                self.vcs[vc].tail_gone = None;
                self.vcs[vc].packet = None;
                if let Some(from) = self.vcs[vc].from.take() {
                    self.way(from, vc).done = true;
                    if self.vcs[from].to.iter().all(|way| way.done) {
                        self.vcs[from].to.clear();
                        self.vcs[from].header = None;
                    }
                }
            }
        }
    }

    /// The way out of a buffer that is not done yet and leads into a VC.
    fn way(&mut self, from: usize, to: usize) -> &mut Way {
        let mut ways = self.vcs[from].to.iter_mut();
        ways.find(|way| way.vc == to && !way.done).expect("it goes there")
    }

    /// Notices headers that have reached the front of a buffer.
    fn headers(&mut self) {
        for vc in 0..self.vcs.len() {
            let front = self.vcs[vc].buffer.front().copied();
            if let Some(Flit { packet, index: 0, usable }) = front
                && usable <= self.now
                && self.vcs[vc].to.is_empty()
                && self.vcs[vc].header.is_none()
            {
                self.vcs[vc].header = Some((packet, self.now));
                let Channel { target, cost, .. } = self.channels[vc / self.v()];
                if let (Target::Host(_), Some(nic)) = (target, self.config.in_transit) {
                    // Counted from when the packet began to arrive, wherever it had to stand.
                    let ready = usable - Tick::from(cost)
                        + Tick::from((nic.recognition + nic.setup) * self.config.ticks);
                    self.vcs[vc].header = Some((packet, self.now.max(ready)));
                }
                if let Target::Receiving(host) = target {
                    let way = match self.packets[packet].ends {
                        Ends::Memories => self.writes[host],
                        Ends::Nics => self.intakes[host],
                    };
                    self.connect(packet, Some(vc), way * self.v() + vc % self.v());
                }
            }
        }
    }

    fn allocate(&mut self) {
        let v = self.v();
        for switch in 0..self.ports_in.len() {
            let inputs = self.ports_in[switch].len() * v;
            let delay = Tick::from(self.config.routing_delay * self.config.ticks);
            let header = |this: &Self, input: usize| {
                let vc = this.ports_in[switch][input / v]? * v + input % v;
                this.vcs[vc].header.filter(|_| this.vcs[vc].to.is_empty()).map(|h| (vc, h))
            };
            // Those that have just been routed stand in line, from `turn` on.
            for step in 0..inputs {
                let input = (self.turn[switch] + step) % inputs;
                let ready = header(self, input).is_some_and(|(_, (_, at))| at + delay == self.now);
                if ready {
                    self.line[switch].push(input);
                }
            }
            let waiting = std::mem::take(&mut self.line[switch]);
            let asking = |&input: &usize| {
                let (_, (packet, since)) = header(self, input).expect("it waits");
                (packet, since + delay)
            };
            let order = self.by_priority(&waiting, asking);
            let mut served = Vec::new();
            // Channels that are kept for forks.
            let mut kept = Vec::new();
            for input in order {
                let (vc, (packet, since)) = header(self, input).expect("it waits");
                let outs: Vec<(usize, Option<Onward>)> = match self.branches(switch, packet) {
                    None => {
                        let tag = self.tags[packet][self.hop[packet]];
                        let out = self.choose(switch, tag, &kept);
                        out.into_iter().map(|out| (out, None)).collect()
                    }
                    Some(branches) => {
                        let free = |&(channel, _): &(usize, _)| {
                            !kept.contains(&channel) && self.best_vc(channel).is_some()
                        };
                        if branches.iter().all(free) {
                            let vc = |channel| self.best_vc(channel).expect("one is free").0;
                            branches.into_iter().map(|(c, to)| (vc(c), Some(to))).collect()
                        } else {
                            kept.extend(branches.into_iter().map(|(channel, _)| channel));
                            Vec::new()
                        }
                    }
                };
                if outs.is_empty() {
                    continue;
                }
                served.push(input);
                self.hop[packet] += 1;
                self.headers[packet] = self.headers[packet].saturating_sub(1);
                if self.config.consumes_headers {
                    let header = self.leave(vc);
                    assert_eq!((header.packet, header.index), (packet, 0));
                }
                self.turn[switch] = (input + 1) % inputs;
                self.counts[vc / v].waiting += self.now - (since + delay);
                for (out, onward) in outs {
                    let packet = onward.map_or(packet, |onward| self.branch(packet, onward));
                    self.connect(packet, Some(vc), out);
                }
            }
            self.line[switch] = waiting;
            self.line[switch].retain(|input| !served.contains(input));
        }
    }

    /// The channels to which a switch forks a packet, and where they lead; `None` if it is not
    /// forked there.
    fn branches(&self, switch: usize, packet: usize) -> Option<Vec<(usize, Onward)>> {
        let (cast, fork) = self.forks[packet]?;
        if self.hop[packet] < self.tags[packet].len() {
            return None;
        }
        let branches = self.casts[cast].spread.branches(fork).iter();
        let channel = |port: Port| self.ports_out[switch][port.0 as usize].expect("a linked port");
        Some(branches.map(|branch| (channel(branch.port), branch.onward)).collect())
    }

    /// A packet is forked: one branch of it, as a packet.
    fn branch(&mut self, packet: usize, onward: Onward) -> usize {
        let (cast, _) = self.forks[packet].expect("a broadcast");
        let (to, fork) = match onward {
            Onward::Host(host) => (host.0, None),
            Onward::Fork(fork) => (self.packets[packet].to, Some((cast, fork))),
        };
        self.packets.push(Packet { to, ..self.packets[packet] });
        self.tags.push(Vec::new());
        self.stops.push(Vec::new());
        self.hop.push(self.hop[packet]);
        self.headers.push(self.headers[packet]);
        self.forks.push(fork.or(Some((cast, u32::MAX))));
        self.parents.push(Some(packet));
        self.acknowledges.push(None);
        self.numbers.push(self.numbers[packet]);
        self.ways.push(self.ways[packet].clone());
        self.packets.len() - 1
    }

    fn choose(&mut self, switch: usize, tag: Tag, kept: &[usize]) -> Option<usize> {
        let group = match tag {
            Tag::Port(port) => {
                let channel = self.ports_out[switch][port.0 as usize].expect("a linked port");
                let vc = self.best_vc(channel).map(|(vc, _)| vc);
                return vc.filter(|_| !kept.contains(&channel));
            }
            Tag::Group(group) => self.groups[group.0 as usize].clone(),
        };
        let mut best: Option<((usize, u32), usize, usize)> = None;
        for step in 0..group.len() {
            let place = (self.choice[switch] + step) % group.len();
            let Some(channel) = self.ports_out[switch][group[place].0 as usize] else { continue };
            if kept.contains(&channel) {
                continue;
            }
            let Some((vc, credits)) = self.best_vc(channel) else { continue };
            let free =
                (0..self.v()).filter(|i| self.vcs[channel * self.v() + i].packet.is_none()).count();
            if best.is_none_or(|(key, ..)| (free, credits) > key) {
                best = Some(((free, credits), vc, place));
            }
        }
        best.map(|(_, vc, place)| {
            self.choice[switch] = (place + 1) % group.len();
            vc
        })
    }

    /// The free VC with the most credits, the lowest on a tie.
    fn best_vc(&self, channel: usize) -> Option<(usize, u32)> {
        let vcs = channel * self.v()..(channel + 1) * self.v();
        let free = vcs.filter(|&vc| self.vcs[vc].packet.is_none());
        let credits = |vc: usize| match (self.channels[channel].target, self.config.flow) {
            (Target::End | Target::Host(_), _) => self.config.buffer,
            (_, Flow::Credits) => self.vcs[vc].credits,
            (_, Flow::StopAndGo { .. }) if self.vcs[vc].stopped => 0,
            (_, Flow::StopAndGo { .. }) => self.config.buffer,
        };
        free.map(|vc| (vc, credits(vc))).max_by_key(|&(vc, c)| (c, std::cmp::Reverse(vc)))
    }

    fn connect(&mut self, packet: usize, from: Option<usize>, to: usize) {
        let headers = match self.config.consumes_headers {
            true => self.headers[packet],
            false => 0,
        };
        let vc = &mut self.vcs[to];
        (vc.packet, vc.from, vc.sent) = (Some(packet), from, 0);
        vc.length = self.packets[packet].flits + headers;
        vc.ends = match self.channels[to / self.config.virtual_channels as usize].target {
            Target::End => true,
            Target::Host(host) => {
                let stop = self.stops[packet].iter().find(|stop| stop.0 == self.hop[packet]);
                assert!(stop.is_none_or(|stop| stop.1.0 as usize == host), "a stop on the way");
                stop.is_none()
            }
            _ => false,
        };
        match from {
            Some(from) => self.vcs[from].to.push(Way { vc: to, taken: 0, done: false }),
            None => {
                let host = self.packets[packet].from as usize;
                self.numbers[packet] = self.started[host];
                self.started[host] += 1;
            }
        }
        let channel = to / self.v();
        self.ways[packet].push(channel);
    }

    /// Returns true if a packet has been garbled on any channel of its way.
    fn is_garbled(&self, packet: usize) -> bool {
        let Some(errors) = self.config.circuits.and_then(|circuits| circuits.errors) else {
            return false;
        };
        let host = u64::from(self.packets[packet].from);
        let seed = errors.seed.child("host", host).child("packet", self.numbers[packet]);
        let garbles =
            |&channel: &usize| seed.stream("channel", channel as u64).chance(errors.probability);
        self.ways[packet].iter().any(garbles)
    }

    fn start_packets(&mut self) {
        for host in 0..self.queues.len() {
            while let Some(place) = self.next_in(&self.nic_queues[host])
                && let Some((vc, _)) = self.best_vc(self.host_out[host])
            {
                let (packet, _) = self.nic_queues[host].remove(place).expect("it is there");
                self.connect(packet, None, vc);
            }
            while let Some(place) = self.next_in(&self.queues[host])
                && let Some((vc, _)) = self.best_vc(self.memory_out[host])
            {
                let (packet, _) = self.queues[host].remove(place).expect("it is there");
                self.connect(packet, None, vc);
            }
        }
    }

    /// Headers in in-transit buffers take the link.
    fn leave_pools(&mut self) {
        for host in 0..self.pool_peaks.len() {
            // The two directions of a link are neighbours.
            self.leave_nic(host, self.host_out[host] ^ 1);
        }
    }

    /// Headers in the sending buffers of NICs take the link.
    fn leave_nics(&mut self) {
        for host in 0..self.writes.len() {
            self.leave_nic(host, self.memory_out[host]);
        }
    }

    /// Headers in the buffers of a channel take the link of a host, first come, first served.
    fn leave_nic(&mut self, host: usize, channel: usize) {
        let v = self.v();
        let first = channel * v;
        for step in 0..v {
            let vc = first + (self.nic_turns[host] + step) % v;
            if self.vcs[vc].header.is_some_and(|(_, at)| at == self.now) {
                self.nic_lines[host].push(vc);
            }
        }
        let waiting = std::mem::take(&mut self.nic_lines[host]);
        let order = self.by_priority(&waiting, |&vc| self.vcs[vc].header.expect("it waits"));
        let mut served = Vec::new();
        for vc in order {
            let (packet, since) = self.vcs[vc].header.expect("it waits");
            match self.best_vc(self.host_out[host]) {
                None => {}
                Some((to, _)) => {
                    served.push(vc);
                    self.nic_turns[host] = (vc - first + 1) % v;
                    self.counts[channel].waiting += self.now - since;
                    self.connect(packet, Some(vc), to);
                }
            }
        }
        self.nic_lines[host] = waiting;
        self.nic_lines[host].retain(|vc| !served.contains(vc));
    }

    /// Returns true if a packet that has waited since a tick is of the higher level.
    fn is_high(&self, packet: usize, since: Tick) -> bool {
        self.config.priorities.is_some_and(|priorities| {
            let age = Tick::from(priorities.age * self.config.ticks);
            self.packets[packet].priority == Priority::High || self.now >= since + age
        })
    }

    /// A line in the order in which it is served: those of the higher level first. `asking` tells
    /// the packet of each, and since when it waits.
    fn by_priority(&self, line: &[usize], asking: impl Fn(&usize) -> (usize, Tick)) -> Vec<usize> {
        let is_high = |place: &&usize| {
            let (packet, since) = asking(place);
            self.is_high(packet, since)
        };
        let (high, low): (Vec<_>, Vec<_>) = line.iter().partition(is_high);
        high.into_iter().chain(low).copied().collect()
    }

    /// The place in a queue of the packet that a host starts next: the first of either priority
    /// that is due; the one of the higher level, then the one that has waited longer.
    fn next_in(&self, queue: &VecDeque<(usize, Tick)>) -> Option<usize> {
        if self.config.priorities.is_none() {
            return queue.front().filter(|(_, at)| *at <= self.now).map(|_| 0);
        }
        let first = |priority| {
            let of_it = |&(packet, _): &(usize, Tick)| self.packets[packet].priority == priority;
            let place = queue.iter().position(of_it)?;
            let (packet, at) = queue[place];
            (at <= self.now).then(|| (!self.is_high(packet, at), at, place))
        };
        // On a tie, the one of high priority.
        let both = [first(Priority::High), first(Priority::Low)];
        let next = both.into_iter().flatten().min_by_key(|&(is_low, at, _)| (is_low, at));
        next.map(|(.., place)| place)
    }

    /// Whether the next flit of a VC's packet is at hand.
    fn has_flit(&self, vc: usize) -> bool {
        let Some(packet) = self.vcs[vc].packet else { return false };
        if self.vcs[vc].tail_gone.is_some() {
            return false;
        }
        match self.vcs[vc].from {
            // A circuit keeps its last flit until the acknowledge is back.
            None if self.vcs[vc].sent + 1 == self.vcs[vc].length => {
                let back = self.acknowledges[packet].is_some_and(|at| at <= self.now);
                self.config.circuits.is_none() || back
            }
            None => true,
            Some(from) => self.next_flit(vc, packet, from).is_some(),
        }
    }

    /// The flit that a VC sends next out of a buffer, if it is there.
    fn next_flit(&self, vc: usize, packet: usize, from: usize) -> Option<Flit> {
        let is_mine =
            |flit: &Flit| flit.packet == packet || self.parents[packet] == Some(flit.packet);
        let mut ways = self.vcs[from].to.iter();
        let taken = ways.find(|way| way.vc == vc && !way.done).expect("it goes there").taken;
        // Flits that other branches have not taken are still there.
        let first = self.vcs[from].buffer.front()?.index;
        let wanted = taken + u32::from(self.takes_off(from));
        let flit = *self.vcs[from].buffer.get((wanted - first) as usize)?;
        (is_mine(&flit) && flit.index == wanted && flit.usable <= self.now).then_some(flit)
    }

    /// Returns true if the switch at the end of a VC has taken the header off.
    fn takes_off(&self, vc: usize) -> bool {
        let in_switch = matches!(self.channels[vc / self.v()].target, Target::Switch(_));
        self.config.consumes_headers && in_switch
    }

    /// Whether a flit may be sent into a VC.
    fn may_send(&self, vc: usize) -> bool {
        match self.marks(vc / self.v()) {
            _ if self.vcs[vc].ends => true,
            None => self.vcs[vc].credits > 0,
            Some(_) => !self.vcs[vc].stopped,
        }
    }

    fn send(&mut self) {
        for mux in 0..self.muxes.len() {
            if self.muxes[mux].busy_until > self.now {
                continue;
            }
            let count = self.muxes[mux].vcs.len();
            let order = (1..=count).map(|step| (self.muxes[mux].last + step) % count);
            let places: Vec<usize> =
                order.filter(|&place| self.has_flit(self.muxes[mux].vcs[place])).collect();
            let can_send = |place: usize| self.may_send(self.muxes[mux].vcs[place]);
            let Mux { last, streak, burst, busy_until, .. } = self.muxes[mux];
            let goes_on = busy_until == self.now
                && streak < burst
                && places.contains(&last)
                && can_send(last);
            let sender =
                if goes_on { Some(last) } else { places.iter().copied().find(|&p| can_send(p)) };
            self.muxes[mux].streak = if goes_on { streak + 1 } else { 1 };
            match sender {
                Some(place) => {
                    let vc = self.muxes[mux].vcs[place];
                    self.muxes[mux].last = place;
                    self.muxes[mux].busy_until =
                        self.now + Tick::from(self.channels[vc / self.v()].cost);
                    self.send_flit(vc);
                }
                None if !places.is_empty() => self.counts[mux].blocked += 1,
                None => {}
            }
        }
    }

    /// The first flit of a buffer leaves it.
    fn leave(&mut self, vc: usize) -> Flit {
        let flit = self.vcs[vc].buffer.pop_front().expect("what leaves is there");
        assert!(flit.usable <= self.now);
        if self.marks(vc / self.v()).is_none() {
            let back = Tick::from(self.channels[vc / self.v()].latency);
            self.vcs[vc].credits_on_the_way.push_back(self.now + back);
        }
        flit
    }

    fn send_flit(&mut self, vc: usize) {
        let (now, v) = (self.now, self.v());
        let Channel { cost, latency, .. } = self.channels[vc / v];
        let packet = self.vcs[vc].packet.expect("a sender has a packet");
        let index = self.vcs[vc].sent;
        self.vcs[vc].sent += 1;
        self.counts[vc / v].flits += 1;
        if let Some(from) = self.vcs[vc].from {
            let flit = self.next_flit(vc, packet, from).expect("what is sent is there");
            let taken_off = u32::from(self.takes_off(from));
            assert_eq!(flit.index, index + taken_off, "flits stay in order");
            self.way(from, vc).taken += 1;
            // A flit leaves the buffer when it has gone all ways.
            let all_have = self.vcs[from].to.iter().all(|way| way.taken + taken_off > flit.index);
            if all_have {
                assert_eq!(self.leave(from).index, flit.index);
            }
        }
        let id = self.packets[packet].id;
        let arrives = now + Tick::from(latency);
        let ends = self.vcs[vc].ends;
        if !ends {
            self.vcs[vc].buffer.push_back(Flit { packet, index, usable: arrives });
        }
        if !ends && self.marks(vc / v).is_none() {
            self.vcs[vc].credits -= 1;
            let filling = self.vcs[vc].buffer.len() as u32;
            let on_the_way = self.vcs[vc].credits_on_the_way.len() as u32;
            assert_eq!(filling + self.vcs[vc].credits + on_the_way, self.config.buffer);
            self.fullest = self.fullest.max(filling);
        }
        if index == 0 {
            self.events.push((now, Event::Head { id, channel: vc / v, vc: vc % v }));
        }
        if index + 1 == self.vcs[vc].length {
            self.events.push((now, Event::Tail { id, channel: vc / v, vc: vc % v }));
            self.vcs[vc].tail_gone = Some(now + Tick::from(cost));
        }
        // A packet is delivered with its last flit, a circuit with the one before.
        let circuits = self.config.circuits;
        if ends && index + 1 + u32::from(circuits.is_some()) == self.vcs[vc].length {
            let garbled = self.is_garbled(packet);
            if !garbled {
                let host = self.packets[packet].to;
                self.events.push((arrives, Event::Delivered { id, host }));
            }
            if let Some(Circuits { acknowledge, .. }) = circuits {
                let channels = self.hop[packet] as u32 + 1;
                let back = arrives + Tick::from(channels * acknowledge * self.config.ticks);
                self.answer(packet, back, garbled);
            }
        }
        if circuits.is_some() && self.vcs[vc].from.is_none() && index + 2 == self.vcs[vc].length {
            self.events.push((now, Event::Left { id }));
        }
    }

    /// The answer of a host is back at the source at a tick; those of a broadcast count when all
    /// are.
    fn answer(&mut self, packet: usize, mut back: Tick, mut refused: bool) {
        let mut source = packet;
        while let Some(parent) = self.parents[source] {
            source = parent;
        }
        if let Some((cast, _)) = self.forks[source] {
            let cast = &mut self.casts[cast];
            cast.silent -= 1;
            back = back.max(cast.back);
            refused |= cast.refused;
            (cast.back, cast.refused) = (back, refused);
            if cast.silent > 0 {
                return;
            }
        }
        self.acknowledges[source] = Some(back);
        let id = self.packets[source].id;
        let answer = if refused { Event::Refused { id } } else { Event::Acknowledged { id } };
        self.events.push((back, answer));
    }
}

/// How many switches fork a packet one after the other, at most.
fn deepest(spread: &Spread, fork: u32) -> u32 {
    let mut most = 0;
    for branch in spread.branches(fork) {
        if let Onward::Fork(next) = branch.onward {
            most = most.max(deepest(spread, next));
        }
    }
    most + 1
}
