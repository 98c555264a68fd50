//! The network as flat arrays: what the engine looks up while it runs.

use super::{Bus, Config, InTransit, Layout};
use crosstie_fabric::{ChannelId, Fabric, Node};
use std::ops::Range;

/// No virtual channel, no packet, no host.
pub(super) const NONE: u32 = u32::MAX;

/// Where the flits of a channel go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Into the buffers of a switch.
    Switch(u32),
    /// Into the sending buffers of the NIC of a host.
    SendingNic(u32),
    /// Into the receiving buffers of the NIC of a host.
    ReceivingNic(u32),
    /// To a host whose NIC has in-transit buffers: into these, or to memory.
    Host(u32),
    /// To an end that takes everything: no buffer, no credits.
    End,
}

/// What asks for the virtual channels of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The headers in a switch.
    Switch(u32),
    /// Packets queued in the memory of a host.
    Memory(u32),
    /// Headers in the sending buffers of the NIC of a host, and packets queued in the NIC itself.
    Nic(u32),
    /// Headers in receiving buffers, each with a virtual channel of its own.
    Nobody,
}

/// How a channel carries flits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wire {
    /// Ticks for which one flit occupies the channel.
    pub cost: u32,
    /// Ticks from the moment a flit leaves until it can leave the other end; also the time a
    /// credit takes back.
    pub latency: u32,
    /// The multiplexer that shares the channel among its virtual channels.
    pub mux: u32,
    /// The first bit of this channel in that multiplexer.
    pub bit: u8,
}

/// A copy of the fabric per rail, then (if the bus is shared) the buses and intakes of all hosts,
/// as [`Layout`] numbers them. The NIC of a host with a shared bus is a switch with one input, the
/// bus, and one output, the link; these follow the switches of the fabric. So does a NIC with
/// in-transit buffers; its one input is the link from the switch.
#[derive(Debug)]
pub(super) struct Wiring {
    pub vcs: u32,
    pub depth: u32,
    pub routing: u32,
    /// Ticks from the arrival of a header in an in-transit buffer until it may go on; `None`
    /// without such buffers.
    pub in_transit: Option<u32>,
    /// Switches take off the flit that they have obeyed.
    pub consumes_headers: bool,
    pub wires: Vec<Wire>,
    /// Who asks for the virtual channels of each channel.
    pub origins: Vec<Origin>,
    /// Where the flits of each channel go.
    pub targets: Vec<Target>,
    /// The first virtual channel of the bus for writing that shares the multiplexer of a bus for
    /// reading, or `NONE`. Every other multiplexer serves the one channel of the same number.
    pub sharing_vcs: Vec<u32>,
    /// Switch s has ports `first_port[s]..first_port[s + 1]`.
    pub first_port: Vec<u32>,
    /// The channel that leaves by each switch port.
    pub port_out: Vec<u32>,
    /// The port by which each channel enters its switch.
    pub in_port: Vec<u32>,
    /// The multiplexers of shared buses.
    pub buses: Range<u32>,
    /// Flits in one turn of a shared bus.
    pub burst: u32,
    /// Switches of the fabric on all rails; NICs follow.
    pub switches: u32,
    /// The channel into the fabric of each host.
    pub host_out: Vec<u32>,
    /// The channel out of the fabric into each host.
    pub host_in: Vec<u32>,
    /// The channel by which packets leave the memory of each host.
    pub memory_out: Vec<u32>,
    /// The bus for writing of each host, if it is shared.
    pub host_write: Vec<u32>,
    /// The intake of each host, if the bus is shared.
    pub host_intake: Vec<u32>,
}

impl Wiring {
    pub fn new(fabric: &Fabric, rails: u32, config: &Config) -> Self {
        let layout = Layout::new(fabric, rails);
        let mut network = Wiring {
            vcs: u32::from(config.virtual_channels),
            depth: config.buffer,
            routing: config.routing_delay * config.ticks,
            in_transit: config.in_transit.map(|InTransit { recognition, setup, .. }| {
                // A header has arrived a cycle after it began to arrive.
                (recognition + setup - 1) * config.ticks
            }),
            consumes_headers: config.consumes_headers,
            wires: Vec::new(),
            origins: Vec::new(),
            targets: Vec::new(),
            sharing_vcs: Vec::new(),
            first_port: vec![0],
            port_out: Vec::new(),
            in_port: Vec::new(),
            buses: layout.in_fabric()..layout.in_fabric() + layout.ends(),
            burst: config.burst,
            switches: rails * fabric.switches().len() as u32,
            host_out: Vec::new(),
            host_in: Vec::new(),
            memory_out: Vec::new(),
            host_write: Vec::new(),
            host_intake: Vec::new(),
        };
        for rail in 0..rails {
            network.add_rail(fabric, rail, config);
        }
        match config.bus {
            Bus::Full => {
                network.memory_out = network.host_out.clone();
                if config.in_transit.is_some() {
                    network.add_nics();
                }
            }
            Bus::Shared { read, write } => network.add_buses(layout.ends(), config, read, write),
        }
        network
    }

    fn add_rail(&mut self, fabric: &Fabric, rail: u32, config: &Config) {
        let (first, hosts) = (rail * fabric.channels().len() as u32, fabric.hosts().len() as u32);
        let switches = fabric.switches().len() as u32;
        let id = |channel: ChannelId| first + channel.0;
        for switch in fabric.switches() {
            for port in 0..fabric.ports(switch) {
                let out = fabric.switch_out(switch, crosstie_fabric::Port(port));
                self.port_out.push(out.map_or(NONE, id));
            }
            self.first_port.push(self.port_out.len() as u32);
        }
        let shared = config.bus != Bus::Full;
        let latency = (1 + config.wire) * config.ticks;
        for channel in fabric.channels() {
            let ends = fabric.channel(channel);
            let origin = match ends.from.node {
                Node::Switch(s) => Origin::Switch(rail * switches + s.0),
                Node::Host(h) if shared => Origin::Nic(rail * hosts + h.0),
                Node::Host(h) => Origin::Memory(rail * hosts + h.0),
            };
            let target = match ends.to.node {
                Node::Switch(s) => Target::Switch(rail * switches + s.0),
                Node::Host(h) if shared => Target::ReceivingNic(rail * hosts + h.0),
                Node::Host(h) if config.in_transit.is_some() => Target::Host(rail * hosts + h.0),
                Node::Host(_) => Target::End,
            };
            let channel = self.add_channel(origin, target, config.ticks, latency);
            self.in_port[channel as usize] = u32::from(ends.to.port.0);
        }
        self.host_out.extend(fabric.hosts().map(|h| id(fabric.host_out(h))));
        self.host_in.extend(fabric.hosts().map(|h| id(fabric.host_out(h).reverse())));
    }

    fn add_buses(&mut self, hosts: u32, config: &Config, read: u32, write: u32) {
        for host in 0..hosts {
            let bus = self.add_channel(Origin::Memory(host), Target::SendingNic(host), read, read);
            self.memory_out.push(bus);
        }
        self.add_nics();
        for host in 0..hosts {
            let bus = self.add_channel(Origin::Nobody, Target::End, write, write);
            self.host_write.push(bus);
            let mux = self.memory_out[host as usize];
            self.sharing_vcs[mux as usize] = bus * self.vcs;
            self.wires[bus as usize] =
                Wire { mux, bit: config.virtual_channels, ..self.wires[bus as usize] };
        }
        for _ in 0..hosts {
            let intake = self.add_channel(Origin::Nobody, Target::End, config.ticks, config.ticks);
            self.host_intake.push(intake);
        }
    }

    /// Makes the NIC of every host a switch with one port.
    fn add_nics(&mut self) {
        for &link in &self.host_out {
            self.port_out.push(link);
            self.first_port.push(self.port_out.len() as u32);
        }
    }

    fn add_channel(&mut self, origin: Origin, target: Target, cost: u32, latency: u32) -> u32 {
        let channel = self.wires.len() as u32;
        self.wires.push(Wire { cost, latency, mux: channel, bit: 0 });
        self.origins.push(origin);
        self.targets.push(target);
        self.sharing_vcs.push(NONE);
        self.in_port.push(0);
        channel
    }

    /// The NIC of a host as a switch.
    pub fn nic(&self, host: u32) -> u32 {
        self.switches + host
    }
}
